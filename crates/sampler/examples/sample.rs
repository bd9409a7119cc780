//! Samples for some seconds and tells what came of it: `sample CONFIGURATION.json [SECONDS]`.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use pgassay_sampler::{Configuration, NameId, Sampler};

fn main() -> ExitCode {
    match sample() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn sample() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments
        .next()
        .ok_or("usage: sample CONFIGURATION.json [SECONDS]")?;
    let seconds: f64 = arguments.next().as_deref().unwrap_or("10").parse()?;

    let configuration = Configuration::from_json(&std::fs::read_to_string(path)?)?;
    let sampler = Sampler::new(configuration, None);
    sampler.start()?;
    std::thread::sleep(Duration::from_secs_f64(seconds));
    sampler.stop();

    let waits = sampler.take_waits();
    let name = |id: Option<NameId>| id.map_or("-", |id| &*waits.names[id.index()]);
    let mut events: BTreeMap<[&str; 4], u32> = BTreeMap::new();
    for row in 0..waits.tick_ns.len() {
        let key = [
            name(waits.backend_type[row]),
            name(waits.state[row]),
            name(waits.wait_event_type[row]),
            name(waits.wait_event[row]),
        ];
        *events.entry(key).or_default() += 1;
    }
    for (key, count) in events {
        println!("{count:6}  {}", key.join("  "));
    }
    for (kind, values) in [
        ("counters", sampler.take_counters()),
        ("host", sampler.take_host()),
    ] {
        let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
        for source in &values.source {
            *sources.entry(&values.names[source.index()]).or_default() += 1;
        }
        println!("{kind}: {sources:?}");
    }
    for warning in sampler.warnings() {
        println!("warning: {warning}");
    }
    println!("{}", serde_json::to_string(&sampler.cost())?);
    Ok(())
}
