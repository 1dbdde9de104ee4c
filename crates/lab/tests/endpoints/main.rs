//! Real endpoints over the network: delay, loss, TCP, MPTCP. The tests need root; without root they print that they are skipped. Upper
//! bounds on time are loose, for a busy machine; lower bounds are strict, because no packet may be early.

mod delay;
mod support;
mod transfer;
