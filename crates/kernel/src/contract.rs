//! The contract of the BPF objects and this crate: the types of `bpf/contract.h`, which explains their fields.
#![allow(missing_docs, non_camel_case_types, non_upper_case_globals)]
#![allow(clippy::all, clippy::undocumented_unsafe_blocks)]

include!(concat!(env!("OUT_DIR"), "/contract.rs"));

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Reads a value that the kernel wrote, as it is in memory.
///
/// # Panics
/// If there are fewer bytes than the type has: a map of another contract, which [`crate::registry`] leaves out.
pub(crate) fn read<T: Plain>(bytes: &[u8]) -> T {
    assert!(
        bytes.len() >= size_of::<T>(),
        "{} bytes for a {}",
        bytes.len(),
        size_of::<T>()
    );
    // SAFETY: there are enough bytes, and any bytes make a value of a plain type.
    unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) }
}

/// A value as bytes.
pub(crate) fn bytes<T: WithoutPadding>(value: &T) -> &[u8] {
    // SAFETY: every byte is a field's.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

/// A value as bytes that may be changed.
pub(crate) fn bytes_mut<T: WithoutPadding>(value: &mut T) -> &mut [u8] {
    // SAFETY: every byte is a field's, and any bytes make a value.
    unsafe { std::slice::from_raw_parts_mut((&raw mut *value).cast(), size_of::<T>()) }
}

/// Types made of integers only.
///
/// # Safety
/// Any bytes must be a value of the type.
pub(crate) unsafe trait Plain {}

/// Plain types of which every byte is a field's.
///
/// # Safety
/// There must be no padding, neither between fields nor at the end.
pub(crate) unsafe trait WithoutPadding: Plain {}

// SAFETY: 4 + 4 bytes in 8.
unsafe impl WithoutPadding for lisa_key {}
// SAFETY: 8 + 4 + 4 bytes in 16.
unsafe impl WithoutPadding for lisa_subflow_key {}
// SAFETY: 8 + 4 + 4 bytes in 16.
unsafe impl WithoutPadding for lisa_listen {}
// SAFETY: words of four bytes only.
unsafe impl WithoutPadding for lisa_limits {}
// SAFETY: an integer.
unsafe impl WithoutPadding for u64 {}
// SAFETY: integers of 8 bytes, then two of 4.
unsafe impl WithoutPadding for lisa_namespace {}
// SAFETY: 16 + 16 bytes in 32.
unsafe impl WithoutPadding for lisa_default {}
// SAFETY: 8 + 4 + 2 + 1 + 1 bytes in 16.
unsafe impl WithoutPadding for lisa_group_request {}

macro_rules! plain {
    ($($name:ident)*) => { $(
        // SAFETY: the C declares integers and arrays of them only.
        unsafe impl Plain for $name {}
    )* };
}
plain!(lisa_settings lisa_limits lisa_key lisa_connection lisa_subflow_key lisa_subflow lisa_totals lisa_namespace lisa_usage
    lisa_listen lisa_event lisa_group_request lisa_default lisa_default_of lisa_holder u32 u64);

/// Text in a C array: up to the first zero, without control characters.
pub(crate) fn text(chars: &[std::ffi::c_char]) -> String {
    let bytes = chars.iter().map(|&c| c as u8);
    let text: Vec<u8> = bytes.take_while(|&c| c != 0).collect();
    crate::text::printable(&text)
}

/// Writes text into a C array, cut so that a zero follows it.
pub(crate) fn set_text(chars: &mut [std::ffi::c_char], text: &str) {
    chars.fill(0);
    let room = chars.len() - 1;
    for (to, from) in chars[..room].iter_mut().zip(text.bytes()) {
        *to = from as std::ffi::c_char;
    }
}

/// An address and a port. An IPv4 address is in the first four bytes, or mapped into IPv6.
pub(crate) fn address(family: u16, bytes: &[u8; 16], port: u16) -> SocketAddr {
    let ip = if i32::from(family) == libc::AF_INET6 {
        IpAddr::V6(Ipv6Addr::from(*bytes)).to_canonical()
    } else {
        IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
    };
    SocketAddr::new(ip, port)
}
