//! The backends that can run a scenario, and the reasons of the others.

use scenario::Scenario;
use serde::Serialize;

use crate::runs::on::On;

/// Whether a backend supports a scenario.
#[derive(Serialize)]
pub struct Support {
    /// `sim`, `host`, `vm`.
    pub backend: &'static str,
    /// What the backend lacks, each with its place in the scenario; empty if the backend can run the scenario.
    pub reasons: Vec<String>,
}

/// All backends. The requirements of a machine, such as root or QEMU, are not examined.
pub fn all(scenario: &Scenario) -> Vec<Support> {
    let simulator = scenario.connections.iter().filter_map(|connection| {
        let algorithm = &connection.algorithm;
        let lacks = !algorithm.is_empty() && mpcc::Algorithm::find(algorithm).is_none();
        let name = &connection.name;
        lacks.then(|| format!("connection `{name}`: the simulator has no algorithm `{algorithm}`"))
    });
    let lab: Vec<String> = (lab::unsupported(scenario).iter())
        .map(|error| match error {
            lab::Error::Unsupported {
                place,
                what,
                reason,
            } => format!("{place}: real endpoints do not support {what}: {reason}"),
            error => error.to_string(),
        })
        .collect();
    let support = |on: On, reasons: Vec<String>| Support {
        backend: on.name(),
        reasons,
    };
    vec![
        support(On::Sim, simulator.collect()),
        support(On::Host, lab.clone()),
        support(On::Vm, lab),
    ]
}
