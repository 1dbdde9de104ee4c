//! The application at the server: what it writes, and when all of that is acknowledged.

use super::*;

impl<O: Observer> Simulation<O> {
    /// The application writes.
    pub(super) fn write(&mut self, number: u32) {
        let running = &mut self.running[number as usize];
        let mss = self.connections[number as usize].mss;
        let bytes = match &mut running.spec.application {
            Application::Endless => None,
            Application::File(bytes) | Application::Requests { bytes, .. } => Some(*bytes),
            Application::Paced(pace) => {
                let (writes, wait) = pace.tick(self.env.now, mss.into());
                self.env
                    .timers
                    .set(running.write_timer, self.env.now + wait);
                if !writes {
                    return;
                }
                Some(mss.into())
            }
        };
        running.writing = true;
        let (connection, senders, _, env) = parts!(self, number);
        connection.write(bytes);
        if connection.is_done() {
            self.written_is_done(number);
        } else {
            connection.write_on(senders, env, NONE);
        }
    }

    /// All that was written is acknowledged: the next reply, or the end.
    #[cold]
    pub(super) fn written_is_done(&mut self, number: u32) {
        let running = &mut self.running[number as usize];
        // ACKs of other subflows may still come when the reply has ended.
        if !running.finite || !std::mem::take(&mut running.writing) {
            return;
        }
        if let Application::Requests { gaps, .. } = &mut running.spec.application {
            if let Some(gap) = gaps.pop_front() {
                self.env.timers.set(running.write_timer, self.env.now + gap);
                return;
            }
        }
        running.completion = Some(self.env.now);
        self.unfinished -= 1;
        let (connection, senders, receivers, env) = parts!(self, number);
        let windows = senders
            .iter()
            .map(|s| if s.life == Life::Idle { 0 } else { s.tcp.cwnd });
        let windows = windows.collect();
        for (sender, receiver) in senders.iter_mut().zip(receivers) {
            if matches!(sender.life, Life::Open | Life::Stalled) {
                connection.coupled.close(std::mem::take(&mut sender.cc));
            }
            sender.life = Life::Closed;
            env.timers.clear(sender.timer);
            env.timers.clear(receiver.timer);
        }
        let running = &mut self.running[number as usize];
        self.env.timers.clear(running.announce_timer);
        let connection = &self.connections[number as usize];
        for timer in [connection.retransmission.timer, connection.push_timer] {
            timer
                .into_iter()
                .for_each(|timer| self.env.timers.clear(timer));
        }
        running.cwnd_at_end = windows;
    }
}
