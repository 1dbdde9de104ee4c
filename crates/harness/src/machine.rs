//! Machines that run `cc/`, and harnesses to run on them.

use crate::{Harness, ffi};
use mpcc::{Algorithm, Settings};

/// Something that runs `cc/`: native code, or the kernel's BPF machine.
pub trait Machine {
    /// Runs the harness's next callback.
    fn step(&mut self, harness: &mut Harness);
}

/// `cc/` compiled for this machine.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Machine for Native {
    fn step(&mut self, harness: &mut Harness) {
        // SAFETY: the harness is live and exclusive.
        unsafe { ffi::mpcc_harness_native_step(harness) }
    }
}

/// Bytes of a harness. [`empty`] zeroes the padding, so that equal harnesses have equal bytes.
pub fn bytes(harness: &Harness) -> &[u8] {
    // SAFETY: a harness is plain old data, made of integers; padding was zeroed with the rest of it.
    unsafe { core::slice::from_raw_parts((&raw const *harness).cast(), size_of::<Harness>()) }
}

/// A harness for an algorithm with its standard settings, without subflows. Padding is zero.
pub fn empty(algorithm: Algorithm) -> Box<Harness> {
    with_settings(algorithm, Settings::standard(algorithm))
}

/// A harness for an algorithm with these settings, without subflows. Padding is zero.
pub fn with_settings(algorithm: Algorithm, settings: Settings) -> Box<Harness> {
    // SAFETY: all zero is a valid harness.
    let mut harness: Box<Harness> = unsafe { Box::new(core::mem::zeroed()) };
    let pair = algorithm.pair();
    harness.pair = ffi::mpcc_pair {
        slow_start: pair.slow_start,
        avoidance: pair.avoidance,
    };
    harness.connection.setting = settings.values();
    harness
}

/// An endpoint in the initial state of Linux: 10 segments, no threshold; its RTT is 40 ms.
pub fn fresh_tcp() -> ffi::mpcc_tcp {
    ffi::mpcc_tcp {
        cwnd: 10,
        cwnd_clamp: u32::MAX,
        ssthresh: i32::MAX as u32, // Linux: TCP_INFINITE_SSTHRESH
        srtt8: 8 * 40_000,
        cwnd_limited: 1,
        ..Default::default()
    }
}

/// An endpoint in the same state, for [`mpcc::Connection`].
pub fn fresh_endpoint() -> mpcc::Tcp {
    let tcp = fresh_tcp();
    mpcc::Tcp {
        cwnd: tcp.cwnd,
        cwnd_clamp: tcp.cwnd_clamp,
        ssthresh: tcp.ssthresh,
        srtt8: tcp.srtt8,
        cwnd_limited: tcp.cwnd_limited,
        ..Default::default()
    }
}
