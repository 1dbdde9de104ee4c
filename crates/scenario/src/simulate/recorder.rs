//! Records the states, credits and losses of the senders of a simulation.

use std::collections::BTreeMap;
use std::sync::Arc;

use mpcc::{Note, Settlement, Subflow as Coupled};
use netsim::Time;
use transport::{Observer, SubflowId, View};

use super::recording::Recording;
use crate::trace::{Credit, Loss, Phase, Row, Settled};

/// Records in order of time.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    states: Vec<State>,
    credits: Vec<Taken>,
    losses: Vec<Lost>,
    /// Subflow that owns a slot, by connection and slot.
    slots: BTreeMap<(u32, u8), SubflowId>,
}

/// The trace of a run.
#[derive(Default)]
pub(super) struct Trace {
    pub(super) rows: Vec<Row>,
    pub(super) credits: Vec<Credit>,
    pub(super) losses: Vec<Loss>,
}

/// State of a subflow after a change.
#[derive(Debug)]
struct State {
    at: Time,
    subflow: SubflowId,
    view: View,
}

/// A segment that the network lost.
#[derive(Debug)]
struct Lost {
    at: Time,
    subflow: SubflowId,
}

/// A credit that a joining subflow took.
#[derive(Debug)]
struct Taken {
    at: Time,
    /// Borrower.
    to: SubflowId,
    /// Slot of the borrower.
    slot: u8,
    /// Lender.
    from: SubflowId,
    segments: u32,
    settled: Option<(Time, Settlement)>,
    /// Neither settled nor void.
    open: bool,
}

impl Observer for Recorder {
    const ON: bool = true;

    fn window(&mut self, at: Time, subflow: SubflowId, view: &View) {
        match self.states.last_mut() {
            // One row for an instant: the last state.
            Some(last) if last.at == at && last.subflow == subflow => last.view = *view,
            _ => self.states.push(State {
                at,
                subflow,
                view: *view,
            }),
        }
    }

    fn opened(
        &mut self,
        at: Time,
        subflow: SubflowId,
        cc: &Coupled,
        taken: Option<transport::Credit>,
    ) {
        let Some(slot) = cc.slot() else { return };
        self.slots.insert((subflow.connection, slot), subflow);
        if let Some(credit) = taken {
            self.credits.push(Taken {
                at,
                to: subflow,
                slot,
                from: self.slots[&(subflow.connection, credit.lender)],
                segments: credit.segments,
                settled: None,
                open: true,
            });
        }
    }

    fn credit(&mut self, at: Time, subflow: SubflowId, _: &Coupled, note: &Note) {
        if note.withdraws_credit() {
            let of_this = |taken: &&mut Taken| taken.open && taken.to == subflow;
            self.credits
                .iter_mut()
                .filter(of_this)
                .for_each(|taken| taken.open = false);
        }
        let of_this = |taken: &&mut Taken| taken.open && taken.from == subflow;
        for taken in self.credits.iter_mut().filter(of_this) {
            taken.open &= !note.settles(taken.slot) && !note.voids(taken.slot);
            if note.settles(taken.slot) {
                taken.settled = note.settlement().map(|settlement| (at, settlement));
            }
        }
    }

    fn lost(&mut self, at: Time, subflow: SubflowId, _: u32) {
        self.losses.push(Lost { at, subflow });
    }
}

impl Recorder {
    /// The trace. `titles` has the title of each connection.
    pub(super) fn finish(self, titles: &[Arc<str>]) -> Trace {
        let title = |id: SubflowId| titles[id.connection as usize].clone();
        let row = |State { at, subflow, view }: State| Row {
            time: at.as_secs_f64(),
            connection: title(subflow),
            subflow: subflow.subflow.into(),
            cwnd: view.cwnd,
            ssthresh: view.ssthresh,
            srtt: f64::from(view.srtt8) / 8e6,
            rtt: view.rtt_us.map(|us| f64::from(us) / 1e6),
            published: Some(view.published),
            flight: view.flight,
            phase: match view.ssthresh {
                _ if view.reducing => Phase::Recovery,
                Some(ssthresh) if view.cwnd >= ssthresh => Phase::Avoidance,
                _ => Phase::SlowStart,
            },
        };
        let credit = |taken: Taken| Credit {
            taken: taken.at.as_secs_f64(),
            connection: title(taken.to).to_string(),
            to: taken.to.subflow.into(),
            from: taken.from.subflow.into(),
            segments: taken.segments,
            settled: taken.settled.map(|(at, settlement)| Settled {
                time: at.as_secs_f64(),
                ignored: settlement.ignored,
                sum_before: settlement.sum_before,
                sum_after: settlement.sum_after,
            }),
        };
        let loss = |Lost { at, subflow }: Lost| Loss {
            time: at.as_secs_f64(),
            connection: title(subflow),
            subflow: subflow.subflow.into(),
        };
        Trace {
            rows: self.states.into_iter().map(row).collect(),
            credits: self.credits.into_iter().map(credit).collect(),
            losses: self.losses.into_iter().map(loss).collect(),
        }
    }
}

impl Recording for Recorder {
    fn rows(&self) -> usize {
        self.states.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + netsim::Span::from_millis(millis)
    }

    fn id(subflow: u8) -> SubflowId {
        SubflowId {
            connection: 0,
            subflow,
        }
    }

    /// Two subflows borrow from the first, and a fourth from the third. Each lender settles its own credits alone.
    #[test]
    fn credits_are_settled_by_their_lenders() {
        let mut connection = mpcc::Connection::new(mpcc::Algorithm::find("lisa").unwrap());
        let mut recorder = Recorder::default();
        let mut tcp = [mpcc::Tcp {
            cwnd: 10,
            cwnd_clamp: u32::MAX,
            ssthresh: i32::MAX as u32,
            srtt8: 8 * 40_000,
            cwnd_limited: 1,
            ..mpcc::Tcp::default()
        }; 4];
        let mut subflows = Vec::new();
        for (i, tcp) in (0..).zip(&mut tcp) {
            let (mut subflow, note) = connection.open(tcp, 0);
            let taken = note.credit_taken();
            let taken = taken.map(|segments| transport::Credit {
                lender: connection.lender(&subflow).unwrap(),
                segments,
            });
            recorder.opened(at(10 * u64::from(i)), id(i), &subflow, taken);
            match i {
                0 => drop(connection.on_ack(&mut subflow, tcp, 30)), // grows to 40
                2 => {
                    // The subflow with the lowest RTT from now on.
                    tcp.srtt8 = 8 * 1000;
                    connection.on_ack(&mut subflow, tcp, 10);
                }
                _ => {}
            }
            subflows.push(subflow);
        }
        for (lender, millis) in [(0, 50), (2, 70)] {
            let note = connection.on_ack(&mut subflows[lender], &mut tcp[lender], 1);
            let ignored = note.settlement().unwrap().ignored;
            assert_eq!(ignored, 0, "nothing was in flight beyond the window");
            recorder.credit(at(millis), id(lender as u8), &subflows[lender], &note);
        }
        let credits = recorder.finish(&["a".into()]).credits;
        let settled: Vec<_> = (credits.iter())
            .map(|c| (c.from, c.to, c.settled.as_ref().map(|s| s.time)))
            .collect();
        let expected = [(0, 1, Some(0.05)), (0, 2, Some(0.05)), (2, 3, Some(0.07))];
        assert_eq!(settled, expected);
    }
}
