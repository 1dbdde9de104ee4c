//! Managers that attack: sessions that end at once, floods of groups, events without an end, and terminal escapes.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::tests::{DISJOINT, Memory, run};
use crate::{Agent, Event, Manager, PathManagerEvents};

/// A manager on threads of its own, whose streams of events are what `stream` writes. Counts the sessions.
fn manager(endpoint: &'static str, stream: fn(&mut TcpStream)) -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sessions = Arc::new(AtomicU32::new(0));
    let counted = sessions.clone();
    thread::spawn(move || {
        for client in listener.incoming().map_while(std::result::Result::ok) {
            let counted = counted.clone();
            thread::spawn(move || answer(client, endpoint, stream, &counted));
        }
    });
    (address, sessions)
}

fn answer(mut client: TcpStream, endpoint: &str, stream: fn(&mut TcpStream), sessions: &AtomicU32) {
    let mut lines = BufReader::new(client.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else {
        return;
    };
    while lines
        .next()
        .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
    {}
    let body = match first.split(' ').nth(1) {
        Some("/v1/session") => {
            sessions.fetch_add(1, Ordering::Relaxed);
            serde_json::json!({ "endpoint": endpoint, "session": "s" })
        }
        Some("/v1/reports") => serde_json::json!({ "sequence": 1, "connections": [] }),
        _ => {
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\n\r\n: open\n\n");
            return stream(&mut client);
        }
    };
    let body = body.to_string();
    let _ = write!(
        client,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}

/// An endpoint with one connection, for this time or until an event ends the test. Returns its events.
async fn endpoint(
    address: SocketAddr,
    time: Duration,
    is_last: impl Fn(&Event) -> bool,
) -> Option<Vec<Event>> {
    let Ok(path_manager) = PathManagerEvents::open() else {
        eprintln!("skipped: no events of MPTCP's path manager");
        return None;
    };
    let memory = Memory::default();
    memory.open(7, &DISJOINT);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let target = format!("http://{address}").parse().unwrap();
    let manager = Manager::new(target, "token", None).unwrap();
    let agent = Agent::new(manager, memory, move |event| drop(sender.send(event)));
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async { drop(stopped.await) };
    let ended = tokio::task::spawn_local(agent.run(path_manager, stopped));
    let end = Instant::now() + time;
    let mut events = Vec::new();
    while let Ok(Some(event)) = timeout(end - Instant::now(), receiver.recv()).await {
        events.push(event);
        if events.last().is_some_and(&is_last) {
            break;
        }
    }
    let _ = stop.send(());
    ended.await.unwrap().unwrap();
    Some(events)
}

#[test]
fn reconnects_back_off_and_names_are_printable() {
    run(async || {
        let (address, sessions) = manager("x\u{1b}[2J\u{9b}2J\u{202e}", |_| {});
        let Some(events) = endpoint(address, Duration::from_secs(6), |_| false).await else {
            return;
        };
        // After 0.2, 0.4, 0.8, 1.6 and 3.2 s.
        let sessions = sessions.load(Ordering::Relaxed);
        assert!((3..=6).contains(&sessions), "{sessions} sessions in 6 s");
        assert!(events.len() <= 13, "{events:?}");
        let printable = |text: &str| !text.chars().any(|c| c.is_control() || c == '\u{202e}');
        for event in &events {
            match event {
                Event::Connected(name) => assert!(printable(name), "{name:?}"),
                Event::Lost(error) => assert!(printable(&error.to_string()), "{error:?}"),
                _ => {}
            }
        }
    });
}

#[test]
fn a_flood_of_groups_has_a_tenth_of_the_time() {
    run(async || {
        let (address, _) = manager("one", |client| {
            for revision in 1_u64.. {
                let group = revision % 2;
                let event = format!(
                    "event: groups\ndata: [{{\"connection\":\"7\",\"revision\":{revision},\"groups\":[{{\"local\":\"{}\",\"remote\":\"{}\",\"group\":0}},{{\"local\":\"{}\",\"remote\":\"{}\",\"group\":{group}}}]}}]\n\n",
                    DISJOINT[0].0, DISJOINT[0].1, DISJOINT[1].0, DISJOINT[1].1
                );
                if client.write_all(event.as_bytes()).is_err() {
                    return;
                }
            }
        });
        let busy = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
        let (begin, time) = (busy(), Duration::from_secs(4));
        let Some(events) = endpoint(address, time, |_| false).await else {
            return;
        };
        let busy = busy() - begin;
        assert!(busy < time / 4, "{busy:?} of {time:?}");
        assert!(events.len() > 10, "{}", events.len());
    });
}

#[test]
fn an_event_without_an_end() {
    run(async || {
        let (address, _) = manager("one", |client| {
            let _ = client.write_all(b"event: groups\ndata: [");
            while client.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_secs(1)); // never silent for long
            }
        });
        let is_lost = |event: &Event| matches!(event, Event::Lost(_));
        let Some(events) = endpoint(address, Duration::from_secs(50), is_lost).await else {
            return;
        };
        let Some(Event::Lost(error)) = events.last() else {
            panic!("{events:?}");
        };
        let error = error.to_string();
        assert!(error.contains("an event without an end"), "{error}");
    });
}
