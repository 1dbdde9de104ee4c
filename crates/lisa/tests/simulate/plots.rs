//! Figures of `run`, `compare`, `sweep`, `plot` and `show`. Reading a figure checks that nothing is outside of it and that no text
//! covers another.

#[path = "plots/files.rs"]
mod files;
#[path = "plots/network.rs"]
mod network;
#[path = "plots/results.rs"]
mod results;
#[path = "plots/windows.rs"]
mod windows;
#[path = "plots/wrong.rs"]
mod wrong;

use super::Place;
use super::picture::Picture;

impl Place {
    /// The figure in `a.svg` that a command writes.
    pub(super) fn picture(&self, arguments: &str) -> Picture {
        let output = match arguments.starts_with("plot ") {
            true => "-o",
            false => "--plot",
        };
        self.good(&format!("{arguments} {output} a.svg --force"));
        Picture::read(&String::from_utf8(self.read("a.svg")).unwrap())
    }
}
