//! The JSON of the HTTP interface. The OpenAPI description is made from these types ([`crate::server::openapi`]).

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

pub use topology::Unknown;

/// A map: nodes and links. Each link has one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MapRequest {
    /// The nodes.
    pub nodes: Vec<NodeRequest>,
    /// The links. Several links may join two nodes.
    pub links: Vec<LinkRequest>,
}

/// A node of a map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeRequest {
    /// Name; no two nodes have the same.
    pub name: String,
    /// Distance from the left, for the drawing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// Distance from above, for the drawing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
}

/// A link of a map, in one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRequest {
    /// Name of the node at which the link begins.
    pub from: String,
    /// Name of the node at which it ends.
    pub to: String,
    /// Capacity, bit/s; it only scales the drawing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bps: Option<u64>,
}

/// The nodes of address prefixes. Replaces all former ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PrefixesRequest {
    /// The prefixes. Of several that contain an address the longest counts.
    pub prefixes: Vec<Prefix>,
}

/// Reads a prefix, or an address as the prefix of all its bits.
fn prefix<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IpNet, D::Error> {
    Text::deserialize(deserializer).map(|text| text.0)
}

fn prefixes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let texts: Vec<Text> = Vec::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|text| text.0).collect())
}

/// The text of a prefix or an address.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Text(IpNet);

impl TryFrom<String> for Text {
    type Error = std::net::AddrParseError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let network = match text.parse() {
            Ok(network) => network,
            Err(_) => IpNet::from(text.parse::<IpAddr>()?),
        };
        Ok(Self(canonical_network(network)))
    }
}

/// The IPv4 network of a mapped one: `::ffff:10.0.0.0/104` is `10.0.0.0/8` (RFC 4291, section 2.5.5.2).
fn canonical_network(network: IpNet) -> IpNet {
    const MAPPED: u8 = 96;
    let length = network.prefix_len().checked_sub(MAPPED);
    match (network.addr().to_canonical(), length) {
        (address @ IpAddr::V4(_), Some(length)) if network.addr().is_ipv6() => {
            IpNet::new(address, length).expect("at most 32 of 128 - 96 bits")
        }
        _ => network,
    }
}

/// Reads an address and a port; an IPv4-mapped address is the IPv4 address.
fn canonical<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let read = SocketAddr::deserialize(deserializer)?;
    Ok(SocketAddr::new(read.ip().to_canonical(), read.port()))
}

/// A prefix and its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Prefix {
    /// The prefix, such as `10.1.0.0/16` or `2001:db8::/32`; an address without a length stands for itself.
    #[schema(value_type = String)]
    #[serde(deserialize_with = "prefix")]
    pub prefix: IpNet,
    /// Name of its node.
    pub node: String,
}

/// The installed routes. Replaces all former ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutesRequest {
    /// The route of a pair of nodes that is not listed.
    #[serde(default)]
    pub others: OtherRoutes,
    /// The listed routes.
    #[serde(default)]
    pub routes: Vec<RouteRequest>,
}

/// The routes of pairs of nodes that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OtherRoutes {
    /// A shortest path, by number of links. If several are equal, ECMP may choose any of them: all are candidates.
    #[default]
    Shortest,
    /// Unknown: the connection is coupled.
    Unknown,
}

/// The route from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteRequest {
    /// Node of the sender.
    pub from: String,
    /// Node of the receiver.
    pub to: String,
    /// The path, as names of links in order; with ECMP several candidates.
    pub paths: Vec<Vec<String>>,
}

/// Available rates of links. Links that are not listed keep theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RatesRequest {
    /// The rates.
    pub rates: Vec<Rate>,
}

/// Available rate of a link. It counts for 30 seconds from the arrival of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Name of the link.
    pub link: String,
    /// Rate that the other traffic leaves, bit/s: that of all connections whose subflows do not count in Z (see the description of the
    /// interface).
    pub available_bps: u64,
}

/// States of links. Links that are not listed keep theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinksRequest {
    /// The states.
    pub links: Vec<LinkState>,
}

/// State of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkState {
    /// Name of the link.
    pub link: String,
    /// Whether packets cross it.
    pub up: bool,
}

/// An endpoint that may report subflows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointRequest {
    /// The prefixes of its own addresses. It can report only subflows whose local address is in one of them.
    #[schema(value_type = Vec<String>)]
    #[serde(deserialize_with = "prefixes")]
    pub addresses: Vec<IpNet>,
    /// The prefixes from which its token is accepted; empty: from everywhere.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "prefixes"
    )]
    #[schema(value_type = Vec<String>)]
    pub from: Vec<IpNet>,
}

/// The token of an endpoint. The manager stores only its hash and cannot show it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EndpointToken {
    /// Name of the endpoint.
    pub endpoint: String,
    /// The token.
    pub token: String,
}

/// A session of an endpoint. It ends when the endpoint starts another one, and when the manager restarts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Name of the endpoint.
    pub endpoint: String,
    /// The session, for the reports.
    pub session: String,
}

/// A report of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The session.
    pub session: String,
    /// Number of the report, which grows within the session. A report with a number that is not larger than the last one is refused.
    pub sequence: u64,
    /// Whether these are all connections of the endpoint. Others are then forgotten.
    #[serde(default)]
    pub complete: bool,
    /// Connections that are new or have changed, each with all its subflows.
    #[serde(default)]
    pub connections: Vec<Connection>,
    /// Tokens of connections that have closed.
    #[serde(default)]
    pub closed: Vec<Token>,
}

/// Token of an MPTCP connection at the endpoint, up to eight hexadecimal digits (RFC 8684, section 3.2).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, example = "1a2b3c4d")]
pub struct Token(pub u32);

impl From<Token> for String {
    fn from(token: Token) -> Self {
        format!("{:08x}", token.0)
    }
}

impl TryFrom<String> for Token {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = (1..=8).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        let token = digits
            .then(|| u32::from_str_radix(&text, 16).ok())
            .flatten();
        token
            .map(Self)
            .ok_or_else(|| "a token is up to eight hexadecimal digits".into())
    }
}

/// A connection and all its subflows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// The connection.
    pub connection: Token,
    /// All its subflows.
    pub subflows: Vec<Subflow>,
}

/// A subflow: the five-tuple of a TCP flow, without the protocol. The endpoint sends from `local` to `remote`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Subflow {
    /// Address and port of the endpoint.
    #[schema(value_type = String, example = "10.1.0.2:43210")]
    #[serde(deserialize_with = "canonical")]
    pub local: SocketAddr,
    /// Address and port of the peer.
    #[schema(value_type = String, example = "10.2.0.1:443")]
    #[serde(deserialize_with = "canonical")]
    pub remote: SocketAddr,
}

/// Answer to a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reported {
    /// Number of the report.
    pub sequence: u64,
    /// The groups of the reported connections.
    pub connections: Vec<Groups>,
}

/// The groups of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Groups {
    /// The connection.
    pub connection: Token,
    /// Number of this decision. Of two decisions on a connection the larger number counts.
    pub revision: u64,
    /// Reason for which all subflows are coupled; absent if paths and rates are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "path")]
    pub unknown: Option<Unknown>,
    /// The group of each subflow.
    pub groups: Vec<SubflowGroup>,
}

/// A subflow and its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SubflowGroup {
    /// Address and port of the endpoint.
    #[schema(value_type = String)]
    #[serde(deserialize_with = "canonical")]
    pub local: SocketAddr,
    /// Address and port of the peer.
    #[schema(value_type = String)]
    #[serde(deserialize_with = "canonical")]
    pub remote: SocketAddr,
    /// Group from 0 to 238. Subflows of one group are coupled.
    pub group: u8,
}

/// A reported connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConnectionView {
    /// Name of the endpoint.
    pub endpoint: String,
    /// Its groups.
    #[serde(flatten)]
    pub groups: Groups,
    /// The indices of the links that each subflow may cross, in the order of the groups; empty for an unknown path.
    pub links: Vec<Vec<u32>>,
}

/// Some of the reported connections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConnectionsView {
    /// Number of all connections.
    pub total: usize,
    /// The first of them, up to 500.
    pub connections: Vec<ConnectionView>,
}

/// The map with the states and rates of its links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MapView {
    /// Number of the map, which changes with it.
    pub revision: u64,
    /// Title of the map.
    pub title: Option<String>,
    /// Nodes.
    pub nodes: Vec<NodeView>,
    /// Links, each in one direction.
    pub links: Vec<LinkView>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NodeView {
    /// Name.
    pub name: String,
    /// Place on the drawing: distance from the left. None without coordinates.
    pub x: Option<f64>,
    /// Distance from above.
    pub y: Option<f64>,
    /// Prefixes at this node, up to 8.
    pub prefixes: Vec<String>,
}

/// A link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LinkView {
    /// Name.
    pub name: String,
    /// Index of the node at which it begins.
    pub from: u32,
    /// Index of the node at which it ends.
    pub to: u32,
    /// Capacity by the map, bit/s.
    pub capacity_bps: Option<u64>,
    /// State, rate and subflows.
    #[serde(flatten)]
    pub live: LinkLive,
}

/// What changes on a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkLive {
    /// Whether packets cross it.
    pub up: bool,
    /// Available rate, bit/s; none: never reported, or older than 30 seconds.
    pub available_bps: Option<u64>,
    /// Number of reported subflows that may cross it.
    pub subflows: u32,
}

/// Event `network` of the operator's stream: the present numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NetworkEvent {
    /// Number of the map.
    pub map: u64,
    /// Links whose state, rate or subflows have changed since the last event, by index; in the first event all.
    pub links: Vec<(u32, LinkLive)>,
    /// Totals.
    pub totals: Totals,
}

/// Numbers of the manager's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Totals {
    /// Endpoints with a token.
    pub endpoints: usize,
    /// Reported connections.
    pub connections: usize,
    /// Reported subflows.
    pub subflows: usize,
    /// Connections with more than one group.
    pub separated: usize,
    /// Connections that are coupled because a path or a rate is unknown.
    pub unknown: usize,
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What, where, and what to do.
    pub error: String,
}
