//! Arguments of `lisa kernel …`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Subcommand, ValueHint};
use kernel::group::{Assignment, Token};
use kernel::limits::UserRange;
use kernel::service::config::FILE;

use scenario::units;

use super::filters::Filters;
use crate::algorithm_name;
use crate::values::{self, Form};

/// A command of `lisa kernel`.
#[derive(Subcommand)]
pub enum Command {
    /// Load an algorithm into the kernel, where it stays until `unload` or the next boot.
    ///
    /// Any program, in any network namespace, can then choose the algorithm: with `lisa kernel exec`, with the socket option
    /// TCP_CONGESTION, or as a default. Sockets that choose another algorithm are not affected. A plain TCP socket that
    /// chooses it gets the algorithm that it would have otherwise. Loading an algorithm again gives new connections the new
    /// options; open connections keep theirs. So does a listener whose program has set TCP_CONGESTION or was started by `lisa
    /// kernel exec`: it gives its former load to new connections until the program starts again, and `lisa kernel status`
    /// shows that. Needs root.
    #[command(after_help = EXAMPLES_LOAD)]
    Load {
        /// The algorithm. docs/which.md says which one when.
        #[arg(value_parser = algorithm_name::loadable(), default_value = algorithm_name::RECOMMENDED)]
        name: String,
        /// Also make it the default of this network namespace, as `lisa kernel default NAME` does.
        #[arg(long)]
        default: bool,
        /// Largest number of connections that are coupled at the same time. Further connections run uncoupled, and are
        /// counted.
        #[arg(long, value_name = "N", default_value_t = 16_384, value_parser = values::number::<u32>(1..=1_048_576))]
        max_connections: u32,
        /// Largest number of connections of one user that are coupled at the same time, except for `--unlimited-users`
        /// [default: an eighth of --max-connections]. These users together may have half of --max-connections.
        #[arg(long, value_name = "N", value_parser = values::number::<u32>(0..=1_048_576))]
        user_connections: Option<u32>,
        /// Users without a bound of their own: names, ids and ranges of ids, separated by commas [default: 0-999].
        #[arg(long, value_name = "USERS", value_delimiter = ',', value_parser = users())]
        unlimited_users: Vec<UserRange>,
        /// A setting of the algorithm; `lisa algorithms` lists them. Can be given several times.
        #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting())]
        settings: Vec<(String, u32)>,
        /// Show what the command would do, without doing it. The kernel verifies the programs.
        #[arg(long)]
        dry_run: bool,
    },
    /// Unload an algorithm from the kernel.
    ///
    /// If `--default` or `lisa kernel default` made it the default of this network namespace, the previous default is set again.
    /// Fails while it is the default of other namespaces or in use by sockets; the error names them. Needs root.
    #[command(after_help = EXAMPLES_UNLOAD)]
    Unload {
        /// The algorithm.
        #[arg(value_parser = algorithm_name::loadable())]
        name: String,
        /// While sockets use it: prevent new sockets from choosing it, and wait at most SECONDS until these close.
        #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "90", value_parser = seconds(0.0..=86_400.0))]
        wait: Option<Duration>,
    },
    /// Show or change the default algorithm of this network namespace.
    ///
    /// Sockets that are opened afterwards get the default. MPTCP connections run it; plain TCP, and MPTCP that falls back in
    /// the handshake, keep the algorithm that was the default before. Network namespaces that are created later inherit the
    /// default of the first one. Changing the default needs root.
    #[command(after_help = EXAMPLES_DEFAULT)]
    Default {
        /// A loaded algorithm to become the default [default: show the default of this namespace, and of other namespaces
        /// that have an algorithm of lisa].
        #[arg(value_parser = algorithm_name::loadable())]
        name: Option<String>,
        /// If an algorithm of lisa is the default: set the previous default again, which plain TCP kept.
        #[arg(long, conflicts_with = "name")]
        off: bool,
        /// With --off: in all network namespaces.
        #[arg(long, requires = "off")]
        all: bool,
    },
    /// Switch coupling off, in all loaded algorithms: each subflow runs as the only one of its connection.
    ///
    /// No connection is closed, and new connections start uncoupled. `lisa kernel on` couples them again. For an emergency:
    /// MPTCP then takes as many shares of a bottleneck as it has subflows, as without lisa. Needs root.
    #[command(after_help = EXAMPLES_SWITCH)]
    Off,
    /// Switch coupling on again.
    ///
    /// Undoes `lisa kernel off`, for open and new connections. Needs root.
    #[command(after_help = EXAMPLES_SWITCH)]
    On,
    /// Show the loaded algorithms, their connections and subflows.
    ///
    /// Throughputs are those of a quarter of a second: `↑bit/s` of sent and acknowledged bytes, `↓bit/s` of received bytes.
    /// Narrow terminals show fewer columns; all values are in the JSON. Needs root.
    #[command(after_help = EXAMPLES_STATUS)]
    Status {
        /// Print JSON (schema lisa.kernel.status/3) instead of text.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        filters: Filters,
    },
    /// Print the counters of the loaded algorithms for Prometheus and other monitoring programs, by network namespace.
    ///
    /// Prints the format of Prometheus once, which `promtool check metrics` reads. With --listen the command serves OpenMetrics at
    /// http://ADDRESS/metrics until it is interrupted. The counters survive a change of settings and a new load. Needs root.
    #[command(after_help = EXAMPLES_METRICS)]
    Metrics {
        /// Serve at this address and port.
        #[arg(long, value_name = "ADDRESS:PORT", value_parser = address(), conflicts_with = "textfile")]
        listen: Option<SocketAddr>,
        /// Write a file for the textfile collector of node_exporter; its name ends in `.prom`.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("a file name that ends with .prom"))]
        textfile: Option<PathBuf>,
    },
    /// Watch connections and subflows live: throughputs, windows, thresholds, RTTs, phases.
    ///
    /// Keys: `q` quits, arrows select a line, `s` (or `<` and `>`) changes the order, `/` changes the filter. The lines below the
    /// list show all values of the selected subflow. Needs root.
    #[command(after_help = EXAMPLES_TOP)]
    Top {
        #[command(flatten)]
        filters: Filters,
        /// Time between two updates.
        #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds(0.1..=60.0))]
        interval: Duration,
    },
    /// Examine whether algorithms can run here, and what keeps connections from using several paths.
    ///
    /// Reads the kernel's features, MPTCP's and TCP's settings, the path manager's limits and endpoints with their routes, what peers
    /// answered so far, and the loaded algorithms. Settings and counters are those of this network namespace. Each finding that is
    /// not `ok` has a line that says what to do. Changes nothing. The exit code is 1 if a finding prevents algorithms from running.
    /// The kernel verifies the programs of each algorithm and of `exec`, and frees them again; after 10 s no further algorithm is
    /// tried. Without root nothing is tried, and the loaded algorithms are not listed.
    #[command(after_help = EXAMPLES_DOCTOR)]
    Doctor {
        /// Print JSON (schema lisa.kernel.doctor/1) instead of text.
        #[arg(long)]
        json: bool,
        /// Compare the buffers with a path of this rate: that of all subflows of a connection together.
        #[arg(long, value_name = "RATE", requires = "rtt", value_parser = rate())]
        rate: Option<u64>,
        /// RTT of that path, the largest of the subflows.
        #[arg(long, value_name = "TIME", requires = "rate", value_parser = rtt())]
        rtt: Option<Duration>,
    },
    /// Show which subflows are coupled, or request other groups.
    ///
    /// Coupling acts within a group: subflows of different groups take nothing from each other and grow as if they belonged to
    /// different connections. All subflows start in group 0. Put subflows whose paths share no bottleneck with the other paths
    /// into a group of their own. A subflow moves on its next ACK outside of a recovery; until then it is shown as
    /// `0 → 1`. Needs root.
    #[command(after_help = EXAMPLES_GROUP)]
    Group {
        /// The connection, as `lisa kernel status` shows it [default: show all].
        #[arg(value_parser = token())]
        token: Option<Token>,
        /// SUBFLOW=GROUP: a slot (`1`), or all subflows with an address (`10.0.1.2`, `10.0.1.2:443`, `[fd00::1]:443`) at
        /// either end; and a group from 0 to 238.
        #[arg(value_name = "SUBFLOW=GROUP", value_parser = assignment())]
        assignments: Vec<Assignment>,
        /// Move all subflows of the connection to group 0; without a connection, the subflows of all connections.
        #[arg(long, conflicts_with = "assignments")]
        reset: bool,
    },
    /// Run a command whose TCP connections use MPTCP with an algorithm.
    ///
    /// The command and its children get MPTCP sockets when they request TCP sockets. The command keeps its process id, terminal,
    /// signals and exit code; nothing else on the host changes. The algorithm must be loaded, or be Linux's own. Connections to
    /// peers without MPTCP use plain TCP. Needs no root.
    #[command(after_help = EXPLANATION_EXEC)]
    Exec {
        /// The algorithm.
        #[arg(value_parser = algorithm_name::loadable())]
        name: String,
        /// The command and its arguments, after `--`.
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Follow a topology manager: report this host's subflows to it, and set the groups that it decides.
    ///
    /// Reports connections with an algorithm of lisa in this network namespace, as addresses and ports, and follows the kernel's
    /// events of MPTCP. Subflows that share no bottleneck by the manager's map are then not coupled. Without an answer for 30 seconds, and at
    /// the end, all are coupled. Runs until Ctrl-C or SIGTERM; systemd starts it as `lisa-assist.service`. Needs root.
    Assist(super::assist::Arguments),
    /// Keep the kernel in the state that a file describes: load its algorithms, and set the defaults of network namespaces.
    ///
    /// Runs until SIGTERM or Ctrl-C, then restores the defaults and unloads. SIGHUP reads the file again and applies the
    /// differences. Running connections continue in any case. Named network namespaces get their default when they appear.
    /// systemd starts it as `lisa.service`. Needs root.
    #[command(after_help = EXAMPLES_SERVICE)]
    Service {
        /// The file.
        #[arg(long, value_name = "FILE", default_value = FILE, value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
        config: PathBuf,
        /// Only check the file, and show what the service would do.
        #[arg(long)]
        check: bool,
    },
}

impl Command {
    /// Whether the command must end by itself, to restore and unload.
    pub fn clears_away(&self) -> bool {
        matches!(self, Self::Service { check: false, .. } | Self::Assist(_))
    }
}

const EXAMPLES_SERVICE: &str = "Examples:
  lisa kernel service --check                     # check /etc/lisa.toml
  sudo lisa kernel service --config ./lisa.toml   # run in the foreground
  sudo systemctl enable --now lisa                # at each boot
  sudo systemctl reload lisa                      # after a change of the file";

const EXAMPLES_SWITCH: &str = "Examples:
  sudo lisa kernel off && sudo lisa kernel status     # `status` says that coupling is off
  sudo lisa kernel on";

const EXAMPLES_TOP: &str = "Examples:
  sudo lisa kernel top
  sudo lisa kernel top --process nginx --interval 2";

const EXAMPLES_LOAD: &str = "Examples:
  sudo lisa kernel load
  lisa kernel exec convoy -- curl -O http://server/file
  sudo lisa kernel load lia --default && sudo lisa kernel status";

const EXAMPLES_METRICS: &str = "Examples:
  sudo lisa kernel metrics
  sudo lisa kernel metrics --listen 127.0.0.1:9710
  sudo lisa kernel metrics --textfile /var/lib/prometheus/node-exporter/lisa.prom";

const EXAMPLES_STATUS: &str = "Examples:
  sudo lisa kernel status --process nginx --port 443
  sudo lisa kernel status --peer 192.0.2.0/24 --peer '[2001:db8::1]:443'
  sudo lisa kernel status --netns blue --json";

const EXAMPLES_UNLOAD: &str = "Examples:
  sudo lisa kernel unload lisa
  sudo lisa kernel unload lisa --wait=300
  sudo lisa kernel default --off --all && sudo lisa kernel unload lisa --wait";

const EXAMPLES_DEFAULT: &str = "Examples:
  sudo lisa kernel default                               # show
  sudo lisa kernel load lisa && sudo lisa kernel default lisa
  sudo ip netns exec blue lisa kernel default lisa       # of another namespace
  sudo lisa kernel default --off                         # this namespace
  sudo lisa kernel default --off --all                   # every namespace";

const EXPLANATION_EXEC: &str = "How it works:
BPF programs that `lisa kernel load` attaches turn TCP sockets into MPTCP sockets. This needs Linux 6.6 or later and a \
user with permission to create a cgroup (root, or any user in `systemd-run --user --scope`). The programs apply to a process \
until it moves to a cgroup elsewhere.

Otherwise a helper process creates the sockets (seccomp). If the helper is killed (kill -9), socket() fails with \
\"Function not implemented\" for TCP in the command. Without root, setuid programs then run as their caller.

Landlock rules about TCP ports do not cover MPTCP. A process under such rules gets plain TCP sockets; with \
the helper, so does the whole command from the first landlock_restrict_self of any of its processes. A socket \
created before the rules is MPTCP and is not restricted by them.

MPTCP sockets refuse some options of TCP sockets: setsockopt() fails with \"Protocol not available\" or \"Operation not \
supported\". BGP daemons (TCP_MD5SIG, IP_TTL) run without `lisa kernel exec`; kernel TLS (TCP_ULP) and TCP_USER_TIMEOUT \
have a substitute. docs/options.md has the table.

Examples:
  lisa kernel exec lisa -- curl -O http://server/file
  systemd-run --user --scope lisa kernel exec lisa -- firefox";

const EXAMPLES_DOCTOR: &str = "Examples:
  sudo lisa kernel doctor
  sudo ip netns exec blue lisa kernel doctor           # another network namespace
  lisa kernel doctor --rate 500Mbit --rtt 80ms         # buffers for these paths";

const EXAMPLES_GROUP: &str = "Examples:
  sudo lisa kernel group                          # slots and groups of every connection
  sudo lisa kernel group 1a2b3c4d 1=2 0=1         # by slot
  sudo lisa kernel group 1a2b3c4d 192.168.8.2=1   # subflows with this address
  sudo lisa kernel group 1a2b3c4d --reset         # all in group 0 again
  sudo lisa kernel status --json                  # groups for programs: group, group_asked";

/// A rate, bit/s.
fn rate() -> Form<u64> {
    let form = "a rate, like `500Mbit`; units are bit, kbit, Mbit, Gbit, Tbit";
    Form::new(form, |text| match units::parse_rate(text) {
        Ok(rate) => Ok(rate.bits_per_second()),
        Err(_) => Err(String::new()),
    })
}

/// A round-trip time.
fn rtt() -> Form<Duration> {
    let form = "a time of more than 0, like `80ms`; units are ns, us, ms, s, min, h, d";
    Form::new(form, |text| match units::parse_time(text) {
        Ok(time) if time.as_nanos() > 0 => Ok(Duration::from_nanos(time.as_nanos())),
        _ => Err(String::new()),
    })
}

/// Seconds in a range.
fn seconds(range: RangeInclusive<f64>) -> impl TypedValueParser<Value = Duration> {
    values::decimal(range, "seconds").map(Duration::from_secs_f64)
}

/// `NAME=VALUE`.
fn setting() -> Form<(String, u32)> {
    let form = format!(
        "NAME=VALUE with a whole number up to {}, as in `con_ssthresh=45`: `lisa algorithms` lists the settings",
        u32::MAX
    );
    Form::new(form, |text| {
        let setting = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let setting = setting.and_then(|(name, value)| Some((name.into(), value.parse().ok()?)));
        setting.ok_or_else(String::new)
    })
}

fn users() -> Form<UserRange> {
    let form = "names, ids or ranges of ids of users, with commas, like www-data,0-999";
    Form::new(form, |text| match text.is_empty() {
        true => Err(String::new()),
        false => text.parse(),
    })
}

fn address() -> Form<SocketAddr> {
    let form = "an address and a port, like 127.0.0.1:9710 or [::1]:9710";
    Form::new(form, |text| text.parse().map_err(|_| String::new()))
}

fn token() -> Form<Token> {
    let form = "a token of up to eight hexadecimal digits, as `lisa kernel status` shows it";
    Form::new(form, |text| text.parse().map_err(|_: String| String::new()))
}

fn assignment() -> Form<Assignment> {
    let form = "SUBFLOW=GROUP with a group from 0 to 238, as in `1=2` or `10.0.1.2=2`";
    Form::new(form, |text| match text.contains('=') {
        true => text.parse(),
        false => Err(String::new()),
    })
}
