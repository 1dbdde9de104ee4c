//! Figures: SVG, PNG and PDF of windows, time series, results of runs, and networks.
//!
//! Every figure reads tidy rows: those of traces, of samples, and of `--rows` (docs/rows.md), from a run or from a file.

pub mod arguments;
mod canvas;
pub mod drawing;
mod envelope;
pub mod format;
mod legend;
pub mod map;
pub mod network;
pub mod page;
pub mod palette;
mod panel;
pub mod results;
pub mod samples;
mod scale;
pub mod size;
pub mod windows;
