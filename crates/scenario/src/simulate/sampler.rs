//! Samples links and subflows of a simulation at a fixed interval.

use std::sync::Arc;

use netsim::{LinkCounters, Span, Time};
use transport::{Observer, Simulation, SubflowState};

use super::endpoints::Endpoints;
use crate::draw::Drawn;
use crate::error::Error;
use crate::sample::{LinkSample, Samples, SubflowSample};
use crate::scenario::Scenario;

/// Largest number of samples of a run: about 2 GB.
const MAX_SAMPLES: u64 = 1 << 24;

/// Samples so far, and the counters at the last of them.
pub(super) struct Sampler {
    interval: Span,
    last: Time,
    links: Vec<LinkCounters>,
    subflows: Vec<Vec<Counted>>,
    names: Names,
    samples: Samples,
}

/// Names of links and connections, which all their samples share.
struct Names {
    links: Vec<Arc<str>>,
    connections: Vec<Arc<str>>,
}

/// Counters of a subflow.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Counted {
    bytes: u64,
    retransmits: u64,
}

impl Sampler {
    /// No samples yet. `links` are the counters at the start.
    ///
    /// # Errors
    /// For more samples than fit into memory.
    pub(super) fn new(
        scenario: &Scenario,
        drawn: &Drawn,
        links: Vec<LinkCounters>,
        interval: Span,
    ) -> Result<Self, Error> {
        let times = scenario
            .stop
            .as_nanos()
            .div_ceil(interval.as_nanos().max(1));
        let subflows: usize = drawn.flows.iter().map(|flow| flow.paths.len()).sum();
        let each = (drawn.graph.links().len() + subflows) as u64;
        if times.saturating_mul(each) > MAX_SAMPLES {
            return Err(Error::whole(format!(
                "{times} samples of {each} links and subflows: at most {MAX_SAMPLES} in all are possible; use a longer interval, or a shorter run"
            )));
        }
        let name = |name: &String| Arc::from(name.as_str());
        let connections =
            (drawn.flows.iter()).map(|flow| name(&scenario.connections[flow.connection].name));
        Ok(Self {
            interval,
            last: Time::ZERO,
            links,
            subflows: vec![Vec::new(); drawn.flows.len()],
            names: Names {
                links: (drawn.graph.links().iter())
                    .map(|link| name(&link.name))
                    .collect(),
                connections: connections.collect(),
            },
            samples: Samples::default(),
        })
    }

    /// Time of the next sample.
    pub(super) fn next(&self) -> Time {
        self.last + self.interval
    }

    /// Adds the samples of the interval that ends now.
    pub(super) fn sample<O: Observer>(
        &mut self,
        simulation: &Simulation<O>,
        endpoints: &[Endpoints],
        numbers: impl Iterator<Item = u32>,
    ) {
        let now = simulation.now();
        if now <= self.last {
            return;
        }
        self.sample_links(simulation, now);
        let seconds = now.since(self.last).as_secs_f64();
        for (flow, (endpoints, number)) in endpoints.iter().zip(numbers).enumerate() {
            let Endpoints::Connection(connection) = *endpoints else {
                continue;
            };
            let before = &mut self.subflows[flow];
            for (at, state) in (0..).zip(simulation.subflow_states(connection)) {
                if before.len() <= at {
                    before.push(Counted::default());
                }
                let earlier = std::mem::replace(&mut before[at], Counted::of(&state));
                // A connection that completed in this interval has its last sample.
                if !state.is_open && before[at] == earlier {
                    continue;
                }
                let view = state.view;
                self.samples.subflows.push(SubflowSample {
                    time_s: now.as_secs_f64(),
                    connection: self.names.connections[flow].clone(),
                    number,
                    subflow: at as u32 + 1,
                    cwnd_segments: view.cwnd,
                    ssthresh_segments: view.ssthresh,
                    srtt_s: f64::from(view.srtt8) / 8e6,
                    in_flight_segments: view.flight,
                    goodput_mbps: mbps(before[at].bytes - earlier.bytes, seconds),
                    retransmits: before[at].retransmits - earlier.retransmits,
                });
            }
        }
        self.last = now;
    }

    /// The samples.
    pub(super) fn finish(self) -> Samples {
        self.samples
    }

    fn sample_links<O: Observer>(&mut self, simulation: &Simulation<O>, now: Time) {
        let counters = simulation.network().counters(now);
        let seconds = now.since(self.last).as_secs_f64();
        for (link, (all, before)) in counters.iter().zip(&self.links).enumerate() {
            let counters = all.since(before, self.last, now);
            self.samples.links.push(LinkSample {
                time_s: now.as_secs_f64(),
                link: self.names.links[link].clone(),
                queue_mean_packets: counters.queue_mean,
                in_flight_packets: counters.inside,
                throughput_mbps: mbps(counters.bytes_out, seconds),
                utilisation: counters.utilisation,
                drops: counters.drops,
                losses: counters.losses,
                marks: counters.marks,
            });
        }
        self.links = counters;
    }
}

impl Counted {
    fn of(state: &SubflowState) -> Self {
        Self {
            bytes: state.acknowledged,
            retransmits: state.retransmits,
        }
    }
}

fn mbps(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 * 8e-6 / seconds
}
