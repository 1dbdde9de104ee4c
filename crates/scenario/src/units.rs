//! Times, rates, sizes and shares as a file writes them.
