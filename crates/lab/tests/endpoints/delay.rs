//! Datagrams: delay and loss of single packets.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use lisa_lab::Network;

use crate::support::{PORT, network, separate, shaping, shared};

/// Headers of IPv4 and UDP, in bytes.
const HEADERS: u64 = 28;

/// Round-trip times of `count` datagrams of `payload` bytes, sent one after another on `path`.
fn ping(network: &Network, path: usize, payload: usize, count: usize) -> Vec<Duration> {
    let server = SocketAddr::from((network.hosts()[0].server_addresses()[path], PORT));
    let echo = network.hosts()[0]
        .server
        .run(|| UdpSocket::bind(server))
        .unwrap();
    echo.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let echo = move || {
        let mut buffer = [0; 1500];
        for _ in 0..count {
            let (bytes, from) = echo.recv_from(&mut buffer).unwrap();
            echo.send_to(&buffer[..bytes], from).unwrap();
        }
    };
    let echo = network.hosts()[0].server.spawn("test-echo", echo).unwrap();
    let rtts = network.hosts()[0].client.run(|| {
        let socket = UdpSocket::bind((network.hosts()[0].client_address(), 0)).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        socket.connect(server).unwrap();
        let mut buffer = [0; 1500];
        let mut rtt = || {
            let sent = Instant::now();
            socket.send(&vec![7; payload]).unwrap();
            assert_eq!(socket.recv(&mut buffer).unwrap(), payload);
            sent.elapsed()
        };
        (0..count).map(|_| rtt()).collect()
    });
    echo.join().unwrap();
    rtts
}

/// Checks that no round trip is shorter than `rtt_ms` and two transmission times, and that the shortest is not much longer.
fn check(rtts: &[Duration], rtt_ms: u64, payload: u64, bits_per_second: u64) {
    let sending_ns = (payload + HEADERS) * 8 * 1_000_000_000 / bits_per_second;
    let least = Duration::from_millis(rtt_ms) + 2 * Duration::from_nanos(sending_ns);
    let (min, max) = (rtts.iter().min().unwrap(), rtts.iter().max().unwrap());
    eprintln!("at least {least:?}, measured {min:?} to {max:?}");
    assert!(*min >= least, "a packet came {:?} early", least - *min);
    assert!(
        *min < least + Duration::from_millis(20),
        "{min:?} for {least:?}"
    );
}

#[test]
fn round_trips_take_their_time() {
    let Some(mut network) = network(shared(shaping(2_500_000, 30), &[70, 20, 200])) else {
        return;
    };
    for (path, rtt_ms) in [(0, 70), (1, 20), (2, 200)] {
        check(&ping(&network, path, 1000, 8), rtt_ms, 1000, 2_500_000);
        check(&ping(&network, path, 10, 8), rtt_ms, 10, 2_500_000);
    }
    let report = network.stop().unwrap();
    eprintln!("{:?}", report.lateness);
    assert_eq!(
        (report.unrouted, report.undelivered, report.overrun),
        (0, 0, 0)
    );
    // 16 datagrams on each of three paths, and all of them on the bottleneck.
    let packets: Vec<u64> = report
        .links
        .iter()
        .map(|link| link.counters.packets_out)
        .collect();
    assert_eq!(packets, [48, 48, 16, 16, 16, 16, 16, 16]);
    assert!(report.links.iter().all(|link| link.counters.drops == 0));
}

#[test]
fn each_path_can_have_its_own_bottleneck() {
    let Some(mut network) = network(separate(shaping(5_000_000, 9), &[40, 0])) else {
        return;
    };
    check(&ping(&network, 0, 1400, 4), 40, 1400, 5_000_000);
    check(&ping(&network, 1, 1400, 4), 0, 1400, 5_000_000);
    let report = network.stop().unwrap();
    let names: Vec<&str> = report.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(
        names,
        ["path 1 up", "path 1 down", "path 2 up", "path 2 down"]
    );
    assert!(
        report
            .links
            .iter()
            .all(|link| link.counters.packets_out == 4)
    );
}

#[test]
fn a_full_queue_loses_packets_and_counts_them() {
    // At 64 kbit/s a datagram of 1500 bytes takes 187.5 ms: all 50 arrive during the first transmission.
    let Some(mut network) = network(shared(shaping(64_000, 9), &[0])) else {
        return;
    };
    let (sent, capacity) = (50, 10);
    let client = SocketAddr::from((network.hosts()[0].client_address(), PORT));
    let receiver = network.hosts()[0]
        .client
        .run(|| UdpSocket::bind(client))
        .unwrap();
    receiver
        .set_read_timeout(Some(Duration::from_millis(600)))
        .unwrap();
    network.hosts()[0].server.run(|| {
        let socket = UdpSocket::bind((network.hosts()[0].server_addresses()[0], 0)).unwrap();
        for number in 0..sent {
            socket.send_to(&[number; 1472], client).unwrap();
        }
    });
    let mut buffer = [0; 1500];
    let mut received = Vec::new();
    let end = loop {
        match receiver.recv(&mut buffer) {
            Ok(_) => received.push(buffer[0]),
            Err(error) => break error.kind(),
        }
    };
    assert_eq!(end, ErrorKind::WouldBlock);
    // One in transmission and nine in the queue, in order; the others found a full queue.
    assert!(received.iter().copied().eq(0..capacity), "{received:?}");
    let report = network.stop().unwrap();
    let bottleneck = report.links[1].counters;
    assert_eq!(report.links[1].name, "bottleneck down");
    assert_eq!(bottleneck.drops, u64::from(sent - capacity));
    assert_eq!(bottleneck.queue_max, 9);
    assert_eq!(bottleneck.packets_in, u64::from(sent));
}

#[test]
fn a_network_can_be_started_again() {
    let Some(mut network) = network(shared(shaping(5_000_000, 9), &[10])) else {
        return;
    };
    for _ in 0..3 {
        assert!(network.start().is_err());
        check(&ping(&network, 0, 100, 2), 10, 100, 5_000_000);
        assert_eq!(network.stop().unwrap().links[0].counters.packets_out, 2);
        assert!(network.stop().is_err());
        network.start().unwrap();
    }
}
