use super::*;
use netsim::Time;

const MSS: u16 = 1424; // of MPTCP

fn ends(mptcp: bool, mss: u16) -> (ReceiveBuffer, AdvertisedWindow) {
    let profile = Profile::linux();
    let buffer = ReceiveBuffer::new(&profile, 1500, mss, mptcp, None);
    let window = AdvertisedWindow::new(&profile, &buffer);
    (buffer, window)
}

fn held(now: u64, after_read: u64) -> Held {
    Held { now, after_read }
}

/// A full segment arrives and is read.
fn grow(window: &mut AdvertisedWindow, buffer: &mut ReceiveBuffer) -> bool {
    window.grow(buffer, buffer.mss as u16, 0)
}

/// Short segments do not grow a window above half of the largest one.
#[test]
fn short_segments_grow_a_small_window_only() {
    let profile = Profile::linux();
    for (size, len, step) in [
        (None, 1376, 2 * 1424),
        (None, 300, 2 * 1424),
        (None, 127, 0),
        (Some(4 << 20), 1424, 2 * 1448),
        (Some(4 << 20), 1376, 0),
    ] {
        let buffer = ReceiveBuffer::new(&profile, 1500, MSS, true, size);
        let threshold = ReceiveBuffer::window(HALF, buffer.size);
        assert_eq!(buffer.growth(len, threshold), step, "{size:?} {len}");
    }
}

fn in_units(bytes: u64) -> u64 {
    bytes.next_multiple_of(128)
}

/// Window of the ACK of segment `next - 1`, bytes.
fn advertised(buffer: &mut ReceiveBuffer, window: &mut AdvertisedWindow, next: u64) -> u64 {
    let next = next * buffer.mss;
    window.advertise(buffer, next, next, held(buffer.mss, 0));
    window.bytes
}

/// Linux 6.12 with a buffer of 131 072 bytes advertises 64 240 in the SYN and finally 80 512 (in units of 128).
#[test]
fn tcp_advertises_the_share_of_payload_in_the_memory_of_a_segment() {
    let (mut buffer, mut window) = ends(false, 1448);
    assert_eq!((buffer.syn_window, window.bytes), (64_240, 64_256));
    assert!(grow(&mut window, &mut buffer));
    assert_eq!(
        advertised(&mut buffer, &mut window, 1),
        in_units(64_088 + 2 * 1448)
    );
    while grow(&mut window, &mut buffer) {}
    assert_eq!(advertised(&mut buffer, &mut window, 40), 80_512);
    assert!(window.is_at_limit(&buffer, 0));
}

/// Linux 6.12 advertises 64 384 from the join on. When the second subflow has had data, the window grows by two
/// segments an ACK to the size that the buffer has grown to.
#[test]
fn a_subflow_without_data_keeps_the_advertised_share_at_half() {
    let (mut buffer, mut window) = ends(true, MSS);
    while grow(&mut window, &mut buffer) {}
    assert_eq!(advertised(&mut buffer, &mut window, 1), 64_384);
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    let round_trip = Span::from_millis(80);
    assert_eq!(buffer.tune(at(100), round_trip, MSS.into(), false), None);
    assert_eq!(
        buffer.tune(at(150), round_trip, 6 * u64::from(MSS), false),
        None,
        "too early"
    );
    assert_eq!(
        buffer.tune(at(180), round_trip, 11 * u64::from(MSS), false),
        None,
        "10 segments"
    );
    assert_eq!(advertised(&mut buffer, &mut window, 11), 64_384);
    let clamp = buffer
        .tune(at(260), round_trip, 31 * u64::from(MSS), true)
        .unwrap();
    // 2 × 20 + 16 segments, and nearly twice as many again because the rate has nearly doubled.
    assert_eq!(
        clamp,
        ReceiveBuffer::window(buffer.measured_ratio, buffer.size)
    );
    assert_eq!(clamp / u64::from(MSS), 165);
    window.set_clamp(clamp);
    let before = window.threshold;
    assert!(grow(&mut window, &mut buffer));
    assert_eq!(
        advertised(&mut buffer, &mut window, 31),
        in_units(before + 2 * 1448)
    );
}

#[test]
fn buffered_data_reduces_the_window_and_its_end_does_not_move_back() {
    let (mut buffer, mut window) = ends(true, MSS);
    while grow(&mut window, &mut buffer) {}
    let edge = advertised(&mut buffer, &mut window, 1) + u64::from(MSS);
    let mss = u64::from(MSS);
    // Twenty segments are out of order.
    window.advertise(&mut buffer, mss, mss, held(20 * mss, 20 * mss));
    assert_eq!(window.bytes + u64::from(MSS), edge);
    // Another subflow advertises the same end, regardless of its own window.
    let mut other = AdvertisedWindow::new(&Profile::linux(), &buffer);
    other.advertise(&mut buffer, 0, mss, held(40 * mss, 40 * mss));
    assert_eq!(other.bytes + u64::from(MSS), edge);
    let advertised = other.advertise(&mut buffer, 0, mss, held(50 * mss, 50 * mss));
    assert!(!advertised.is_roomy);
    // Most of the data is read at once.
    let advertised = other.advertise(&mut buffer, 0, mss, held(50 * mss, mss));
    assert!(advertised.is_roomy);
}
