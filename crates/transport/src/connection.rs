//! A connection: one stream of data over one or more subflows (RFC 8684). Plain TCP is a connection with one subflow.
//!
//! The client opens the connection and receives; the server sends. [`Connection`] has both ends.

mod application;
mod handshake;
mod path_manager;
pub(crate) mod receive;
pub(crate) mod send;

use crate::environment::TimerOwner;
use crate::environment::timers::Timers;
use crate::packet::SubflowId;
use crate::profile::Profile;
use crate::receive_stream::{ReceiveBuffer, ReceiveStream};
use crate::spec::{ConnectionSpec, PathManager};
use crate::subflow::receiver::Receiver;
use crate::subflow::receiver::window::AdvertisedWindow;
use crate::subflow::sender::Sender;
use application::ApplicationState;
use path_manager::Announcements;
use receive::ReceiveSide;
use send::discipline::Discipline;
use send::{SendSide, SendTimers};
use std::sync::Arc;

/// A connection: the server's end, the client's end, and the application at the server.
pub(crate) struct Connection {
    pub(crate) send: SendSide,
    pub(crate) receive: ReceiveSide,
    pub(crate) application: ApplicationState,
    pub(crate) announcements: Announcements,
    pub(crate) spec: ConnectionSpec,
}

impl Connection {
    /// A connection that starts at [`ConnectionSpec::start`].
    pub(crate) fn new(
        spec: ConnectionSpec,
        profile: &Arc<Profile>,
        number: u32,
        timers: &mut Timers<TimerOwner>,
    ) -> Self {
        let count = if spec.mptcp { spec.routes.len() } else { 1 };
        let mss = spec.packet - profile.data_header(spec.mptcp);
        let (packet, window) = (spec.packet, spec.receive_window);
        let buffer = ReceiveBuffer::new(profile, packet, mss, spec.mptcp, window);
        let window = AdvertisedWindow::new(profile, &buffer).bytes;
        let announced = spec.path_manager == PathManager::Announced;
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for (index, routes) in spec.routes[..count].iter().enumerate() {
            let id = SubflowId {
                connection: number,
                subflow: index as u8,
            };
            let group = spec.groups.get(index).copied().unwrap_or(0);
            let backup = spec.backup.get(index).copied().unwrap_or(false);
            let sender_timer = timers.add(TimerOwner::Sender(id));
            let route = routes.to_client;
            let mut sender = Sender::new(&spec, profile.clone(), route, sender_timer, id, group);
            sender.requests_backup = backup && announced;
            sender.tcp.backup = sender.requests_backup.into();
            senders.push(sender);
            let window = AdvertisedWindow::new(profile, &buffer);
            let receiver_timer = timers.add(TimerOwner::Receiver(id));
            let (profile, route) = (profile.clone(), routes.to_server);
            let mut receiver = Receiver::new(&spec, profile, route, receiver_timer, id, window);
            receiver.requests_backup = backup && !announced;
            receivers.push(receiver);
        }
        let start_timer = timers.add(TimerOwner::Start(number));
        timers.set(start_timer, spec.start);
        let write_timer = timers.add(TimerOwner::Write(number));
        let announce_timer = timers.add(TimerOwner::Announcement(number));
        let discipline = Discipline::of(profile, spec.mptcp);
        let retransmits = discipline == Discipline::Mptcp && count > 1;
        let wakes = retransmits || discipline == Discipline::Tcp;
        let send_timers = SendTimers {
            retransmission: retransmits.then(|| timers.add(TimerOwner::Retransmission(number))),
            wakeup: wakes.then(|| timers.add(TimerOwner::Wakeup(number))),
        };
        let send = SendSide::new(&spec, mss, window, discipline, senders.into(), send_timers);
        let receive = ReceiveSide {
            stream: ReceiveStream::new(&spec, mss, receivers.len(), buffer),
            subflows: receivers.into(),
        };
        Self {
            send,
            receive,
            application: ApplicationState::new(&spec, write_timer),
            announcements: Announcements::new(announce_timer),
            spec,
        }
    }
}
