//! Answers: JSON, and errors as JSON.

use std::sync::Arc;

use axum::extract::State as Extracted;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::Shared;
use crate::api;
use crate::error::{Error, Kind};

/// What a handler gets besides the request.
pub(super) type App = Extracted<Arc<Shared>>;

/// A value as the JSON of an answer.
pub(super) fn json(value: &impl serde::Serialize) -> Response {
    let text = serde_json::to_vec(value).expect("the types of the interface have JSON");
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

/// An error as an answer.
pub(super) fn problem(status: StatusCode, text: impl Into<String>) -> Response {
    let mut response = json(&api::Problem { error: text.into() });
    *response.status_mut() = status;
    response
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = match self.kind {
            Kind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            Kind::Forbidden => StatusCode::FORBIDDEN,
            Kind::Conflict => StatusCode::CONFLICT,
            Kind::TooMany => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::Store => StatusCode::INTERNAL_SERVER_ERROR,
        };
        problem(status, self.text)
    }
}
