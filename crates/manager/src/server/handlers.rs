//! The requests.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State as Extracted};
use axum::http::StatusCode;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Shared;
use super::access::authenticate;
use super::answer::{App, json, problem};
use super::authentication::{self, Client, Principal};
use super::metrics::Answer;
use crate::api;
use crate::error::{Error, Kind, Result};
use crate::map::map_of;
use crate::state::{Change, State};
use crate::store::Write;

/// Largest number of connections in an answer.
const CONNECTIONS: usize = 500;

/// All requests, with the description of the interface.
pub(crate) fn router(shared: Arc<Shared>, description: utoipa::openapi::OpenApi) -> Router {
    let description = to_json(&description);
    let closed = Router::new()
        .route("/v1/map", get(get_map).put(put_map))
        .route("/v1/prefixes", get(get_prefixes).put(put_prefixes))
        .route("/v1/routes", get(get_routes).put(put_routes))
        .route("/v1/rates", put(put_rates))
        .route("/v1/links", put(put_links))
        .route("/v1/endpoints", get(get_endpoints))
        .route(
            "/v1/endpoints/{name}",
            put(put_endpoint).delete(delete_endpoint),
        )
        .route("/v1/session", post(post_session))
        .route("/v1/reports", post(post_report))
        .route("/v1/connections", get(get_connections))
        .route("/v1/events", get(get_events))
        .layer(from_fn_with_state(shared.clone(), authenticate));
    Router::new()
        .merge(closed)
        .route(
            "/",
            get(|| asset("text/html; charset=utf-8", include_str!("page/page.html"))),
        )
        .route(
            "/page.js",
            get(|| {
                asset(
                    "text/javascript; charset=utf-8",
                    include_str!("page/page.js"),
                )
            }),
        )
        .route(
            "/page.css",
            get(|| asset("text/css; charset=utf-8", include_str!("page/page.css"))),
        )
        .route(
            "/openapi.json",
            get(move || async move { ([(CONTENT_TYPE, "application/json")], description) }),
        )
        .route("/metrics", get(get_metrics))
        .fallback(|| async {
            let text = "no such page; GET /openapi.json describes the interface";
            problem(StatusCode::NOT_FOUND, text)
        })
        .method_not_allowed_fallback(|| async {
            let text = "this page has no such method; GET /openapi.json describes the interface";
            problem(StatusCode::METHOD_NOT_ALLOWED, text)
        })
        .layer(from_fn_with_state(shared.clone(), measure))
        .with_state(shared)
}

/// The response; an error of the router or of an extractor, which is plain text, as JSON.
async fn with_problem(response: Response) -> Response {
    let status = response.status();
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|media_type| media_type == "application/json");
    if !(status.is_client_error() || status.is_server_error()) || is_json {
        return response;
    }
    let text = Limited::new(response.into_body(), 1 << 16).collect().await;
    let text = text.map(|text| String::from_utf8_lossy(&text.to_bytes()).into_owned());
    problem(status, text.unwrap_or_default())
}

/// Counts an answer and its time.
async fn measure(Extracted(shared): App, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let response = with_problem(next.run(request).await).await;
    let status = response.status().as_u16();
    shared
        .metrics
        .answers
        .get_or_create(&Answer { status })
        .inc();
    shared
        .metrics
        .durations
        .observe(begin.elapsed().as_secs_f64());
    response
}

/// The body of a request. A body of a stated length that is too large is refused unread.
async fn body(shared: &Shared, request: Request, most: usize) -> Result<Bytes, Response> {
    let large = || {
        let text = format!("the body has more than {most} bytes, the limit of this request");
        problem(StatusCode::PAYLOAD_TOO_LARGE, text)
    };
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > most) {
        return Err(large());
    }
    let body = Limited::new(request.into_body(), most).collect();
    match tokio::time::timeout(shared.http.body, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(large()),
        Ok(Err(_)) => Err(problem(StatusCode::BAD_REQUEST, "the body ended too early")),
        Err(_) => {
            let text = format!("the body took more than {} s", shared.http.body.as_secs());
            Err(problem(StatusCode::REQUEST_TIMEOUT, text))
        }
    }
}

/// Reads the JSON of a request.
///
/// # Errors
/// One line with the position.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| Error::invalid(format!("body: {error}")))
}

/// Reads a JSON body; if it cannot be read, the answer.
async fn parsed<T: DeserializeOwned>(
    shared: &Shared,
    request: Request,
    most: usize,
) -> Result<T, Response> {
    let bytes = body(shared, request, most).await?;
    parse(&bytes).map_err(|error| {
        let mut response = error.into_response();
        *response.status_mut() = StatusCode::BAD_REQUEST;
        response
    })
}

/// 204 without a body.
fn done(result: Result<()>) -> Response {
    match result {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => error.into_response(),
    }
}

/// A page, script or style: nothing of them is from elsewhere, and nothing may be.
async fn asset(media_type: &'static str, text: &'static str) -> Response {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let headers = [
        (CONTENT_TYPE, media_type),
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

// --- Operator --------------------------------------------------------------------------------------------------------

/// The map with the states and rates of its links.
#[utoipa::path(get, path = "/v1/map", tag = "network", responses((status = 200, body = api::MapView)))]
pub(crate) async fn get_map(Extracted(shared): App) -> Response {
    let map = shared.contents().state.map();
    json(&map)
}

/// Query of a new map.
#[derive(Deserialize)]
pub(crate) struct MapQuery {
    #[serde(default)]
    both_ways: bool,
}

/// Replaces the map. The body is JSON, or a GML file with the media type `text/x-gml`; with `?both_ways=true` its edges of one direction
/// get the other one, unless another edge has it. Links of the same name keep their states
/// and rates; prefixes and routes whose nodes and links exist on the new map are kept.
#[utoipa::path(put, path = "/v1/map", tag = "network", params(("both_ways" = Option<bool>, Query, description = "Whether edges of one direction in a GML file get the other one")), request_body = api::MapRequest, responses((status = 204), (status = 422, body = api::Problem)))]
pub(crate) async fn put_map(
    Extracted(shared): App,
    Query(query): Query<MapQuery>,
    request: Request,
) -> Response {
    let media_type = request.headers().get(CONTENT_TYPE);
    let is_gml =
        media_type.is_some_and(|media_type| media_type.as_bytes().starts_with(b"text/x-gml"));
    let bytes = match body(&shared, request, shared.http.operator).await {
        Ok(bytes) => bytes,
        Err(response) => return response,
    };
    let map = match is_gml {
        true => {
            let map = topology::Map::read(&bytes).map(|mut map| {
                if query.both_ways {
                    map.both_ways();
                }
                map
            });
            map.map_err(|error| Error::invalid(format!("line {}: {}", error.line, error.problem)))
        }
        false => parse(&bytes).and_then(|request| map_of(&request)),
    };
    let map = match map {
        Ok(map) => map,
        Err(error) => return error.into_response(),
    };
    let change = move |state: &State| {
        let network = state.check_map(&map)?;
        let writes = vec![
            Write::Document("map", to_json(&map)),
            Write::Document("prefixes", to_json(&network.prefix_list())),
            Write::Document("routes", to_json(network.routes())),
        ];
        Ok((Change::Map(network), writes))
    };
    done(shared.change(change).await)
}

fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("the types of the interface have JSON")
}

/// The prefixes and their nodes.
#[utoipa::path(get, path = "/v1/prefixes", tag = "network", responses((status = 200, body = api::PrefixesRequest)))]
pub(crate) async fn get_prefixes(Extracted(shared): App) -> Response {
    let prefixes = shared.contents().state.network().prefix_list().to_vec();
    json(&api::PrefixesRequest { prefixes })
}

/// Replaces the prefixes. An address without a prefix is unknown, and its connections are coupled.
#[utoipa::path(put, path = "/v1/prefixes", tag = "network", request_body = api::PrefixesRequest, responses((status = 204), (status = 422, body = api::Problem)))]
pub(crate) async fn put_prefixes(Extracted(shared): App, request: Request) -> Response {
    let request: api::PrefixesRequest = match parsed(&shared, request, shared.http.operator).await {
        Ok(request) => request,
        Err(response) => return response,
    };
    let text = to_json(&request.prefixes);
    let change = |state: &State| {
        let change = state.check_prefixes(request.prefixes)?;
        Ok((change, vec![Write::Document("prefixes", text)]))
    };
    done(shared.change(change).await)
}

/// The installed routes.
#[utoipa::path(get, path = "/v1/routes", tag = "network", responses((status = 200, body = api::RoutesRequest)))]
pub(crate) async fn get_routes(Extracted(shared): App) -> Response {
    let routes = shared.contents().state.network().routes().clone();
    json(&routes)
}

/// Replaces the routes.
#[utoipa::path(put, path = "/v1/routes", tag = "network", request_body = api::RoutesRequest, responses((status = 204), (status = 422, body = api::Problem)))]
pub(crate) async fn put_routes(Extracted(shared): App, request: Request) -> Response {
    let routes: api::RoutesRequest = match parsed(&shared, request, shared.http.operator).await {
        Ok(routes) => routes,
        Err(response) => return response,
    };
    let text = to_json(&routes);
    let change = |state: &State| {
        let change = state.check_routes(routes)?;
        Ok((change, vec![Write::Document("routes", text)]))
    };
    done(shared.change(change).await)
}

/// Reports available rates of links. A rate counts for 30 seconds. A connection is separated only while all links that it may cross
/// have such a rate.
#[utoipa::path(put, path = "/v1/rates", tag = "network", request_body = api::RatesRequest, responses((status = 204), (status = 422, body = api::Problem)))]
pub(crate) async fn put_rates(Extracted(shared): App, request: Request) -> Response {
    let request: api::RatesRequest = match parsed(&shared, request, shared.http.operator).await {
        Ok(request) => request,
        Err(response) => return response,
    };
    let now = shared.clock.now_ms();
    let change = move |state: &State| {
        let change = state.check_rates(&request.rates, now)?;
        Ok((change, vec![Write::Rates(request.rates, now)]))
    };
    done(shared.change(change).await)
}

/// Reports links that fail or return. Routes by shortest paths avoid failed links; listed paths over them are left out.
#[utoipa::path(put, path = "/v1/links", tag = "network", request_body = api::LinksRequest, responses((status = 204), (status = 422, body = api::Problem)))]
pub(crate) async fn put_links(Extracted(shared): App, request: Request) -> Response {
    let request: api::LinksRequest = match parsed(&shared, request, shared.http.operator).await {
        Ok(request) => request,
        Err(response) => return response,
    };
    let change = |state: &State| {
        let change = state.check_links(&request.links)?;
        Ok((change, vec![Write::Links(request.links)]))
    };
    done(shared.change(change).await)
}

/// The endpoints, by name.
#[utoipa::path(get, path = "/v1/endpoints", tag = "endpoints", responses((status = 200, body = std::collections::BTreeMap<String, api::EndpointRequest>)))]
pub(crate) async fn get_endpoints(Extracted(shared): App) -> Response {
    let endpoints = shared.contents().state.endpoints();
    let endpoints: std::collections::BTreeMap<_, _> = endpoints.into_iter().collect();
    json(&endpoints)
}

/// Adds an endpoint, or gives an existing one a new token; the former token is not accepted any more.
#[utoipa::path(put, path = "/v1/endpoints/{name}", tag = "endpoints", params(("name" = String, Path)), request_body = api::EndpointRequest, responses((status = 200, body = api::EndpointToken), (status = 422, body = api::Problem)))]
pub(crate) async fn put_endpoint(
    Extracted(shared): App,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let spec: api::EndpointRequest = match parsed(&shared, request, shared.http.report).await {
        Ok(spec) => spec,
        Err(response) => return response,
    };
    let token = match authentication::new_token() {
        Ok(token) => token,
        Err(error) => return error.into_response(),
    };
    let hash = authentication::hash(&token);
    let now = shared.clock.now_ms();
    let endpoint = name.clone();
    let change = move |state: &State| {
        let change = state.check_endpoint(&name, spec.clone(), hash, now)?;
        Ok((change, vec![Write::Endpoint(name, spec, hash)]))
    };
    match shared.change(change).await {
        Ok(()) => json(&api::EndpointToken { endpoint, token }),
        Err(error) => error.into_response(),
    }
}

/// Removes an endpoint, its token and its connections.
#[utoipa::path(delete, path = "/v1/endpoints/{name}", tag = "endpoints", params(("name" = String, Path)), responses((status = 204), (status = 404, body = api::Problem)))]
pub(crate) async fn delete_endpoint(Extracted(shared): App, Path(name): Path<String>) -> Response {
    let change = move |state: &State| {
        let change = state.check_removal(&name)?;
        Ok((change, vec![Write::NoEndpoint(name)]))
    };
    done(shared.change(change).await)
}

// --- Endpoint --------------------------------------------------------------------------------------------------------

fn endpoint(request: &Request) -> crate::state::EndpointId {
    match request.extensions().get() {
        Some(Principal::Endpoint(id)) => *id,
        _ => unreachable!("`may` lets endpoints alone through"),
    }
}

/// Begins a session. The former session of the endpoint ends. The endpoint then opens its stream of events, and reports all its
/// connections.
#[utoipa::path(post, path = "/v1/session", tag = "endpoint", responses((status = 200, body = api::Session)))]
pub(crate) async fn post_session(Extracted(shared): App, request: Request) -> Response {
    let id = endpoint(&request);
    let session = match authentication::new_token() {
        Ok(token) => token.replace("lisa_", "session_"),
        Err(error) => return error.into_response(),
    };
    let now = shared.clock.now_ms();
    let mut contents = shared.contents();
    // The token may have been revoked since it was checked.
    if !contents.state.exists(id) {
        return problem(StatusCode::UNAUTHORIZED, "this token was revoked");
    }
    contents.state.begin_session(id, session.clone(), now);
    let endpoint = contents.state.endpoint_name(id).into();
    json(&api::Session { endpoint, session })
}

/// Reports connections and their subflows as five-tuples, never as paths. The answer has the groups of the reported connections; the
/// stream of events has later changes.
#[utoipa::path(post, path = "/v1/reports", tag = "endpoint", request_body = api::Report, responses((status = 200, body = api::Reported), (status = 403, description = "A local address is not the endpoint's", body = api::Problem), (status = 409, description = "The session is over, or the number is not larger than the last one", body = api::Problem), (status = 413, description = "A limit is reached", body = api::Problem)))]
pub(crate) async fn post_report(Extracted(shared): App, request: Request) -> Response {
    let id = endpoint(&request);
    let report: api::Report = match parsed(&shared, request, shared.http.report).await {
        Ok(report) => report,
        Err(response) => return response,
    };
    let now = shared.clock.now_ms();
    let change = |state: &mut State| {
        if !state.exists(id) {
            return Err(Error::new(Kind::Conflict, "this token was revoked"));
        }
        let effects = state.report(id, &report, now)?;
        let name = state.endpoint_name(id).to_string();
        let write = Write::Connections(name, report.connections, effects.removed);
        let reported = api::Reported {
            sequence: report.sequence,
            connections: effects.groups,
        };
        Ok((reported, write))
    };
    match shared.report(change) {
        Ok(reported) => json(&reported),
        Err(error) => error.into_response(),
    }
}

/// Connections with their groups: an endpoint's own, or the first of all for operator and viewer.
#[utoipa::path(get, path = "/v1/connections", tag = "endpoint", responses((status = 200, body = api::ConnectionsView)))]
pub(crate) async fn get_connections(Extracted(shared): App, request: Request) -> Response {
    let contents = shared.contents();
    let of = match request.extensions().get() {
        Some(Principal::Endpoint(id)) if !contents.state.exists(*id) => {
            return problem(StatusCode::UNAUTHORIZED, "this token was revoked");
        }
        Some(Principal::Endpoint(id)) => Some(*id),
        _ => None,
    };
    let connections = contents.state.connections(of, CONNECTIONS);
    drop(contents);
    json(&connections)
}

/// Query of a stream.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct EventsQuery {
    session: Option<String>,
}

/// A stream of server-sent events. For an endpoint: `groups`, a list of [`Groups`](api::Groups) that have changed. For operator and
/// viewer: `network`, a [`NetworkEvent`](api::NetworkEvent) up to four times a second. Without an event for 5 seconds there is a comment.
#[utoipa::path(get, path = "/v1/events", tag = "endpoint", params(("session" = Option<String>, Query, description = "The session; needed by endpoints")), responses((status = 200, description = "text/event-stream"), (status = 409, body = api::Problem), (status = 429, description = "Too many streams", body = api::Problem)))]
pub(crate) async fn get_events(
    Extracted(shared): App,
    Query(query): Query<EventsQuery>,
    request: Request,
) -> Response {
    let principal = *request.extensions().get().expect("set by `authenticate`");
    let mut contents = shared.contents();
    if let Principal::Endpoint(id) = principal {
        let session = query.session.unwrap_or_default();
        if !contents.state.exists(id) || !contents.state.has_session(id, &session) {
            let text = "this session is over: begin another one with POST /v1/session";
            return problem(StatusCode::CONFLICT, text);
        }
    }
    let Client(client) = *request.extensions().get().expect("set by the connection");
    let opened = contents
        .streams
        .open(principal, client, shared.http.streams);
    let Some(events) = opened else {
        let text = format!("more than {} streams: close others", shared.http.streams);
        return problem(StatusCode::TOO_MANY_REQUESTS, text);
    };
    drop(contents);
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, events.into_body()).into_response()
}

// --- Everyone --------------------------------------------------------------------------------------------------------

/// Totals for Prometheus, in OpenMetrics 1.0. They name no endpoint and need no token.
#[utoipa::path(get, path = "/metrics", tag = "metrics", responses((status = 200, description = "OpenMetrics", body = String)))]
pub(crate) async fn get_metrics(Extracted(shared): App) -> Response {
    let contents = shared.contents();
    let (totals, streams) = (contents.state.totals(), contents.streams.count());
    drop(contents);
    let text = shared.metrics.text(totals, streams);
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, media_type)], Body::from(text)).into_response()
}
