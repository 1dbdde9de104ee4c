//! Links of a graph as links of `netsim`.

use netsim::{Outage, Span, Time};

use super::{bottleneck, rate};
use crate::*;

#[test]
fn properties_are_those_of_the_link_in_netsim() {
    let with = |queue| Properties {
        queue,
        ..bottleneck()
    };
    let shown = |properties: Properties| format!("{:?}", properties.to_netsim());
    let built = |queue: netsim::Queue| {
        format!("{:?}", netsim::LinkSpec::shaped(rate(5), queue, Span::ZERO))
    };
    let red = Red {
        min: 5,
        max: 15,
        max_p: 0.1,
        gentle: true,
        limit: 60,
        weight: 0.5,
        ecn: true,
    };
    let expected = netsim::Red::new(5.0, 15.0, 0.1)
        .gentle(30.0)
        .weight(0.5)
        .limit(60)
        .ecn();
    assert_eq!(shown(with(Queue::Red(red))), built(expected.into()));
    assert_eq!(
        shown(with(Queue::RedForRate(RedForRate::default()))),
        built(netsim::Red::lia_olia(rate(5)).into())
    );
    assert_eq!(
        shown(with(Queue::DropTailBytes(9))),
        built(netsim::DropTail::bytes(9).into())
    );
    let (target, interval) = (Span::from_millis(1), Span::from_millis(20));
    let codel = Queue::CoDel {
        target,
        interval,
        limit: 9,
        ecn: true,
    };
    let expected = netsim::CoDel::new().times(target, interval).limit(9).ecn();
    assert_eq!(shown(with(codel)), built(expected.into()));
    let fair = Queue::FqCoDel {
        target,
        interval,
        limit: 9,
        quantum: 300,
    };
    let expected = netsim::FqCoDel::new()
        .times(target, interval)
        .limit(9)
        .quantum(300);
    assert_eq!(shown(with(fair)), built(expected.into()));
    let pie = Queue::Pie {
        target,
        limit: 9,
        ecn: true,
    };
    let expected = netsim::Pie::new().target(target).limit(9).ecn();
    assert_eq!(shown(with(pie)), built(expected.into()));
    let policer = Queue::Policer {
        rate: rate(2),
        burst: 9000,
    };
    let expected = netsim::Policer::new(rate(2), 9000);
    assert_eq!(shown(with(policer.clone())), built(expected.into()));
    assert_eq!(with(policer).mean_rate(), Some(rate(2)));
    let faster = Queue::Policer {
        rate: rate(7),
        burst: 9000,
    };
    assert_eq!(with(faster).mean_rate(), Some(rate(5)));

    let trace: netsim::Trace = "1\n4\n".parse().unwrap();
    let [enter, leave, bad, good] = [0.1, 0.2, 0.9, 0.01];
    let mobile = Properties {
        rate: None,
        rate_trace: Some(trace.clone()),
        loss: Some(Loss::Bursty {
            enter,
            leave,
            bad,
            good,
        }),
        reorder: Some(Reorder {
            share: 0.3,
            delay: target,
        }),
        jitter: Some(target),
        down: vec![Outage::for_good(Time::ZERO)],
        detour: Some(netsim::Detour::new(Time::ZERO, target)),
        ..bottleneck()
    };
    let expected = netsim::LinkSpec::traced(trace, netsim::DropTail::new(17), Span::ZERO)
        .loss(netsim::Loss::gilbert_elliott(0.1, 0.2, 0.01, 0.9))
        .reorder(netsim::Reorder::new(0.3, target))
        .jitter(netsim::Jitter::new(target))
        .detour(netsim::Detour::new(Time::ZERO, target))
        .down(vec![Outage::for_good(Time::ZERO)]);
    assert_eq!(shown(mobile), format!("{expected:?}"));
}
