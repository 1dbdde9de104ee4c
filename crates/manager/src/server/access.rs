//! Who may send a request.

use axum::extract::{Request, State as Extracted};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::answer::{App, problem};
use super::authentication::{self, Client, Principal};

/// The token of a request. Of two headers another program on the way may read the other one (RFC 9110, section 5.3); the name of the
/// scheme is in any case (section 11.1).
fn token(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (all.next(), all.next()) else {
        return None;
    };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// Puts the principal into the extensions of a request, or refuses it.
pub(super) async fn authenticate(
    Extracted(shared): App,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(token) = token(request.headers()) else {
        let text = "one token is needed: `Authorization: Bearer TOKEN`";
        return problem(StatusCode::UNAUTHORIZED, text);
    };
    let hash = authentication::hash(token.trim());
    let Client(client) = *request.extensions().get().expect("set by the connection");
    let principal = match shared.tokens.principal(&hash) {
        Some(principal) => principal,
        None => {
            let mut contents = shared.contents();
            let Some(id) = contents.state.authenticate(&hash) else {
                let text =
                    "this token is unknown; an operator gives one with PUT /v1/endpoints/NAME";
                return problem(StatusCode::UNAUTHORIZED, text);
            };
            if !contents.state.is_accepted_from(id, client) {
                let name = contents.state.endpoint_name(id);
                let text = format!(
                    "the token of `{name}` is not accepted from {client}: see `from` of the endpoint"
                );
                return problem(StatusCode::FORBIDDEN, text);
            }
            let now = shared.clock.now_ms();
            if !contents.budgets.take(id, shared.http.requests, now) {
                let text = format!("more than {} requests a second: wait", shared.http.requests);
                return problem(StatusCode::TOO_MANY_REQUESTS, text);
            }
            Principal::Endpoint(id)
        }
    };
    if !may(principal, request.method(), request.uri().path()) {
        let text = match principal {
            Principal::Operator => "this request is for the token of an endpoint",
            Principal::Viewer => "the viewer's token only reads",
            Principal::Endpoint(_) => "this request is for the operator's token",
        };
        return problem(StatusCode::FORBIDDEN, text);
    }
    request.extensions_mut().insert(principal);
    next.run(request).await
}

/// Whether a principal may send this request.
fn may(principal: Principal, method: &Method, path: &str) -> bool {
    let of_endpoint = ["/v1/session", "/v1/reports"].contains(&path);
    match principal {
        Principal::Operator => !of_endpoint,
        Principal::Viewer => {
            method == Method::GET && ["/v1/map", "/v1/connections", "/v1/events"].contains(&path)
        }
        Principal::Endpoint(_) => of_endpoint || ["/v1/connections", "/v1/events"].contains(&path),
    }
}
