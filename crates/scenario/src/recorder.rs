//! Writes down what happens at the senders of a simulation.

use std::collections::BTreeMap;
use std::sync::Arc;

use mpcc::{Note, Settlement, Subflow as Coupled};
use netsim::Time;
use transport::{Observer, SubflowId, View};

use crate::trace::{Credit, Loss, Row, Settled};

/// What happened, in order of time.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    rows: Vec<(Time, SubflowId, View)>,
    credits: Vec<Taken>,
    losses: Vec<(Time, SubflowId)>,
    /// Which subflow of a connection has a slot.
    slots: BTreeMap<(u32, u8), SubflowId>,
}

#[derive(Debug)]
struct Taken {
    at: Time,
    to: SubflowId,
    /// Its slot, and the lender.
    slot: u8,
    from: SubflowId,
    segments: u32,
    settled: Option<(Time, Settlement)>,
    open: bool,
}

impl Observer for Recorder {
    const ON: bool = true;

    fn window(&mut self, at: Time, who: SubflowId, view: &View) {
        match self.rows.last_mut() {
            // Of one instant the last is what counts.
            Some(last) if last.0 == at && last.1 == who => last.2 = *view,
            _ => self.rows.push((at, who, *view)),
        }
    }

    fn opened(&mut self, at: Time, who: SubflowId, cc: &Coupled, taken: Option<(u8, u32)>) {
        let Some(slot) = cc.slot() else { return };
        self.slots.insert((who.connection, slot), who);
        if let Some((lender, segments)) = taken {
            self.credits.push(Taken {
                at,
                to: who,
                slot,
                from: self.slots[&(who.connection, lender)],
                segments,
                settled: None,
                open: true,
            });
        }
    }

    fn credit(&mut self, at: Time, who: SubflowId, _: &Coupled, note: &Note) {
        if note.withdraws_credit() {
            let of_this = |taken: &&mut Taken| taken.open && taken.to == who;
            self.credits
                .iter_mut()
                .filter(of_this)
                .for_each(|taken| taken.open = false);
        }
        let of_this = |taken: &&mut Taken| taken.open && taken.from == who;
        for taken in self.credits.iter_mut().filter(of_this) {
            taken.open &= !note.settles(taken.slot) && !note.voids(taken.slot);
            if note.settles(taken.slot) {
                taken.settled = note.settlement().map(|settlement| (at, settlement));
            }
        }
    }

    fn lost(&mut self, at: Time, subflow: SubflowId) {
        self.losses.push((at, subflow));
    }
}

impl Recorder {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The rows, the credits and the losses. `names`: those of the connections.
    pub(crate) fn finish(self, names: &[Arc<str>]) -> (Vec<Row>, Vec<Credit>, Vec<Loss>) {
        let name = |id: SubflowId| names[id.connection as usize].clone();
        let row = |(at, id, view): (Time, SubflowId, View)| Row {
            time: at.as_secs_f64(),
            connection: name(id),
            subflow: id.subflow.into(),
            cwnd: view.cwnd,
            ssthresh: view.ssthresh,
            srtt: f64::from(view.srtt8) / 8e6,
            flight: view.flight,
            phase: match view.ssthresh {
                _ if view.reducing => "recovery",
                Some(ssthresh) if view.cwnd >= ssthresh => "avoidance",
                _ => "slow start",
            },
        };
        let credit = |taken: Taken| Credit {
            taken: taken.at.as_secs_f64(),
            connection: name(taken.to).to_string(),
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
        let loss = |(at, id): (Time, SubflowId)| Loss {
            time: at.as_secs_f64(),
            connection: name(id),
            subflow: id.subflow.into(),
        };
        (
            self.rows.into_iter().map(row).collect(),
            self.credits.into_iter().map(credit).collect(),
            self.losses.into_iter().map(loss).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + netsim::Span::from_millis(millis)
    }

    fn who(subflow: u8) -> SubflowId {
        SubflowId {
            connection: 0,
            subflow,
        }
    }

    /// Two subflows take from the first, and a third one from the second. Each lender settles its own credits only.
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
            let taken = taken.map(|credit| (connection.lender(&subflow).unwrap(), credit));
            recorder.opened(at(10 * u64::from(i)), who(i), &subflow, taken);
            match i {
                0 => drop(connection.on_ack(&mut subflow, tcp, 30)), // grows to 40
                2 => {
                    // The fastest from now on.
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
            recorder.credit(at(millis), who(lender as u8), &subflows[lender], &note);
        }
        let (_, credits, _) = recorder.finish(&["a".into()]);
        let settled: Vec<_> = (credits.iter())
            .map(|c| (c.from, c.to, c.settled.as_ref().map(|s| s.time)))
            .collect();
        let expected = [(0, 1, Some(0.05)), (0, 2, Some(0.05)), (2, 3, Some(0.07))];
        assert_eq!(settled, expected);
    }
}
