//! The arguments: what `--help`, the man pages and the shell completions are made from.

use crate::algorithms::Algorithms;
use crate::simulate::arguments;
use clap::{Parser, Subcommand};
use kernel::group::{Assignment, Token};
use std::{ffi::OsString, path::PathBuf, time::Duration};

/// Coupled congestion control for Multipath TCP.
#[derive(Parser)]
#[command(
    name = "lisa",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = after_all()
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a scenario, in the simulator, on this kernel or on one in a VM, and show what came of it.
    ///
    /// A scenario is a TOML file: a network, and the connections that run on it. A simulation is the same on every
    /// machine for the same file and seed; a run in a VM is the same for the same kernel, QEMU and build of this program.
    Run(arguments::Run),
    /// Run a scenario with several algorithms and the same seeds: means, differences, and what of them is clear.
    Compare(arguments::Compare),
    /// Run a scenario over a grid of values of its keys, and write a table of all runs.
    Sweep(arguments::Sweep),
    /// List the algorithms: what couples the windows in slow start and after it, and where each runs.
    ///
    /// An algorithm is a pair: what couples the subflows' windows while they double, and what couples them after.
    #[command(after_help = after_algorithms())]
    Algorithms {
        /// Print JSON (schema lisa.algorithms/2) instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// The algorithms in this Linux kernel: load, watch, use and unload them.
    Kernel {
        #[command(subcommand)]
        command: Kernel,
    },
    /// The paper's bottleneck on a kernel and simulated: TCP, MPTCP and LISA side by side, with a table and a report.
    ///
    /// Transfers of 300 KB between real sockets, over 2.5 Mbit/s and 70 ms and over 5 Mbit/s and 40 ms, with queues of 9,
    /// 17 and 30 packets. Where this kernel cannot, or nobody is root, they are sockets of Linux 6.12 in a VM, which
    /// `make setup` fetches. Takes some minutes; what it made on the host is gone when it ends.
    Demo {
        /// Where the report goes: report.html, outcomes.jsonl, credits.jsonl, trace-NN.csv.
        #[arg(long, value_name = "DIRECTORY", default_value = "out/demo")]
        out: PathBuf,
        /// Runs of each, with round-trip times drawn from ±10 %.
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
        runs: u32,
        /// Print an outcome a line (schema lisa.outcome/4) instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Print completions for a shell: `lisa completions bash > /etc/bash_completion.d/lisa`.
    ///
    /// They know the commands, the options and the algorithms. zsh takes them as `_lisa` in a folder of $fpath, fish as
    /// ~/.config/fish/completions/lisa.fish.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a directory.
    Man {
        /// The directory, which must exist.
        directory: PathBuf,
    },
}

impl Command {
    /// Whether it has to end by itself: it leaves something in the kernel, or an unfinished file, if it is killed.
    pub fn clears_away(&self) -> bool {
        match self {
            Self::Demo { .. } => true,
            Self::Run(run) => run.on == arguments::On::Host || run.trace.is_some(),
            Self::Compare(compare) => compare.on.contains(&arguments::On::Host),
            Self::Sweep(sweep) => sweep.on == arguments::On::Host || sweep.output.is_some(),
            _ => false,
        }
    }
}

#[derive(Subcommand)]
pub enum Kernel {
    /// Register an algorithm with the kernel; it stays until `unload` or the next boot.
    ///
    /// Afterwards any program, in any network namespace, may choose it: with `lisa kernel exec`, by the socket option
    /// TCP_CONGESTION, or as a default. Sockets that do not choose it are not affected, and sockets without MPTCP that do get
    /// the algorithm that they would have without it. Loading it again with the same options changes nothing. Needs
    /// root.
    #[command(after_help = after_load())]
    Load {
        /// The algorithm.
        #[arg(value_parser = Algorithms::of_the_kernel())]
        name: String,
        /// And make it the default of this network namespace, as `lisa kernel default NAME` does.
        #[arg(long)]
        default: bool,
        /// How many connections can be coupled at a time; further ones run uncoupled, and are counted.
        #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
        max_connections: u32,
        /// A setting of the algorithm; `lisa algorithms` lists them. May be given several times.
        #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
        settings: Vec<(String, u32)>,
    },
    /// Take an algorithm out of the kernel again.
    ///
    /// If `--default` or `lisa kernel default` made it the default of this network namespace, the previous default is set again.
    /// Refused while it is the default of other namespaces or in use by sockets; the error names them.
    #[command(after_help = after_unload())]
    Unload {
        /// The algorithm.
        #[arg(value_parser = Algorithms::of_the_kernel())]
        name: String,
        /// While sockets use it: let no new socket choose it, and wait at most SECONDS for these to close.
        #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "90", value_parser = seconds)]
        wait: Option<Duration>,
    },
    /// Show or change the default algorithm of this network namespace.
    ///
    /// Sockets that are opened from then on have it. MPTCP connections use it; plain TCP, and MPTCP that falls back in the
    /// handshake, keep the algorithm that was the default before. Network namespaces that are made later inherit the default
    /// of the first one. Changing it needs root.
    #[command(after_help = after_default())]
    Default {
        /// A loaded algorithm, to be the default [default: show this namespace's, and others that have one of lisa's].
        #[arg(value_parser = Algorithms::of_the_kernel())]
        name: Option<String>,
        /// Set back what plain TCP has, if one of lisa's algorithms is the default.
        #[arg(long, conflicts_with = "name")]
        off: bool,
        /// The same in all network namespaces.
        #[arg(long, requires = "off")]
        all: bool,
    },
    /// Show what is loaded, its connections and their subflows.
    Status {
        /// Print JSON (schema lisa.kernel.status/2) instead of tables.
        #[arg(long)]
        json: bool,
    },
    /// Watch connections and subflows live: windows, thresholds, RTTs, phases, credits. `q` ends it.
    Top {
        /// Time between two looks.
        #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = interval)]
        interval: Duration,
    },
    /// Show which subflows are coupled, or ask for other groups.
    ///
    /// Coupling acts within a group: subflows of different groups take nothing from each other and grow as if they were of
    /// different connections. All start in group 0, all together. Give a group of their own to subflows whose paths
    /// share no bottleneck with the others'. A subflow moves on its next ACK outside of a recovery; until then it is
    /// shown as `0 → 1`. Needs root.
    #[command(after_help = after_group())]
    Group {
        /// The connection, as `lisa kernel status` shows it [default: show all]
        token: Option<Token>,
        /// SUBFLOW=GROUP: a slot (`1`), or all subflows with an address (`10.0.1.2`, `10.0.1.2:443`, `[fd00::1]:443`) at
        /// either end; and a group from 0 to 254.
        #[arg(value_name = "SUBFLOW=GROUP")]
        assignments: Vec<Assignment>,
        /// All subflows of the connection back to group 0; without a connection, those of all.
        #[arg(long, conflicts_with = "assignments")]
        reset: bool,
    },
    /// Run a command whose TCP connections use MPTCP with an algorithm.
    ///
    /// The command and its children get MPTCP sockets where they ask for TCP ones. The command keeps its process id, terminal,
    /// signals and exit code; nothing else on the host changes. The algorithm must be loaded, or Linux's own. Peers
    /// without MPTCP get plain TCP. Does not need root.
    #[command(after_help = after_exec())]
    Exec {
        /// The algorithm.
        #[arg(value_parser = Algorithms::of_the_kernel())]
        name: String,
        /// The command and its arguments, after `--`.
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
}

fn after_all() -> &'static str {
    "First steps:\n  lisa algorithms                        what there is, and where each runs\n  lisa compare FILE -a lia,lisa,css      side by side in the simulator; FILE is one of experiments/\n  sudo lisa kernel load lisa             into this kernel\n  lisa kernel exec lisa -- COMMAND       for one command"
}

fn after_algorithms() -> &'static str {
    "Examples:\n  lisa compare FILE -a lia,lisa,css      (simulated, side by side)\n  sudo lisa kernel load lisa_olia        (in this kernel)"
}

fn after_load() -> &'static str {
    "Examples:\n  sudo lisa kernel load lisa\n  lisa kernel exec lisa -- curl -O http://server/file\n  sudo lisa kernel load lia --default && sudo lisa kernel status"
}

fn after_unload() -> &'static str {
    "Examples:\n  sudo lisa kernel unload lisa\n  sudo lisa kernel unload lisa --wait=300\n  sudo lisa kernel default --off --all && sudo lisa kernel unload lisa --wait"
}

fn after_default() -> &'static str {
    "Examples:\n  sudo lisa kernel default                               # show\n  sudo lisa kernel load lisa && sudo lisa kernel default lisa\n  sudo ip netns exec blue lisa kernel default lisa       # of another namespace\n  sudo lisa kernel default --off                         # this namespace\n  sudo lisa kernel default --off --all                   # every namespace"
}

fn after_exec() -> &'static str {
    "How it works:\n\
     BPF programs that `lisa kernel load` attaches make the sockets MPTCP. This needs Linux 6.6 or later and a user who \
     may make a cgroup (root, or anybody in `systemd-run --user --scope`). The programs follow a process until it moves to a cgroup elsewhere.\n\n\
     Otherwise a helper process makes the sockets (seccomp). If the helper is killed (kill -9), socket() fails with \
     \"Function not implemented\" for TCP in the command. Without root, setuid programs then run as their caller.\n\n\
     Landlock's rules about TCP ports do not cover MPTCP. A process under such rules gets plain TCP sockets; with \
     the helper, so does the whole command from the first landlock_restrict_self of any of its processes. A socket \
     made before the rules is MPTCP and evades them.\n\n\
     Examples:\n  lisa kernel exec lisa -- curl -O http://server/file\n  systemd-run --user --scope lisa kernel exec lisa -- firefox"
}

fn after_group() -> &'static str {
    "Examples:\n  sudo lisa kernel group                          # every connection's slots and groups\n  sudo lisa kernel group 1a2b3c4d 1=2 0=1         # by slot\n  sudo lisa kernel group 1a2b3c4d 192.168.8.2=1   # what goes over this address\n  sudo lisa kernel group 1a2b3c4d --reset         # all together again\n  sudo lisa kernel status --json                  # groups for programs: group, group_asked"
}

/// Seconds, from 0 to a day.
fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("a number of seconds from 0 to 86400".into()),
    }
}

/// `NAME=VALUE`.
fn setting(text: &str) -> Result<(String, u32), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("NAME=VALUE is needed, as in `con_ssthresh=45`")?;
    let value = value
        .parse()
        .map_err(|_| format!("`{value}` is not a whole number"))?;
    Ok((name.into(), value))
}

/// Seconds, from 0.1 to 60.
fn interval(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=60.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("a number of seconds from 0.1 to 60".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_well_formed() {
        super::Cli::command().debug_assert();
    }
}
