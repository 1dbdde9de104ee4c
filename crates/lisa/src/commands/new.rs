//! `lisa new`: a commented scenario from a preset.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use crate::output::{Failure, print};
use crate::values;

/// `lisa new`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The preset.
    #[arg(value_enum)]
    pub preset: Preset,
    /// Write into this file [default: standard output].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
    pub output: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// A scenario that this program has.
#[derive(Clone, Copy, ValueEnum)]
pub enum Preset {
    /// Two subflows of one download over one bottleneck.
    SharedBottleneck,
    /// A phone that downloads over Wi-Fi and LTE.
    WifiLte,
    /// A home with two lines; a TCP connection uses the first.
    HomeTwoLines,
    /// Two MPTCP connections beside three TCP connections.
    Fairness,
    /// A fat tree of 16 hosts, each of which sends to one other.
    DataCentre,
}

impl Preset {
    fn text(self) -> &'static str {
        match self {
            Self::SharedBottleneck => include_str!("../../presets/shared-bottleneck.toml"),
            Self::WifiLte => include_str!("../../presets/wifi-lte.toml"),
            Self::HomeTwoLines => include_str!("../../presets/home-two-lines.toml"),
            Self::Fairness => include_str!("../../presets/fairness.toml"),
            Self::DataCentre => include_str!("../../presets/data-centre.toml"),
        }
    }
}

/// Writes the scenario.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = arguments.preset.text();
    match &arguments.output {
        None => print(text),
        Some(path) => write(path, text, arguments.force),
    }
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    match force {
        true => options.write(true).create(true).truncate(true),
        false => options.write(true).create_new(true),
    };
    let written = (options.open(path)).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let problem = match error.kind() {
            ErrorKind::AlreadyExists => "the file exists; --force replaces it".into(),
            _ => error.to_string(),
        };
        Failure::new(format!("-o {}: {problem}", path.display()))
    })
}

const EXAMPLES: &str = "Examples:
  lisa new wifi-lte -o phone.toml && lisa compare phone.toml -a lia,lisa
  lisa new shared-bottleneck | less";
