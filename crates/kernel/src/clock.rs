//! The kernel's clocks.

use nix::time::{ClockId, clock_getres, clock_gettime};

/// Nanoseconds of CLOCK_MONOTONIC, which BPF's `bpf_ktime_get_ns` reads too.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// The kernel's CONFIG_HZ: its coarse clocks advance once a jiffy.
pub(crate) fn jiffies_per_second() -> u32 {
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).expect("every Linux has it");
    let tick_ns = tick.tv_nsec().max(1) as u64;
    ((1_000_000_000 + tick_ns / 2) / tick_ns) as u32
}
