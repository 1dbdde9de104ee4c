//! What to run, and the outcome that every backend returns.
