//! The types and functions of `cc/`, and its strings.
#![allow(
    dead_code,
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
#![allow(
    non_camel_case_types,
    non_upper_case_globals,
    unpredictable_function_pointer_comparisons,
    unsafe_op_in_unsafe_fn
)]

use core::ffi::{CStr, c_char};

include!(concat!(env!("OUT_DIR"), "/cc.rs"));

/// A string of the table of algorithms.
pub(crate) fn text(text: *const c_char) -> &'static str {
    // SAFETY: the table holds constant strings.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}
