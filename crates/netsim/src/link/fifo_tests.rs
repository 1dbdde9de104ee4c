//! Departures computed by hand, limits, counters.

use super::*;

const BYTES: u32 = 1500;

fn shaped(rate: u64, queue: DropTail, delay: Span) -> Fifo<u32> {
    Fifo::new(Some((Rate::from_bits_per_second(rate), queue)), delay)
}

/// Whether the packet was accepted.
fn enter(link: &mut Fifo<u32>, at: Time, bytes: u32, packet: u32) -> bool {
    link.offer(at, bytes, 0, packet).is_ok()
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// Removes all packets: arrival time and number of each.
fn drain(link: &mut Fifo<u32>) -> Vec<(Time, u32)> {
    std::iter::from_fn(|| {
        let at = link.next_event()?;
        let (packet, _) = link.leave();
        Some((at, packet.payload))
    })
    .collect()
}

#[test]
fn departures_follow_the_rate() {
    // 12 000 bits at 2.5 Mbit/s are 4.8 ms. Two at once, one while busy, one after a pause.
    let mut link = shaped(2_500_000, DropTail::new(30), Span::from_millis(35));
    for (i, at) in [us(0), us(0), us(1_000), us(50_000)]
        .into_iter()
        .enumerate()
    {
        assert!(enter(&mut link, at, BYTES, i as u32));
    }
    let arrivals = [us(39_800), us(44_600), us(49_400), us(89_800)];
    assert_eq!(
        drain(&mut link),
        arrivals.into_iter().zip(0..).collect::<Vec<_>>()
    );
}

#[test]
fn a_line_without_rate_only_delays() {
    let mut link = Fifo::new(None, Span::from_millis(10));
    for i in 0..1000 {
        assert!(enter(&mut link, us(5), BYTES, i));
    }
    assert!(
        drain(&mut link)
            .into_iter()
            .eq((0..1000).map(|i| (us(10_005), i)))
    );
    assert_eq!(link.counters(us(20_000)).utilisation, None);
}

#[test]
fn the_limit_counts_waiting_packets() {
    for limit in [0, 1, 9, 30] {
        let mut link = shaped(2_500_000, DropTail::new(limit), Span::ZERO);
        let accepted = (0..100)
            .filter(|i| enter(&mut link, us(0), BYTES, *i))
            .count();
        assert_eq!(accepted, limit + 1, "limit {limit}");
        // No room until one nanosecond before the first departure, then room for one packet.
        assert!(!enter(&mut link, Time::from_nanos(4_799_999), BYTES, 0));
        assert!(enter(&mut link, us(4_800), BYTES, 0));
        assert!(!enter(&mut link, us(4_800), BYTES, 0));
        let counters = link.counters(us(4_800));
        assert_eq!(counters.queue_max, limit as u64);
        assert_eq!(counters.drops, 101 - limit as u64);
    }
}

#[test]
fn a_limit_in_bytes_counts_waiting_packets() {
    // 1500 bytes in transmission, and 2000 bytes in the queue: a packet of 1500 and one of 500.
    let mut link = shaped(2_500_000, DropTail::bytes(2000), Span::ZERO);
    let sizes = [1500, 1500, 501, 500, 1];
    let accepted = sizes.map(|bytes| enter(&mut link, us(0), bytes, 0));
    assert_eq!(accepted, [true, true, false, true, false]);
    // After 4.8 ms the second packet is in transmission, and 500 bytes wait.
    assert!(!enter(&mut link, us(4_799), 1500, 0));
    assert!(enter(&mut link, us(4_800), 1500, 0));
    assert!(!enter(&mut link, us(4_800), 1, 0));
    assert_eq!(link.counters(us(4_800)).queue_max, 2);
    // A packet that finds the transmitter idle is sent, however large it is.
    drain(&mut link);
    assert!(enter(&mut link, us(100_000), 9000, 0));
}

#[test]
fn departures_alone_make_room() {
    // A line longer than the run: no packet is removed.
    let mut link = shaped(2_500_000, DropTail::new(1), Span::from_secs(60));
    for i in 0..1000 {
        assert!(enter(&mut link, us(4_800 * u64::from(i)), BYTES, i));
    }
    assert_eq!(link.counters(us(4_800_000)).queue_max, 0);
    assert_eq!(link.counters(us(4_800_000)).inside, 1000);
}

#[test]
fn no_drift() {
    // 1 000 bytes at 3 Mbit/s are 2 666 666 ⅔ ns: rounding each departure would add up to 0.33 ms.
    let mut link = shaped(3_000_000, DropTail::new(usize::MAX), Span::ZERO);
    let packets = 1_000_000;
    for i in 0..packets {
        assert!(enter(&mut link, Time::ZERO, 1000, i));
        let exact = (u128::from(i) + 1) * 8_000 * 1_000_000_000;
        let departure = u128::from(link.ring.newest(0).unwrap().0.as_nanos());
        assert_eq!(departure, exact.div_ceil(3_000_000));
    }
    assert_eq!(
        drain(&mut link).last().unwrap().0,
        Time::from_nanos(2_666_666_666_667)
    );
}

#[test]
fn counters_are_those_of_the_instant() {
    // 8 000 bits at 1 Mbit/s are 8 ms. Three at 0: they wait 0, 8 and 16 ms.
    let mut link = shaped(1_000_000, DropTail::new(9), Span::from_millis(1));
    for i in 0..3 {
        assert!(enter(&mut link, us(0), 1000, i));
    }
    let half = link.counters(us(4_000));
    assert_eq!((half.queue_max, half.inside), (2, 3));
    assert_eq!(half.utilisation, Some(1.0));
    assert_eq!(half.queue_mean, 2.0);
    let middle = link.counters(us(12_000));
    // Two waited for 8 ms, then one for 4.
    assert!((middle.queue_mean - 20.0 / 12.0).abs() < 1e-12);
    drain(&mut link);
    let end = link.counters(us(48_000));
    assert_eq!(
        (end.packets_in, end.packets_out, end.bytes_out, end.inside),
        (3, 3, 3000, 0)
    );
    assert_eq!(end.queue_mean, 0.5);
    assert_eq!(end.utilisation, Some(0.5));
}
