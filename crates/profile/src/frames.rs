//! One frame of a stack, from a line of `perf script`.
//!
//! Enters: such a line. Leaves: the name that is shown for it. Never: keeps a character that a
//! folded stack or a terminal would read as more than text.

/// Frames that are no part of a process's own work, outermost first in a call.
const OUTER: &str = include_str!("outer_frames.txt");
/// Function in which a kind of process begins its work → what pg_stat_activity calls the kind.
const KINDS: [(&str, &str); 4] = [
    ("PostgresMain", "client backend"),
    ("ParallelWorkerMain", "parallel worker"),
    ("AutoVacWorkerMain", "autovacuum worker"),
    ("WalSndLoop", "walsender"),
];
pub const CUT_OFF: &str = "[stack cut off]";

/// The name of a frame, and whether its function has one.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    pub name: String,
    pub named: bool,
}

/// Parse `ADDRESS SYMBOL (FILE)`; `None` for a frame of which nothing is known.
pub fn frame(line: &str) -> Option<Frame> {
    let (address, rest) = line.trim().split_once(' ')?;
    u64::from_str_radix(address, 16).ok()?;
    let rest = rest.trim().strip_suffix(')')?;
    let (symbol, file) = rest
        .rsplit_once(" (")
        .filter(|(_, file)| *file != "deleted)")
        .or_else(|| {
            rest.strip_suffix(" (deleted)")
                .and_then(|rest| rest.rsplit_once(" ("))
        })?;
    let kernel = address.len() == 16 && address.starts_with("ffff");
    if symbol != "[unknown]" {
        let mut name = plain(symbol);
        if kernel {
            name.push_str("_[k]");
        }
        return Some(Frame { name, named: true });
    }
    if file == "[unknown]" {
        return None;
    }
    let file = plain(file.rsplit('/').next().unwrap_or(file));
    let name = if file.starts_with('[') {
        file
    } else {
        format!("[{file}]")
    };
    Some(Frame { name, named: false })
}

/// Whether a frame lies outside the work of its process. Compilers append `.isra.0` and the like.
pub fn is_outer(name: &str) -> bool {
    let name = name.split('.').next().unwrap_or(name);
    OUTER.lines().any(|outer| outer == name)
}

/// Whether a process's own work begins with this function, such as `PostgresMain`.
pub fn is_entry(name: &str) -> bool {
    name.split('.')
        .next()
        .is_some_and(|name| name.ends_with("Main"))
}

/// The kind of a process that was not among those looked up, such as one that lived for a moment.
pub fn kind_by_frames<'a>(names: impl Iterator<Item = &'a str>) -> &'static str {
    let found = names.filter_map(|name| {
        let of = |(function, _): &&(&str, &str)| *function == name;
        KINDS.iter().find(of).map(|(_, kind)| *kind)
    });
    found.last().unwrap_or("other")
}

/// Text without what separates frames, lines or words to a terminal.
pub fn plain(text: &str) -> String {
    text.trim()
        .chars()
        .map(|character| match character {
            ';' => ':',
            _ if character.is_control() => '?',
            _ => character,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_kernel_are_marked() {
        let found = frame("\tffffffff821faa94 __schedule ([kernel.kallsyms])").unwrap();
        assert_eq!(found.name, "__schedule_[k]");
        assert_eq!(
            frame("  452cb7 WaitEventSetWait (/usr/bin/postgres)")
                .unwrap()
                .name,
            "WaitEventSetWait"
        );
    }

    #[test]
    fn a_function_without_a_name_is_shown_as_its_file() {
        let found = frame("  1234 [unknown] (/usr/lib/postgresql/15/bin/postgres)").unwrap();
        assert_eq!(
            found,
            Frame {
                name: "[postgres]".into(),
                named: false
            }
        );
        assert_eq!(frame("ffffffffffffffff [unknown] ([unknown])"), None);
    }

    #[test]
    fn parts_of_a_c_plus_plus_name_and_of_a_deleted_file_are_told_apart() {
        let found = frame("  12 llvm::f(int, (anonymous)) (/usr/lib/libLLVM.so)").unwrap();
        assert_eq!(found.name, "llvm::f(int, (anonymous))");
        assert_eq!(
            frame("  12 ExecSort (/old/postgres (deleted))")
                .unwrap()
                .name,
            "ExecSort"
        );
    }

    #[test]
    fn separators_and_control_characters_lose_their_meaning() {
        assert_eq!(frame("  12 a;b\u{1b}[31m (/x)").unwrap().name, "a:b?[31m");
    }
}
