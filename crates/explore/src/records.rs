//! Records of a run in columns, for figures.

use std::collections::BTreeMap;

use scenario::trace::{Fate, Loss, Segment};
use scenario::view::{LinkView, View};
use scenario::{Error, Outcome, Run, Scenario};
use serde::Serialize;

use crate::reasons::{self, Reason};
use crate::subflow::Subflow;

/// A run.
#[derive(Serialize)]
pub(crate) struct Records<'a> {
    outcome: &'a Outcome,
    /// Links that are the bottleneck of a subflow.
    bottlenecks: Vec<Bottleneck>,
    /// Subflows, in the order of their connections.
    subflows: Vec<Subflow>,
    segments: Segments,
    reasons: Vec<Reason>,
}

/// A link that is the bottleneck of a subflow, with its samples.
#[derive(Serialize)]
struct Bottleneck {
    name: String,
    rate_mbps: Option<f64>,
    /// Queue, in words.
    queue: Option<String>,
    /// Ends of the intervals, seconds.
    time: Vec<f64>,
    /// Mean number of waiting packets in each interval.
    mean: Vec<f64>,
    /// Packets that the queue dropped in each interval.
    drops: Vec<u64>,
}

/// Data segments in the order in which they were sent.
#[derive(Default, Serialize)]
struct Segments {
    /// Index of the subflow.
    subflow: Vec<usize>,
    /// Seconds.
    sent: Vec<f64>,
    /// Number of its first byte in the connection's stream.
    data: Vec<u32>,
    /// Size of the packet, bytes.
    bytes: Vec<u32>,
    /// Whether these bytes of the subflow were sent before.
    again: Vec<bool>,
    /// Time at which it reaches the queue of the bottleneck, seconds.
    enters: Vec<f64>,
    /// Time at which its last bit leaves the bottleneck, seconds; of a lost segment the time of its loss.
    leaves: Vec<Option<f64>>,
    lost: Vec<bool>,
}

impl<'a> Records<'a> {
    /// The records of a run. `outcome`: of the same run, without records.
    ///
    /// # Errors
    /// Those of [`View::new`].
    pub(crate) fn new(scenario: &Scenario, outcome: &'a Outcome, run: Run) -> Result<Self, Error> {
        let view = View::new(scenario, outcome.seed)?;
        let mut bottlenecks = bottlenecks(&view);
        for sample in &run.samples.links {
            if let Some(link) = bottlenecks.iter_mut().find(|b| *b.name == *sample.link) {
                link.time.push(sample.time_s);
                link.mean.push(sample.queue_mean_packets);
                link.drops.push(sample.drops);
            }
        }
        let mut subflows = subflows(&view, &bottlenecks);
        let mut index = BTreeMap::new();
        for (i, subflow) in subflows.iter().enumerate() {
            index.insert((subflow.connection.clone(), subflow.number - 1), i);
        }
        let find =
            |connection: &str, subflow| index.get(&(connection.to_owned(), subflow)).copied();
        for row in &run.rows {
            if let Some(i) = find(&row.connection, row.subflow) {
                let subflow = &mut subflows[i];
                subflow.time.push(row.time);
                subflow.cwnd.push(row.cwnd);
                subflow.ssthresh.push(row.ssthresh);
                subflow.srtt.push(row.srtt);
                subflow.flight.push(row.flight);
                subflow.phase.push(row.phase.name());
            }
        }
        for Loss {
            time,
            connection,
            subflow,
        } in &run.losses
        {
            if let Some(i) = find(connection, *subflow) {
                subflows[i].losses.push(*time);
            }
        }
        let mut segments = Segments::default();
        let mut highest = vec![None; subflows.len()];
        for segment in &run.segments {
            if let Some(i) = find(&segment.connection, segment.subflow) {
                segments.add(i, segment, &subflows[i], &mut highest[i]);
            }
        }
        let reasons = reasons::of(&subflows, &run.credits);
        Ok(Self {
            outcome,
            bottlenecks,
            subflows,
            segments,
            reasons,
        })
    }
}

fn bottlenecks(view: &View) -> Vec<Bottleneck> {
    let links = view.links.iter().filter(|link| link.is_bottleneck);
    let bottleneck = |link: &LinkView| Bottleneck {
        name: link.name.clone(),
        rate_mbps: link.rate_mbps,
        queue: link.queue.clone(),
        time: Vec::new(),
        mean: Vec::new(),
        drops: Vec::new(),
    };
    links.map(bottleneck).collect()
}

fn subflows(view: &View, bottlenecks: &[Bottleneck]) -> Vec<Subflow> {
    let delays: BTreeMap<&str, f64> = (view.links.iter())
        .map(|link| (&*link.name, link.delay_s))
        .collect();
    let mut subflows = Vec::new();
    for connection in &view.connections {
        if connection.protocol == "udp" {
            continue;
        }
        let title = scenario::outcome::title(&connection.name, connection.number);
        for subflow in &connection.subflows {
            let name = subflow.bottleneck.as_ref();
            let at = name.and_then(|name| subflow.links.iter().position(|link| link == name));
            let at = at.unwrap_or(0);
            let sum = |links: &[String]| links.iter().map(|link| delays[&**link]).sum();
            subflows.push(Subflow {
                connection: title.clone(),
                number: subflow.subflow,
                path_name: subflow.path_name.clone(),
                algorithm: connection.algorithm.clone(),
                bottleneck: name.and_then(|name| bottlenecks.iter().position(|b| b.name == *name)),
                time: Vec::new(),
                cwnd: Vec::new(),
                ssthresh: Vec::new(),
                srtt: Vec::new(),
                flight: Vec::new(),
                phase: Vec::new(),
                losses: Vec::new(),
                before: sum(&subflow.links[..at]),
                after: sum(&subflow.links[at..]),
            });
        }
    }
    subflows
}

impl Segments {
    fn add(&mut self, index: usize, segment: &Segment, of: &Subflow, highest: &mut Option<u32>) {
        // A later number is ahead by less than half of the 32 bits.
        let again = highest.is_some_and(|highest: u32| {
            segment.seq.wrapping_sub(highest).wrapping_sub(1) >= 1 << 31
        });
        if !again {
            *highest = Some(segment.seq);
        }
        self.subflow.push(index);
        self.sent.push(segment.sent);
        self.data.push(segment.data);
        self.bytes.push(segment.bytes);
        self.again.push(again);
        let (leaves, lost) = match segment.fate {
            Fate::Arrived(at) => (Some(at - of.after), false),
            Fate::Lost(at) => (Some(at), true),
            Fate::OnTheWay => (None, false),
        };
        let enters = segment.sent + of.before;
        self.enters.push(enters.min(leaves.unwrap_or(enters)));
        self.leaves.push(leaves);
        self.lost.push(lost);
    }
}
