//! Results of a sweep: its journal, table and lines of JSON, in the order of the runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use scenario::export::columns::{Format, Property};
use scenario::export::journal::{Finished, Identity, Journal};
use scenario::export::rows::{self as table_rows, Columns};
use scenario::sample::Samples;
use scenario::study::equality;
use scenario::study::shard::Numbers;
use scenario::study::sweep::{self, Point};
use scenario::study::warnings::Warnings;
use scenario::{Outcome, Run};

use super::plot::Figure;
use super::rows;
use crate::output::{self, Failure};
use crate::runs::files;
use crate::runs::on::On;
use crate::runs::rows_file::RowsFile;

/// The file of `--output` with its journal.
pub struct Output {
    table: RowsFile,
    journal: Arc<Mutex<Journal>>,
    journal_path: PathBuf,
    /// Prevents a second process from continuing the journal.
    _lock: Flock<fs::File>,
}

/// Locks a journal, which is created if it does not exist.
fn lock(path: &Path) -> Result<Flock<fs::File>, Failure> {
    let shown = path.display();
    let file = ::files::open_or_create(path);
    let file = file.map_err(|error| Failure::new(format!("{shown}: {error}")))?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| match error {
        Errno::EWOULDBLOCK => Failure::new(format!(
            "{shown}: another process writes this file: wait for its end, or choose another name for -o"
        )),
        error => Failure::new(format!("{shown}: {error}")),
    })
}

/// What to do about files that exist.
#[derive(Clone, Copy, Debug)]
pub struct Existing {
    /// `--resume`.
    pub resume: bool,
    /// `--force`.
    pub force: bool,
}

impl Output {
    /// Opens the journal and the table of a sweep with this many runs.
    pub fn open(
        path: &Path,
        format: Format,
        columns: Columns,
        (identity, runs): (&Identity, usize),
        existing: Existing,
    ) -> Result<Self, Failure> {
        let journal_path = files::beside(path, ".part");
        let has_journal = journal_path.exists();
        let shown = path.display();
        let part = journal_path.display();
        let resumes = existing.resume && has_journal;
        if existing.resume && !has_journal && path.exists() {
            return Err(Failure::new(format!(
                "-o {shown}: the file exists without a journal {part}: the sweep is complete; --force without --resume begins anew"
            )));
        }
        if !existing.resume && has_journal && !existing.force {
            return Err(Failure::new(format!(
                "-o {shown}: {part} has the runs of an unfinished sweep: --resume continues the sweep, --force begins anew"
            )));
        }
        files::check("-o", path, existing.force || resumes)?;
        // Before the journal is cut or emptied: another process may be writing to it.
        let lock = lock(&journal_path)?;
        let journal = match resumes {
            true => Journal::resume(&journal_path, identity, runs)?,
            // A journal without its first record would be in the way of the same command later.
            false => (Journal::create(&journal_path, identity, runs))
                .inspect_err(|_| drop(fs::remove_file(&journal_path)))?,
        };
        Ok(Self {
            table: RowsFile::create(path, format, columns)?,
            journal: Arc::new(Mutex::new(journal)),
            journal_path,
            _lock: lock,
        })
    }

    /// The journal, to which the threads of the runs append.
    pub fn journal(&self) -> &Arc<Mutex<Journal>> {
        &self.journal
    }

    fn locked(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the end of the table. Removes the journal of a finished sweep.
    fn finish(self, finished: bool, properties: &[Property]) -> Result<(), Failure> {
        self.table.finish(properties)?;
        if finished {
            let removed = fs::remove_file(&self.journal_path);
            removed.map_err(|error| {
                Failure::new(format!("{}: {error}", self.journal_path.display()))
            })?;
        }
        Ok(())
    }
}

/// The arguments that decide the form of the results.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Algorithms of each combination; empty: those of the scenario.
    pub algorithms: &'a [String],
    /// Number of seeds.
    pub seeds: usize,
    pub on: On,
    /// Rows are printed as JSON.
    pub json: bool,
}

/// The results, which are delivered in the order of the runs.
pub struct Results<'a> {
    points: &'a mut [Point],
    columns: &'a Columns,
    settings: Settings<'a>,
    output: Option<Output>,
    /// The numbers of all runs of this process, in order.
    numbers: Numbers,
    /// How many of them are delivered or passed over.
    passed: usize,
    delivered: usize,
    warnings: Warnings,
    equality: equality::Results,
    figure: &'a mut Figure,
}

impl<'a> Results<'a> {
    /// Results of the runs with these numbers.
    pub fn new(
        points: &'a mut [Point],
        columns: &'a Columns,
        settings: Settings<'a>,
        output: Option<Output>,
        numbers: Numbers,
        figure: &'a mut Figure,
    ) -> Self {
        Self {
            equality: equality::Results::new(points.len()),
            points,
            columns,
            settings,
            output,
            numbers,
            passed: 0,
            delivered: 0,
            warnings: Warnings::default(),
            figure,
        }
    }

    /// Delivers a run that has just finished, after those before it that the journal has.
    pub fn add(&mut self, number: usize, run: Run) -> Result<(), Failure> {
        self.deliver_until(number)?;
        self.passed += 1;
        match self.output.is_some() {
            true => self.read_journal(number),
            false => self.deliver(number, &run.outcome, &run.samples),
        }
    }

    /// Delivers the runs of the journal before this number.
    fn deliver_until(&mut self, end: usize) -> Result<(), Failure> {
        while let Some(number) = self.numbers.get(self.passed).filter(|n| *n < end) {
            self.passed += 1;
            self.read_journal(number)?;
        }
        Ok(())
    }

    fn read_journal(&mut self, number: usize) -> Result<(), Failure> {
        let Some(output) = &self.output else {
            return Ok(());
        };
        let journal = output.locked();
        if !journal.has(number) {
            return Ok(());
        }
        let Finished { outcome, samples } = journal.read(number)?;
        drop(journal);
        self.deliver(number, &outcome, &samples)
    }

    fn deliver(
        &mut self,
        number: usize,
        outcome: &Outcome,
        samples: &Samples,
    ) -> Result<(), Failure> {
        let at = number % self.points.len();
        let point = &self.points[at];
        let identity = table_rows::Identity {
            settings: &point.settings,
            algorithm: point.algorithm.as_deref(),
        };
        self.delivered += 1;
        self.warnings.add_run(outcome);
        self.equality.add(at, outcome);
        self.figure.add(identity, outcome);
        if let Some(output) = &mut self.output {
            output.table.add(identity, outcome, samples)?;
        }
        if self.settings.json {
            return rows::print(self.columns, identity, outcome, samples);
        }
        let algorithms = self.settings.algorithms.len();
        sweep::add(self.points, algorithms, number, outcome);
        Ok(())
    }

    /// Delivers the rest of the journal, writes the end of the table, and prints warnings. Returns the number of finished runs.
    pub fn finish(mut self, mut properties: Vec<Property>) -> Result<usize, Failure> {
        self.deliver_until(usize::MAX)?;
        let finished = self.delivered == self.numbers.len();
        if finished {
            self.add_warnings()?;
        }
        properties.extend(self.warnings.property());
        if let Some(output) = self.output.take() {
            output.finish(finished, &properties)?;
        }
        if finished {
            output::warn(&self.warnings);
            if self.settings.json {
                rows::print_warnings(&self.warnings)?;
            }
        }
        Ok(self.delivered)
    }

    /// Adds the warnings about all runs together.
    fn add_warnings(&mut self) -> Result<(), Failure> {
        let Settings {
            algorithms,
            seeds,
            on,
            ..
        } = self.settings;
        let points = &self.points;
        let of_scenario = || match on {
            On::Sim => sweep::warning_of_seeds(points),
            _ => Ok(None),
        };
        let each = algorithms.len().max(1);
        self.warnings
            .add_seeds(&self.equality, each, seeds, of_scenario)?;
        let equal = self.equality.equal_algorithms(algorithms, seeds);
        self.warnings.add(equal);
        Ok(())
    }

    /// The message about an interrupted sweep.
    pub fn kept(path: Option<&Path>) -> String {
        path.map_or(String::new(), |path| {
            format!(", their rows are in {}; --resume continues", path.display())
        })
    }
}
