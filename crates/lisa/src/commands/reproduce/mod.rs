//! `lisa reproduce`: the experiments of the papers, beside their published results.

mod arguments;
mod draw;
mod over_time;
mod page;
mod parts;
mod section;
mod sensitivity;
mod styles;
mod text;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reproduce::{
    KERNEL_BUILD, Kernel, Library, Report, Round, Run, SIMULATOR_BUILD, Sample, Store,
};
use scenario::Scenario;

pub use self::arguments::Arguments;
use self::arguments::Real;
use crate::output::{Failure, print};
use crate::runs::arguments::Common;
use crate::runs::execute::{Executor, Job, Trace};
use crate::runs::on::On;
use crate::runs::progress::{self, Progress};

/// Runs what is not in the store, and writes the report.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let library = Library::new()?;
    let name = arguments.name.as_deref();
    let select = || {
        let selection = library.select(name);
        selection.map_err(|error| Failure::usage(error.to_string()))
    };
    let first = reproduce::runs(&select()?, arguments.seeds)?;
    if let Some(folder) = &arguments.output {
        let created = fs::create_dir_all(folder);
        created.map_err(|error| Failure::new(format!("-o {}: {error}", folder.display())))?;
    }
    let kernel = arguments.on.map(|Real::Vm| kernel(arguments)).transpose()?;
    let mut store = Store::open(&folder(arguments), SIMULATOR_BUILD)?;
    let cancelled = progress::cancelled()?;
    finish(
        &first,
        "figures",
        On::Sim,
        arguments,
        &mut store,
        &cancelled,
    )?;
    let mut report = Report::new(&library, select()?, arguments.seeds, &store)?;
    if !arguments.no_causes {
        for round in Round::ALL {
            let further = report.further(round)?;
            finish(
                &further,
                round.about(),
                On::Sim,
                arguments,
                &mut store,
                &cancelled,
            )?;
            report.explain(round, &store)?;
        }
    }
    if let Some(kernel) = kernel {
        let runs = kernel.runs(&select()?, arguments.seeds)?;
        let same: Vec<Run> = runs.iter().map(Run::simulated).collect();
        finish(
            &same,
            "the kernel's runs, simulated",
            On::Sim,
            arguments,
            &mut store,
            &cancelled,
        )?;
        let mut real = Store::open(&folder(arguments).join("vm"), KERNEL_BUILD)?;
        finish(
            &runs,
            &kernel.name(),
            On::Vm,
            arguments,
            &mut real,
            &cancelled,
        )?;
        report.add_kernel(kernel, &store, &real)?;
    }
    if let Some(folder) = &arguments.output {
        let executor = executor(arguments, On::Sim)?;
        let over_time = over_time::all(&report, &executor, &cancelled)?;
        let write = |name: &str, bytes: Vec<u8>| {
            let path = folder.join(name);
            ::files::write(&path, bytes)
                .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
        };
        write("results.csv", report.csv()?)?;
        write("report.html", page::html(&report, &over_time)?.into_bytes())?;
        for (name, svg) in draw::files(&report, &over_time)? {
            write(&name, svg.into_bytes())?;
        }
    }
    if arguments.json {
        let json = serde_json::to_string(&report.summary());
        let json = json.map_err(|error| Failure::new(error.to_string()))?;
        return print(&(json + "\n"));
    }
    print(&text::text(&report, arguments))
}

/// The kernel that runs the claims.
fn kernel(arguments: &Arguments) -> Result<Kernel, Failure> {
    Ok(Kernel {
        release: lab::vm::release(arguments.kernel.as_deref())?,
        sample: (!arguments.full).then_some(Sample::VM),
    })
}

/// The folder of the store.
fn folder(arguments: &Arguments) -> PathBuf {
    match &arguments.cache {
        Some(folder) => folder.clone(),
        None => lab::vm::cache().join("reproduce"),
    }
}

impl From<reproduce::Error> for Failure {
    fn from(error: reproduce::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// The executor of the arguments.
fn executor(arguments: &Arguments, on: On) -> Result<Executor, Failure> {
    Executor::new(
        &Common {
            file: PathBuf::new(),
            kernel: arguments.kernel.clone().filter(|_| on == On::Vm),
            set: Vec::new(),
            jobs: arguments.jobs,
            force: false,
        },
        on,
    )
}

/// Runs those of the runs that are not in the store.
fn finish(
    runs: &[Run],
    what: &str,
    on: On,
    arguments: &Arguments,
    store: &mut Store,
    cancelled: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let keys = runs
        .iter()
        .map(Run::key)
        .collect::<Result<Vec<String>, _>>()?;
    let missing = keys.iter().zip(runs).filter(|(key, _)| !store.has(key));
    let (keys, missing): (Vec<&String>, Vec<Run>) =
        missing.map(|(key, run)| (key, run.clone())).unzip();
    if missing.is_empty() {
        return Ok(());
    }
    let scenarios = scenarios(&missing)?;
    let progress = Progress::new(missing.len()).about(what);
    let executor = executor(arguments, on)?;
    let count = missing.len();
    let job = move |number: usize| {
        let run = &missing[number];
        Ok(Job {
            scenario: scenarios[number].clone(),
            about: format!("experiments/{}", run.file).into(),
            seed: run.seed,
            trace: Trace::None,
            sample: None,
        })
    };
    let finished = executor.execute(count, job, cancelled, &progress, |number, run| {
        let mut outcome = run.outcome;
        outcome.wall_seconds = None;
        store.add(keys[number], &outcome)?;
        // A run in a VM takes seconds or minutes, a simulation milliseconds.
        if on == On::Vm {
            store.flush()?;
        }
        Ok(())
    })?;
    drop(progress);
    store.update()?;
    progress::ended(finished, count, "; the same command runs the rest")
}

/// The scenario of each run; the seeds of a point follow each other and share one.
fn scenarios(runs: &[Run]) -> Result<Vec<Arc<Scenario>>, Failure> {
    let mut scenarios: Vec<Arc<Scenario>> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| &runs[before]);
        let is_same = before.is_some_and(|before| before.file == run.file && before.set == run.set);
        scenarios.push(match scenarios.last() {
            Some(last) if is_same => last.clone(),
            _ => Arc::new(run.scenario()?),
        });
    }
    Ok(scenarios)
}
