//! Warnings about results that mislead.

use std::fmt;

use netsim::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use topology::{Graph, Queue, Spec};
use transport::PathManager;

use crate::capacity::{Sharing, bandwidth_delay_product, initial_ssthresh};
use crate::connection::{
    Application, Between, ConnectionSpec, Length, PathChoice, Protocol, Spacing,
};
use crate::draw::{Drawn, Flow};
use crate::error::Error;
use crate::scenario::Scenario;
use crate::size::Size;
use crate::units;

/// A result that misleads: one line that names the cause, the amount where it is known, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Rule.
    pub kind: WarningKind,
    /// Name of the connection; none for a warning about the scenario as a whole.
    pub connection: Option<String>,
    /// One line of text.
    pub text: String,
}

/// Rule of a warning. The names do not change between versions.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// A connection has more paths than subflows, and no connection uses the remaining ones.
    UnusedPaths,
    /// CSS leaves slow start far below the bandwidth-delay product.
    LowConSsthresh,
    /// The receive buffer holds less data than the bandwidth-delay product, or held the connection back.
    SmallReceiveBuffer,
    /// The send buffer holds less data than the bandwidth-delay product, or held the connection back.
    SmallSendBuffer,
    /// Subflows were not established, or sent nothing.
    IdleSubflows,
    /// All seeds have the same results: several seeds are one observation.
    SeedsDrawNothing,
    /// No key draws from the seed: seeds differ in the timing of the endpoints alone.
    SeedsDrawTiming,
    /// Transfers did not finish, and means leave them out.
    UnfinishedTransfers,
    /// Two algorithms have the same results with all seeds.
    IdenticalResults,
    /// A key applies to nothing in the scenario.
    UnusedKey,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.connection {
            Some(name) => write!(f, "connection `{}`: {}", name.escape_debug(), self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// CSS's con_ssthresh without a setting or an initial threshold: the paper's 65 535 bytes (`MPCC_CSS_C`).
const CSS_DEFAULT_SEGMENTS: u64 = 45;
/// con_ssthresh below this part of the bandwidth-delay product is far below it. The paper's own experiments have 1/2 and more.
const FAR_BELOW: u64 = 4;

impl Scenario {
    /// Warnings about the scenario with the draws of a seed.
    ///
    /// # Errors
    /// As [`Scenario::draw`].
    pub fn warnings(&self, seed: u64) -> Result<Vec<Warning>, Error> {
        Ok(of_drawn(self, &self.draw(seed)?))
    }

    /// The warning that seeds differ in the timing of the endpoints alone, if no key draws from the seed.
    ///
    /// # Errors
    /// As [`Scenario::draw`].
    pub fn warning_of_seeds(&self) -> Result<Option<Warning>, Error> {
        if self.rtt_spread > 0.0 || self.connections.iter().any(connection_draws) {
            return Ok(None);
        }
        let graph = self.draw(1)?.graph;
        let mut properties = graph.links().iter().map(|link| &link.properties);
        let is_recorded = properties.any(|line| line.rate_trace.is_some());
        if is_recorded && !matches!(self.rate_phase, Length::Fixed(_)) {
            return Ok(None);
        }
        let draws = graph.links().iter().any(|link| {
            let line = &link.properties;
            let queue = matches!(
                line.queue,
                Queue::DropTailPackets(_)
                    | Queue::DropTailBytes(_)
                    | Queue::CoDel { .. }
                    | Queue::Policer { .. }
            );
            line.loss.is_some() || line.reorder.is_some() || line.jitter.is_some() || !queue
        });
        let text = "a seed draws the timing of the endpoints (up to 1 ms) and nothing else in this scenario, so the intervals say \
                    nothing about other round-trip times: add `rtt_spread = \"10%\"`";
        let phase = match is_recorded {
            true => {
                ", and `rate_phase = { from = \"0s\", to = \"60s\" }` for other parts of the recorded rates"
            }
            false => "",
        };
        let warning = || whole(WarningKind::SeedsDrawTiming, format!("{text}{phase}"));
        Ok((!draws).then(warning))
    }
}

/// A warning about the scenario as a whole.
fn whole(kind: WarningKind, text: String) -> Warning {
    Warning {
        kind,
        connection: None,
        text,
    }
}

/// A part of a sweep's points to which a warning applies.
#[derive(Clone, Copy, Debug)]
pub struct Points {
    /// Number of points with the warning.
    pub with: usize,
    /// Number of all points; 1: not a sweep.
    pub all: usize,
}

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { all: 1, .. } => Ok(()),
            Self { with, all } if with == all => write!(f, " at all {all} points"),
            Self { with, all } => write!(f, " at {with} of {all} points"),
        }
    }
}

/// The warning that all seeds have the same results.
#[must_use]
pub fn equal_seeds(seeds: usize, points: Points) -> Warning {
    let text = format!(
        "all {seeds} seeds have the same results{points}, and several seeds are one observation: add `rtt_spread = \"10%\"`, or random \
         starts"
    );
    whole(WarningKind::SeedsDrawNothing, text)
}

/// Text of the warning about transfers that did not finish, in one run or in several.
#[must_use]
pub fn unfinished_text(unfinished: u64, count: u64) -> String {
    let transfers = if count == 1 { "transfer" } else { "transfers" };
    format!(
        "{unfinished} of {count} {transfers} did not finish before `stop`; means of completion and goodput leave them out and are too \
         favourable: set a later `stop`"
    )
}

/// The warning that two algorithms have the same results.
#[must_use]
pub fn identical(first: &str, second: &str, seeds: usize, points: Points) -> Warning {
    let seeds = match seeds {
        1 => "the seed".into(),
        seeds => format!("all {seeds} seeds"),
    };
    let text = format!(
        "`{first}` and `{second}` have the same results with {seeds}{points}: nothing there tells them apart, such as a second \
         subflow, or a loss"
    );
    whole(WarningKind::IdenticalResults, text)
}

pub(crate) fn about(spec: &ConnectionSpec, kind: WarningKind, text: String) -> Warning {
    Warning {
        kind,
        connection: Some(spec.name.clone()),
        text,
    }
}

pub(crate) fn of_drawn(scenario: &Scenario, drawn: &Drawn) -> Vec<Warning> {
    let mut warnings = unused_keys(&scenario.topology);
    warnings.extend(unused_phase(scenario, &drawn.graph));
    let sharing = Sharing::of(scenario, drawn);
    for (number, spec) in scenario.connections.iter().enumerate() {
        let Some(flow) = drawn.flows.iter().find(|flow| flow.connection == number) else {
            continue;
        };
        warnings.extend(unused_paths(spec, drawn));
        let Some(bdp) = bandwidth_delay_product(&drawn.graph, flow, Some(&sharing)) else {
            continue;
        };
        let data = match &spec.application {
            Application::Endless => f64::INFINITY,
            Application::Bytes(size) => size.mean(),
            Application::Requests { count, bytes, .. } => f64::from(*count) * bytes.mean(),
            Application::Rate { .. } => continue,
        };
        // A shorter transfer never fills the path.
        if data > bdp as f64 {
            warnings.extend(low_con_ssthresh(spec, &drawn.graph, flow, bdp));
            warnings.extend(small_buffer(spec, flow, bdp));
        }
    }
    warnings
}

/// Keys of a map's table that apply to no link.
fn unused_keys(topology: &Spec) -> Vec<Warning> {
    let Spec::Map(map) = topology else {
        return Vec::new();
    };
    let warning = |key: &String| {
        let found = match &key[..] {
            "both_ways" => "all links of the map have both directions",
            _ => {
                "no link of the map has coordinates (`Longitude` and `Latitude`, `lon` and `lat`) at both ends"
            }
        };
        let text = format!("`topology.{key}` applies to nothing: {found}; remove the key");
        whole(WarningKind::UnusedKey, text)
    };
    map.unused_keys.iter().map(warning).collect()
}

/// A time of recorded rates where no rate is recorded.
fn unused_phase(scenario: &Scenario, graph: &Graph) -> Option<Warning> {
    let mut links = graph.links().iter();
    let is_recorded = links.any(|link| link.properties.rate_trace.is_some());
    let is_used = is_recorded || scenario.rate_phase == Length::Fixed(Span::ZERO);
    let text = "`rate_phase` applies to nothing: no link has a recorded rate (`rate = { trace = \"lte.up\" }`); remove the key";
    (!is_used).then(|| whole(WarningKind::UnusedKey, text.into()))
}

/// Paths of a connection that no connection uses.
fn unused_paths(spec: &ConnectionSpec, drawn: &Drawn) -> Option<Warning> {
    let Between::Set { name, paths } = &spec.between else {
        return None;
    };
    if spec.protocol != Protocol::Mptcp || spec.path_choice != PathChoice::InOrder {
        return None;
    }
    // Client-opened subflows all go to the first address.
    if spec.path_manager == PathManager::Client {
        return None;
    }
    let set = match name {
        Some(name) => drawn.graph.set(name)?,
        None => drawn.graph.sets().first()?,
    };
    let all: Vec<u32> = (0..set.paths.len() as u32).collect();
    let available = if paths.is_empty() { &all } else { paths };
    let used = |number: u32| {
        let path = set.paths.get(number as usize);
        path.is_none_or(|path| drawn.flows.iter().any(|flow| flow.paths.contains(path)))
    };
    let idle: Vec<String> = (available.iter().filter(|number| !used(**number)))
        .map(|number| (number + 1).to_string())
        .collect();
    let (subflows, count) = (spec.subflows, available.len());
    if (subflows as usize) >= count || idle.is_empty() {
        return None;
    }
    let noun = if idle.len() == 1 { "path" } else { "paths" };
    let verb = if idle.len() == 1 { "carries" } else { "carry" };
    let idle = idle.join(", ");
    let text = format!(
        "{noun} {idle} {verb} no data, because there are {count} paths and `subflows` is {subflows}: set `subflows = {count}`"
    );
    Some(about(spec, WarningKind::UnusedPaths, text))
}

fn low_con_ssthresh(
    spec: &ConnectionSpec,
    graph: &Graph,
    flow: &Flow,
    bdp: u64,
) -> Option<Warning> {
    let algorithm = mpcc::Algorithm::find(&spec.algorithm)?;
    if algorithm.slow_start() != "css" {
        return None;
    }
    let mss = u64::from(spec.mss);
    let set = spec
        .settings
        .get("con_ssthresh")
        .copied()
        .filter(|n| *n > 0);
    let segments = (set.map(u64::from))
        .or_else(|| Some(initial_ssthresh(graph, flow, spec).ok()?? / mss))
        .unwrap_or(CSS_DEFAULT_SEGMENTS);
    (segments * mss * FAR_BELOW < bdp).then(|| {
        let text = format!(
            "`{}` leaves slow start at con_ssthresh = {segments} segments ({}), far below the bandwidth-delay product of {}, \
             and then grows slowly: set `initial_ssthresh = \"bdp\"`",
            spec.algorithm,
            units::show_bytes(segments * mss),
            units::show_bytes(bdp),
        );
        about(spec, WarningKind::LowConSsthresh, text)
    })
}

/// Warnings about buffers.
pub(crate) const BUFFERS: [WarningKind; 2] = [
    WarningKind::SmallReceiveBuffer,
    WarningKind::SmallSendBuffer,
];

/// Part of a receive buffer that payload can use: 160 of 256, the rest is the memory of packets
/// (docs/notes/simulator.md, Receive window).
const RECEIVED_PART: f64 = 160.0 / 256.0;
/// Part of a send buffer that payload uses: a struct sk_buff takes 896 bytes beside a burst of at least two segments.
const SENT_PART: f64 = 2.0 * 1448.0 / (2.0 * 1448.0 + 896.0);

/// A buffer of a connection that holds less data than the bandwidth-delay product: of both, the one that holds less.
fn small_buffer(spec: &ConnectionSpec, flow: &Flow, bdp: u64) -> Option<Warning> {
    let receive = receive_buffer(spec);
    let send = u64::from(spec.send_buffer_bytes());
    let received = receive as f64 * RECEIVED_PART;
    // MPTCP has a send buffer for each subflow, and one receive buffer.
    let sent = send as f64 * SENT_PART * flow.paths.len() as f64;
    (received.min(sent) < bdp as f64).then(|| {
        let (kind, buffer, size, key) = match received <= sent {
            true => (
                WarningKind::SmallReceiveBuffer,
                "receive",
                receive,
                "receive_window",
            ),
            false => (WarningKind::SmallSendBuffer, "send", send, "send_buffer"),
        };
        let (size, bdp) = (units::show_bytes(size), units::show_bytes(bdp));
        let text = format!(
            "the {buffer} buffer of {size} holds less data than the bandwidth-delay product of {bdp}, and limits the throughput: set a \
             larger `{key}`"
        );
        about(spec, kind, text)
    })
}

/// Size up to which the receive buffer grows, bytes.
pub(crate) fn receive_buffer(spec: &ConnectionSpec) -> u64 {
    let most = u64::from(spec.profile.receive_buffer.max);
    spec.receive_window.unwrap_or(most)
}

/// Whether a key of a connection draws from the seed.
fn connection_draws(spec: &ConnectionSpec) -> bool {
    let length = |length: &Length| !matches!(length, Length::Fixed(_));
    let size = |size: &Size| !matches!(size, Size::Fixed(_));
    let data = match &spec.application {
        Application::Endless => false,
        Application::Bytes(bytes) => size(bytes),
        Application::Requests { bytes, gap, .. } => size(bytes) || length(gap),
        Application::Rate { on_off, .. } => on_off
            .as_ref()
            .is_some_and(|p| length(&p.on) || length(&p.off)),
    };
    let arrivals = spec
        .arrivals
        .as_ref()
        .is_some_and(|arrivals| match &arrivals.spacing {
            Spacing::Gap(gap) => length(gap),
            Spacing::Load(_) => true,
        });
    let hosts = matches!(spec.between, Between::Permutation | Between::Random);
    data || arrivals || hosts || length(&spec.start) || spec.path_choice == PathChoice::Random
}

#[cfg(test)]
#[path = "warning_tests.rs"]
mod tests;
