//! The OpenAPI description, made from the handlers and the types of their JSON.

use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};

use super::handlers;
use crate::api;

const ABOUT: &str = "\
Endpoints report the subflows of their MPTCP connections as five-tuples. The manager knows which node has which address prefix, which \
routes are installed and which rates are available, and answers with groups: subflows of one group share a friendliness bottleneck \
and are coupled, subflows of different groups are not.

A link s of available rate b_s is no friendliness bottleneck iff b_s > max over its paths of (least rate of the path's other links) · \
(Z_s + 1) / 2 (Thomas, Xylomenos and Polyzos, \"Multipath Congestion Control with Network Assistance\", IV-A). **Z_s counts the \
subflows of the one connection that may cross s in the direction of its data, those that this endpoint reports, and no others.** Other \
connections, reported or not, are in the available rate: it is the rate that they leave. So no endpoint's reports change the groups of \
another one. With several candidates for a route (ECMP) a subflow counts on the links of all of them.

Whatever is unknown is coupled: all subflows of a connection are in group 0 if an address has no prefix, if no route is known or \
usable, or if the rate of a link on one of its paths is older than 30 seconds. The field `unknown` then says which (`path` or `rate`).

Every request needs `Authorization: Bearer TOKEN`, but for `/`, `/openapi.json` and `/metrics`. The token of the operator sets the \
network, rates and endpoints; the viewer's reads; an endpoint's reports and reads its own connections alone. Errors are JSON with one \
line: `{\"error\": \"…\"}`.";

#[derive(OpenApi)]
#[openapi(
    info(title = "Topology manager of lisa", version = "1", description = ABOUT),
    paths(
        handlers::get_map,
        handlers::put_map,
        handlers::get_prefixes,
        handlers::put_prefixes,
        handlers::get_routes,
        handlers::put_routes,
        handlers::put_rates,
        handlers::put_links,
        handlers::get_endpoints,
        handlers::put_endpoint,
        handlers::delete_endpoint,
        handlers::post_session,
        handlers::post_report,
        handlers::get_connections,
        handlers::get_events,
        handlers::get_metrics,
    ),
    components(schemas(api::Groups, api::NetworkEvent, api::Problem)),
    security(("token" = []))
)]
struct Description;

/// The description of the interface (OpenAPI 3.1).
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut description = Description::openapi();
    let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = description.components.get_or_insert_default();
    components.add_security_scheme("token", scheme);
    description
}
