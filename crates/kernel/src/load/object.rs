//! The BPF object of an algorithm: opened, loaded, registered.

use super::{Options, over_cubic};
use crate::contract::{self, LISA_CONTRACT, lisa_settings};
use crate::limits::{Limits, SUBFLOWS_A_CONNECTION};
use crate::registry::{self, Registered};
use crate::requirements::{self, is_denied};
use crate::skel::{LisaSkel, LisaSkelBuilder, OpenLisaSkel};
use crate::{Error, Result, clock, default, events, libbpf};
use libbpf_rs::libbpf_sys::{bpf_obj_get_info_by_fd, bpf_prog_info};
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{ErrorKind, MapCore, OpenObject};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

/// Hash of the object in this program.
pub(crate) const HASH: u64 = parse(env!("LISA_OBJECT"));

const fn parse(digits: &str) -> u64 {
    let (bytes, mut number, mut i) = (digits.as_bytes(), 0u64, 0);
    while i < bytes.len() {
        number = number * 10 + (bytes[i] - b'0') as u64;
        i += 1;
    }
    number
}

/// The object with the settings of one algorithm, not loaded yet.
pub(super) struct Object {
    /// Name of the registration.
    name: String,
    settings: lisa_settings,
    limits: contract::lisa_limits,
    memory: Box<MaybeUninit<OpenObject>>,
}

/// The object in the kernel: its programs are verified, and nothing is registered. It is freed when this is dropped.
pub(super) struct Loaded<'o> {
    name: &'o str,
    skel: LisaSkel<'o>,
}

impl Object {
    pub(super) fn open(
        algorithm: mpcc::Algorithm,
        options: &Options,
        limits: &Limits,
    ) -> Result<Self> {
        if over_cubic(algorithm) {
            requirements::check_cubic()?;
        }
        let (name, pair) = (algorithm.name(), algorithm.pair());
        let mut settings = lisa_settings {
            contract: LISA_CONTRACT,
            pair: contract::mpcc_pair {
                slow_start: pair.slow_start,
                avoidance: pair.avoidance,
            },
            keeps_plain: options.keeps_plain.into(),
            hz: clock::jiffies_per_second(),
            loaded: clock::now(),
            hash_seed: events::random(),
            object: HASH,
            ..Default::default()
        };
        contract::set_text(&mut settings.algorithm, name);
        if let Some(owner) = options.owner {
            (settings.owner_pid, settings.owner_start) = (owner.pid, owner.start);
        }
        Ok(Self {
            name: options.register_as.as_deref().unwrap_or(name).into(),
            settings,
            limits: limits.raw()?,
            memory: Box::new(MaybeUninit::uninit()),
        })
    }

    /// Loads the object: the kernel verifies its programs.
    pub(super) fn load(&mut self) -> Result<Loaded<'_>> {
        libbpf::prepare()?;
        let name = &self.name;
        let mut open = LisaSkelBuilder::default()
            .open(&mut self.memory)
            .map_err(refused(name))?;
        prepare(&mut open, name, &self.settings, &self.limits)?;
        let skel = open.load().map_err(refused(name))?;
        Ok(Loaded { name, skel })
    }
}

/// Sets names, constants and sizes.
fn prepare(
    open: &mut OpenLisaSkel<'_>,
    name: &str,
    settings: &lisa_settings,
    limits: &contract::lisa_limits,
) -> Result<()> {
    let rodata = open
        .maps
        .rodata_data
        .as_deref_mut()
        .expect("the object has settings");
    // SAFETY: both are `struct lisa_settings`, by way of two generators.
    rodata.settings = unsafe { std::mem::transmute_copy(settings) };
    let data = open
        .maps
        .data_limits_data
        .as_deref_mut()
        .expect("the object has limits");
    // SAFETY: both are `struct lisa_limits`, by way of two generators.
    data.limits = unsafe { std::mem::transmute_copy(limits) };
    contract::set_text(&mut open.struct_ops.lisa_mut().name, name);
    if !requirements::has_tx_start_callback()? {
        open.struct_ops.lisa_mut().cwnd_event_tx_start = std::ptr::null_mut();
    }
    let connections = limits.connections.max(1);
    let subflows = connections.saturating_mul(SUBFLOWS_A_CONNECTION);
    open.maps
        .connections
        .set_max_entries(connections)
        .map_err(refused(name))?;
    open.maps
        .subflows
        .set_max_entries(subflows)
        .map_err(refused(name))
}

/// Programs that the kernel has verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Number of programs.
    pub programs: usize,
    /// Number of instructions that the verifier followed.
    pub instructions: u64,
}

impl Loaded<'_> {
    /// Its programs.
    pub(super) fn verified(&self) -> Result<Verified> {
        let mut verified = Verified::default();
        for program in self.skel.object().progs() {
            // The callback of newer kernels is not loaded on older ones.
            let descriptor = program.as_fd().as_raw_fd();
            if descriptor < 0 {
                continue;
            }
            let mut info = bpf_prog_info::default();
            let mut size = size_of::<bpf_prog_info>() as u32;
            // SAFETY: the kernel writes at most `size` bytes to `info`, which has as many.
            let result = unsafe {
                bpf_obj_get_info_by_fd(descriptor, (&raw mut info).cast(), &raw mut size)
            };
            if result < 0 {
                let error = std::io::Error::from_raw_os_error(-result);
                return Err(Error::io(format!("`{}`: its programs", self.name))(error));
            }
            verified.programs += 1;
            verified.instructions += u64::from(info.verified_insns);
        }
        Ok(verified)
    }

    /// Registers the operations. They stay when this program ends.
    pub(super) fn register(&mut self) -> Result<Registered> {
        let name = self.name;
        let operations = &mut self.skel.maps.lisa;
        let map_id = operations.info().map_err(refused(name))?.info.id;
        let mut link = operations
            .attach_struct_ops()
            .map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => Error::Foreign { name: name.into() },
                _ => refused(name)(error),
            })?;
        link.disconnect(); // the registration stays
        let registered = registry::find_one(name).and_then(|registered| {
            debug_assert_eq!(registered.map_id(), map_id);
            default::copy_records(&registered)?;
            Ok(registered)
        });
        if registered.is_err() {
            let _ = operations.delete(&0u32.to_ne_bytes()); // unregisters it
        }
        registered
    }
}

/// For `map_err`: the kernel refused the object.
fn refused(name: &str) -> impl Fn(libbpf_rs::Error) -> Error {
    move |error| {
        // EACCES with a verdict comes from the verifier, not from missing privilege.
        if is_denied(&error) && !libbpf::has_verdict() {
            return Error::not_permitted("loading an algorithm");
        }
        Error::Refused {
            name: name.into(),
            reason: format!("{error:#} ({})", libbpf::last_message()),
        }
    }
}
