//! Requests of a hostile network process to the privileged one of `lisa kernel assist`: nothing panics, and only groups of subflows of the last
//! read are set.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lisa_assist::requests::Privileged;
use lisa_assist::{Kernel, Result, Seen, SeenSubflow};
use lisa_manager::api::{Subflow, Token};

/// A kernel with one subflow.
struct Memory;

const TOKEN: Token = Token(0);

fn subflow() -> Subflow {
    let any = "0.0.0.0:0".parse().unwrap();
    Subflow { local: any, remote: any }
}

impl Kernel for Memory {
    fn read(&mut self) -> Result<Vec<Seen>> {
        let subflows = vec![SeenSubflow { ends: subflow(), group: 0 }];
        Ok(vec![Seen { token: TOKEN, subflows }])
    }

    fn set(&mut self, moves: &[(Token, Subflow, u8)]) -> Result<()> {
        for (token, ends, group) in moves {
            assert!((*token, *ends) == (TOKEN, subflow()) && *group <= 238);
        }
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
    let mut privileged = Privileged::new(Memory);
    // One request a line.
    for request in data.split(|byte| *byte == b'\n') {
        let _ = privileged.answer(request, &|_| Ok(()));
    }
});
