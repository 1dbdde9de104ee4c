//! The options that are tried: their values, the programs that use them, and what to do without them.

use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET, c_int};

/// An option of a socket.
pub struct Choice {
    pub name: &'static str,
    pub level: c_int,
    pub number: c_int,
    pub value: Value,
    /// Programs or purposes.
    pub used_by: &'static str,
    /// What to do where MPTCP refuses it.
    pub instead: &'static str,
}

/// A value to set.
pub enum Value {
    Integer(c_int),
    Text(&'static str),
    /// A key of TCP_MD5SIG.
    Key,
    /// A classic BPF program that accepts everything.
    Filter,
    /// A time, or another pair of integers of 64 bits.
    Pair(i64, i64),
    /// SO_LINGER.
    Linger,
    /// The option can only be read.
    Read,
}

impl Value {
    pub fn bytes(&self) -> Option<Vec<u8>> {
        static ACCEPT: [libc::sock_filter; 1] = [libc::sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k: u32::MAX,
        }];
        Some(match self {
            Self::Integer(number) => number.to_ne_bytes().into(),
            Self::Text(text) => text.as_bytes().into(),
            Self::Key => {
                // struct tcp_md5sig: the peer's address (sockaddr_storage, 128 bytes), flags, prefix, length, interface, key.
                let mut key = vec![0; 128 + 1 + 1 + 2 + 4 + 80];
                key[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
                key[4..8].copy_from_slice(&[127, 0, 0, 9]);
                key[130..132].copy_from_slice(&6u16.to_ne_bytes());
                key[136..142].copy_from_slice(b"secret");
                key
            }
            Self::Filter => {
                let mut program = vec![0; 16];
                program[..2].copy_from_slice(&1u16.to_ne_bytes());
                program[8..].copy_from_slice(&(ACCEPT.as_ptr() as usize).to_ne_bytes());
                program
            }
            Self::Pair(first, second) => [first.to_ne_bytes(), second.to_ne_bytes()].concat(),
            Self::Linger => [1u32.to_ne_bytes(), 5u32.to_ne_bytes()].concat(),
            Self::Read => return None,
        })
    }
}

use Value::{Filter, Integer, Key, Linger, Pair, Read, Text};

const fn tcp(name: &'static str, number: c_int, value: Value) -> Choice {
    option(name, IPPROTO_TCP, number, value)
}

const fn any(name: &'static str, number: c_int, value: Value) -> Choice {
    option(name, SOL_SOCKET, number, value)
}

const fn v4(name: &'static str, number: c_int, value: Value) -> Choice {
    option(name, IPPROTO_IP, number, value)
}

const fn v6(name: &'static str, number: c_int, value: Value) -> Choice {
    option(name, IPPROTO_IPV6, number, value)
}

const fn option(name: &'static str, level: c_int, number: c_int, value: Value) -> Choice {
    Choice {
        name,
        level,
        number,
        value,
        used_by: "",
        instead: "",
    }
}

impl Choice {
    const fn of(self, used_by: &'static str, instead: &'static str) -> Self {
        Self {
            used_by,
            instead,
            ..self
        }
    }
}

const PLAIN: &str = "run the program without MPTCP";
const EARLY: &str = "set it before `connect` or `listen`";
const PORTS: &str = "set it before `connect`; Linux 6.1: `net.ipv4.ip_local_port_range`";
const NOTHING: &str = "nothing: the connection works without it";

/// Numbers that the crate `libc` lacks (linux/tcp.h, asm-generic/socket.h, linux/in.h, linux/in6.h).
mod number {
    use libc::c_int;
    pub const TCP_MD5SIG_EXT: c_int = 32;
    pub const TCP_TX_DELAY: c_int = 37;
    pub const TCP_AO_ADD_KEY: c_int = 38;
    pub const TCP_IS_MPTCP: c_int = 43;
    pub const TCP_RTO_MAX_MS: c_int = 44;
    pub const TCP_RTO_MIN_US: c_int = 45;
    pub const TCP_DELACK_MAX_US: c_int = 46;
    pub const SO_TXREHASH: c_int = 74;
    pub const IP_LOCAL_PORT_RANGE: c_int = 51;
    pub const IPV6_ADDR_PREFERENCES: c_int = 72;
    pub const IPV6_MINHOPCOUNT: c_int = 73;
    pub const IPV6_AUTOFLOWLABEL: c_int = 70;
}
use number::*;

/// The options, the most used ones first. Those that work on every kernel need no further words.
pub const OPTIONS: &[Choice] = &[
    tcp("TCP_MD5SIG", libc::TCP_MD5SIG, Key).of("BGP daemons (BIRD, FRR, OpenBGPD)", PLAIN),
    tcp("TCP_MD5SIG_EXT", TCP_MD5SIG_EXT, Key).of("BGP daemons", PLAIN),
    tcp("TCP_AO_ADD_KEY", TCP_AO_ADD_KEY, Key).of("BGP daemons", PLAIN),
    tcp("TCP_ULP", libc::TCP_ULP, Text("tls")).of(
        "kernel TLS: nginx (`Options KTLS`) and others by OpenSSL",
        "nothing: OpenSSL encrypts in user space",
    ),
    tcp("TCP_USER_TIMEOUT", libc::TCP_USER_TIMEOUT, Integer(30_000)).of(
        "PostgreSQL (`tcp_user_timeout`), HAProxy (`tcp-ut`), gRPC",
        "keepalives (`TCP_KEEPIDLE` …), or the program's own timeout",
    ),
    tcp("TCP_QUICKACK", libc::TCP_QUICKACK, Integer(1))
        .of("HAProxy, programs with small requests", NOTHING),
    tcp("TCP_SYNCNT", libc::TCP_SYNCNT, Integer(3))
        .of("short timeouts of `connect`", "the program's own timeout"),
    tcp("TCP_LINGER2", libc::TCP_LINGER2, Integer(10))
        .of("short FIN_WAIT2", "`net.ipv4.tcp_fin_timeout`"),
    tcp("TCP_WINDOW_CLAMP", libc::TCP_WINDOW_CLAMP, Integer(100_000))
        .of("slow receivers", "`SO_RCVBUF`"),
    tcp("TCP_FASTOPEN", libc::TCP_FASTOPEN, Integer(5)).of("servers with TCP Fast Open", NOTHING),
    tcp(
        "TCP_FASTOPEN_KEY",
        libc::TCP_FASTOPEN_KEY,
        Text("0123456789abcdef"),
    )
    .of("servers with TCP Fast Open", "`net.ipv4.tcp_fastopen_key`"),
    tcp(
        "TCP_FASTOPEN_NO_COOKIE",
        libc::TCP_FASTOPEN_NO_COOKIE,
        Integer(1),
    )
    .of("clients with TCP Fast Open", NOTHING),
    tcp("TCP_MAXSEG", libc::TCP_MAXSEG, Integer(1000))
        .of("FRR (`tcp-mss`), HAProxy (`mss`)", "a route with `advmss`"),
    tcp(
        "TCP_NOTSENT_LOWAT",
        libc::TCP_NOTSENT_LOWAT,
        Integer(100_000),
    )
    .of("HTTP/2 servers and proxies", NOTHING),
    tcp("TCP_DEFER_ACCEPT", libc::TCP_DEFER_ACCEPT, Integer(1))
        .of("nginx (`deferred`), Apache", EARLY),
    tcp("TCP_SAVE_SYN", libc::TCP_SAVE_SYN, Integer(1))
        .of("servers that examine the client's SYN", PLAIN),
    tcp("TCP_REPAIR", libc::TCP_REPAIR, Integer(1))
        .of("CRIU", "nothing: CRIU cannot restore these connections"),
    tcp("TCP_TIMESTAMP", libc::TCP_TIMESTAMP, Integer(1))
        .of("CRIU", "nothing: CRIU cannot restore these connections"),
    tcp("TCP_ZEROCOPY_RECEIVE", libc::TCP_ZEROCOPY_RECEIVE, Read)
        .of("receivers that map pages", "`recv`"),
    tcp(
        "TCP_THIN_LINEAR_TIMEOUTS",
        libc::TCP_THIN_LINEAR_TIMEOUTS,
        Integer(1),
    )
    .of(
        "streams of few packets",
        "`net.ipv4.tcp_thin_linear_timeouts`",
    ),
    tcp("TCP_THIN_DUPACK", libc::TCP_THIN_DUPACK, Integer(1)).of("streams of few packets", NOTHING),
    tcp("TCP_TX_DELAY", TCP_TX_DELAY, Integer(1000)).of("tests", "`tc` (`netem`)"),
    tcp("TCP_RTO_MAX_MS", TCP_RTO_MAX_MS, Integer(10_000))
        .of("short timeouts", "`net.ipv4.tcp_rto_max_ms`"),
    tcp("TCP_RTO_MIN_US", TCP_RTO_MIN_US, Integer(100_000))
        .of("data centres", "a route with `rto_min`"),
    tcp("TCP_DELACK_MAX_US", TCP_DELACK_MAX_US, Integer(10_000)).of("data centres", NOTHING),
    tcp("TCP_IS_MPTCP", TCP_IS_MPTCP, Read).of("programs that report MPTCP", "`ss -M`"),
    any("SO_ZEROCOPY", libc::SO_ZEROCOPY, Integer(1))
        .of("SPDK, gRPC", "`send` without MSG_ZEROCOPY"),
    any(
        "SO_MAX_PACING_RATE",
        libc::SO_MAX_PACING_RATE,
        Integer(1_000_000),
    )
    .of("`iperf3 --fq-rate`, video servers", "`tc` (`fq maxrate`)"),
    any("SO_PEEK_OFF", libc::SO_PEEK_OFF, Integer(0)).of("passt, CRIU", PLAIN),
    any("SO_OOBINLINE", libc::SO_OOBINLINE, Integer(1)).of("urgent data: telnet, FTP", PLAIN),
    any("SO_ATTACH_FILTER", libc::SO_ATTACH_FILTER, Filter)
        .of("packet filters of a program", "nftables"),
    any("SO_TXREHASH", SO_TXREHASH, Integer(1)).of("data centres with ECMP", "`net.core.txrehash`"),
    any("SO_REUSEADDR", libc::SO_REUSEADDR, Integer(1)).of("servers", EARLY),
    any("SO_REUSEPORT", libc::SO_REUSEPORT, Integer(1)).of("servers", EARLY),
    any("SO_BINDTODEVICE", libc::SO_BINDTODEVICE, Text("lo"))
        .of("programs on one interface", EARLY),
    v4("IP_TTL", libc::IP_TTL, Integer(64)).of("BGP daemons (TTL security)", PLAIN),
    v4("IP_MINTTL", libc::IP_MINTTL, Integer(1)).of("BGP daemons (TTL security)", PLAIN),
    v4("IP_RECVERR", libc::IP_RECVERR, Integer(1)).of("programs that read ICMP errors", NOTHING),
    v4(
        "IP_MTU_DISCOVER",
        libc::IP_MTU_DISCOVER,
        Integer(libc::IP_PMTUDISC_DO),
    )
    .of("VPNs, proxies", "`net.ipv4.ip_no_pmtu_disc`"),
    v4("IP_MTU", libc::IP_MTU, Read).of("VPNs, proxies", NOTHING),
    v4("IP_PKTINFO", libc::IP_PKTINFO, Integer(1))
        .of("libraries that set it on every socket", NOTHING),
    v4("IP_RECVTOS", libc::IP_RECVTOS, Integer(1)).of("programs that read DSCP", PLAIN),
    v4("IP_OPTIONS", libc::IP_OPTIONS, Text("")).of("OpenSSH, against source routes", NOTHING),
    v4("IP_UNICAST_IF", libc::IP_UNICAST_IF, Integer(0)).of("Wine", "`SO_BINDTODEVICE`"),
    v4("IP_FREEBIND", libc::IP_FREEBIND, Integer(1)).of("HAProxy, keepalived", EARLY),
    v4("IP_TRANSPARENT", libc::IP_TRANSPARENT, Integer(1)).of("transparent proxies", EARLY),
    v4(
        "IP_BIND_ADDRESS_NO_PORT",
        libc::IP_BIND_ADDRESS_NO_PORT,
        Integer(1),
    )
    .of("nginx (`proxy_bind`), HAProxy", PORTS),
    v4("IP_LOCAL_PORT_RANGE", IP_LOCAL_PORT_RANGE, Integer(0))
        .of("clients that share an address", PORTS),
    v6("IPV6_TCLASS", libc::IPV6_TCLASS, Integer(8))
        .of("OpenSSH (`IPQoS`)", "nftables (`ip6 dscp set`)"),
    v6("IPV6_UNICAST_HOPS", libc::IPV6_UNICAST_HOPS, Integer(64))
        .of("BGP daemons (TTL security)", PLAIN),
    v6("IPV6_MINHOPCOUNT", IPV6_MINHOPCOUNT, Integer(1)).of("BGP daemons (TTL security)", PLAIN),
    v6("IPV6_RECVERR", libc::IPV6_RECVERR, Integer(1))
        .of("programs that read ICMP errors", NOTHING),
    v6(
        "IPV6_MTU_DISCOVER",
        libc::IPV6_MTU_DISCOVER,
        Integer(libc::IPV6_PMTUDISC_DO),
    )
    .of("VPNs, proxies", NOTHING),
    v6("IPV6_MTU", libc::IPV6_MTU, Integer(1400)).of("VPNs, proxies", "a route with `mtu`"),
    v6("IPV6_AUTOFLOWLABEL", IPV6_AUTOFLOWLABEL, Integer(1))
        .of("data centres with ECMP", "`net.ipv6.auto_flowlabels`"),
    v6("IPV6_RECVPKTINFO", libc::IPV6_RECVPKTINFO, Integer(1))
        .of("libraries that set it on every socket", NOTHING),
    v6("IPV6_ADDR_PREFERENCES", IPV6_ADDR_PREFERENCES, Integer(2))
        .of("programs that choose privacy addresses", "`bind`"),
    v6("IPV6_FREEBIND", libc::IPV6_FREEBIND, Integer(1)).of("HAProxy, keepalived", EARLY),
    v6("IPV6_TRANSPARENT", libc::IPV6_TRANSPARENT, Integer(1)).of("transparent proxies", EARLY),
    tcp("TCP_NODELAY", libc::TCP_NODELAY, Integer(1)),
    tcp("TCP_CORK", libc::TCP_CORK, Integer(1)),
    tcp("TCP_KEEPIDLE", libc::TCP_KEEPIDLE, Integer(60)),
    tcp("TCP_KEEPINTVL", libc::TCP_KEEPINTVL, Integer(10)),
    tcp("TCP_KEEPCNT", libc::TCP_KEEPCNT, Integer(3)),
    tcp(
        "TCP_FASTOPEN_CONNECT",
        libc::TCP_FASTOPEN_CONNECT,
        Integer(1),
    ),
    tcp("TCP_INQ", libc::TCP_INQ, Integer(1)),
    tcp("TCP_CONGESTION", libc::TCP_CONGESTION, Text("reno")),
    tcp("TCP_INFO", libc::TCP_INFO, Read),
    tcp("TCP_CC_INFO", libc::TCP_CC_INFO, Read),
    any("SO_KEEPALIVE", libc::SO_KEEPALIVE, Integer(1)),
    any("SO_LINGER", libc::SO_LINGER, Linger),
    any("SO_SNDBUF", libc::SO_SNDBUF, Integer(100_000)),
    any("SO_RCVBUF", libc::SO_RCVBUF, Integer(100_000)),
    any("SO_RCVLOWAT", libc::SO_RCVLOWAT, Integer(100)),
    any("SO_RCVTIMEO", libc::SO_RCVTIMEO, Pair(5, 0)),
    any("SO_SNDTIMEO", libc::SO_SNDTIMEO, Pair(5, 0)),
    any("SO_PRIORITY", libc::SO_PRIORITY, Integer(3)),
    any("SO_MARK", libc::SO_MARK, Integer(3)),
    any("SO_INCOMING_CPU", libc::SO_INCOMING_CPU, Integer(0)),
    any("SO_TIMESTAMP", libc::SO_TIMESTAMP, Integer(1)),
    any("SO_TIMESTAMPING", libc::SO_TIMESTAMPING, Integer(0x18)),
    any("SO_BUSY_POLL", libc::SO_BUSY_POLL, Integer(50)),
    any("SO_COOKIE", libc::SO_COOKIE, Read),
    v4("IP_TOS", libc::IP_TOS, Integer(8)),
    v6("IPV6_V6ONLY", libc::IPV6_V6ONLY, Integer(1)),
];
