//! Parallel jobs with results in order, independent of the number of threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// Longest delay of a cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Calls `work` for the numbers from 0 to `jobs` on this many threads. `done` receives each result in the order of the
/// numbers; `tick` receives the number of finished jobs from time to time. Returns the number of results that `done` has
/// received: fewer than `jobs` if `cancelled` became true. A cancellation returns at once, and running jobs end without an
/// effect.
///
/// # Errors
/// The first error, in the order of the numbers, of `work` or `done`.
pub fn in_order<T, E>(
    jobs: usize,
    threads: usize,
    cancelled: &AtomicBool,
    work: impl Fn(usize) -> Result<T, E> + Send + Sync + 'static,
    mut tick: impl FnMut(usize),
    mut done: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<usize, E>
where
    T: Send + 'static,
    E: Send + 'static,
{
    struct Stop(Arc<AtomicBool>);
    impl Drop for Stop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = Stop(Arc::new(AtomicBool::new(false)));
    let next = Arc::new(AtomicUsize::new(0));
    let work = Arc::new(work);
    let (results, received) = mpsc::channel();
    let worker = || {
        let (stop, next, work) = (stop.0.clone(), next.clone(), work.clone());
        let results = results.clone();
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= jobs || results.send((number, work(number))).is_err() {
                    return;
                }
            }
        })
    };
    let workers: Vec<_> = (0..threads.clamp(1, jobs.max(1)))
        .map(|_| worker())
        .collect();
    drop(results);

    // Results after a number that is not finished.
    let mut waiting = BTreeMap::new();
    let (mut finished, mut delivered) = (0, 0);
    loop {
        if cancelled.load(Ordering::Relaxed) {
            return Ok(delivered);
        }
        match received.recv_timeout(POLL_INTERVAL) {
            Ok((number, result)) => {
                finished += 1;
                waiting.insert(number, result);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        while let Some(result) = waiting.remove(&delivered) {
            done(delivered, result?)?;
            delivered += 1;
            if cancelled.load(Ordering::Relaxed) {
                return Ok(delivered);
            }
        }
        tick(finished);
    }
    for worker in workers {
        if let Err(panic) = worker.join() {
            std::panic::resume_unwind(panic);
        }
    }
    Ok(delivered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for threads in [1, 2, 7] {
            let mut seen = Vec::new();
            // With several threads, the first job waits until another has started.
            let begun = AtomicUsize::new(0);
            let work = move |number: usize| {
                begun.fetch_add(1, Ordering::SeqCst);
                while number == 0 && threads > 1 && begun.load(Ordering::SeqCst) < 2 {
                    thread::yield_now();
                }
                Ok::<_, ()>(number * 10)
            };
            let never = AtomicBool::new(false);
            let all = in_order(
                50,
                threads,
                &never,
                work,
                |_| (),
                |number, result| {
                    seen.push((number, result));
                    Ok(())
                },
            );
            assert_eq!(all, Ok(50));
            assert_eq!(seen, (0..50).map(|n| (n, n * 10)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_in_order_is_returned() {
        for threads in [1, 4] {
            let mut seen = 0;
            let work = |number: usize| if number >= 3 { Err(number) } else { Ok(()) };
            let never = AtomicBool::new(false);
            let failed = in_order(
                1000,
                threads,
                &never,
                work,
                |_| (),
                |_, ()| {
                    seen += 1;
                    Ok(())
                },
            );
            assert_eq!((failed, seen), (Err(3), 3));
        }
    }

    #[test]
    fn a_cancellation_ends_it() {
        let cancelled = AtomicBool::new(false);
        let delivered = in_order(
            usize::MAX,
            2,
            &cancelled,
            Ok::<_, ()>,
            |_| (),
            |number, _| {
                cancelled.store(number == 9, Ordering::Relaxed);
                Ok(())
            },
        );
        assert_eq!(delivered, Ok(10));
    }

    #[test]
    fn no_jobs_return_at_once() {
        let never = AtomicBool::new(false);
        assert_eq!(
            in_order(0, 4, &never, |_| Err::<(), _>(()), |_| (), |_, ()| Ok(())),
            Ok(0)
        );
    }
}
