//! Transfers by TCP and MPTCP.

use socket2::Protocol;

use crate::support::{content, download, network, separate, shaping, shared};

#[test]
fn tcp_delivers_every_byte() {
    let Some(mut network) = network(shared(shaping(5_000_000, 17), &[40])) else {
        return;
    };
    let content = content(100_000);
    let download = download(&network, Protocol::TCP, content.clone());
    assert!(download.received == content);
    // 100 kB take 160 ms at 5 Mbit/s, and the request a round trip.
    assert!(download.took.as_millis() >= 200, "{:?}", download.took);
    let report = network.stop().unwrap();
    assert_eq!(
        (report.unrouted, report.undelivered, report.overrun),
        (0, 0, 0)
    );
    assert!(report.links[1].counters.bytes_out > 100_000);
}

#[test]
fn mptcp_uses_both_paths() {
    for topology in [
        separate(shaping(5_000_000, 17), &[40, 40]),
        shared(shaping(5_000_000, 17), &[40, 40]),
    ] {
        let Some(mut network) = network(topology) else {
            return;
        };
        let content = content(500_000);
        let download = download(&network, Protocol::MPTCP, content.clone());
        assert!(download.received == content);
        let report = network.stop().unwrap();
        eprintln!("{:?}, {:?}", download.took, report.lateness);
        for name in ["path 1 down", "path 2 down"] {
            let link = report.links.iter().find(|link| link.name == name).unwrap();
            assert!(link.counters.bytes_out > 50_000, "{link:?}");
        }
    }
}

#[test]
fn mptcp_uses_nine_paths() {
    let Some(mut network) = network(separate(shaping(5_000_000, 17), &[20; 9])) else {
        return;
    };
    let content = content(2_000_000);
    let download = download(&network, Protocol::MPTCP, content.clone());
    assert!(download.received == content);
    let report = network.stop().unwrap();
    eprintln!("{:?}, {:?}", download.took, report.lateness);
    for link in &report.links {
        assert!(link.counters.packets_out > 10, "{link:?}");
    }
}

#[test]
fn a_hundred_megabits_pass_without_loss_in_the_emulator() {
    let Some(mut network) = network(shared(shaping(100_000_000, 200), &[10])) else {
        return;
    };
    let content = content(10_000_000);
    let download = download(&network, Protocol::TCP, content.clone());
    assert!(download.received == content);
    let report = network.stop().unwrap();
    let mbits = content.len() as f64 * 8e-6 / download.took.as_secs_f64();
    eprintln!(
        "{mbits:.1} Mbit/s, {:?}, {:?}",
        report.lateness, report.links[1].counters
    );
    assert_eq!(
        (report.unrouted, report.undelivered, report.overrun),
        (0, 0, 0)
    );
}
