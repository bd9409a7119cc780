//! Does the same work for many parts on all processors.
//!
//! Enters: parts. Leaves: what the work made of each, in their order. Never: keeps a thread.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub fn in_parallel<T: Sync, R: Send>(parts: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let do_some = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(number) else {
                return done;
            };
            done.push((number, work(part)));
        }
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let mut done = thread::scope(|scope| {
        let helpers: Vec<_> = (1..processors.min(parts.len()))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, do_some).ok())
            .collect();
        let mut done = do_some();
        for helper in helpers {
            match helper.join() {
                Ok(more) => done.extend(more),
                Err(panic) => resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::in_parallel;

    #[test]
    fn results_are_in_the_order_of_their_parts() {
        let parts: Vec<u64> = (0..1000).collect();
        let doubled: Vec<_> = parts.iter().map(|part| 2 * part).collect();
        assert_eq!(in_parallel(&parts, |part| 2 * part), doubled);
        assert!(in_parallel(&[], |part: &u64| *part).is_empty());
    }
}
