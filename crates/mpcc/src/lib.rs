//! The coupled congestion control algorithms of `cc/`, as safe Rust.
//!
//! A [`Connection`] holds the state that its subflows share. Each [`Subflow`] belongs to one endpoint, which calls the
//! connection as Linux calls `tcp_congestion_ops`: when the subflow starts, on each ACK, on a loss, when its congestion state
//! changes, when it closes. The algorithms themselves are C, so that the Linux kernel runs the same source.
//!
//! ```
//! use mpcc::{Algorithm, Connection, Tcp};
//!
//! let mut connection = Connection::new(Algorithm::find("lisa").unwrap());
//! let fresh = Tcp { cwnd: 10, cwnd_clamp: u32::MAX, ssthresh: u32::MAX, ..Tcp::default() };
//! let mut first_tcp = Tcp { srtt8: 8 * 40_000, cwnd_limited: 1, ..fresh };
//! let (mut first, _) = connection.open(&mut first_tcp, 0);
//! first_tcp.flight = 9;
//! connection.on_ack(&mut first, &mut first_tcp, 10); // ten segments acknowledged in slow start
//! assert_eq!(first_tcp.cwnd, 20);
//!
//! let mut second_tcp = fresh;
//! let (second, note) = connection.open(&mut second_tcp, 0); // takes ten of the twenty
//! assert_eq!((second_tcp.cwnd, note.credit_taken()), (10, Some(10)));
//! connection.close(second);
//! ```
//!
//! A closed subflow cannot be used again:
//!
//! ```compile_fail,E0382
//! # use mpcc::{Algorithm, Connection, Tcp};
//! # let mut connection = Connection::new(Algorithm::find("lisa").unwrap());
//! # let mut tcp = Tcp::default();
//! let (mut subflow, _) = connection.open(&mut tcp, 0);
//! connection.close(subflow);
//! connection.on_ack(&mut subflow, &mut tcp, 1);
//! ```
#![no_std]

mod algorithm;
mod connection;
mod ffi;
mod note;
mod setting;
mod settings;
mod tcp;

pub use algorithm::{Algorithm, Pair};
pub use connection::{Connection, Subflow};
pub use note::{Note, Settlement};
pub use setting::Setting;
pub use settings::{SettingError, Settings};
pub use tcp::{State, Tcp};

/// Number of subflows of one connection that are coupled; further ones run alone.
pub const SUBFLOWS: usize = ffi::MPCC_SUBFLOWS as usize;

/// Highest number of a group.
pub const GROUP_MAX: u8 = ffi::MPCC_GROUP_MAX as u8;

/// Longest name of an algorithm, characters: Linux's TCP_CA_NAME_MAX without the closing NUL.
pub const NAME_MAX: usize = 15;
