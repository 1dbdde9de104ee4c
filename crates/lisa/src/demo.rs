//! `lisa demo`: the paper's bottleneck with and without LISA, on a kernel and on simulated endpoints.

use crate::output::Failure;
use crate::report;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::{Error, Host, Vm};
use netsim::{Rate, Span};
use scenario::export::{self, columns::Format};
use scenario::metrics::{METRICS, Metric};
use scenario::statistics::Mean;
use scenario::{Application, ConnectionSpec, Protocol, Run, Scenario, Watch, simulate};
use std::collections::VecDeque;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
    mpsc,
};
use std::thread;
use topology::{Properties, Queue, SharedBottleneck, Spec};

/// What is compared: a name, what it is, and how a connection does it.
pub struct Contender {
    pub name: &'static str,
    pub about: &'static str,
    protocol: Protocol,
    algorithm: &'static str,
}

/// In the order of the tables.
pub const CONTENDERS: [Contender; 4] = [
    Contender {
        name: "TCP CUBIC",
        about: "one path, as every Linux host has it",
        protocol: Protocol::Tcp,
        algorithm: "cubic",
    },
    Contender {
        name: "MPTCP CUBIC",
        about: "MPTCP as distributions ship it: each subflow a TCP CUBIC of its own",
        protocol: Protocol::Mptcp,
        algorithm: "cubic",
    },
    Contender {
        name: "MPTCP LIA",
        about: "MPTCP of the papers: uncoupled slow start, then LIA (RFC 6356)",
        protocol: Protocol::Mptcp,
        algorithm: "lia",
    },
    Contender {
        name: "LISA",
        about: "linked slow start, then LIA",
        protocol: Protocol::Mptcp,
        algorithm: "lisa",
    },
];

/// Index of the baseline that LISA is compared with, and of LISA.
pub const BASELINE: usize = 2;
/// See [`BASELINE`].
pub const LISA: usize = 3;

/// A bottleneck of the papers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    pub kbits: u64,
    pub rtt_ms: u64,
    pub queue: u32,
}

/// The paper's two bottlenecks with its three queues (ICC 2016, sections II and V).
fn bottlenecks() -> Vec<Bottleneck> {
    let paths = [(2_500, 70), (5_000, 40)];
    let queues = [9, 17, 30];
    paths
        .into_iter()
        .flat_map(|(kbits, rtt_ms)| {
            queues.map(|queue| Bottleneck {
                kbits,
                rtt_ms,
                queue,
            })
        })
        .collect()
}

/// The paper's file (ICC 2016, figure 1).
pub const BYTES: u64 = 300_000;

/// The server's paths to the client.
const PATHS: u32 = 2;

/// Seeds draw RTTs within this share: at one fixed RTT the mean of runs says little.
const RTT_SPREAD: f64 = 0.1;

/// Large enough that windows decide and not buffers; Linux's own lets a sender have about 45 segments out.
pub const RECEIVE_WINDOW: u64 = 4 << 20;

impl std::fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rate = self.kbits as f64 / 1e3;
        write!(f, "{rate} Mbit/s, {} ms, queue {}", self.rtt_ms, self.queue)
    }
}

impl Bottleneck {
    fn scenario(&self, contender: &Contender) -> Scenario {
        let rtt = Span::from_millis(self.rtt_ms);
        let rate = Rate::from_bits_per_second(self.kbits * 1000);
        let queue = Queue::DropTailPackets(self.queue);
        Scenario {
            title: format!("300 KB, {self}"),
            topology: Spec::SharedBottleneck(SharedBottleneck {
                bottleneck: Properties::shaped(rate, queue, Span::ZERO),
                rtts: vec![rtt; PATHS as usize],
                access: None,
            }),
            stop: Span::from_secs(60),
            warmup: Span::ZERO,
            rtt_spread: RTT_SPREAD,
            connections: vec![ConnectionSpec {
                name: contender.name.into(),
                protocol: contender.protocol,
                algorithm: contender.algorithm.into(),
                subflows: match contender.protocol {
                    Protocol::Mptcp => PATHS,
                    Protocol::Tcp | Protocol::Udp => 1,
                },
                application: Application::Bytes(BYTES),
                receive_window: Some(RECEIVE_WINDOW),
                ..Default::default()
            }],
        }
    }
}

/// Whose endpoints ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Kernel,
    Simulator,
}

/// In the order of the tables.
pub const SIDES: [Side; 2] = [Side::Kernel, Side::Simulator];

impl Side {
    /// In names of files.
    fn name(self) -> &'static str {
        match self {
            Side::Kernel => "kernel",
            Side::Simulator => "simulator",
        }
    }

    /// In tables.
    pub fn label(self, kernel: &Kernel) -> String {
        match self {
            Side::Kernel => kernel.label(),
            Side::Simulator => self.name().into(),
        }
    }
}

/// The kernel whose endpoints run.
pub enum Kernel {
    /// This host's.
    Here,
    /// One in a VM, in virtual time.
    InVm(Vm),
}

/// Endpoints of a kernel, for one run after the other.
enum Endpoints<'a> {
    Here(Host),
    InVm(&'a Vm),
}

impl Kernel {
    /// This host's, where it can; else one in a VM, and why.
    fn find(cancelled: &Arc<AtomicBool>) -> Result<(Self, Option<Error>), Failure> {
        let Err(why) = Host::new(0, cancelled.clone()) else {
            return Ok((Self::Here, None));
        };
        match Vm::new(None, cancelled.clone()) {
            Ok(vm) => Ok((Self::InVm(vm), Some(why))),
            Err(error) => Err(Failure::new(format!("{why}; and in a VM: {error}"))),
        }
    }

    /// Its release, as `uname -r` prints it.
    pub fn release(&self) -> String {
        match self {
            Self::Here => kernel::requirements::release(),
            Self::InVm(vm) => vm.release().into(),
        }
    }

    /// In tables.
    pub fn label(&self) -> String {
        let release = self.release();
        let version: Vec<&str> = release.split(['.', '-']).take(2).collect();
        let place = match self {
            Self::Here => "",
            Self::InVm(_) => " in a VM",
        };
        format!("Linux {}{place}", version.join("."))
    }

    /// For one worker of several.
    fn endpoints(
        &self,
        worker: usize,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<Endpoints<'_>, Error> {
        match self {
            Self::Here => Host::new(worker, cancelled.clone()).map(Endpoints::Here),
            Self::InVm(vm) => Ok(Endpoints::InVm(vm)),
        }
    }
}

impl Endpoints<'_> {
    fn run(&mut self, scenario: &Scenario, seed: u64) -> Result<Run, Error> {
        let watch = Watch {
            trace: true,
            capture: false,
        };
        match self {
            Self::Here(host) => host.run_watched(scenario, seed, watch),
            Self::InVm(vm) => vm.run(scenario, seed, watch),
        }
    }
}

/// All runs of one contender over one bottleneck, in the order of the seeds: on the kernel, and simulated.
pub struct Cell {
    pub bottleneck: Bottleneck,
    pub contender: usize,
    pub runs: Vec<Run>,
    pub simulated: Vec<Run>,
}

/// What the tables show.
pub const SHOWN: [&Metric; 4] = [&METRICS[0], &METRICS[2], &METRICS[3], &METRICS[4]];

/// A metric of a run's one connection.
fn value(run: &Run, metric: &Metric) -> Option<f64> {
    metric.of_connection(&run.outcome.connections[0], None)
}

impl Cell {
    /// The runs of one side.
    pub fn of(&self, side: Side) -> &[Run] {
        match side {
            Side::Kernel => &self.runs,
            Side::Simulator => &self.simulated,
        }
    }

    /// Mean and interval of a metric over the runs that have it.
    pub fn mean(&self, side: Side, metric: &Metric) -> Option<Mean> {
        let runs = self.of(side).iter();
        let values: Vec<f64> = runs.filter_map(|run| value(run, metric)).collect();
        Mean::of(&values)
    }

    /// Mean and interval of what this cell has more than `other`, run by run: the draws are paired.
    pub fn difference(&self, other: &Cell, side: Side, metric: &Metric) -> Option<Mean> {
        let pairs = self.of(side).iter().zip(other.of(side));
        let values: Vec<f64> = pairs
            .filter_map(|(a, b)| Some(value(a, metric)? - value(b, metric)?))
            .collect();
        Mean::of(&values)
    }
}

/// Runs it all and writes the report.
pub fn run(out: &Path, runs: u32, json: bool) -> Result<(), Failure> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130); // asked twice: what is left in the kernel, the next start takes out
        }
    })
    .map_err(|error| Failure::new(format!("cannot listen for Ctrl-C: {error}")))?;
    fs::create_dir_all(out).map_err(|error| Failure::new(format!("{}: {error}", out.display())))?;
    let (kernel, why) = Kernel::find(&cancelled)?;
    if let Some(why) = why {
        eprintln!("lisa: the kernel is {}: {why}", kernel.label());
    }

    let cells = measure(&kernel, runs, &cancelled)?;
    if json {
        for run in cells
            .iter()
            .flat_map(|cell| SIDES.map(|side| cell.of(side)))
            .flatten()
        {
            println!(
                "{}",
                serde_json::to_string(&run.outcome).expect("plain data")
            );
        }
    } else {
        print!("{}", report::tables(&kernel, &cells));
    }
    write(out, &kernel, &cells)?;
    if !json {
        println!("\n{}", report::verdict(&kernel, &cells));
        println!("Report: {}", out.join("report.html").display());
    }
    Ok(())
}

/// A run that is to be made: which cell, and which seed.
type Job = (usize, u64);

/// All cells, their runs made in parallel on all cores: on a host each is idle most of the time, and a VM has one processor.
fn measure(kernel: &Kernel, runs: u32, cancelled: &Arc<AtomicBool>) -> Result<Vec<Cell>, Failure> {
    let mut cells: Vec<Cell> = bottlenecks()
        .into_iter()
        .flat_map(|bottleneck| {
            (0..CONTENDERS.len()).map(move |contender| Cell {
                bottleneck,
                contender,
                runs: Vec::new(),
                simulated: Vec::new(),
            })
        })
        .collect();
    // Contenders take turns, so that what the machine does meanwhile befalls all alike.
    let jobs: VecDeque<Job> = (0..cells.len() / CONTENDERS.len())
        .flat_map(|group| (0..u64::from(runs)).map(move |seed| (group, seed)))
        .flat_map(|(group, seed)| {
            (0..CONTENDERS.len()).map(move |c| (group * CONTENDERS.len() + c, seed))
        })
        .collect();
    let bar = progress(jobs.len() as u64);
    let jobs = Mutex::new(jobs);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (results, received) = mpsc::channel();
    let scenarios: Vec<Scenario> = cells
        .iter()
        .map(|cell| cell.bottleneck.scenario(&CONTENDERS[cell.contender]))
        .collect();
    let mut made: Vec<(Job, Run)> = thread::scope(|scope| {
        for worker in 0..workers {
            let (jobs, results, scenarios) = (&jobs, results.clone(), &scenarios);
            scope.spawn(move || {
                let next = || jobs.lock().expect("no worker panics with it").pop_front();
                let mut endpoints = match kernel.endpoints(worker, cancelled) {
                    Ok(endpoints) => endpoints,
                    Err(error) => return drop(results.send(Err(error))),
                };
                while let Some(job) = next() {
                    let result = endpoints.run(&scenarios[job.0], job.1);
                    let result = result.map(|run| (job, run));
                    let failed = result.is_err();
                    if results.send(result).is_err() || failed {
                        return;
                    }
                }
            });
        }
        drop(results);
        let mut made = Vec::new();
        for result in received {
            let (job, run) = result.inspect_err(|_| cancelled.store(true, Ordering::SeqCst))?;
            bar.set_message(format!(
                "{}: {}",
                CONTENDERS[cells[job.0].contender].name, cells[job.0].bottleneck
            ));
            bar.inc(1);
            made.push((job, run));
        }
        Ok::<_, Error>(made)
    })
    .inspect_err(|_| bar.finish_and_clear())?;
    bar.finish_and_clear();
    made.sort_by_key(|(job, _)| *job);
    for ((cell, seed), run) in made {
        cells[cell].runs.push(run);
        // The same scenario and the same draw; all of them take less than one real run.
        let simulated = simulate(&scenarios[cell], seed, true)?;
        cells[cell].simulated.push(simulated);
    }
    Ok(cells)
}

fn progress(runs: u64) -> ProgressBar {
    let style = "{bar:30} {pos}/{len} runs, {elapsed} of about {duration}  {msg}";
    ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr())
        .with_style(ProgressStyle::with_template(style).expect("a valid template"))
}

/// The report, the outcomes and the traces.
fn write(out: &Path, kernel: &Kernel, cells: &[Cell]) -> Result<(), Failure> {
    let put = |name: &str, bytes: &[u8]| {
        let path = out.join(name);
        fs::write(&path, bytes).map_err(|e| Failure::new(format!("{}: {e}", path.display())))
    };
    let mut outcomes = Vec::new();
    let mut credits = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        for run in SIDES.into_iter().flat_map(|side| cell.of(side)) {
            writeln!(
                outcomes,
                "{}",
                serde_json::to_string(&run.outcome).expect("plain data")
            )?;
            for credit in &run.credits {
                let credit = serde_json::to_value(credit).expect("plain data");
                let line = serde_json::json!({
                    "scenario": run.outcome.scenario, "seed": run.outcome.seed, "backend": run.outcome.backend, "credit": credit,
                });
                writeln!(credits, "{line}")?;
            }
        }
        for side in SIDES {
            let Some(first) = cell.of(side).first() else {
                continue;
            };
            let path = out.join(format!("trace-{number:02}-{}.csv", side.name()));
            export::write_rows(&first.rows, &path, Format::Csv)?;
        }
    }
    put("outcomes.jsonl", &outcomes)?;
    put("credits.jsonl", &credits)?;
    put("report.html", report::html(kernel, cells).as_bytes())
}
