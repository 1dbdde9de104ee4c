//! Data that the senders transmit, in the simulator and over real sockets.

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use transport::{Pace, Reply, Turns};

use crate::connection::{Application, OnOff};

impl Application {
    /// The data of a flow with this seed ([`Flow::seed`](crate::Flow::seed)), from which sizes, gaps between requests and
    /// periods are drawn.
    #[must_use]
    pub fn data(&self, seed: u64) -> transport::Application {
        let mut generator = Pcg64Mcg::seed_from_u64(seed);
        match self {
            Self::Endless => transport::Application::Endless,
            Self::Bytes(size) => transport::Application::File(size.draw(&mut generator)),
            Self::Requests { count, bytes, gap } => transport::Application::Requests {
                bytes: bytes.draw(&mut generator),
                later: (1..*count)
                    .map(|_| Reply {
                        gap: gap.draw(&mut generator),
                        bytes: bytes.draw(&mut generator),
                    })
                    .collect(),
            },
            Self::Rate { rate, on_off } => {
                let periods = on_off.as_ref().map(|on_off| turns(on_off, seed));
                transport::Application::Paced(Pace::new(*rate, periods))
            }
        }
    }
}

/// Generator of alternating periods of sending and silence, drawn from the seed.
fn turns(on_off: &OnOff, seed: u64) -> Turns {
    let OnOff { on, off } = on_off.clone();
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    Box::new(move || transport::OnOff {
        on: on.draw(&mut generator),
        off: off.draw(&mut generator),
    })
}
