//! Parallel jobs with results in order, independent of the number of threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

/// Longest delay of a cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Largest number of jobs that are begun and not delivered: their results are in memory.
const MOST_BEGUN: usize = 256;

/// The jobs that threads begin.
#[derive(Default)]
struct Begun {
    state: Mutex<State>,
    /// A result was delivered, or no further job is to begin.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of the next job.
    next: usize,
    delivered: usize,
    stopped: bool,
}

impl Begun {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the job that the calling thread begins, once few enough are begun. None after the last.
    fn next(&self, jobs: usize) -> Option<usize> {
        let full = |state: &mut State| !state.stopped && state.next >= state.delivered + MOST_BEGUN;
        let waited = self.changed.wait_while(self.state(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let number = state.next;
        state.next += 1;
        (!state.stopped && number < jobs).then_some(number)
    }

    fn deliver(&self) {
        self.state().delivered += 1;
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }
}

/// Lets the threads end when `in_order` returns.
struct Stop(Arc<Begun>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Lets all threads end when one panics: the others would wait for its result.
struct StopAfterPanic(Arc<Begun>);

impl Drop for StopAfterPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

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
    let begun = Arc::new(Begun::default());
    let _stop = Stop(begun.clone());
    let work = Arc::new(work);
    let (results, received) = mpsc::channel();
    let worker = || {
        let (begun, work) = (StopAfterPanic(begun.clone()), work.clone());
        let results = results.clone();
        thread::spawn(move || {
            while let Some(number) = begun.0.next(jobs) {
                if results.send((number, work(number))).is_err() {
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
            begun.deliver();
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
    use std::sync::atomic::AtomicUsize;

    /// While the first job runs, no more than [`MOST_BEGUN`] are begun.
    #[test]
    fn few_results_wait_for_an_earlier_one() {
        let begun = Arc::new(AtomicUsize::new(0));
        let counted = begun.clone();
        let work = move |number: usize| {
            counted.fetch_add(1, Ordering::SeqCst);
            while number == 0 && counted.load(Ordering::SeqCst) < MOST_BEGUN {
                thread::yield_now();
            }
            Ok::<_, ()>(())
        };
        let never = AtomicBool::new(false);
        let mut most = 0;
        let done = |number: usize, ()| {
            most = most.max(begun.load(Ordering::SeqCst) - number);
            Ok(())
        };
        assert_eq!(in_order(2000, 3, &never, work, |_| (), done), Ok(2000));
        assert_eq!(most, MOST_BEGUN);
    }

    /// The other thread waits for the first result, which never comes.
    #[test]
    fn a_panic_ends_all_threads() {
        let never = AtomicBool::new(false);
        let work = |number: usize| match number {
            0 => panic!("the first job"),
            _ => Ok::<_, ()>(()),
        };
        let run = || in_order(2000, 2, &never, work, |_| (), |_, ()| Ok(()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }

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
