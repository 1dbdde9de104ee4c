//! The simulator as WebAssembly, for the explorer.
//!
//! A request and its answer are JSON ([`answer`]). On WebAssembly `abi` exports this one function. The outcome of a run has the same
//! bytes as that of `lisa run --json`.
//!
//! ```
//! let request = r#"{ "do": "algorithms" }"#;
//! assert!(lisa_explore::answer(request).contains(r#""name":"lisa""#));
//!
//! let request = r#"{ "do": "outcome", "file": "a.toml", "text": "stop = 1", "seed": 1 }"#;
//! let error = lisa_explore::answer(request);
//! assert!(error.starts_with(r#"{"error":"a.toml:1: `stop`: "#), "{error}");
//! ```

#[cfg(target_family = "wasm")]
mod abi;
mod reasons;
mod records;
mod request;
mod subflow;

pub use request::answer;
