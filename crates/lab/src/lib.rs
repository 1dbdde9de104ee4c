//! Scenarios on real Linux endpoints.
