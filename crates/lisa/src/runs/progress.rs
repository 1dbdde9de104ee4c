//! The progress bar of long commands, and their end by Ctrl-C.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Failure;

/// Shorter work shows no bar.
const SHORT: Duration = Duration::from_secs(1);

/// A bar on standard error, if that is a terminal and the work takes longer than [`SHORT`].
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
    shown: Cell<bool>,
    /// Number of runs that finished in earlier parts of the work.
    before: Cell<usize>,
}

impl Progress {
    /// A bar for this number of runs.
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

    /// A bar that names the work.
    pub fn about(self, work: &str) -> Self {
        let style =
            format!("{work}: {{bar:30}} {{pos}}/{{len}} runs, {{elapsed}} of about {{duration}}");
        let style = ProgressStyle::with_template(&style).expect("a valid template");
        self.bar.set_style(style);
        self
    }

    /// Begins another part of the work, after this number of finished runs. [`tick`](Self::tick) then counts from 0 again.
    pub fn next_part(&self, finished: usize) {
        self.before.set(finished);
    }

    /// Shows the number of finished runs of this part.
    pub fn tick(&self, finished: usize) {
        if !self.shown.get() && self.begun.elapsed() >= SHORT {
            self.shown.set(true);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position((self.before.get() + finished) as u64);
        self.bar.tick();
    }

    /// Prints while the bar is hidden.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Time since the work began.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A flag that Ctrl-C sets. A second Ctrl-C ends the process at once.
pub fn cancelled() -> Result<Arc<AtomicBool>, Failure> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            // Algorithms that stay in the kernel are unloaded by the next start.
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::new(format!("cannot handle Ctrl-C: {error}")))?;
    Ok(cancelled)
}

/// The failure of an interrupted command, with exit code 130, if not all runs finished.
pub fn ended(finished: usize, of: usize, kept: &str) -> Result<(), Failure> {
    if finished == of {
        return Ok(());
    }
    Err(Failure {
        message: format!("interrupted: {finished} of {of} runs are finished{kept}"),
        code: 130,
    })
}
