//! The backends, as `--on` names them.

use clap::ValueEnum;
use scenario::Backend;

/// A backend: where scenarios run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// Simulated endpoints in virtual time.
    Sim,
    /// The kernel of this host, with network namespaces, in real time. Needs root.
    Host,
    /// A kernel in QEMU in virtual time: the same results on every run. Needs no root.
    Vm,
}

impl On {
    /// Name in arguments and outcomes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Host => "host",
            Self::Vm => "vm",
        }
    }

    /// Name in tables.
    pub fn place(self) -> &'static str {
        match self {
            Self::Sim => "simulated",
            Self::Host => "on this host",
            Self::Vm => "in a VM",
        }
    }

    /// Name in figures, where only the endpoints matter. With two kernels beside each other each has its place.
    pub fn endpoints(self, all: &[Backend]) -> &'static str {
        let kernels = all
            .iter()
            .filter(|backend| **backend != Backend::Sim)
            .count();
        match self {
            Self::Sim => "simulator",
            _ if kernels == 1 => "kernel",
            Self::Host => "kernel (host)",
            Self::Vm => "kernel (VM)",
        }
    }
}

impl From<Backend> for On {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Sim => Self::Sim,
            Backend::Host => Self::Host,
            Backend::Vm => Self::Vm,
        }
    }
}

impl From<On> for Backend {
    fn from(on: On) -> Self {
        match on {
            On::Sim => Self::Sim,
            On::Host => Self::Host,
            On::Vm => Self::Vm,
        }
    }
}

/// The lines above the tables: the scenario's title, the backends and the seeds.
pub fn title(scenario: &str, on: &[On], runs: usize, seed: u64) -> String {
    format!("{scenario}\n{}", runs_on(on, runs, seed))
}

/// The backends and the seeds of `runs` runs, of which the first has this seed.
pub fn runs_on(on: &[On], runs: usize, seed: u64) -> String {
    let places: Vec<&str> = on.iter().map(|on| on.place()).collect();
    let on = match &places[..] {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        places => places.join(""),
    };
    match runs {
        1 => format!("{on}, seed {seed}"),
        _ => format!("{on}, {runs} seeds; means with 95 % confidence intervals"),
    }
}
