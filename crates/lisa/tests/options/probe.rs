//! Tries an option on a TCP and on an MPTCP socket, before and after `connect`.

use crate::list::{Choice, Value};
use libc::{EAFNOSUPPORT, ENOPROTOOPT, EOPNOTSUPP, c_int, socklen_t};
use nix::errno::Errno;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;

/// What a socket answers: nothing or the bytes that it returns, or an errno.
type Answer<T> = Result<T, c_int>;

/// Answers of a socket in one state. `None`: the option cannot be set.
struct Answers {
    set: Option<Answer<()>>,
    get: Answer<Vec<u8>>,
}

/// How MPTCP's answer relates to TCP's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Works,
    Refused(c_int),
    /// TCP refuses it, too: this kernel lacks the option, or it is not for this state.
    Neither,
}

/// The cell of the table for this option on the running kernel: `yes`, or the errno of the refusal; `–` if TCP lacks the option, too.
pub fn answer_of(choice: &Choice) -> String {
    let mptcp = [fresh, connected].map(|state| state(choice, Protocol::MPTCP));
    let tcp = [fresh, connected].map(|state| state(choice, Protocol::TCP));
    let both = [0, 1].map(|state| (&mptcp[state], &tcp[state]));
    let get = both.map(|(mptcp, tcp)| verdict(&mptcp.get, &tcp.get));
    let set = both.map(|(mptcp, tcp)| match (&mptcp.set, &tcp.set) {
        (Some(mptcp), Some(tcp)) => verdict(mptcp, tcp),
        _ => Verdict::Neither,
    });
    // The kernel accepts the value, and does not use it.
    let ignored = both.map(|(mptcp, tcp)| {
        let accepted = mptcp.set == Some(Ok(())) && tcp.set == Some(Ok(()));
        accepted && mptcp.get.is_ok() && tcp.get.is_ok() && mptcp.get != tcp.get
    });
    use Verdict::{Neither, Refused, Works};
    match (set, get) {
        ([Neither, Neither], [Neither, Neither]) => "–".into(),
        ([Refused(errno), Refused(_) | Neither] | [Neither, Refused(errno)], _) => name(errno),
        ([Works, Refused(errno)], _) => format!("{} once connected", name(errno)),
        ([Refused(errno), Works], _) => format!("{} before connect", name(errno)),
        (_, [Refused(errno), _] | [_, Refused(errno)]) => name(errno),
        _ => match ignored {
            [false, false] => "yes".into(),
            [false, true] => "ignored once connected".into(),
            [true, _] => "ignored".into(),
        },
    }
}

fn name(errno: c_int) -> String {
    format!("{:?}", Errno::from_raw(errno))
}

fn verdict<T>(mptcp: &Answer<T>, tcp: &Answer<T>) -> Verdict {
    const UNKNOWN: [c_int; 3] = [ENOPROTOOPT, EOPNOTSUPP, EAFNOSUPPORT];
    match (mptcp, tcp) {
        (Ok(_), _) => Verdict::Works,
        (Err(errno), Ok(_)) => Verdict::Refused(*errno),
        // TCP has the option, and refuses this value or state; MPTCP lacks it.
        (Err(errno), Err(of_tcp)) if UNKNOWN.contains(errno) && !UNKNOWN.contains(of_tcp) => {
            Verdict::Refused(*errno)
        }
        (Err(_), Err(_)) => Verdict::Neither,
    }
}

fn socket(choice: &Choice, protocol: Protocol) -> (Socket, SockAddr) {
    let address: SocketAddr = match choice.level {
        libc::IPPROTO_IPV6 => (Ipv6Addr::LOCALHOST, 0).into(),
        _ => (Ipv4Addr::LOCALHOST, 0).into(),
    };
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(protocol)).expect("a socket");
    (socket, address.into())
}

fn fresh(choice: &Choice, protocol: Protocol) -> Answers {
    answers(choice, &socket(choice, protocol).0)
}

fn connected(choice: &Choice, protocol: Protocol) -> Answers {
    let (listener, address) = socket(choice, protocol);
    listener.bind(&address).expect("an address");
    listener.listen(1).expect("listens");
    let (client, _) = socket(choice, protocol);
    let to = listener.local_addr().expect("an address");
    client.connect(&to).expect("a connection");
    let _server = listener.accept().expect("the other end");
    answers(choice, &client)
}

fn answers(choice: &Choice, socket: &Socket) -> Answers {
    let set = choice
        .value
        .bytes()
        .map(|value| set(choice, socket, &value));
    let get = get(choice, socket);
    Answers { set, get }
}

fn set(choice: &Choice, socket: &Socket, value: &[u8]) -> Answer<()> {
    // SAFETY: the kernel reads `value.len()` bytes of `value`. A filter points to static memory.
    let result = unsafe {
        let (value, length) = (value.as_ptr().cast(), value.len() as socklen_t);
        libc::setsockopt(
            socket.as_raw_fd(),
            choice.level,
            choice.number,
            value,
            length,
        )
    };
    Errno::result(result)
        .map(drop)
        .map_err(|errno| errno as c_int)
}

fn get(choice: &Choice, socket: &Socket) -> Answer<Vec<u8>> {
    let mut value = vec![
        0;
        if matches!(choice.value, Value::Integer(_)) {
            4
        } else {
            256
        }
    ];
    let mut length = value.len() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `value`.
    let result = unsafe {
        let value = value.as_mut_ptr().cast();
        libc::getsockopt(
            socket.as_raw_fd(),
            choice.level,
            choice.number,
            value,
            &mut length,
        )
    };
    Errno::result(result).map_err(|errno| errno as c_int)?;
    value.truncate(length as usize);
    Ok(value)
}
