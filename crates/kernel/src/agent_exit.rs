//! Coupling at the end of a process: `bpf/agent_exit.bpf.c`.

use crate::libbpf;
use crate::registry::Registered;
use crate::requirements::is_denied;
use crate::{Error, Result};
use libbpf_rs::{Link, Object, ObjectBuilder, ProgramInput};
use std::os::fd::AsFd;

/// Bytes at an address that libelf can read structures at.
#[repr(align(8))]
struct Aligned<B>(B);

/// The compiled object. Not its skeleton, which looks maps up by name: a map takes over the name of the map that it reuses.
static OBJECT: Aligned<[u8; include_bytes!(concat!(env!("OUT_DIR"), "/agent_exit.o")).len()]> =
    Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/agent_exit.o")));

/// As long as this value exists, the kernel couples the subflows of an algorithm in this network namespace when the calling process ends,
/// also by SIGKILL. The calling thread is the first of its process, or in the namespace of the first.
pub struct CoupledAtExit {
    _link: Link,
    _object: Object,
}

impl CoupledAtExit {
    /// For the subflows of this algorithm.
    ///
    /// # Errors
    /// [`Error::NotPermitted`]; if the kernel has no tracepoints for BPF programs.
    pub fn of(registered: &Registered) -> Result<Self> {
        let failed = |error: libbpf_rs::Error| {
            if is_denied(&error) {
                return Error::not_permitted("coupling at the end of a process");
            }
            Error::bpf(format!(
                "`{}`: coupling at the end of a process",
                registered.name()
            ))(error)
        };
        libbpf::prepare()?;
        let mut open = ObjectBuilder::default()
            .open_memory(&OBJECT.0)
            .map_err(failed)?;
        let mut maps = open.maps_mut();
        let mut map = maps
            .find(|map| map.name() == "connections")
            .expect("the object has the map");
        map.reuse_fd(registered.connections.as_fd())
            .map_err(failed)?;
        drop(maps);
        let object = open.load().map_err(failed)?;
        let mut link = None;
        for program in object.progs_mut() {
            match program.name().to_str() {
                Some("begin") => {
                    program.test_run(ProgramInput::default()).map_err(failed)?;
                }
                _ => link = Some(program.attach().map_err(failed)?),
            }
        }
        Ok(Self {
            _link: link.expect("the object has the program"),
            _object: object,
        })
    }
}
