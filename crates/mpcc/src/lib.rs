//! The coupled congestion control algorithms of cc/, as safe Rust.
