//! Tests of whole connections: scripts in the manner of packetdrill, random transfers, outages, throughput against theory.

mod interface;
mod outages;
mod random;
mod scripts;
mod theory;

use super::*;
use crate::application::Application;
use crate::application::pace::Pace;
use crate::spec::{PathManager, SubflowRoutes};
use crate::subflow::sender::{Sender, SubflowState};
use crate::trace::Quiet;
use mpcc::{Algorithm, Settings};
use netsim::{LinkSpec, PortId, Span};

/// Identifier of a subflow of the first connection.
const fn subflow(index: u8) -> SubflowId {
    SubflowId {
        connection: 0,
        subflow: index,
    }
}
