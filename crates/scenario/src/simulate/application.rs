//! Data that the simulated senders transmit.

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use transport::{Pace, Turns};

use crate::connection::{Application, ConnectionSpec, OnOff};

/// Whether the connection ends when its data is acknowledged.
pub(super) fn is_finite(spec: &ConnectionSpec) -> bool {
    matches!(
        spec.application,
        Application::Bytes(_) | Application::Requests { .. }
    )
}

/// The data as an application of the simulator; gaps between requests are drawn from the seed.
pub(super) fn data(application: &Application, seed: u64) -> transport::Application {
    match application {
        Application::Endless => transport::Application::Endless,
        Application::Bytes(bytes) => transport::Application::File(*bytes),
        Application::Requests { count, bytes, gap } => {
            let mut generator = Pcg64Mcg::seed_from_u64(seed);
            transport::Application::Requests {
                bytes: *bytes,
                gaps: (1..*count).map(|_| gap.draw(&mut generator)).collect(),
            }
        }
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
