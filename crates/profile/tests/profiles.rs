//! Recorded text of `perf script`, folded and drawn.

#![allow(clippy::unwrap_used)]

use pgassay_profile::{
    Drawing, Folded, Weighing, difference, flame_graph, fold, pprof, speedscope,
};

const CPU: &str = include_str!("data/cpu.txt");
const OFF_CPU: &str = include_str!("data/off_cpu.txt");
/// Two processes, in the form that perf writes, with names that mean harm to HTML, SVG and shells.
const HOSTILE: &str = "my server 7/7  1.000000000: cpu-clock: \n\
    \t  12 </text><script>alert(1)</script> (/usr/bin/postgres)\n\
    \t  13 a;b\"onload='x' & \u{1b}[31m (/usr/bin/postgres)\n\
    \t  14 PostgresMain (/usr/bin/postgres)\n\
    \t  15 main (/usr/bin/postgres)\n\n";

fn folded(text: &str, weighing: Weighing) -> Folded {
    fold(text.as_bytes(), weighing, |pid, _| {
        (
            "client backend".to_owned(),
            format!("scenario number{}", pid % 2),
        )
    })
    .unwrap()
}

fn drawing(unit: &str) -> Drawing {
    serde_json::from_value(serde_json::json!({"title": "CPU <time>", "unit": unit})).unwrap()
}

#[test]
fn recorded_samples_become_stacks_that_begin_with_who_ran_them() {
    let found = folded(CPU, Weighing::Samples);
    assert_eq!(found.samples, 12);
    assert_eq!(found.stacks.values().sum::<u64>(), 12);
    assert_eq!(
        (found.first_ns, found.last_ns),
        (1_411_029_716_000, 1_411_231_440_000)
    );
    for stack in found.stacks.keys() {
        assert!(
            stack.starts_with("client backend;scenario number"),
            "{stack}"
        );
        // What lies outside of a session's own work is left out, however far a stack was unwound.
        assert!(
            !stack.contains("ServerLoop") && !stack.contains(";BackendMain"),
            "{stack}"
        );
    }
    assert!(
        found
            .stacks
            .keys()
            .any(|stack| stack.contains(";PostgresMain;"))
    );
}

#[test]
fn a_wait_lasts_from_being_switched_out_until_being_switched_in() {
    let found = folded(OFF_CPU, Weighing::OffCpuMicroseconds);
    let waits: Vec<u64> = found.stacks.values().copied().collect();
    // 11171 from 2052.476741932 to 2052.477270818, 11172 from 2052.476791084 to 2052.477161446;
    // the others are not switched in again in this text.
    assert_eq!(waits.iter().sum::<u64>(), 528 + 370);
}

#[test]
fn a_process_that_nobody_knew_is_told_by_its_functions() {
    let text = "postgres 9/9  1.0: cpu-clock: \n\t 1 x (/p)\n\t 2 ParallelWorkerMain (/p)\n\n";
    let found = fold(text.as_bytes(), Weighing::Samples, |_, _| {
        Default::default()
    })
    .unwrap();
    assert_eq!(found.to_text(), "parallel worker;ParallelWorkerMain;x 1\n");
}

#[test]
fn a_stack_that_was_not_unwound_to_its_start_is_marked() {
    let text = "postgres 9/9  1.0: cpu-clock: \n\t 1 x (/p)\n\t 2 ExecSort (/p)\n\n";
    let found = folded(text, Weighing::Samples);
    assert_eq!(found.cut_off, 1);
    assert_eq!(
        found.to_text(),
        "client backend;scenario number1;[stack cut off];ExecSort;x 1\n"
    );
}

#[test]
fn what_lies_outside_of_a_sessions_work_is_left_out_where_it_has_no_name_too() {
    let text = "postgres 9/9  1.0: cpu-clock: \n\t 1 [unknown] (/p/postgres)\n\
        \t 2 PostgresMain (/p/postgres)\n\t 3 [unknown] (/p/postgres)\n\
        \t 4 PostmasterMain (/p/postgres)\n\t 5 main (/p/postgres)\n\n";
    let found = folded(text, Weighing::Samples);
    assert_eq!(
        found.to_text(),
        "client backend;scenario number1;PostgresMain;[postgres] 1\n"
    );
}

#[test]
fn odd_lines_are_passed_over() {
    let text = "\n\t lonely\nnonsense\n1/1\n1/1 x: y\npostgres 1/1 9.9: e: \n\tzz bad (/p)\n\u{0}";
    assert_eq!(folded(text, Weighing::Samples).samples, 0);
}

#[test]
fn hostile_names_are_inert_in_every_form() {
    let stacks = folded(HOSTILE, Weighing::Samples).to_text();
    assert_eq!(stacks.lines().count(), 1);
    assert!(stacks.contains("a:b\"onload='x' & ?[31m;</text>"));
    let svg = flame_graph(&stacks, &drawing("samples")).unwrap();
    let both = difference((&stacks, 1.0), (&stacks, 2.0), &drawing("ns")).unwrap();
    for text in [&svg, &both] {
        assert!(!text.contains("<script>alert") && !text.contains("\u{1b}"));
        assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(text.contains("CPU &lt;time&gt;"));
    }
    let json = speedscope(&stacks, "</script>", 1e6).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
}

#[test]
fn a_drawing_has_a_script_only_if_it_is_to_be_zoomed() {
    let stacks = folded(CPU, Weighing::Samples).to_text();
    let mut asked = drawing("samples");
    let still = flame_graph(&stacks, &asked).unwrap();
    assert!(!still.contains("<script") && !still.contains("onload"));
    asked.interactive = true;
    assert!(flame_graph(&stacks, &asked).unwrap().contains("<script"));
}

#[test]
fn frames_are_red_where_there_is_more_and_blue_where_there_is_less() {
    let one = "p;Main;x 100\np;Main;y 100\n";
    let other = "p;Main;x 150\np;Main;y 50\n";
    let mut asked = drawing("ns");
    let colour = |svg: &str, name: &str| {
        let at = svg.find(&format!("<title>{name} ")).unwrap();
        let fill = svg[at..]
            .split("fill=\"rgb(")
            .nth(1)
            .unwrap()
            .split(')')
            .next()
            .unwrap();
        fill.split(',')
            .map(|part| part.parse::<u8>().unwrap())
            .collect::<Vec<_>>()
    };
    let svg = difference((one, 1.0), (other, 1.0), &asked).unwrap();
    let (x, y) = (colour(&svg, "x"), colour(&svg, "y"));
    assert!(x[0] > x[2] && y[2] > y[0], "{x:?} {y:?}");
    asked.negated = true;
    let svg = difference((one, 1.0), (other, 1.0), &asked).unwrap();
    let (x, y) = (colour(&svg, "x"), colour(&svg, "y"));
    assert!(x[2] > x[0] && y[0] > y[2], "{x:?} {y:?}");
    // Twice the transactions: the same per transaction.
    let scaled = difference((one, 1.0), ("p;Main;x 200\np;Main;y 200\n", 0.5), &asked).unwrap();
    assert_eq!(colour(&scaled, "x"), colour(&scaled, "y"));
}

#[test]
fn speedscope_has_every_stack_with_its_time() {
    let json = speedscope("p;a;b 3\np;a 1\n", "one", 2e6).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let profile = &value["profiles"][0];
    assert_eq!(profile["samples"], serde_json::json!([[0, 1, 2], [0, 1]]));
    assert_eq!(profile["weights"], serde_json::json!([6000.0, 2000.0]));
    assert_eq!(profile["endValue"], 8000.0);
}

#[test]
fn pprof_has_the_process_and_scenario_as_labels() {
    let bytes = pprof(
        "client backend;scenario pay;Main;x 2\nother;Main 1\n",
        "cpu",
        5e6,
        7,
        9,
    )
    .unwrap();
    let texts = String::from_utf8_lossy(&bytes);
    for text in [
        "process",
        "client backend",
        "scenario",
        "pay",
        "Main",
        "x",
        "nanoseconds",
    ] {
        assert!(texts.contains(text), "{text}");
    }
    assert!(!texts.contains("scenario pay"));
}

#[test]
fn a_damaged_stack_is_an_error_that_names_its_line() {
    let error = flame_graph("a;b 1\na;b\n", &drawing("samples")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2 of the folded stacks does not end in a number"
    );
}
