//! Capacity of the paths of a flow: rate, bandwidth-delay product, and the shortest possible completion time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use topology::{Graph, LinkIndex};

use crate::connection::{Application, ConnectionSpec, InitialSsthresh, Protocol};
use crate::draw::{Drawn, Flow};
use crate::error::Error;
use crate::scenario::Scenario;

/// Round trips from the first SYN until the first byte of data leaves the server: SYN, SYN/ACK, ACK.
const HANDSHAKE: f64 = 1.5;

/// Number of connections that send over each link. Arrivals of one connection count once, because they follow each other.
#[derive(Debug)]
pub struct Sharing(BTreeMap<LinkIndex, u64>);

impl Sharing {
    /// The connections of a run.
    #[must_use]
    pub fn of(scenario: &Scenario, drawn: &Drawn) -> Self {
        let mut users: BTreeMap<LinkIndex, BTreeSet<(usize, u32)>> = BTreeMap::new();
        for flow in &drawn.flows {
            let spec = &scenario.connections[flow.connection];
            let arrivals = spec.arrivals.as_ref().map_or(1, |arrivals| arrivals.count);
            let user = (flow.connection, (flow.number - 1) / arrivals.max(1));
            for link in flow.paths.iter().flat_map(|path| &path.forward) {
                users.entry(*link).or_default().insert(user);
            }
        }
        let count = |(link, users): (LinkIndex, BTreeSet<_>)| (link, users.len() as u64);
        Self(users.into_iter().map(count).collect())
    }
}

/// Bandwidth-delay product of a flow, bytes: the rate of its paths together times the smallest RTT without queues. With `sharing`
/// a link counts with its rate divided by the connections that send over it. None without a link with a rate.
#[must_use]
pub fn bandwidth_delay_product(
    graph: &Graph,
    flow: &Flow,
    sharing: Option<&Sharing>,
) -> Option<u64> {
    let rate = graph.rate_with(flow.paths.iter().cloned(), |link| {
        let rate = graph.link(link).properties.mean_rate()?.bits_per_second();
        let users = sharing.and_then(|sharing| sharing.0.get(&link)).copied();
        Some(rate / users.unwrap_or(1).max(1))
    });
    let rtt = flow.paths.iter().map(|path| graph.rtt(path)).min()?;
    Some((rate?.bits_per_second() as f64 / 8.0 * rtt.as_secs_f64()) as u64)
}

/// Initial slow start threshold of a flow, bytes; none without the key.
///
/// # Errors
/// For `"bdp"` on paths without a rate.
pub(crate) fn initial_ssthresh(
    graph: &Graph,
    flow: &Flow,
    spec: &ConnectionSpec,
) -> Result<Option<u64>, Error> {
    match spec.initial_ssthresh {
        None => Ok(None),
        Some(InitialSsthresh::Bytes(bytes)) => Ok(Some(bytes)),
        Some(InitialSsthresh::Bdp) => {
            let bytes = bandwidth_delay_product(graph, flow, None);
            bytes.map(Some).ok_or_else(|| Error {
                key: format!("connection.{}.initial_ssthresh", spec.name),
                ..Error::whole("`\"bdp\"` needs a link with a `rate` on each path")
            })
        }
    }
}

impl Scenario {
    /// The scenario with a size for each `initial_ssthresh = "bdp"`: that of the connection's paths with this seed.
    ///
    /// # Errors
    /// As [`Scenario::draw`], and for paths without a rate.
    pub fn with_thresholds(&self, seed: u64) -> Result<Cow<'_, Self>, Error> {
        let needs = |spec: &ConnectionSpec| spec.initial_ssthresh == Some(InitialSsthresh::Bdp);
        if !self.connections.iter().any(needs) {
            return Ok(Cow::Borrowed(self));
        }
        let drawn = self.draw(seed)?;
        let mut sized = self.clone();
        for flow in &drawn.flows {
            let spec = &mut sized.connections[flow.connection];
            let bytes = initial_ssthresh(&drawn.graph, flow, spec)?;
            spec.initial_ssthresh = bytes.map(InitialSsthresh::Bytes);
        }
        Ok(Cow::Owned(sized))
    }
}

/// Shortest possible completion time of a transfer of this size, alone on its paths, in seconds: the handshake on the first path, the
/// packets at the rate of all paths together, and a round trip on the fastest path until the last ACK has arrived. A recorded rate
/// counts with its mean. None without a link with a rate.
///
/// Divided by it, a completion time is the slowdown of M. Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport",
/// SIGCOMM 2013 (section 5: normalized to the time "if each flow was the only one in the fabric").
#[must_use]
pub fn ideal_completion(
    graph: &Graph,
    flow: &Flow,
    spec: &ConnectionSpec,
    bytes: u64,
) -> Option<f64> {
    let rate = graph.rate(flow.paths.iter().cloned())?.bits_per_second() as f64;
    let rtt = |path| graph.rtt(path).as_secs_f64();
    let fastest = flow.paths.iter().map(rtt).min_by(f64::total_cmp)?;
    let options = match spec.protocol {
        Protocol::Mptcp => u64::from(spec.profile.mptcp_data_header),
        _ => 0,
    };
    let payload = u64::from(spec.mss).saturating_sub(options).max(1);
    let headers = u64::from(spec.profile.header) + options;
    let wire = bytes + bytes.div_ceil(payload) * headers;
    let sending = wire as f64 * 8.0 / rate;
    Some(HANDSHAKE * rtt(flow.paths.first()?) + sending + fastest)
}

/// Slowdown of a transfer that took this many seconds; none of another application.
#[must_use]
pub fn slowdown(
    graph: &Graph,
    flow: &Flow,
    spec: &ConnectionSpec,
    bytes: u64,
    completion_s: Option<f64>,
) -> Option<f64> {
    if !matches!(spec.application, Application::Bytes(_)) || bytes == 0 {
        return None;
    }
    Some(completion_s? / ideal_completion(graph, flow, spec, bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "stop = '60s'\n[topology]\nkind = 'non-shared-bottleneck'\nrate = ['8Mbit', '4Mbit']\n\
        rtt = ['100ms', '40ms']\nqueue = 1000\n[[connection]]\nname = 'a'\nbytes = 1448000\n";

    fn drawn(change: &[&str]) -> (Scenario, Drawn) {
        let scenario = Scenario::parse_with(TEXT, "a.toml", change).unwrap();
        let drawn = scenario.draw(1).unwrap();
        (scenario, drawn)
    }

    /// By hand: 1 000 packets of 1 500 bytes at 8 Mbit/s are 1.5 s; with 2.5 round trips of 100 ms 1.75 s.
    #[test]
    fn the_ideal_of_tcp() {
        let (scenario, drawn) = drawn(&[]);
        let (flow, spec) = (&drawn.flows[0], &scenario.connections[0]);
        let ideal = ideal_completion(&drawn.graph, flow, spec, 1_448_000).unwrap();
        assert!((ideal - 1.75).abs() < 1e-9, "{ideal}");
        let slow = |seconds| slowdown(&drawn.graph, flow, spec, 1_448_000, seconds);
        assert_eq!(slow(Some(3.5)), Some(2.0));
        assert_eq!(slow(None), None);
    }

    /// By hand: 1 424 bytes of payload in 1 500; 1 017 packets and 1 525 292 bytes at 12 Mbit/s are 1.016 861 s; 1.5 round trips
    /// of the first path and one of the second are 190 ms.
    #[test]
    fn the_ideal_of_mptcp() {
        let (scenario, drawn) = drawn(&["connection.a.protocol=mptcp"]);
        let (flow, spec) = (&drawn.flows[0], &scenario.connections[0]);
        let ideal = ideal_completion(&drawn.graph, flow, spec, 1_448_000).unwrap();
        assert!((ideal - 1.206_861_333).abs() < 1e-6, "{ideal}");
    }

    /// A transfer that nothing delays takes little more than its ideal time: it starts slowly.
    #[test]
    fn no_run_is_faster_than_the_ideal() {
        for change in [
            &[][..],
            &["connection.a.protocol=mptcp"],
            &["connection.a.bytes=1"],
            &["connection.a.bytes=20MB"],
        ] {
            let (scenario, _) = drawn(change);
            let outcome = crate::simulate(&scenario, 1, false).unwrap().outcome;
            let slowdown = outcome.connections[0].slowdown.unwrap();
            assert!((1.0..2.0).contains(&slowdown), "{change:?}: {slowdown}");
        }
    }

    /// Five connections on the first path, one on the second. 8 Mbit/s × 100 ms are 100 000 bytes.
    #[test]
    fn connections_share_the_links_that_they_cross() {
        let text = format!(
            "{TEXT}path = 1\n[[connection]]\nname = 'b'\npath = 2\n\
            [[connection]]\nname = 'c'\npath = 1\ncount = 3\n\
            [[connection]]\nname = 'd'\npath = 1\nbytes = 1\narrivals = {{ count = 9, gap = '1s' }}\n"
        );
        let scenario = Scenario::parse(&text, "a.toml").unwrap();
        let drawn = scenario.draw(1).unwrap();
        let sharing = Sharing::of(&scenario, &drawn);
        let bdp = |flow: usize, sharing| {
            bandwidth_delay_product(&drawn.graph, &drawn.flows[flow], sharing)
        };
        assert_eq!(
            (bdp(0, None), bdp(0, Some(&sharing))),
            (Some(100_000), Some(20_000))
        );
        assert_eq!(
            (bdp(1, None), bdp(1, Some(&sharing))),
            (Some(20_000), Some(20_000))
        );
    }

    /// By hand: 8 Mbit/s × 100 ms are 100 000 bytes.
    #[test]
    fn thresholds_of_the_paths() {
        let text = "stop = '60s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '8Mbit'\nrtt = '100ms'\nqueue = 100\n\
            [[connection]]\ninitial_ssthresh = 'bdp'\n[[connection]]\nbytes = 1\ninitial_ssthresh = 5000\n";
        let scenario = Scenario::parse(text, "a.toml").unwrap();
        let sized = scenario.with_thresholds(1).unwrap();
        let bytes = |number: usize| sized.connections[number].initial_ssthresh;
        assert_eq!(bytes(0), Some(InitialSsthresh::Bytes(100_000)));
        assert_eq!(bytes(1), Some(InitialSsthresh::Bytes(5000)));
        assert!(matches!(sized.with_thresholds(1), Ok(Cow::Borrowed(_))));
    }
}
