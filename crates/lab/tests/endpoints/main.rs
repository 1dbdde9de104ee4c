//! Real endpoints over the network: delay, loss, TCP, MPTCP. These tests need root; without it they
//! say so and pass. Upper bounds on time are loose, for a busy machine; lower bounds are strict,
//! since nothing may be early.

mod delay;
mod support;
mod transfer;
