//! What happens when a timer fires.

use super::*;
use crate::receiver::Join;

impl<O: Observer> Simulation<O> {
    pub(super) fn on_timer(&mut self, owner: Owner) {
        match owner {
            Owner::Sender(subflow) => self.on_sender_timer(subflow),
            Owner::Receiver(subflow) => {
                let number = self.parent(subflow);
                let (connection, _, receivers, env) = parts!(self, number);
                let index = (subflow - connection.first) as usize;
                let receiver = &mut receivers[index];
                if receiver.join == Join::Waits {
                    let bytes = self.opening(number, index).established;
                    let (_, _, receivers, env) = parts!(self, number);
                    receivers[index].finish_handshake(env, bytes);
                } else if receiver.established {
                    receiver.acknowledge(connection, env);
                } else {
                    self.send_syn(number, index);
                }
            }
            Owner::Start(number) => self.send_syn(number, 0),
            Owner::Write(number) => self.write(number),
            Owner::Announce(number) => self.announce_again(number),
            Owner::Push(number) => {
                let (connection, senders, _, env) = parts!(self, number);
                connection.write_on(senders, env, NONE);
            }
            Owner::Retransmission(number) => {
                let (connection, senders, _, env) = parts!(self, number);
                connection.retransmit(senders, env);
            }
            Owner::Udp(number) => self.udp[number as usize].on_timer(&mut self.env),
        }
        self.env.flush();
    }

    #[cold]
    fn send_syn(&mut self, number: u32, index: usize) {
        let bytes = self.opening(number, index).syn;
        let (_, _, receivers, env) = parts!(self, number);
        receivers[index].send_syn(env, bytes);
    }

    #[cold]
    pub(super) fn on_sender_timer(&mut self, subflow: u32) {
        let number = self.parent(subflow);
        let index = (subflow - self.connections[number as usize].first) as usize;
        let answer = self.opening(number, index).syn_ack;
        let (connection, senders, _, env) = parts!(self, number);
        let sender = &mut senders[index];
        if matches!(sender.life, Life::Open | Life::Stalled) {
            let fires = sender.fires_at(env.now);
            if fires > env.now {
                return env.timers.set(sender.timer, fires);
            }
        }
        match (sender.life, sender.waits) {
            (Life::Opening, _) => sender.answer_syn(env, answer),
            (Life::Idle | Life::Closed, _) => {}
            (_, Waits::Probe) => {
                if let Some(piece) = connection.take_new(sender) {
                    sender.send_new(&mut connection.coupled, env, piece);
                    sender.probed(env, false);
                } else {
                    sender.probe_again(env);
                }
            }
            (_, Waits::Reordering) => {
                sender.on_reordering(&mut connection.coupled, env);
                connection.push(senders, env, index);
                if senders[index].notices != 0 {
                    self.noticed(number, index);
                }
            }
            (_, Waits::Timeout) => {
                sender.on_timeout(&mut connection.coupled, env);
                if connection.retransmission.timer.is_none() {
                    sender.life = Life::Stalled;
                    if !connection.has_buffers() {
                        connection.reinject(&senders[index], index as u32);
                    }
                }
                connection.push(senders, env, index);
                if senders[index].notices != 0 {
                    self.noticed(number, index);
                }
            }
        }
    }
}
