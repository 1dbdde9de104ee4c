//! The progress of long commands, and their end by Ctrl-C.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Failure;

/// Shorter work shows no bar.
const SHORT: Duration = Duration::from_secs(1);

/// Time of the first line on a standard error that is no terminal. Each further line comes after twice the time of the last one.
const FIRST: Duration = Duration::from_secs(5);
/// Longest time between two lines.
const LONGEST: Duration = Duration::from_secs(60);

/// The progress on standard error: a bar on a terminal, if the work takes longer than [`SHORT`], else lines in a log.
pub struct Progress {
    bar: ProgressBar,
    runs: usize,
    /// What is run; empty for the command itself.
    work: String,
    begun: Instant,
    shown: Cell<bool>,
    /// Time of the next line; none on a terminal.
    next_line: Cell<Option<Duration>>,
    /// Number of runs that finished in earlier parts of the work.
    before: Cell<usize>,
}

impl Progress {
    /// The progress of this number of runs.
    pub fn new(runs: usize) -> Self {
        let style = "{bar:30} {pos}/{len} runs, {elapsed} of about {duration}";
        let style = ProgressStyle::with_template(style).expect("a valid template");
        let bar = ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::hidden());
        Self {
            bar: bar.with_style(style),
            runs,
            work: String::new(),
            begun: Instant::now(),
            shown: Cell::new(false),
            next_line: Cell::new((!io::stderr().is_terminal()).then_some(FIRST)),
            before: Cell::new(0),
        }
    }

    /// The same with the name of the work.
    pub fn about(mut self, work: &str) -> Self {
        let style =
            format!("{work}: {{bar:30}} {{pos}}/{{len}} runs, {{elapsed}} of about {{duration}}");
        let style = ProgressStyle::with_template(&style).expect("a valid template");
        self.bar.set_style(style);
        self.work = format!("{work}: ");
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
        let finished = self.before.get() + finished;
        self.bar.set_position(finished as u64);
        self.bar.tick();
        if let Some(line) = self.line(finished, self.begun.elapsed()) {
            eprintln!("{line}");
        }
    }

    /// The line for a log, if it is time for one.
    fn line(&self, finished: usize, elapsed: Duration) -> Option<String> {
        self.next_line.get().filter(|next| elapsed >= *next)?;
        self.next_line.set(Some(elapsed + elapsed.min(LONGEST)));
        let (work, runs) = (&self.work, self.runs);
        let seconds = elapsed.as_secs_f64();
        let about = match finished {
            0 => String::new(),
            _ => format!(" of about {:.0} s", seconds * runs as f64 / finished as f64),
        };
        Some(format!(
            "{work}{finished} of {runs} runs, {seconds:.0} s{about}"
        ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_log() {
        let progress = Progress::new(40).about("figures");
        progress.next_line.set(Some(FIRST));
        let line = |finished, seconds| progress.line(finished, Duration::from_secs(seconds));
        assert_eq!(line(0, 4), None);
        assert_eq!(
            line(10, 5).unwrap(),
            "figures: 10 of 40 runs, 5 s of about 20 s"
        );
        assert_eq!(line(19, 9), None);
        assert_eq!(
            line(20, 10).unwrap(),
            "figures: 20 of 40 runs, 10 s of about 20 s"
        );
        // Twice the time, but not more than a minute apart.
        assert_eq!(line(30, 19), None);
        assert!(line(30, 200).is_some());
        assert_eq!(line(39, 259), None);
        assert!(line(39, 260).is_some());
        // A terminal has a bar.
        progress.next_line.set(None);
        assert_eq!(line(40, 1000), None);
    }
}
