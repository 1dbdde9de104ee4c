//! Runs the programs of `bpf/requests.bpf.c` on the maps of a registered algorithm.

use crate::contract::{self, WithoutPadding};
use crate::registry::Registered;
use crate::requirements::is_denied;
use crate::skel::requests::RequestsSkelBuilder;
use crate::{Error, Result};
use libbpf_rs::libbpf_sys::{bpf_prog_test_run_opts, bpf_test_run_opts};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// The programs. They and the maps stay in the kernel as long as this value.
pub(crate) struct Requests {
    name: String,
    pub(crate) request_group: OwnedFd,
    pub(crate) delete_connection: OwnedFd,
    pub(crate) listen: OwnedFd,
    pub(crate) move_totals: OwnedFd,
}

impl Requests {
    /// Programs for the maps of `of`. `move_totals` moves its counters to `to`.
    pub(crate) fn load(of: &Registered, to: Option<&Registered>) -> Result<Self> {
        let failed = |error: libbpf_rs::Error| {
            if is_denied(&error) {
                let what = "changing a loaded algorithm";
                return Error::NotPermitted { what };
            }
            Error::bpf(format!("`{}`: requests", of.name()))(error)
        };
        let mut object = MaybeUninit::uninit();
        let mut open = RequestsSkelBuilder::default()
            .open(&mut object)
            .map_err(failed)?;
        let maps = &mut open.maps;
        (|| {
            maps.connections.reuse_fd(of.connections.as_fd())?;
            maps.namespaces.reuse_fd(of.namespaces.as_fd())?;
            maps.control.reuse_fd(of.control.as_fd())?;
            maps.totals.reuse_fd(of.totals.as_fd())?;
            maps.usage.reuse_fd(of.usage.as_fd())?;
            maps.to_totals
                .reuse_fd(to.unwrap_or(of).totals.as_fd())?;
            match to {
                Some(to) => maps.to_namespaces.reuse_fd(to.namespaces.as_fd()),
                None => Ok(()),
            }
        })()
        .map_err(failed)?;
        let skel = open.load().map_err(failed)?;
        let descriptor = |program: &libbpf_rs::Program<'_>| {
            let cloned = program.as_fd().try_clone_to_owned();
            cloned.map_err(Error::io(format!("`{}`: requests", of.name())))
        };
        Ok(Self {
            name: of.name().into(),
            request_group: descriptor(&skel.progs.request_group)?,
            delete_connection: descriptor(&skel.progs.delete_connection)?,
            listen: descriptor(&skel.progs.listen)?,
            move_totals: descriptor(&skel.progs.move_totals)?,
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
