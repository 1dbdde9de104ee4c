//! Errors of a file in one line: file, line, key, allowed values.

use lisa_scenario::Scenario;

/// A valid file, to which the line numbers below refer.
const SHARED: &str = r#"title = "a"
stop = "30s"

[topology]
kind = "shared-bottleneck"
rate = "5Mbit"
rtt = "40ms"
queue = { kind = "droptail", packets = 17 }

[[connection]]
name = "download"
protocol = "mptcp"
algorithm = "lisa"
subflows = 2
bytes = "300KB"
start = "0s"
"#;

const TREE: &str = r#"stop = "30s"
[topology]
kind = "fat-tree"
k = 4
rate = "100Mbit"
delay = "100us"
queue = 100
[[connection]]
pattern = "permutation"
protocol = "mptcp"
"#;

const GRAPH: &str = r#"stop = "30s"
[topology]
kind = "graph"
hosts = ["a", "b"]
routers = ["r"]
[[topology.link]]
from = "a"
to = "r"
delay = "1ms"
[[topology.link]]
from = "r"
to = "b"
rate = "1Mbit"
queue = 10
[[connection]]
from = "a"
to = "b"
"#;

const MAP: &str = r#"stop = "30s"
[topology]
kind = "gml"
file = "../../experiments/topologies/Nsfnet.gml"
rate = "10Mbit"
delay = "5ms"
queue = 50
[[topology.change]]
between = ["4", "12"]
rate = "2Mbit"
[[connection]]
from = "0"
to = "4"
routing = "k-shortest"
protocol = "mptcp"
"#;

const USERS: &str = r#"stop = "30s"
[topology]
kind = "scenario-a"
n1 = 10
n2 = 10
c1 = "1Mbit"
c2 = "1Mbit"
rtt = "100ms"
[[connection]]
protocol = "mptcp"
paths = "type1"
"#;

/// A file, a piece of it, the replacement of the piece, and the error.
type Case = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Not TOML, or not a scenario.
    (SHARED, "stop = \"30s\"", "stop = ", "a.toml:2: not TOML: string values must be quoted, expected literal string"),
    (SHARED, "stop = \"30s\"", "stop = \"30s\"\nstop = \"1s\"", "a.toml:3: not TOML: duplicate key"),
    (SHARED, "title = \"a\"", "title = 1", "a.toml:1: `title`: expected text in quotes, found a number"),
    (SHARED, "title", "titel", "a.toml:1: `titel`: no such key, did you mean `title`?; there are title, stop, warmup, rtt_spread, rate_phase, topology, connection"),
    (SHARED, "stop = \"30s\"", "", "a.toml: `stop`: is missing: add one like `stop = \"30s\"`"),
    (SHARED, "[topology]", "[toplogy]", "a.toml:4: `toplogy`: no such key, did you mean `topology`?; there are title, stop, warmup, rtt_spread, rate_phase, topology, connection"),
    (SHARED, "[[connection]]", "[connection]", "a.toml:10: `connection`: expected a list, found a table"),
    // Times.
    (SHARED, "\"30s\"", "30", "a.toml:2: `stop`: expected a time like \"40ms\", found a number"),
    (SHARED, "\"30s\"", "\"30\"", "a.toml:2: `stop`: `30` has no unit: write it like `40ms`; units are ns, us, µs, ms, s, min, h, d"),
    (SHARED, "\"30s\"", "\"30sec\"", "a.toml:2: `stop`: `30sec`: no unit `sec`; units are ns, us, µs, ms, s, min, h, d"),
    (SHARED, "\"30s\"", "\"0s\"", "a.toml:2: `stop`: 0s is out of range: 1ns to 365d"),
    (SHARED, "\"30s\"", "\"366d\"", "a.toml:2: `stop`: 366d is out of range: 1ns to 365d"),
    (SHARED, "\"30s\"", "\"30s\"\nwarmup = \"31s\"", "a.toml:3: `warmup`: 31s: must be less than `stop`, which is 30s"),
    (SHARED, "\"30s\"", "\"30s\"\nwarmup = \"30s\"", "a.toml:3: `warmup`: 30s: must be less than `stop`, which is 30s"),
    (SHARED, "\"30s\"", "\"30s\"\nrtt_spread = 0.95", "a.toml:3: `rtt_spread`: at most 0.9 is possible"),
    (SHARED, "\"30s\"", "\"30s\"\nrtt_spread = nan", "a.toml:3: `rtt_spread`: NaN is not a share: 0 to 1, or `0%` to `100%`"),
    // A topology.
    (SHARED, "shared-bottleneck", "shared-botleneck", "a.toml:5: `topology.kind`: no value `shared-botleneck`, did you mean `shared-bottleneck`?; there are shared-bottleneck, non-shared-bottleneck, fat-tree, scenario-a, scenario-b, scenario-c, graph, gml"),
    // Maps. The file of each is relative to the scenario, which is `a.toml` in this crate's folder.
    (MAP, "Nsfnet.gml", "Nfsnet.gml", "a.toml:4: `topology.file`: ../../experiments/topologies/Nfsnet.gml: No such file or directory (os error 2); the name is relative to the folder of the scenario file"),
    (MAP, "Nsfnet.gml", "README.md", "a.toml:4: `topology.file`: ../../experiments/topologies/README.md:3: `…` is no value: texts have quotes; is this a GML file?"),
    (MAP, "file = \"../../experiments/topologies/Nsfnet.gml\"\n", "", "a.toml:2: `topology.file`: is missing: add one like `file = \"Nsfnet.gml\"`"),
    (MAP, "rate = \"10Mbit\"\n", "", "a.toml:2: `topology.rate`: is missing: add one like `rate = \"10Mbit\"` or `rate = { otherwise = \"10Mbit\" }`, because the edge between `SEQSUINET, Rice University, Houston` and `SURANET, Georgia Tech, Atlanta` has no speed in the map"),
    (MAP, "delay = \"5ms\"\n", "", "a.toml:2: `topology.delay`: is missing: add one like `delay = \"5ms\"` or `delay = { per_km = \"5us\" }`, because the edge between `SEQSUINET, Rice University, Houston` and `SURANET, Georgia Tech, Atlanta` has no `latency` in the map"),
    (MAP, "\"5ms\"", "5", "a.toml:6: `topology.delay`: expected a time like \"5ms\" or `{ per_km = \"5us\" }`, found a number"),
    (MAP, "\"5ms\"", "{ km = \"5us\" }", "a.toml:6: `topology.delay.km`: no such key; there are per_km, otherwise"),
    (MAP, "\"4\", \"12\"", "\"4\"", "a.toml:9: `topology.change.1.between`: 1 nodes: must be two"),
    (MAP, "\"4\", \"12\"", "\"4\", \"0\"", "a.toml:9: `topology.change.1.between`: the map has no edge between these nodes"),
    (MAP, "\"4\", \"12\"", "\"4\", \"Boulder\"", "a.toml:9: `topology.change.1.between.2`: no node `Boulder`, did you mean `NCAR, Boulder`?; there are `SEQSUINET, Rice University, Houston`, `Jon Von Neumann Center, Princeton, NJ`, `SURANET, Georgia Tech, Atlanta`, `Pittsburgh Supercomputer Center`, `Cornell Theory Center, Ithaca NY`, `NorthWestNet, Seattle`, `BARRnet, Palo Alto`, `San Diego Supercomputer Center`, `Westnet, Salt Lake City`, `NCAR, Boulder`, `MIDnet, Lincoln, NE`, `NCSA, University of Illinois, Champaign`, `Merit Univ of Michigan, Ann Arbor`"),
    (MAP, "queue = 50", "queue = 50\nhosts = [\"NCAR, Boulder\", \"b\"]", "a.toml:8: `topology.hosts.1`: there are two nodes `NCAR, Boulder`"),
    (MAP, "queue = 50", "queue = 50\nhosts = [\"b\", \"0\"]", "a.toml:8: `topology.hosts.2`: there are two nodes `0`"),
    (MAP, "\"4\", \"12\"", "\"4\", \"12\", \"1\"", "a.toml:9: `topology.change.1.between`: 3 nodes: must be two"),
    (MAP, "rate = \"2Mbit\"", "bytes = 1", "a.toml:10: `topology.change.1.bytes`: no such key; there are between, delay, rate, queue, loss, reorder, jitter, down, detour"),
    (MAP, "from = \"0\"", "from = \"33\"", "a.toml:12: `connection.1.from`: no host `33`; there are `SEQSUINET, Rice University, Houston`, `Jon Von Neumann Center, Princeton, NJ`, `SURANET, Georgia Tech, Atlanta`, `Pittsburgh Supercomputer Center`, `Cornell Theory Center, Ithaca NY`, `NorthWestNet, Seattle`, `BARRnet, Palo Alto`, `San Diego Supercomputer Center`, `Westnet, Salt Lake City`, `NCAR, Boulder`, `MIDnet, Lincoln, NE`, `NCSA, University of Illinois, Champaign`, `Merit Univ of Michigan, Ann Arbor`"),
    (MAP, "to = \"4\"", "to = \"0\"", "a.toml:13: `connection.1.to`: a connection from a host to itself"),
    (MAP, "k-shortest", "shortest-k", "a.toml:14: `connection.1.routing`: no value `shortest-k`, did you mean `shortest`?; there are shortest, k-shortest, link-disjoint, node-disjoint"),
    (SHARED, "subflows = 2", "routing = \"k-shortest\"", "a.toml:14: `connection.download.routing`: only for `from` and `to` or a `pattern`: these paths are given"),
    (SHARED, "kind = \"shared-bottleneck\"", "", "a.toml:4: `topology.kind`: is missing: add one like `kind = \"shared-bottleneck\"`"),
    (SHARED, "rate = \"5Mbit\"", "", "a.toml:4: `topology.rate`: is missing: add one like `rate = \"5Mbit\"`"),
    (SHARED, "rtt = \"40ms\"", "", "a.toml:4: `topology.rtt`: is missing: add one like `rtt = \"70ms\"`"),
    (SHARED, "\"5Mbit\"", "\"0Mbit\"", "a.toml:6: `topology.rate`: `0Mbit`: a rate must be more than 0"),
    (SHARED, "\"5Mbit\"", "\"-5Mbit\"", "a.toml:6: `topology.rate`: `-5Mbit` is negative: a rate must not be"),
    (SHARED, "\"5Mbit\"", "\"5Mbits\"", "a.toml:6: `topology.rate`: `5Mbits`: no unit `Mbits`, did you mean `Mbit`?; units are bit, kbit, Mbit, Gbit, Tbit"),
    (SHARED, "\"5Mbit\"", "\"101Tbit\"", "a.toml:6: `topology.rate`: 101Tbit is out of range: 1bit to 100Tbit"),
    (SHARED, "{ kind = \"droptail\", packets = 17 }", "\"red\"", "a.toml:8: `topology.queue`: expected a number of packets or a table like `{ kind = \"red\" }`, found text"),
    (SHARED, "{ kind = \"droptail\", packets = 17 }", "1.5", "a.toml:8: `topology.queue`: expected a number of packets or a table like `{ kind = \"red\" }`, found a number with a point"),
    (SHARED, "\"5Mbit\"", "[\"5Mbit\", \"5Mbit\"]", "a.toml:6: `topology.rate`: a shared bottleneck has one value, not a list"),
    (SHARED, "\"40ms\"", "\"2h\"", "a.toml:7: `topology.rtt`: 2h is out of range: 0s to 1h"),
    (SHARED, "\"40ms\"", "[]", "a.toml:7: `topology.rtt`: 0 items: 1 to 1024 are possible, one for each path"),
    (SHARED, "\"40ms\"", "[\"40ms\", \"4 parsec\"]", "a.toml:7: `topology.rtt.2`: `4 parsec`: no unit `parsec`; units are ns, us, µs, ms, s, min, h, d"),
    (SHARED, "\"40ms\"", "[\"40ms\", \"40ms\"]\npaths = 3", "a.toml:7: `topology.rtt`: 2 items, but `paths` gives 3 paths"),
    (SHARED, "\"40ms\"", "\"40ms\"\nnames = [\"Wi-Fi\"]", "a.toml:8: `topology.names`: 1 names, but there are 2 paths"),
    (SHARED, "\"40ms\"", "\"40ms\"\nnames = [\"Wi-Fi\", 2]", "a.toml:8: `topology.names.2`: expected text in quotes, found a number"),
    (SHARED, "\"40ms\"", "\"40ms\"\nnames = [\"Wi-Fi\", \"\"]", "a.toml:8: `topology.names.2`: a name has 1 to 64 characters, on one line"),
    (TREE, "k = 4", "k = 4\nnames = [\"a\"]", "a.toml:5: `topology.names`: no such key; there are kind, k, core_rate, delay, rtt, rate, queue, loss, reorder, jitter"),
    (SHARED, "\"40ms\"", "\"40ms\"\naccess = { rate = \"1Gbit\", delay = \"11ms\", queue = 1 }", "a.toml:7: `topology.rtt`: shorter than the access links in both directions, which take four times their `delay`"),
    (SHARED, "packets", "packet", "a.toml:8: `topology.queue.packet`: no such key, did you mean `packets`?; there are kind, packets, bytes"),
    (SHARED, "17", "-1", "a.toml:8: `topology.queue.packets`: -1 is out of range: 0 to 100000000"),
    (SHARED, "17", "99999999999999999999999999999999999999999", "a.toml:8: `topology.queue.packets`: the number is out of range: 0 to 100000000"),
    (SHARED, "17", "17, bytes = 1", "a.toml:8: `topology.queue.packets`: a queue is limited in packets or in bytes, not both"),
    (SHARED, "droptail", "tail", "a.toml:8: `topology.queue.kind`: no value `tail`; there are droptail, red, codel, fq-codel, pie, policer"),
    (SHARED, "\"droptail\", packets = 17", "\"red\", min = 50, max = 50, max_p = 0.1, limit = 100", "a.toml:8: `topology.queue.max`: must be more than `min`, which is 50"),
    (SHARED, "\"droptail\", packets = 17", "\"red\", weight = 0", "a.toml:8: `topology.queue.weight`: must be more than 0: with 0 the average never changes"),
    (SHARED, "\"40ms\"", "\"40ms\"\nloss = 2", "a.toml:8: `topology.loss`: 2 is not a share: 0 to 1, or `0%` to `100%`"),
    (SHARED, "\"40ms\"", "\"40ms\"\nreorder = { share = 0.1 }", "a.toml:8: `topology.reorder.delay`: is missing: add one like `delay = \"10ms\"`"),
    (SHARED, "\"40ms\"", "\"40ms\"\njitter = 5", "a.toml:8: `topology.jitter`: expected a time like \"40ms\", found a number"),
    (SHARED, "\"40ms\"", "\"40ms\"\njitter = \"0ms\"", "a.toml:8: `topology.jitter`: 0s is out of range: 1ns to 1h"),
    (SHARED, "\"40ms\"", "\"40ms\"\njitter = \"2h\"", "a.toml:8: `topology.jitter`: 2h is out of range: 1ns to 1h"),
    (SHARED, "\"40ms\"", "\"40ms\"\njitter = [\"5ms\"]", "a.toml:8: `topology.jitter`: a shared bottleneck has one value, not a list"),
    (SHARED, "shared-bottleneck\"", "non-shared-bottleneck\"\npaths = 3\njitter = [\"1ms\", \"2ms\"]", "a.toml:7: `topology.jitter`: 2 items, but `paths` gives 3 paths"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndetour = { from = \"5s\" }", "a.toml:8: `topology.detour.delay`: is missing: add one like `delay = \"40ms\"`"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndetour = { from = \"5s\", to = \"5s\", delay = \"9ms\" }", "a.toml:8: `topology.detour.to`: must be later than `from`, which is 5s"),
    (TREE, "k = 4", "k = 4\ndown = []", "a.toml:5: `topology.down`: no such key; there are kind, k, core_rate, delay, rtt, rate, queue, loss, reorder, jitter"),
    (SHARED, "\"droptail\", packets = 17", "\"policer\", rate = \"2Mbit\"", "a.toml:8: `topology.queue.burst`: is missing: add one like `burst = \"64KB\"`"),
    (SHARED, "\"droptail\", packets = 17", "\"policer\", burst = \"9KB\"", "a.toml:8: `topology.queue.rate`: is missing: add one like `rate = \"10Mbit\"`"),
    (SHARED, "\"droptail\", packets = 17", "\"policer\", rate = \"2Mbit\", burst = 0", "a.toml:8: `topology.queue.burst`: 0 is out of range: 1 to 1099511627776"),
    (SHARED, "\"droptail\", packets = 17", "\"red\", max = 50", "a.toml:8: `topology.queue.min`: is missing: add one like `min = 25`"),
    (SHARED, "rate = \"5Mbit\"", "rate = { trace = \"none.up\" }", "a.toml:6: `topology.rate.trace`: none.up: No such file or directory (os error 2); the name is relative to the folder of the scenario file"),
    (SHARED, "shared-bottleneck", "non-shared-bottleneck\"\npaths = \"two", "a.toml:6: `topology.paths`: expected a whole number, found text"),
    // Outages.
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = \"5s\"", "a.toml:8: `topology.down`: expected an outage like `{ from = \"5s\", to = \"8s\" }`, found text"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = [\"5s\"]", "a.toml:8: `topology.down.1`: expected an outage like `{ from = \"5s\", to = \"8s\" }`, found text"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = { to = \"8s\" }", "a.toml:8: `topology.down.from`: is missing: add one like `from = \"5s\"`"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = { from = \"5s\", til = \"8s\" }", "a.toml:8: `topology.down.til`: no such key; there are from, to"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = { from = 5 }", "a.toml:8: `topology.down.from`: expected a time like \"40ms\", found a number"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = { from = \"366d\" }", "a.toml:8: `topology.down.from`: 366d is out of range: 0s to 365d"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = { from = \"1s\", to = \"366d\" }", "a.toml:8: `topology.down.to`: 366d is out of range: 1ns to 365d"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = { from = \"8s\", to = \"5s\" }", "a.toml:8: `topology.down.to`: must be later than `from`, which is 8s"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = { from = \"8s\", to = \"8s\" }", "a.toml:8: `topology.down.to`: must be later than `from`, which is 8s"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = [{ from = \"5s\", to = \"8s\" }, { from = \"7s\" }]", "a.toml:8: `topology.down.2.from`: the outage before this one ends at 8s"),
    (SHARED, "\"40ms\"", "\"40ms\"\ndown = [{ from = \"5s\" }, { from = \"7s\", to = \"8s\" }]", "a.toml:8: `topology.down.2.from`: the outage before this one has no end"),
    (SHARED, "shared-bottleneck\"", "non-shared-bottleneck\"\npaths = 3\ndown = [[], { from = \"7s\" }]", "a.toml:7: `topology.down`: 2 items, but `paths` gives 3 paths"),
    (SHARED, "shared-bottleneck\"", "non-shared-bottleneck\"\ndown = [[], [{ from = \"7s\" }, 1]]", "a.toml:6: `topology.down.2.2`: expected an outage like `{ from = \"5s\", to = \"8s\" }`, found a number"),
    (GRAPH, "delay = \"1ms\"", "down = {}", "a.toml:9: `topology.link.1.down.from`: is missing: add one like `from = \"5s\"`"),
    (TREE, "k = 4", "k = 4\ndown = { from = \"1s\" }", "a.toml:5: `topology.down`: no such key; there are kind, k, core_rate, delay, rtt, rate, queue, loss, reorder, jitter"),
    // A fat tree.
    (TREE, "k = 4", "k = 1000000", "a.toml:4: `topology.k`: 1000000 is out of range: 2 to 48"),
    (TREE, "k = 4", "k = 5", "a.toml:4: `topology.k`: 5: must be an even number from 2 to 48"),
    (TREE, "k = 4", "k = 4.0", "a.toml:4: `topology.k`: expected a whole number, found a number with a point"),
    (TREE, "delay = \"100us\"", "delay = \"100us\"\nrtt = \"5ms\"", "a.toml:6: `topology.delay`: use `rtt` or `delay`, not both"),
    (TREE, "permutation", "permutations", "a.toml:9: `connection.1.pattern`: no value `permutations`, did you mean `permutation`?; there are permutation, random"),
    (TREE, "pattern = \"permutation\"", "", "a.toml:8: `connection.1`: this topology has no named paths: give `from` and `to`, or `pattern`"),
    (TREE, "pattern = \"permutation\"", "path = 1", "a.toml:9: `connection.1.path`: this topology has no named paths: give `from` and `to`, or `pattern`"),
    (TREE, "pattern = \"permutation\"", "from = \"h1\"\nto = \"h17\"", "a.toml:10: `connection.1.to`: no host `h17`, did you mean `h10`?; there are h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16"),
    (TREE, "pattern = \"permutation\"", "from = \"core 1\"\nto = \"h1\"", "a.toml:9: `connection.1.from`: no host `core 1`; there are h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16"),
    (TREE, "pattern = \"permutation\"", "from = \"h1\"\nto = \"h1\"", "a.toml:10: `connection.1.to`: a connection from a host to itself"),
    (TREE, "pattern = \"permutation\"", "from = \"h1\"", "a.toml:8: `connection.1.to`: is missing: add one like `to = \"h2\"`"),
    (TREE, "pattern = \"permutation\"", "pattern = \"random\"\nfrom = \"h1\"", "a.toml:10: `connection.1.from`: use `pattern` or `from`/`to`, not both"),
    (TREE, "protocol", "count = 100000\nprotocol", "a.toml:8: `connection.1`: 3200000 subflows in all: at most 250000 are possible"),
    (TREE, "protocol", "count = 1000000000\nprotocol", "a.toml:10: `connection.1.count`: 1000000000 is out of range: 1 to 250000"),
    // A graph.
    (GRAPH, "[\"a\", \"b\"]", "[\"a\"]", "a.toml:4: `topology.hosts`: a graph has at least two hosts"),
    (GRAPH, "[\"a\", \"b\"]", "[\"a\", \"b\", \"a\"]", "a.toml:4: `topology.hosts.3`: there are two nodes `a`"),
    (GRAPH, "[\"a\", \"b\"]", "[\"a\", \"b\", \"c\"]", "a.toml:4: `topology.hosts.3`: no link is connected to `c`"),
    (GRAPH, "routers = [\"r\"]", "routers = [\"\"]", "a.toml:5: `topology.routers.1`: a name has 1 to 64 characters, on one line"),
    (GRAPH, "to = \"r\"", "to = \"s\"", "a.toml:8: `topology.link.1.to`: no node `s`; there are `a`, `b`, `r`"),
    (GRAPH, "to = \"r\"", "to = \"a\"", "a.toml:8: `topology.link.1.to`: a link from `a` to itself"),
    (GRAPH, "from = \"r\"", "name = \"a r\"\nfrom = \"r\"", "a.toml:11: `topology.link.2.name`: there are two links `a r up`: give each a `name` of its own"),
    (GRAPH, "from = \"r\"", "name = \"a r up\"\none_way = true\nfrom = \"r\"", "a.toml:11: `topology.link.2.name`: there are two links `a r up`: give each a `name` of its own"),
    (GRAPH, "rate = \"1Mbit\"", "", "a.toml:14: `topology.link.2.queue`: a link without a rate has no queue: add a `rate`"),
    (GRAPH, "queue = 10", "", "a.toml:10: `topology.link.2.queue`: is missing: add one like `queue = { kind = \"droptail\", packets = 30 }`"),
    (GRAPH, "queue = 10", "queue = 10\none_way = true", "a.toml:18: `connection.1.to`: a link on the path from `a` has no reverse direction, which ACKs take: `both_ways = true` gives the edges of a map both directions, and a link of a graph has both without `one_way`"),
    (GRAPH, "from = \"r\"\nto = \"b\"", "from = \"b\"\nto = \"r\"\none_way = true", "a.toml:18: `connection.1.to`: there is no path from `a` to `b`: `a` reaches 0 of 1 other nodes, and 1 link has one direction: `both_ways = true` gives the edges of a map both directions, and a link of a graph has both without `one_way`"),
    (GRAPH, "[[topology.link]]\nfrom = \"a\"", "[topology.paths]\nx = [[\"a\", \"b\"]]\n[[topology.link]]\nfrom = \"a\"", "a.toml:7: `topology.paths.x`: there is no link from `a` to `b`"),
    (GRAPH, "[[topology.link]]\nfrom = \"a\"", "[topology.paths]\nx = [[\"a\", \"r\"]]\n[[topology.link]]\nfrom = \"a\"", "a.toml:7: `topology.paths.x`: `r` is no host: paths begin and end at hosts"),
    (GRAPH, "[\"a\", \"b\"]\nrouters = [\"r\"]", "[\"a\", \"b\", \"r\"]\npaths = { x = [[\"a\", \"r\", \"b\"]] }", "a.toml:5: `topology.paths.x`: `r` is a host: hosts do not forward"),
    (GRAPH, "[[topology.link]]\nfrom = \"a\"", "[topology.paths]\nx = [[\"a\", \"r\", \"r\", \"b\"]]\n[[topology.link]]\nfrom = \"a\"", "a.toml:7: `topology.paths.x`: it visits `r` twice: a path has no loop"),
    // Named paths.
    (USERS, "n1 = 10", "n1 = 0", "a.toml:4: `topology.n1`: 0 is out of range: 1 to 100000"),
    (USERS, "\"1Mbit\"\nc2", "\"3Gbit\"\nc3", "a.toml:7: `topology.c3`: no such key, did you mean `c1`?; there are kind, n1, n2, c1, c2, rtt, rate, queue, loss, reorder, jitter, down, detour"),
    (USERS, "rtt", "rate = \"9Mbit\"\nrtt", "a.toml:6: `topology.c1`: use `rate` or the rates of the links, not both"),
    (USERS, "c1 = \"1Mbit\"\nc2 = \"1Mbit\"", "rate = [\"1Mbit\"]", "a.toml:6: `topology.rate`: 1 items: needs 2, for R1, R2"),
    (USERS, "c1 = \"1Mbit\"\nc2 = \"1Mbit\"", "rate = [\"1Mbit\", 2]", "a.toml:6: `topology.rate.2`: expected a rate like \"5Mbit\", found a number"),
    (USERS, "c1 = \"1Mbit\"\nc2 = \"1Mbit\"", "", "a.toml:2: `topology.c1`: is missing: add one like `c1 = \"1Mbit\"` or `rate = \"10Mbit\"`"),
    (USERS, "rtt", "queue = []\nrtt", "a.toml:8: `topology.queue`: 0 items: needs 2, for R1, R2"),
    (USERS, "rtt", "queue = [9, 9, 9]\nrtt", "a.toml:8: `topology.queue`: 3 items: needs 2, for R1, R2"),
    (USERS, "rtt", "queue = [9, { kind = \"blue\" }]\nrtt", "a.toml:8: `topology.queue.2.kind`: no value `blue`; there are droptail, red, codel, fq-codel, pie, policer"),
    (USERS, "scenario-a\"\nn1 = 10\nn2 = 10\nc1 = \"1Mbit\"\nc2 = \"1Mbit\"", "scenario-b\"\nusers = 9\nrate = [\"1Mbit\", \"1Mbit\"]", "a.toml:5: `topology.rate`: 2 items: needs 4, for X, Y, Z, T"),
    (USERS, "scenario-a\"\nn1 = 10\nn2 = 10\nc1 = \"1Mbit\"\nc2 = \"1Mbit\"", "scenario-c\"\nn1 = 1\nn2 = 1\nrate = \"1Mbit\"\nqueue = [1]", "a.toml:7: `topology.queue`: 1 items: needs 2, for AP1, AP2"),
    (USERS, "\"type1\"", "\"type3\"", "a.toml:11: `connection.1.paths`: no paths `type3`, did you mean `type1`?; there are type1, type2"),
    (USERS, "paths = \"type1\"", "", "a.toml:9: `connection.1.paths`: is missing: add one like `paths = \"type1\"` or `paths = \"type2\"`"),
    (USERS, "paths = \"type1\"", "paths = \"type2\"\npath = 2", "a.toml:12: `connection.1.path`: no path 2: there is only 1"),
    // A connection.
    (SHARED, "protocol = \"mptcp\"", "protocol = \"mptpc\"", "a.toml:12: `connection.download.protocol`: no value `mptpc`, did you mean `mptcp`?; there are tcp, mptcp, udp, mmtp"),
    (SHARED, "protocol = \"mptcp\"", "protocol = \"mmtp\"", "a.toml:12: `connection.download.protocol`: `mmtp` is not supported yet: there are tcp, mptcp, udp"),
    (SHARED, "protocol = \"mptcp\"", "protocol = \"tcp\"", "a.toml:14: `connection.download.subflows`: only for `protocol = \"mptcp\"`"),
    // Groups.
    (SHARED, "subflows = 2", "subflows = 2\ngroups = 1", "a.toml:15: `connection.download.groups`: expected a list, found a number"),
    (SHARED, "subflows = 2", "subflows = 2\ngroups = [0]", "a.toml:15: `connection.download.groups`: 1 items, but there are 2 subflows: one for each"),
    (SHARED, "subflows = 2", "subflows = 2\ngroups = [0, 239]", "a.toml:15: `connection.download.groups.2`: 239 is out of range: 0 to 238"),
    (SHARED, "subflows = 2", "subflows = 2\ngroups = [0, \"a\"]", "a.toml:15: `connection.download.groups.2`: expected a whole number, found text"),
    (SHARED, "subflows = 2", "subflows = 2\ngroup = [0, 1]", "a.toml:15: `connection.download.group`: no such key, did you mean `groups`?; there are name, count, protocol, algorithm, settings, subflows, path, paths, from, to, pattern, routing, path_choice, bytes, requests, rate, on, off, start, arrivals, profile, receive_window, send_buffer, initial_window, rto_initial, rto_min, delayed_ack, quick_acks, push_acks, bursts, path_manager, join_delay, ecn, mss, packet, initial_ssthresh, assistance, groups, backup, regroup"),
    (SHARED, "subflows = 2", "subflows = 2\nassistance = 1", "a.toml:15: `connection.download.assistance`: expected true or false, found a number"),
    (SHARED, "subflows = 2", "subflows = 2\nassistance = true\ngroups = [0, 1]", "a.toml:16: `connection.download.groups`: not with `assistance = true`, which decides the groups"),
    (SHARED, "subflows = 2", "subflows = 2\nregroup = [0, 1]", "a.toml:15: `connection.download.regroup.1`: expected a table, found a number"),
    (SHARED, "subflows = 2", "subflows = 2\nregroup = { groups = [0, 1] }", "a.toml:15: `connection.download.regroup.at`: is missing: add one like `at = \"5s\"`"),
    (SHARED, "subflows = 2", "subflows = 2\nregroup = { at = \"5s\" }", "a.toml:15: `connection.download.regroup.groups`: is missing: add one like `groups = [0, 1]`"),
    (SHARED, "subflows = 2", "subflows = 2\nregroup = { at = \"30s\", groups = [0, 1] }", "a.toml:15: `connection.download.regroup.at`: must be before `stop`"),
    (SHARED, "subflows = 2", "subflows = 2\nregroup = { at = \"5s\", groups = [0, 1, 2] }", "a.toml:15: `connection.download.regroup.groups`: 3 items, but there are 2 subflows: one for each"),
    (SHARED, "subflows = 2", "subflows = 2\nregroup = [{ at = \"5s\", groups = [0, 1] }, { at = \"5s\", groups = [0, 0] }]", "a.toml:15: `connection.download.regroup.2.at`: must be later than the change before, at 5s"),
    (SHARED, "protocol = \"mptcp\"\nalgorithm = \"lisa\"\nsubflows = 2", "protocol = \"tcp\"\ngroups = [0]", "a.toml:13: `connection.download.groups`: only for `protocol = \"mptcp\"`"),
    // Settings of algorithms, constants of endpoints.
    (SHARED, "subflows = 2", "subflows = 2\nsettings = { con_ssthresh = 45 }", "a.toml:15: `connection.download.settings.con_ssthresh`: `lisa` has no settings"),
    (SHARED, "subflows = 2", "subflows = 2\nsettings = 45", "a.toml:15: `connection.download.settings`: expected a table, found a number"),
    (SHARED, "\"lisa\"", "\"phi\"\nsettings = { ph = 50 }", "a.toml:14: `connection.download.settings.ph`: no setting `ph`, did you mean `phi`?; there is phi"),
    (SHARED, "\"lisa\"", "\"phi\"\nsettings = { phi = 201 }", "a.toml:14: `connection.download.settings.phi`: 201 is out of range: 1 to 200"),
    (SHARED, "subflows = 2", "subflows = 2\ninitial_window = 0", "a.toml:15: `connection.download.initial_window`: 0 is out of range: 1 to 1000"),
    (SHARED, "subflows = 2", "subflows = 2\nrto_min = \"0s\"", "a.toml:15: `connection.download.rto_min`: 0s is out of range: 1ns to 2min"),
    // Backups.
    (SHARED, "subflows = 2", "subflows = 2\nbackup = true", "a.toml:15: `connection.download.backup`: expected a list, found true or false"),
    (SHARED, "subflows = 2", "subflows = 2\nbackup = [false]", "a.toml:15: `connection.download.backup`: 1 items, but there are 2 subflows: one for each"),
    (SHARED, "subflows = 2", "subflows = 2\nbackup = [false, 1]", "a.toml:15: `connection.download.backup.2`: expected true or false, found a number"),
    (SHARED, "subflows = 2", "subflows = 2\nbackup = [true, false]", "a.toml:15: `connection.download.backup.1`: the first subflow cannot be a backup: MP_CAPABLE has no flag for it"),
    (SHARED, "subflows = 2", "subflows = 2\nprofile = \"linux-3.14\"\nbackup = [false, true]", "a.toml:16: `connection.download.backup`: only for `profile = \"linux\"`"),
    (SHARED, "protocol = \"mptcp\"\nalgorithm = \"lisa\"\nsubflows = 2", "protocol = \"tcp\"\nbackup = [false]", "a.toml:13: `connection.download.backup`: only for `protocol = \"mptcp\"`"),
    (SHARED, "algorithm", "algoritm", "a.toml:13: `connection.download.algoritm`: no such key, did you mean `algorithm`?; there are name, count, protocol, algorithm, settings, subflows, path, paths, from, to, pattern, routing, path_choice, bytes, requests, rate, on, off, start, arrivals, profile, receive_window, send_buffer, initial_window, rto_initial, rto_min, delayed_ack, quick_acks, push_acks, bursts, path_manager, join_delay, ecn, mss, packet, initial_ssthresh, assistance, groups, backup, regroup"),
    (SHARED, "subflows = 2", "subflows = 0", "a.toml:14: `connection.download.subflows`: 0 is out of range: 1 to 64"),
    (SHARED, "subflows = 2", "subflows = 1000000000", "a.toml:14: `connection.download.subflows`: 1000000000 is out of range: 1 to 64"),
    (SHARED, "\"300KB\"", "\"1001TB\"", "a.toml:15: `connection.download.bytes`: 1001TB is out of range: 0B to 1000TB"),
    (SHARED, "\"300KB\"", "\"300K\"", "a.toml:15: `connection.download.bytes`: `300K`: no unit `K`, did you mean `B`?; units are B, KB, kB, MB, GB, TB, KiB, MiB, GiB, TiB"),
    (SHARED, "\"300KB\"", "1.5", "a.toml:15: `connection.download.bytes`: expected a size like \"300KB\", found a number with a point"),
    (SHARED, "\"300KB\"", "\"300KB\"\nrate = \"1Mbit\"", "a.toml:15: `connection.download.bytes`: a connection has one of `bytes`, `requests` and `rate`"),
    (SHARED, "\"300KB\"", "\"300KB\"\non = \"1s\"", "a.toml:16: `connection.download.on`: `on` and `off` need a `rate`"),
    (SHARED, "bytes = \"300KB\"", "rate = \"1Mbit\"\non = \"1s\"", "a.toml:10: `connection.download.off`: is missing: add one like `off = { mean = \"1s\" }`"),
    (SHARED, "bytes = \"300KB\"", "requests = { count = 1000000, bytes = 1, gap = \"0s\" }\ncount = 11", "a.toml:10: `connection.download`: 11000000 requests in all: at most 10000000 are possible"),
    (SHARED, "\"300KB\"", "\"300KB\"\npacket = 1500", "a.toml:16: `connection.download.packet`: only for `protocol = \"udp\"`; TCP has `mss`"),
    (SHARED, "\"300KB\"", "\"300KB\"\nmss = 9", "a.toml:16: `connection.download.mss`: 9 is out of range: 64 to 65483"),
    (SHARED, "\"300KB\"", "\"300KB\"\nreceive_window = \"1KB\"", "a.toml:16: `connection.download.receive_window`: 1KB is too small: below 6.925KB the window has no room for three segments, and Linux halves the MSS or closes the window, which is not simulated"),
    (SHARED, "\"300KB\"", "\"300KB\"\nsend_buffer = \"1KB\"", "a.toml:16: `connection.download.send_buffer`: 1KB is out of range: 1.448KB to 1GiB"),
    (SHARED, "\"300KB\"", "\"300KB\"\necn = \"yes\"", "a.toml:16: `connection.download.ecn`: expected true or false, found text"),
    (SHARED, "\"300KB\"", "\"300KB\"\nprofile = \"linux-3\"", "a.toml:16: `connection.download.profile`: no value `linux-3`, did you mean `linux`?; there are linux, linux-3.14, ns3-newreno"),
    (SHARED, "\"300KB\"", "\"300KB\"\npath = 0", "a.toml:16: `connection.download.path`: 0 is out of range: 1 to 1024"),
    (SHARED, "\"300KB\"", "\"300KB\"\npaths = []", "a.toml:16: `connection.download.paths`: needs 1 to 64 numbers of paths"),
    (SHARED, "\"300KB\"", "\"300KB\"\narrivals = { count = 3, gap = { from = \"2s\", to = \"1s\" } }", "a.toml:16: `connection.download.arrivals.gap.to`: must not be before `from`"),
    (SHARED, "start = \"0s\"", "start = \"30s\"", "a.toml:16: `connection.download.start`: must be before `stop`"),
    (SHARED, "\"300KB\"", "\"300KB\"\narrivals = { count = 3, gap = \"1s\", load = 0.5 }", "a.toml:16: `connection.download.arrivals.gap`: use `gap` or `load`, not both"),
    (SHARED, "\"300KB\"", "\"300KB\"\narrivals = { count = 3, load = \"0%\" }", "a.toml:16: `connection.download.arrivals.load`: 0 is out of range: a load is more than 0, and at most 100"),
    (SHARED, "\"300KB\"", "\"300KB\"\narrivals = { count = 3, load = \"much\" }", "a.toml:16: `connection.download.arrivals.load`: `much` is not a load like \"60%\" or 0.6"),
    (SHARED, "bytes = \"300KB\"", "arrivals = { count = 3, load = 0.5 }", "a.toml:15: `connection.download.arrivals.load`: a load needs transfers: add `bytes` or `requests`"),
    (SHARED, "\"300KB\"", "{ distribution = \"web\" }", "a.toml:15: `connection.download.bytes.distribution`: no value `web`; there are web-search, data-mining"),
    (SHARED, "\"300KB\"", "{ distribution = \"web-search\", mean = 1 }", "a.toml:15: `connection.download.bytes.mean`: use one of `distribution`, `cdf`, `mean` with or without `shape`, and `from` with `to`"),
    (SHARED, "\"300KB\"", "{ cdf = \"none.txt\" }", "a.toml:15: `connection.download.bytes.cdf`: none.txt: No such file or directory (os error 2); the name is relative to the folder of the scenario file"),
    (SHARED, "\"300KB\"", "{ mean = 1000, shape = 1 }", "a.toml:15: `connection.download.bytes.shape`: 1 is out of range: 1.01 to 100"),
    (SHARED, "\"300KB\"", "{ from = 10, to = 9 }", "a.toml:15: `connection.download.bytes.to`: must not be less than `from`"),
    (SHARED, "\"300KB\"", "{}", "a.toml:15: `connection.download.bytes.from`: is missing: add one like `distribution = \"web-search\"`"),
    (SHARED, "start = \"0s\"", "start = { mean = \"1s\" }", "a.toml:16: `connection.download.start`: a start is a time, or `{ from, to }`; `arrivals` have a `mean`"),
    (SHARED, "start = \"0s\"", "start = { mean = \"1s\", from = \"1s\" }", "a.toml:16: `connection.download.start.from`: use `mean`, or `from` and `to`, not both"),
    (SHARED, "start = \"0s\"", "start = 1979-05-27", "a.toml:16: `connection.download.start`: expected a time like \"40ms\", found a date"),
    (SHARED, "start = \"0s\"", "[[connection]]\nname = \"download\"", "a.toml:17: `connection.download.name`: there is already a `download`"),
    (SHARED, "start = \"0s\"", "count = 2\n[[connection]]\nname = \"download 2\"", "a.toml:18: `connection.download 2.name`: there is already a `download 2`"),
    (SHARED, "name = \"download\"", "name = \"download 3\"\n[[connection]]\ncount = 3\nname = \"download\"", "a.toml:14: `connection.download.name`: there is already a `download 3`"),
    (SHARED, "name = \"download\"", "name = \"7\"", "a.toml:11: `connection.1.name`: a name must not be a number or `*`"),
    (SHARED, "\"lisa\"", "\"lissa\"", "a.toml:13: `connection.download.algorithm`: no algorithm `lissa`, did you mean `lisa`?; there are "),
    (GRAPH, "from = \"a\"\nto = \"b\"\n", "protocol = \"udp\"\n", "a.toml:15: `connection.1.rate`: is missing: add one like `rate = \"500kbit\"`"),
    (GRAPH, "to = \"b\"\n", "to = \"b\"\nprotocol = \"udp\"\nrate = \"1kbit\"\nalgorithm = \"lisa\"\n", "a.toml:20: `connection.1.algorithm`: not for `protocol = \"udp\"`"),
];

fn parse(case: &Case, number: usize) -> String {
    let (file, piece, instead, _) = case;
    // In a graph the keys of links also occur in connections: the last occurrence is the connection.
    let at = match *piece {
        "from = \"a\"\nto = \"b\"\n" | "to = \"b\"\n" => file.rfind(piece),
        _ => file.find(piece),
    };
    let at = at.unwrap_or_else(|| panic!("case {number}: no {piece:?}"));
    let text = [&file[..at], instead, &file[at + piece.len()..]].concat();
    match Scenario::parse(&text, "a.toml") {
        Err(error) => error.to_string(),
        Ok(_) => panic!("case {number} is valid: {instead}"),
    }
}

#[test]
fn each_error_is_one_line_with_its_location() {
    for text in [SHARED, TREE, GRAPH, USERS] {
        Scenario::parse(text, "a.toml").unwrap_or_else(|error| panic!("{error}"));
    }
    let mut wrong = String::new();
    for (number, case) in CASES.iter().enumerate() {
        let error = parse(case, number);
        // The list of algorithms grows.
        let expected = case.3;
        let equal = if expected.ends_with("there are ") {
            error.starts_with(expected)
        } else {
            error == expected
        };
        if !equal || error.contains('\n') {
            wrong += &format!("case {number}:\n   is {error}\n not {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn an_override_is_named() {
    let error = |text: &str| {
        let result = Scenario::parse_with(SHARED, "a.toml", &[text]);
        result
            .err()
            .map(|error| error.to_string())
            .unwrap_or_else(|| panic!("{text} is valid"))
    };
    for (text, expected) in [
        ("stop", "--set stop: write it as KEY=VALUE, like stop=10s"),
        ("=1", "--set =1: a key is like `topology.queue.packets`"),
        (
            "stop=1",
            "--set stop=1: `stop`: expected a time like \"40ms\", found a number",
        ),
        (
            "sotp=1s",
            "--set sotp=1s: `sotp`: no such key, did you mean `stop`?; there are title, stop, warmup, rtt_spread, rate_phase, topology, connection",
        ),
        (
            "topology.queue.packets=many",
            "--set topology.queue.packets=many: `topology.queue.packets`: expected a whole number, found text",
        ),
        (
            "connection.donwload.bytes=1",
            "--set connection.donwload.bytes=1: `connection.donwload.bytes`: nothing named `donwload`, did you mean `download`?; there is download",
        ),
        (
            "connection.2.bytes=1",
            "--set connection.2.bytes=1: `connection.2.bytes`: no number 2: there is only 1",
        ),
        (
            "connection.0.bytes=1",
            "--set connection.0.bytes=1: `connection.0.bytes`: no number 0: there is only 1",
        ),
        (
            "stop.now=1s",
            "--set stop.now=1s: `stop.now`: expected a table or a list before `now`, found text",
        ),
        (
            "topology.rtt=[\"1ms\", 3]",
            "--set topology.rtt=[\"1ms\", 3]: `topology.rtt.2`: expected a time like \"40ms\", found a number",
        ),
    ] {
        assert_eq!(error(text), expected);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = |path: &str| Scenario::load(path).unwrap_err().to_string();
    assert_eq!(
        error("/nowhere/a.toml"),
        "/nowhere/a.toml: No such file or directory (os error 2)"
    );
    assert_eq!(error("/"), "/: not a regular file");
    assert_eq!(error("/dev/zero"), "/dev/zero: not a regular file");
}

/// The user who runs a scenario may be allowed to read files that its author is not.
#[test]
fn no_line_of_a_named_file_is_printed() {
    let folder = std::env::temp_dir().join(format!("lisa-named-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let secret = folder.join("secret");
    let named = |text: &str| text.replace("../../experiments/topologies/Nsfnet.gml", "secret");
    let sizes = SHARED.replace("bytes = \"300KB\"", "bytes = { cdf = \"secret\" }");
    assert_ne!(sizes, SHARED);
    for line in [
        "root:x:0:0:hidden:/root:/bin/bash",
        "hidden 1\nhidden",
        "\"hidden\"",
        "hidden [ hidden`s ]",
        "graph [ hidden hidden ]",
        "graph [ node [ id hidden ] ]",
        "1 hidden",
    ] {
        std::fs::write(&secret, line).unwrap();
        for text in [named(MAP), sizes.clone()] {
            let error = Scenario::parse(&text, folder.join("a.toml")).unwrap_err();
            let error = error.to_string();
            assert!(
                error.contains("secret") && !error.contains("hidden"),
                "{error}"
            );
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_title_does_not_control_a_terminal() {
    for title in ["a\\u001b[2J", "a\\u009b2J", "a\\nb", "a\\u202eb"] {
        let text = SHARED.replace("title = \"a\"", &format!("title = \"{title}\""));
        let error = Scenario::parse(&text, "a.toml").unwrap_err().to_string();
        assert_eq!(
            error,
            "a.toml:1: `title`: a title has no line breaks and no control characters"
        );
    }
}

/// Values of a file can contain line breaks and can be long.
#[test]
fn errors_stay_on_one_line() {
    let long = "x".repeat(100_000);
    for text in [
        "\"a\\nb\" = 1",
        "stop = \"1s\\n\\u0000\"",
        "stop = \"1parsec\\n\"",
        &format!("{long} = 1"),
        &format!("stop = '{long}'"),
        &SHARED.replace("lisa", "li\\nsa"),
        &SHARED.replace("lisa", &long),
    ] {
        let error = Scenario::parse(text, "a.toml").unwrap_err().to_string();
        assert!(
            !error.contains(char::is_control) && error.chars().count() < 600,
            "{error}"
        );
    }
    let error = Scenario::parse_with(SHARED, "a.toml", &[format!("{long}=\n1")]).unwrap_err();
    assert!(error.to_string().chars().count() < 600 && !error.to_string().contains('\n'));
}

/// Dots of a key and brackets nest tables without a limit of their own.
#[test]
fn depth_is_limited() {
    for text in [
        format!("{}=1", vec!["a"; 100_000].join(".")),
        format!("[{}]", vec!["a"; 100_000].join(".")),
        format!("a={}", "[".repeat(100_000)),
        format!("a={}", "{a=".repeat(100_000)),
    ] {
        let error = Scenario::parse(&text, "a.toml").unwrap_err().to_string();
        assert!(
            error.starts_with("a.toml:1: ") && error.len() < 300,
            "{error}"
        );
        let value = text.split_once('=').map_or("", |(_, value)| value);
        for text in [&text, &format!("title={value}"), &format!("stop={value}")] {
            let _ = Scenario::parse_with(SHARED, "a.toml", &[text]);
        }
    }
}
