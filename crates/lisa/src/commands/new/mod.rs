//! `lisa new`: a commented scenario from a preset, or from answers to a few questions.

mod questions;

use std::io::{IsTerminal, stderr, stdin};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use crate::output::{Failure, print};
use crate::runs::files;
use crate::values;

/// `lisa new`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The preset [default: on a terminal, ask for network, rates, RTTs, queues and algorithm].
    #[arg(value_enum)]
    pub preset: Option<Preset>,
    /// Write into this file [default: standard output; after questions, ask].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
    pub output: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long)]
    pub force: bool,
}

/// A scenario that this program has.
#[derive(Clone, Copy, Debug, ValueEnum)]
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
            Self::SharedBottleneck => include_str!("../../../presets/shared-bottleneck.toml"),
            Self::WifiLte => include_str!("../../../presets/wifi-lte.toml"),
            Self::HomeTwoLines => include_str!("../../../presets/home-two-lines.toml"),
            Self::Fairness => include_str!("../../../presets/fairness.toml"),
            Self::DataCentre => include_str!("../../../presets/data-centre.toml"),
        }
    }
}

/// Writes the scenario.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = arguments.output.as_deref();
    match (arguments.preset, output) {
        (Some(preset), None) => print(preset.text()),
        (Some(preset), Some(path)) => write(path, preset.text(), arguments.force),
        (None, _) if !(stdin().is_terminal() && stderr().is_terminal()) => {
            let values = Preset::value_variants().iter();
            let values = values.filter_map(ValueEnum::to_possible_value);
            let names: Vec<String> = values.map(|value| value.get_name().into()).collect();
            Err(Failure::usage(format!(
                "PRESET is missing: one of {}; on a terminal `lisa new` asks",
                names.join(", ")
            )))
        }
        (None, _) => {
            if let Some(path) = output {
                files::check("-o", path, arguments.force)?;
            }
            let answers = questions::ask(output, arguments.force)?;
            write(&answers.file, &answers.text, arguments.force)?;
            let file = answers.file.display();
            eprintln!("wrote {file}; next: `lisa show {file}`, `lisa compare {file} -a lia,lisa`");
            Ok(())
        }
    }
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    files::check("-o", path, force)?;
    ::files::write(path, text)
        .map_err(|error| Failure::new(format!("-o {}: {error}", path.display())))
}

const EXAMPLES: &str = "Examples:
  lisa new                            # asks
  lisa new wifi-lte -o phone.toml && lisa compare phone.toml -a lia,lisa
  lisa new shared-bottleneck | less";
