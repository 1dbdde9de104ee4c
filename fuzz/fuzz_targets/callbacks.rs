//! The properties of each algorithm hold after any callbacks. `crates/harness/tests/properties.rs` draws callbacks at random;
//! here the fuzzer chooses them, and an overflow in `cc/` stops it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpcc::Algorithm;
use mpcc_harness::callbacks::{Callback, Words};
use mpcc_harness::properties;

/// More than there are slots.
const SUBFLOWS: u32 = 20;

fuzz_target!(|bytes: &[u8]| {
    let Some(([algorithm, alone], bytes)) = bytes.split_first_chunk() else {
        return;
    };
    let algorithms: Vec<_> = Algorithm::all().collect();
    let algorithm = algorithms[usize::from(*algorithm) % algorithms.len()];
    let callbacks: Vec<Callback> = bytes
        .chunks_exact(size_of::<Words>())
        .map(|bytes| {
            let words = bytes.chunks_exact(4).map(|word| word.try_into().unwrap());
            let words: Vec<u32> = words.map(u32::from_le_bytes).collect();
            Callback::from_words(words.try_into().unwrap(), SUBFLOWS)
        })
        .collect();
    if let Err(what) = properties::run(algorithm, alone % 8 == 1, &callbacks) {
        panic!("{what}");
    }
});
