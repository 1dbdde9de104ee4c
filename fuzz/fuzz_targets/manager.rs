//! Bodies of requests to the topology manager: nothing panics, and the totals stay those of the connections.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lisa_manager::server::parse;
use lisa_manager::{Limits, State, api, map_of};

fuzz_target!(|data: &[u8]| {
    let mut state = State::new(Limits::default());
    let spec = api::EndpointRequest {
        addresses: vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()],
        from: Vec::new(),
    };
    state.set_endpoint("one", spec, [1; 32], 0).unwrap();
    let id = state.authenticate(&[1; 32]).unwrap();
    state.begin_session(id, "s".into(), 0);
    // One request a line, each tried as every kind.
    for line in data.split(|byte| *byte == b'\n') {
        if let Ok(map) = parse::<api::MapRequest>(line).and_then(|map| map_of(&map)) {
            let _ = state.set_map(&map);
        }
        if let Ok(map) = String::from_utf8_lossy(line).parse::<lisa_topology::Map>() {
            let _ = state.set_map(&map);
        }
        if let Ok(request) = parse::<api::PrefixesRequest>(line) {
            let _ = state.set_prefixes(request.prefixes);
        }
        if let Ok(routes) = parse(line) {
            let _ = state.set_routes(routes);
        }
        if let Ok(request) = parse::<api::RatesRequest>(line) {
            let _ = state.set_rates(&request.rates, 0);
        }
        if let Ok(request) = parse::<api::LinksRequest>(line) {
            let _ = state.set_links(&request.links);
        }
        if let Ok(report) = parse(line) {
            let _ = state.report(id, &report, 0);
        }
        let view = state.connections(None, usize::MAX);
        let subflows: usize = view.connections.iter().map(|view| view.groups.groups.len()).sum();
        assert_eq!(view.connections.len(), state.totals().connections);
        assert_eq!(subflows, state.totals().subflows);
    }
});
