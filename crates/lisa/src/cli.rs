//! The arguments: the source of `--help`, the manual pages and the shell completions.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueHint};

use crate::commands::{
    compare, demo, explore, kernel, new, paths, plot, reproduce, run, serve, show, sweep, theory,
};
use crate::runs::on::On;
use crate::values;

/// Coupled congestion control for Multipath TCP: algorithms that run in a packet simulator and in the Linux kernel.
#[derive(Parser)]
#[command(
    name = "lisa",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = FIRST_STEPS
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a scenario in the simulator, on this kernel or on a kernel in a VM, and show the results.
    ///
    /// A scenario is a TOML file: a network, and the connections that run on it. A simulation has the same results on every
    /// machine for the same file and seed. A run in a VM has the same results for the same kernel, QEMU and build of this
    /// program.
    Run(run::Arguments),
    /// Run a scenario with several algorithms and the same seeds, and show means and differences.
    Compare(compare::Arguments),
    /// Run a scenario over a grid of values of its keys, and write a table of all runs.
    Sweep(sweep::Arguments),
    /// Write a commented scenario, from a preset or from answers to a few questions.
    New(new::Arguments),
    /// Draw a file that `run`, `compare` or `sweep` wrote: a trace, time series, or rows of runs.
    Plot(plot::Arguments),
    /// Show the network of a scenario: its links, the paths of each connection, who shares a link, and where the scenario runs.
    Show(show::Arguments),
    /// Open the explorer: the simulator as a page, with sliders, figures over time and the reasons of each change of a window.
    Explore(explore::Arguments),
    /// Show the paths between two nodes of a map or a scenario, the links that they share, and which paths need coupling.
    ///
    /// The k shortest paths without a loop (Yen), or disjoint paths of the least total length (Bhandari). A map is a GML file, as The
    /// Internet Topology Zoo has them.
    Paths(paths::Arguments),
    /// Serve the topology manager, which sends endpoints the groups of their subflows that share a bottleneck.
    ///
    /// It keeps a map, the rates of its links, and the subflows that endpoints report, and decides their groups (docs/assistance.md). HTTP
    /// with JSON; a page at / draws the live map. Runs until Ctrl-C or SIGTERM.
    Serve(serve::Arguments),
    /// Show the rates that theory predicts for a scenario: the fair ones, and those of each congestion avoidance at rest.
    Theory(theory::Arguments),
    /// Run the experiments of the papers, and write a report of which published results hold.
    ///
    /// The papers are LISA's, CSS's, the draft on LIA and OLIA, and NMCC's. Each published value or claim gets a verdict with
    /// the endpoints of the paper's day and with today's Linux.
    Reproduce(reproduce::Arguments),
    /// List the algorithms, their settings, and where each runs.
    ///
    /// An algorithm is a pair: the coupling of the subflows' windows in slow start, and the coupling in congestion avoidance.
    #[command(after_help = EXAMPLES_ALGORITHMS)]
    Algorithms {
        /// Print JSON (schema lisa.algorithms/2) instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Load, watch, use and unload the algorithms in this Linux kernel.
    #[command(after_help = EXAMPLES_KERNEL)]
    Kernel {
        #[command(subcommand)]
        command: kernel::Command,
    },
    /// Compare TCP, MPTCP and LISA over the paper's bottlenecks, on a kernel and in the simulator, and write a report.
    ///
    /// Transfers of 300 KB between real sockets, over 2.5 Mbit/s and 70 ms and over 5 Mbit/s and 40 ms, with queues of 9,
    /// 17 and 30 packets. If this kernel lacks a requirement, or without root, the sockets are those of Linux 6.12 in a VM,
    /// which `make setup` fetches. Takes some minutes, and leaves nothing on the host.
    Demo(demo::Arguments),
    /// Print completions for a shell: `lisa completions bash > /etc/bash_completion.d/lisa`.
    ///
    /// They complete commands, options and algorithms. zsh reads them as `_lisa` in a folder of $fpath, fish as
    /// ~/.config/fish/completions/lisa.fish.
    #[command(after_help = EXAMPLES_COMPLETIONS)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a directory.
    ///
    /// A page for each command, and lisa-scenario(5) and lisa.toml(5) for the files.
    #[command(after_help = EXAMPLES_MAN)]
    Man {
        /// The directory, which must exist.
        #[arg(value_hint = ValueHint::DirPath, value_parser = values::path("the name of a directory"))]
        directory: PathBuf,
    },
}

impl Command {
    /// Whether the command must end by itself: killed, it leaves algorithms in the kernel.
    pub fn clears_away(&self) -> bool {
        match self {
            Self::Demo(_) => true,
            Self::Kernel { command } => command.clears_away(),
            Self::Run(run) => run.on == On::Host,
            Self::Compare(compare) => compare.on.contains(&On::Host),
            Self::Sweep(sweep) => sweep.on == On::Host,
            _ => false,
        }
    }

    /// Whether the command writes files besides its output, which are to be complete.
    pub fn writes_files(&self) -> bool {
        match self {
            Self::Run(run) => [&run.trace, &run.pcap, &run.plot, &run.rows.output]
                .iter()
                .any(|file| file.is_some()),
            Self::Compare(compare) => compare.rows.output.is_some(),
            Self::Sweep(sweep) => sweep.rows.output.is_some() || sweep.plot.is_some(),
            _ => false,
        }
    }
}

const FIRST_STEPS: &str = "First steps:
  lisa new wifi-lte -o phone.toml        write a scenario; `lisa new --help` lists others
  lisa show phone.toml                   show its network, and who shares a link
  lisa compare phone.toml -a lia,lisa    compare algorithms in the simulator
  lisa algorithms                        list the algorithms
  sudo lisa kernel load lisa             load into this kernel
  lisa kernel exec lisa -- COMMAND       use for one command";

const EXAMPLES_KERNEL: &str = "Examples:
  sudo lisa kernel load lisa                    load an algorithm
  lisa kernel exec lisa -- COMMAND              use it for one command
  sudo lisa kernel status                       show connections and subflows
  sudo lisa kernel doctor                       find out why connections keep to one path
  sudo lisa kernel unload lisa                  undo it";

const EXAMPLES_COMPLETIONS: &str = "Examples:
  lisa completions bash | sudo tee /etc/bash_completion.d/lisa
  lisa completions zsh > ~/.zfunc/_lisa
  lisa completions fish > ~/.config/fish/completions/lisa.fish";

const EXAMPLES_MAN: &str = "Examples:
  mkdir pages && lisa man pages && man -l pages/lisa-run.1";

const EXAMPLES_ALGORITHMS: &str = "Examples:
  lisa compare FILE -a lia,lisa,css      compare in the simulator
  sudo lisa kernel load lisa_olia        load into this kernel";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_well_formed() {
        super::Cli::command().debug_assert();
    }

    fn helps(command: &mut clap::Command, found: &mut Vec<String>) {
        found.push(command.render_long_help().to_string());
        for command in command.get_subcommands_mut() {
            helps(command, found);
        }
    }

    /// Names and versions of schemas in help texts are those of docs/*.schema.json.
    #[test]
    fn help_names_the_published_schemas() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let files = std::fs::read_dir(docs)
            .unwrap()
            .map(|file| file.unwrap().path());
        let files = files.filter(|path| path.to_string_lossy().ends_with(".schema.json"));
        let published: Vec<String> = files
            .map(|path| {
                let text = std::fs::read_to_string(path).unwrap();
                let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
                schema["$id"].as_str().unwrap().to_owned()
            })
            .collect();
        let mut found = Vec::new();
        helps(&mut super::Cli::command(), &mut found);
        let mut names = 0;
        for help in found {
            let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
            for rest in words.split("(schema ").skip(1) {
                let name = rest.split(')').next().unwrap();
                assert!(
                    published.iter().any(|schema| schema == name),
                    "{name}: {published:?}"
                );
                names += 1;
            }
        }
        assert!(names >= 8, "{names}");
    }
}
