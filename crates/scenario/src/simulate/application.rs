//! Data that the simulated senders transmit.

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use transport::{Pace, Reply, Turns};

use crate::connection::{Application, OnOff};

/// The data as an application of the simulator; sizes and gaps between requests are drawn from the seed.
pub(super) fn data(application: &Application, seed: u64) -> transport::Application {
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    match application {
        Application::Endless => transport::Application::Endless,
        Application::Bytes(size) => transport::Application::File(size.draw(&mut generator)),
        Application::Requests { count, bytes, gap } => transport::Application::Requests {
            bytes: bytes.draw(&mut generator),
            later: (1..*count)
                .map(|_| Reply {
                    gap: gap.draw(&mut generator),
                    bytes: bytes.draw(&mut generator),
                })
                .collect(),
        },
        Application::Rate { rate, on_off } => {
            transport::Application::Paced(Pace::new(*rate, on_off_periods(on_off.as_ref(), seed)))
        }
    }
}

/// Generator of alternating periods of sending and silence, drawn from the seed.
pub(super) fn on_off_periods(on_off: Option<&OnOff>, seed: u64) -> Option<Turns> {
    let OnOff { on, off } = on_off?.clone();
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    Some(Box::new(move || transport::OnOff {
        on: on.draw(&mut generator),
        off: off.draw(&mut generator),
    }))
}
