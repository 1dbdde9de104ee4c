//! Runs the programs of `bpf/requests.bpf.c` on the maps of a registered algorithm.

use crate::contract::{self, WithoutPadding};
use crate::registry::Registered;
use crate::requirements::is_denied;
use crate::{Error, Result};
use libbpf_rs::ObjectBuilder;
use libbpf_rs::libbpf_sys::{bpf_prog_test_run_opts, bpf_test_run_opts};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Bytes at an address that libelf can read structures at.
#[repr(align(8))]
struct Aligned<B>(B);

/// The compiled object. Not its skeleton, which looks maps up by name: a map takes over the name of the map that it reuses.
static OBJECT: Aligned<[u8; include_bytes!(concat!(env!("OUT_DIR"), "/requests.o")).len()]> =
    Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/requests.o")));

/// The programs. They and the maps stay in the kernel as long as this value.
pub(crate) struct Requests {
    name: String,
    pub(crate) request_group: OwnedFd,
    pub(crate) delete_connection: OwnedFd,
    pub(crate) remove_subflow: OwnedFd,
    pub(crate) listen: OwnedFd,
    pub(crate) move_totals: OwnedFd,
}

impl Requests {
    /// Programs for the maps of `of`. `move_totals` moves its counters to `to`.
    pub(crate) fn load(of: &Registered, to: Option<&Registered>) -> Result<Self> {
        let failed = |error: libbpf_rs::Error| {
            if is_denied(&error) {
                return Error::not_permitted("changing a loaded algorithm");
            }
            Error::bpf(format!("`{}`: requests", of.name()))(error)
        };
        let mut open = ObjectBuilder::default()
            .open_memory(&OBJECT.0)
            .map_err(failed)?;
        for mut map in open.maps_mut() {
            let of_algorithm = match map.name().to_str() {
                Some("connections") => &of.connections,
                Some("namespaces") => &of.namespaces,
                Some("control") => &of.control,
                Some("totals") => &of.totals,
                Some("usage") => &of.usage,
                Some("to_namespaces") => match to {
                    Some(to) => &to.namespaces,
                    None => continue, // stays empty: all counters move to the other counters
                },
                Some("to_totals") => &to.unwrap_or(of).totals,
                _ => continue,
            };
            map.reuse_fd(of_algorithm.as_fd()).map_err(failed)?;
        }
        let object = open.load().map_err(failed)?;
        let descriptor = |name: &str| {
            let mut programs = object.progs();
            let program = programs
                .find(|program| program.name() == name)
                .expect("the object has the program");
            let cloned = program.as_fd().try_clone_to_owned();
            cloned.map_err(Error::io(format!("`{}`: requests", of.name())))
        };
        Ok(Self {
            name: of.name().into(),
            request_group: descriptor("request_group")?,
            delete_connection: descriptor("delete_connection")?,
            remove_subflow: descriptor("remove_subflow")?,
            listen: descriptor("listen")?,
            move_totals: descriptor("move_totals")?,
        })
    }

    /// Runs one of the programs with this context. Returns its result.
    pub(crate) fn run<T: WithoutPadding>(&self, program: &OwnedFd, mut context: T) -> Result<u32> {
        let bytes = contract::bytes_mut(&mut context);
        let mut options = bpf_test_run_opts {
            sz: size_of::<bpf_test_run_opts>() as _,
            ctx_in: bytes.as_ptr().cast(),
            ctx_size_in: bytes.len() as u32,
            ..Default::default()
        };
        // SAFETY: the options refer to `context`, which lives until the call returns.
        let result = unsafe { bpf_prog_test_run_opts(program.as_raw_fd(), &mut options) };
        if result < 0 {
            let error = std::io::Error::from_raw_os_error(-result);
            return Err(Error::io(format!("`{}`: requests", self.name))(error));
        }
        Ok(options.retval)
    }
}
