//! Records the events and connections of a loaded algorithm while a test runs.

use super::{LISA, Loaded, PATIENCE, world::Running};
use kernel::contract::{lisa_event, lisa_event_kind as kind};
use kernel::events::{Kinds, Listener};
use serde_json::Value;
use std::collections::HashMap;
use std::process::Command;
use std::time::{Duration, Instant};

/// Lender of a subflow without a credit (contract.h, MPCC_NO_SLOT).
const NOBODY: u8 = 0xff;

/// The recorded events and connections of an algorithm.
pub struct Watch<'l> {
    loaded: &'l Loaded,
    listener: Listener<'l>,
    /// All events, oldest first.
    pub events: Vec<lisa_event>,
    /// Largest number of subflows of a connection at a time, by its network namespace.
    pub most: HashMap<u32, usize>,
}

impl<'l> Watch<'l> {
    /// Starts to record.
    pub fn new(loaded: &'l Loaded) -> Self {
        let listener = Listener::new(loaded, Kinds::RARE).expect("listens");
        Self {
            loaded,
            listener,
            events: Vec::new(),
            most: HashMap::new(),
        }
    }

    /// Reads the events and connections once.
    pub fn look(&mut self) {
        self.events.extend(
            self.listener
                .poll(Duration::from_millis(10))
                .expect("events"),
        );
        // Not with the program, which also reads all sockets of the host: too slow for a transfer of a second.
        for connection in self.loaded.status().connections {
            let most = self.most.entry(connection.netns).or_default();
            *most = connection.subflows.len().max(*most);
        }
    }

    /// Records until `condition` holds.
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition(self) {
            let (most, totals) = (&self.most, self.loaded.totals());
            assert!(
                Instant::now() < deadline,
                "waited in vain for: {what}; {most:?}, {totals:?}"
            );
            self.look();
        }
    }

    /// Waits until a connection of this namespace has, or had, this number of subflows.
    pub fn subflows(&mut self, netns: u32, number: usize) {
        self.until(&format!("{number} subflows"), |seen| {
            seen.most(netns) >= number
        });
    }

    /// Largest number of subflows of a connection of this namespace.
    pub fn most(&self, netns: u32) -> usize {
        self.most.get(&netns).copied().unwrap_or(0)
    }

    /// The events of a kind (`lisa_event_kind`).
    pub fn of(&self, kind: u32) -> Vec<&lisa_event> {
        self.events
            .iter()
            .filter(|event| u32::from(event.kind) == kind)
            .collect()
    }

    /// Records during `work`. (A listener that does not read for ten seconds is removed.)
    pub fn during<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let work = scope.spawn(work);
            while !work.is_finished() {
                self.look();
            }
            work.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Waits for the end of a program, and panics if it failed.
    pub fn succeed(&mut self, mut program: Running) {
        self.until("the program's end", |_| !program.runs());
        program.succeed();
    }

    /// Waits until all connections have closed, checks every credit, and returns the numbers of settled and void credits.
    pub fn finish(mut self) -> (usize, usize) {
        self.until("the end of all connections", |seen| {
            seen.loaded.is_settled()
        });
        let totals = self.loaded.settled();
        // The events of the last callbacks are in the ring buffer now.
        loop {
            let more = self.listener.poll(Duration::ZERO).expect("events");
            if more.is_empty() {
                break;
            }
            self.events.extend(more);
        }
        assert_eq!(totals.events_lost, 0, "{totals:?}");
        for event in self.of(kind::LISA_EVENT_SETTLED) {
            assert_eq!(
                event.sum_before, event.sum_after,
                "segments are conserved: {event:?}"
            );
            assert!((3..=10).contains(&event.credit), "{event:?}");
        }
        let mut taken = 0;
        for start in self.of(kind::LISA_EVENT_START) {
            if start.other == NOBODY {
                assert!(
                    [3, 10].contains(&start.cwnd),
                    "an initial window: {start:?}"
                );
                continue;
            }
            taken += 1;
            assert_eq!(
                start.cwnd, start.credit,
                "the credit is the window: {start:?}"
            );
            assert!((3..=10).contains(&start.credit), "{start:?}");
        }
        let (settled, void) = (
            self.of(kind::LISA_EVENT_SETTLED).len(),
            self.of(kind::LISA_EVENT_VOID).len(),
        );
        assert_eq!(taken, settled + void, "every credit ends once: {totals:?}");
        let counted = (taken, settled, void);
        let totals = [
            totals.credits_taken,
            totals.credits_settled,
            totals.credits_void,
        ];
        assert_eq!(
            <[usize; 3]>::from(counted),
            totals.map(|n| n as usize),
            "events and counts agree"
        );
        (settled, void)
    }
}

/// The connections of an algorithm, as `lisa kernel status --json` prints them.
pub fn connections(algorithm: &str) -> Vec<Value> {
    let output = Command::new(LISA)
        .args(["kernel", "status", "--json"])
        .output()
        .expect("lisa");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["schema"], "lisa.kernel.status/3");
    let algorithms = report["algorithms"].as_array().expect("a list");
    let ours = algorithms
        .iter()
        .find(|found| found["name"] == algorithm)
        .expect("it is loaded");
    ours["connections"].as_array().expect("a list").clone()
}
