//! What a long command shows while it works, and how it is ended.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Failure;

/// Work that takes less shows no bar.
const SHORT: Duration = Duration::from_secs(1);

/// A bar on standard error, if that is a terminal and the work takes a while.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: Cell<bool>,
    /// What was finished before, where work comes in parts.
    before: Cell<usize>,
}

impl Progress {
    pub fn new(runs: usize) -> Self {
        let style = "{bar:30} {pos}/{len} runs, {elapsed} of about {duration}";
        let style = ProgressStyle::with_template(style).expect("a valid template");
        let bar = ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::hidden());
        Self {
            bar: bar.with_style(style),
            begun: Instant::now(),
            shown: Cell::new(false),
            before: Cell::new(0),
        }
    }

    /// Another part of the work begins, which counts from 0.
    pub fn next_part(&self, finished: usize) {
        self.before.set(finished);
    }

    pub fn tick(&self, finished: usize) {
        if !self.shown.get() && self.begun.elapsed() >= SHORT {
            self.shown.set(true);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position((self.before.get() + finished) as u64);
        self.bar.tick();
    }

    /// Prints without disturbing the bar.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Becomes true with Ctrl-C; with the second one the process ends as it stands.
pub fn cancelled() -> Result<Arc<AtomicBool>, Failure> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130); // what is left in the kernel, the next start takes out
        }
    })
    .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(cancelled)
}

/// How it ended: as it should, or by Ctrl-C with exit code 130.
pub fn ended(finished: usize, of: usize, kept: &str) -> Result<(), Failure> {
    if finished == of {
        return Ok(());
    }
    Err(Failure {
        message: format!("interrupted: {finished} of {of} runs are finished{kept}"),
        code: 130,
    })
}
