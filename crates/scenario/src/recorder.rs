//! Writes down what happens at the senders of a simulation.

use std::collections::BTreeMap;

use mpcc::{Note, Subflow as Coupled, ffi};
use netsim::Time;
use transport::{Observer, View, Who};

use crate::simulate::Subflow;
use crate::trace::{Credit, Loss, Row, Settled};

/// What happened, in order of time.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    rows: Vec<(Time, Who, View)>,
    credits: Vec<Taken>,
    /// When, and of which subflow.
    losses: Vec<(Time, u32)>,
    /// Which subflow of a connection has a slot.
    slots: BTreeMap<(u32, u8), u32>,
}

#[derive(Debug)]
struct Taken {
    at: Time,
    to: Who,
    /// Its slot, and the lender.
    slot: u8,
    from: u32,
    segments: u32,
    settled: Option<(Time, Note)>,
    open: bool,
}

impl Observer for Recorder {
    const ON: bool = true;

    fn window(&mut self, at: Time, who: Who, view: &View) {
        match self.rows.last_mut() {
            // Of one instant the last is what counts.
            Some(last) if last.0 == at && last.1 == who => last.2 = *view,
            _ => self.rows.push((at, who, *view)),
        }
    }

    fn opened(&mut self, at: Time, who: Who, cc: &Coupled, taken: Option<(u8, u32)>) {
        self.slots.insert((who.connection, cc.slot), who.subflow);
        if let Some((lender, segments)) = taken {
            self.credits.push(Taken {
                at,
                to: who,
                slot: cc.slot,
                from: self.slots[&(who.connection, lender)],
                segments,
                settled: None,
                open: true,
            });
        }
    }

    fn credit(&mut self, at: Time, who: Who, _: &Coupled, note: &Note) {
        if note.what & ffi::MPCC_NOTE_WITHDRAWN != 0 {
            let of_this = |taken: &&mut Taken| taken.open && taken.to == who;
            self.credits
                .iter_mut()
                .filter(of_this)
                .for_each(|taken| taken.open = false);
        }
        let ends = note.settled | note.voided;
        let of_this = |taken: &&mut Taken| taken.open && taken.from == who.subflow;
        for taken in self.credits.iter_mut().filter(of_this) {
            let bit = 1 << taken.slot;
            taken.open &= ends & bit == 0;
            if note.settled & bit != 0 {
                taken.settled = Some((at, *note));
            }
        }
    }

    fn lost(&mut self, at: Time, subflow: u32) {
        self.losses.push((at, subflow));
    }
}

impl Recorder {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The rows, the credits and the losses, with the names of connections. Times are since each connection's first SYN.
    pub(crate) fn finish(self, subflows: &[Subflow]) -> (Vec<Row>, Vec<Credit>, Vec<Loss>) {
        let since = |at: Time, subflow: &Subflow| at.since(subflow.start).as_secs_f64();
        let row = |(at, who, view): (Time, Who, View)| {
            let subflow = &subflows[who.subflow as usize];
            Row {
                time: since(at, subflow),
                connection: subflow.connection.clone(),
                subflow: subflow.index,
                cwnd: view.cwnd,
                ssthresh: view.ssthresh,
                srtt: f64::from(view.srtt8) / 8e6,
                flight: view.flight,
                phase: match view.ssthresh {
                    _ if view.reducing => "recovery",
                    Some(ssthresh) if view.cwnd >= ssthresh => "avoidance",
                    _ => "slow start",
                },
            }
        };
        let credit = |taken: Taken| {
            let to = &subflows[taken.to.subflow as usize];
            Credit {
                taken: since(taken.at, to),
                connection: to.connection.to_string(),
                to: to.index,
                from: subflows[taken.from as usize].index,
                segments: taken.segments,
                settled: taken.settled.map(|(at, note)| Settled {
                    time: since(at, to),
                    ignored: note.ignored,
                    sum_before: note.sum_before,
                    sum_after: note.sum_after,
                }),
            }
        };
        let loss = |(at, subflow): (Time, u32)| {
            let subflow = &subflows[subflow as usize];
            Loss {
                time: since(at, subflow),
                connection: subflow.connection.clone(),
                subflow: subflow.index,
            }
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

    fn who(subflow: u32) -> Who {
        Who {
            connection: 0,
            subflow,
        }
    }

    /// Two join and take from the first; a third takes from the second. What one lender tells settles its own credits, and
    /// each of these once.
    #[test]
    fn credits_are_settled_by_their_lenders() {
        let mut recorder = Recorder::default();
        let slot = |slot| Coupled {
            slot,
            ..Coupled::default()
        };
        for (subflow, taken) in [(0, None), (1, Some(0)), (2, Some(0)), (3, Some(1))] {
            let taken = taken.map(|lender| (lender, 10));
            recorder.opened(
                at(10 * u64::from(subflow)),
                who(subflow),
                &slot(subflow as u8),
                taken,
            );
        }
        let mut tell = |millis, lender: u8, settled, voided| {
            let note = Note {
                settled,
                voided,
                ignored: millis,
                ..Note::default()
            };
            let lender = u32::from(lender);
            recorder.credit(at(millis.into()), who(lender), &slot(lender as u8), &note);
        };
        tell(50, 0, 1 << 1, 1 << 2);
        // Nobody owes these any more, and the second lender has not been told of.
        tell(60, 0, 1 << 1 | 1 << 2 | 1 << 3, 0);
        tell(70, 1, 1 << 3, 0);
        let subflow = |index| Subflow {
            connection: "a".into(),
            index,
            start: Time::ZERO,
        };
        let subflows: Vec<_> = (0..4).map(subflow).collect();
        let (_, credits, _) = recorder.finish(&subflows);
        let told: Vec<_> = (credits.iter())
            .map(|c| (c.from, c.to, c.settled.as_ref().map(|s| s.ignored)))
            .collect();
        assert_eq!(told, [(0, 1, Some(50)), (0, 2, None), (1, 3, Some(70))]);
    }
}
