//! Requests of the network process to the privileged one: to read the connections, and to set groups.
//!
//! All are records of a fixed length, so that nothing is parsed. A request is a byte that says which it is, and for `SET` up to
//! `RECORDS` records. The answer to `READ` has a record for each subflow; the answer to `SET` has none.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::rc::Rc;

use kernel::group::GROUP_MAX;
use kernel::privilege_separation::{Channel, MESSAGE, Refusal};
use manager::api::{Subflow, Token};

use crate::agent::{Kernel, Seen, SeenSubflow};
use crate::error::{Error, Result};

/// First byte of a request: read the connections.
const READ: u8 = 0;
/// First byte of a request: set groups.
const SET: u8 = 1;

/// Length of a record: token, two ends, group.
const RECORD: usize = 4 + 2 * END + 1;
/// Length of an address and a port.
const END: usize = 16 + 2;
/// Largest number of records in a message, after its first byte.
const RECORDS: usize = (MESSAGE - 1) / RECORD;

/// A subflow and its group, the present or the new one.
type Record = (Token, Subflow, u8);

fn put_end(to: &mut Vec<u8>, end: SocketAddr) {
    let address = match end.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    to.extend_from_slice(&address.octets());
    to.extend_from_slice(&end.port().to_be_bytes());
}

fn put(to: &mut Vec<u8>, (token, ends, group): Record) {
    to.extend_from_slice(&token.0.to_be_bytes());
    put_end(to, ends.local);
    put_end(to, ends.remote);
    to.push(group);
}

/// The first bytes of a record, without them.
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (first, rest) = bytes.split_first_chunk().expect("a record is complete");
    *bytes = rest;
    *first
}

/// The record in [`RECORD`] bytes. Every value of them is one.
fn record(mut bytes: &[u8]) -> Record {
    let token = Token(u32::from_be_bytes(take(&mut bytes)));
    let mut end = || {
        let address = Ipv6Addr::from(take::<16>(&mut bytes));
        let port = u16::from_be_bytes(take(&mut bytes));
        SocketAddr::new(IpAddr::V6(address).to_canonical(), port)
    };
    let ends = Subflow {
        local: end(),
        remote: end(),
    };
    (token, ends, take::<1>(&mut bytes)[0])
}

/// The records of a message after its first byte; `None` if the last one is incomplete.
fn records(bytes: &[u8]) -> Option<impl Iterator<Item = Record>> {
    let chunks = bytes.chunks_exact(RECORD);
    chunks.remainder().is_empty().then(|| chunks.map(record))
}

/// The kernel behind the channel, in the network process.
pub(crate) struct Remote(pub(crate) Rc<Channel>);

impl Kernel for Remote {
    fn read(&mut self) -> Result<Vec<Seen>> {
        let mut seen: BTreeMap<Token, Vec<SeenSubflow>> = BTreeMap::new();
        let answer = self.0.request(&[READ], |part| {
            for (token, ends, group) in records(part).into_iter().flatten() {
                let subflows = seen.entry(token).or_default();
                subflows.push(SeenSubflow { ends, group });
            }
        });
        answer.map_err(Error)?;
        let seen = seen.into_iter();
        Ok(seen
            .map(|(token, subflows)| Seen { token, subflows })
            .collect())
    }

    fn set(&mut self, moves: &[(Token, Subflow, u8)]) -> Result<()> {
        for moves in moves.chunks(RECORDS) {
            let mut request = vec![SET];
            moves.iter().for_each(|one| put(&mut request, *one));
            self.0.request(&request, |_| ()).map_err(Error)?;
        }
        Ok(())
    }
}

/// The kernel before the channel, in the privileged process: answers requests, and takes none for well-meant.
///
/// Its memory is bounded by what the kernel has, not by what is requested.
pub struct Privileged<K> {
    kernel: K,
    /// The subflows of the last read.
    read: HashSet<(Token, Subflow)>,
}

impl<K: Kernel> Privileged<K> {
    /// Answers with what this kernel has.
    pub fn new(kernel: K) -> Self {
        Self {
            kernel,
            read: HashSet::new(),
        }
    }

    /// Answers a request. `part` sends the records of the answer.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] of a request that `Remote` never sends: of another kind or length, with a group that is none, or a
    /// subflow that the last read did not have. Nothing of it is carried out.
    pub fn answer(
        &mut self,
        request: &[u8],
        part: &dyn Fn(&[u8]) -> io::Result<()>,
    ) -> Result<(), Refusal> {
        match request {
            [READ] => {
                let all = self.read()?;
                for records in all.chunks(RECORDS) {
                    let mut bytes = Vec::with_capacity(RECORDS * RECORD);
                    records.iter().for_each(|one| put(&mut bytes, *one));
                    part(&bytes)?;
                }
                Ok(())
            }
            [SET, moves @ ..] => {
                let moves: Vec<Record> = records(moves).ok_or(Refusal::Invalid)?.collect();
                let may = |(token, ends, group): &Record| {
                    *group <= GROUP_MAX && self.read.contains(&(*token, *ends))
                };
                match moves.iter().all(may) {
                    true => self.kernel.set(&moves).map_err(failed),
                    false => Err(Refusal::Invalid),
                }
            }
            _ => Err(Refusal::Invalid),
        }
    }

    /// Couples all subflows.
    ///
    /// # Errors
    /// If the kernel cannot be read or changed.
    pub fn couple(&mut self) -> Result<()> {
        let mut moves = Vec::new();
        for connection in self.kernel.read()? {
            let separate = connection.subflows.iter().filter(|s| s.group != 0);
            moves.extend(separate.map(|subflow| (connection.token, subflow.ends, 0)));
        }
        match moves.is_empty() {
            true => Ok(()),
            false => self.kernel.set(&moves),
        }
    }

    fn read(&mut self) -> Result<Vec<Record>, Refusal> {
        let seen = self.kernel.read().map_err(failed)?;
        let subflows = seen.iter().flat_map(|connection| {
            let subflows = connection.subflows.iter();
            subflows.map(|subflow| (connection.token, subflow.ends, subflow.group))
        });
        let all: Vec<Record> = subflows.collect();
        self.read = (all.iter())
            .map(|(token, ends, _)| (*token, *ends))
            .collect();
        Ok(all)
    }
}

fn failed(error: Error) -> Refusal {
    Refusal::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;

    /// A kernel with these subflows, which records what is set.
    struct Memory(Vec<Seen>, Vec<Record>);

    impl Kernel for Memory {
        fn read(&mut self) -> Result<Vec<Seen>> {
            Ok(self.0.clone())
        }

        fn set(&mut self, moves: &[Record]) -> Result<()> {
            self.1.extend_from_slice(moves);
            Ok(())
        }
    }

    fn subflow(port: u16) -> Subflow {
        let local = if port % 2 == 0 { "10.0.0.1" } else { "fd00::1" };
        Subflow {
            local: SocketAddr::new(local.parse().expect("an address"), port),
            remote: "192.0.2.1:443".parse().expect("an address"),
        }
    }

    /// A connection with this number of subflows.
    fn privileged(subflows: u16) -> Privileged<Memory> {
        let subflows = (0..subflows).map(|port| SeenSubflow {
            ends: subflow(port),
            group: 3,
        });
        let seen = Seen {
            token: Token(7),
            subflows: subflows.collect(),
        };
        Privileged::new(Memory(vec![seen], Vec::new()))
    }

    /// The parts of the answer.
    fn answer(to: &mut Privileged<Memory>, request: &[u8]) -> Result<Vec<Vec<u8>>, Refusal> {
        let parts = RefCell::new(Vec::new());
        to.answer(request, &|part| {
            parts.borrow_mut().push(part.to_vec());
            Ok(())
        })?;
        Ok(parts.into_inner())
    }

    fn set(moves: &[Record]) -> Vec<u8> {
        let mut request = vec![SET];
        moves.iter().for_each(|one| put(&mut request, *one));
        request
    }

    #[test]
    fn all_subflows_are_read_in_messages() {
        let mut privileged = privileged(2000);
        let parts = answer(&mut privileged, &[READ]).expect("it can be read");
        assert!(parts.iter().all(|part| part.len() < MESSAGE));
        assert_eq!(parts.len(), 2000_usize.div_ceil(RECORDS));
        let read = parts
            .iter()
            .flat_map(|part| records(part).expect("records"));
        let all = (0..2000).map(|port| (Token(7), subflow(port), 3));
        assert!(read.eq(all));
    }

    #[test]
    fn groups_of_the_last_read_are_set() {
        let mut privileged = privileged(2);
        let moves = [(Token(7), subflow(0), 1), (Token(7), subflow(1), GROUP_MAX)];
        let early = answer(&mut privileged, &set(&moves));
        assert!(matches!(early, Err(Refusal::Invalid)), "before a read");
        answer(&mut privileged, &[READ]).expect("it can be read");
        answer(&mut privileged, &set(&moves)).expect("groups");
        assert_eq!(privileged.kernel.1, moves);
        privileged.kernel.0.clear();
        answer(&mut privileged, &[READ]).expect("it can be read");
        let late = answer(&mut privileged, &set(&moves));
        assert!(matches!(late, Err(Refusal::Invalid)), "it has closed");
    }

    #[test]
    fn invalid_requests() {
        let mut privileged = privileged(2);
        answer(&mut privileged, &[READ]).expect("it can be read");
        let good = (Token(7), subflow(0), 1);
        let mut incomplete = set(&[good]);
        incomplete.pop();
        for (what, request) in [
            ("empty", vec![]),
            ("another kind", vec![2]),
            ("a read with more", vec![READ, 0]),
            ("an incomplete record", incomplete),
            (
                "a group that is none",
                set(&[(Token(7), subflow(0), GROUP_MAX + 1)]),
            ),
            (
                "another connection",
                set(&[good, (Token(8), subflow(0), 1)]),
            ),
            ("another subflow", set(&[good, (Token(7), subflow(2), 1)])),
        ] {
            let answer = answer(&mut privileged, &request);
            assert!(
                matches!(answer, Err(Refusal::Invalid)),
                "{what}: {answer:?}"
            );
            assert_eq!(privileged.kernel.1, [], "{what}: nothing is set");
        }
    }

    #[test]
    fn couples_what_is_separate() {
        let mut privileged = privileged(2);
        privileged.kernel.0[0].subflows[1].group = 0;
        privileged.couple().expect("it can be set");
        assert_eq!(privileged.kernel.1, [(Token(7), subflow(0), 0)]);
    }

    proptest! {
        /// Any bytes: no panic, and nothing but groups of subflows of the last read is set.
        #[test]
        fn any_request(requests in prop::collection::vec(request(), 0..8)) {
            let mut privileged = privileged(3);
            for request in requests {
                let parts = answer(&mut privileged, &request).unwrap_or_default();
                prop_assert!(parts.iter().all(|part| part.len() < MESSAGE));
            }
            prop_assert!(privileged.read.len() <= 3);
            for (token, ends, group) in &privileged.kernel.1 {
                prop_assert!(*token == Token(7) && *group <= GROUP_MAX);
                prop_assert!((0..3).any(|port| subflow(port) == *ends));
            }
        }

        /// A record of any bytes stays itself when it is written and read again.
        #[test]
        fn any_record(bytes: [u8; RECORD]) {
            let first = record(&bytes);
            let mut written = Vec::new();
            put(&mut written, first);
            prop_assert_eq!(record(&written), first);
        }
    }

    /// Arbitrary bytes, and requests that are nearly good.
    fn request() -> impl Strategy<Value = Vec<u8>> {
        let record = (6_u32..9, 0_u16..5, any::<u8>());
        let near = prop::collection::vec(record, 0..4).prop_map(|records| {
            let records = records.into_iter();
            let records = records.map(|(token, port, group)| (Token(token), subflow(port), group));
            set(&records.collect::<Vec<_>>())
        });
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            near,
            Just(vec![READ]),
        ]
    }
}
