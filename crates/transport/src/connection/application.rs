//! The application at the server: its writes, and the completion of the connection.

use super::Connection;
use crate::application::Application;
use crate::environment::Env;
use crate::environment::timers::TimerId;
use crate::spec::ConnectionSpec;
use crate::subflow::sender::SubflowState;
use crate::trace::Observer;
use netsim::{Span, Time};

/// State of the application.
#[derive(Debug)]
pub(crate) struct ApplicationState {
    /// Timer of the next write.
    pub(crate) write_timer: TimerId,
    /// Whether the application writes a finite number of bytes.
    pub(crate) is_finite: bool,
    /// Written data is not yet acknowledged.
    is_writing: bool,
    /// Time of the first write of the data that is being written.
    written_at: Time,
    /// Time from the write of each reply until its last byte was acknowledged.
    pub(crate) replies: Vec<Span>,
    pub(crate) completion: Option<Time>,
    /// Congestion windows of the subflows at the completion, segments.
    pub(crate) cwnd_at_end: Vec<u32>,
}

impl ApplicationState {
    pub(crate) fn new(spec: &ConnectionSpec, write_timer: TimerId) -> Self {
        Self {
            write_timer,
            is_finite: matches!(
                spec.application,
                Application::File(_) | Application::Requests { .. }
            ),
            is_writing: false,
            written_at: Time::ZERO,
            replies: Vec::new(),
            completion: None,
            cwnd_at_end: Vec::new(),
        }
    }
}

impl Connection {
    /// The application has data to write. Returns whether the connection is complete with that.
    pub(crate) fn write<O: Observer>(&mut self, env: &mut Env<O>) -> bool {
        let mss = self.send.stream.mss;
        let bytes = match &mut self.spec.application {
            Application::Endless => None,
            Application::File(bytes) | Application::Requests { bytes, .. } => Some(*bytes),
            Application::Paced(pace) => {
                let (writes, wait) = pace.tick(env.now, mss.into());
                env.timers.set(self.application.write_timer, env.now + wait);
                if !writes {
                    return false;
                }
                Some(mss.into())
            }
        };
        self.application.is_writing = true;
        self.application.written_at = env.now;
        self.send.stream.extend(bytes);
        if self.send.stream.is_done() {
            return self.on_all_acknowledged(env);
        }
        self.send.write(env);
        false
    }

    /// All written data is acknowledged: schedules the next reply, or completes the connection. Returns whether it is
    /// complete.
    #[cold]
    pub(crate) fn on_all_acknowledged<O: Observer>(&mut self, env: &mut Env<O>) -> bool {
        let application = &mut self.application;
        // ACKs of other subflows may arrive after the end of the reply.
        if !application.is_finite || !std::mem::take(&mut application.is_writing) {
            return false;
        }
        if let Application::Requests { bytes, later } = &mut self.spec.application {
            self.send.wait_for_application(env.now);
            let latency = env.now.since(application.written_at);
            application.replies.push(latency);
            if let Some(reply) = later.pop_front() {
                *bytes = reply.bytes;
                env.timers.set(application.write_timer, env.now + reply.gap);
                return false;
            }
        }
        application.completion = Some(env.now);
        let subflows = self.send.subflows.iter();
        let windows = subflows.map(|s| {
            if s.subflow_state == SubflowState::Idle {
                0
            } else {
                s.tcp.cwnd
            }
        });
        application.cwnd_at_end = windows.collect();
        self.send.close(env);
        self.receive.close(env);
        self.announcements.close(env);
        true
    }
}
