//! Colours and dashes of the figures of a report: an algorithm has the same colour in all of them.

use reproduce::{Figure, Line};

use crate::figure::palette::COLOURS;
use crate::figure::size::Size;

/// Size of a figure: two stand side by side on a page, and one is legible on a phone.
pub const SIZE: Size = Size {
    width: 480,
    height: 360,
};

/// The algorithms by the numbers of their colours. TCP, and lines of no algorithm, have the last one.
const ALGORITHMS: [&str; COLOURS] = ["lia", "lisa", "css", "olia", "nmcc", "phi", "tcp"];

/// Number of the colour of a line: a prediction has that of its algorithm.
fn colour(line: &Line) -> usize {
    let name = line.algorithm.as_ref().or(line.theory.as_ref());
    let known = ALGORITHMS
        .iter()
        .position(|one| name.is_some_and(|name| name == one));
    known.unwrap_or(TCP)
}

/// Number of TCP's colour.
const TCP: usize = COLOURS - 1;

/// Style of a colour with these dashes: 0 is a full line.
fn style(colour: usize, dashes: usize) -> usize {
    colour + COLOURS * dashes
}

/// Dashes of a line: lines of one colour, and predictions, differ in them.
fn dashes(figure: &Figure, number: usize) -> usize {
    let line = &figure.lines[number];
    let before = figure.lines[..number].iter();
    let same = before.filter(|one| colour(one) == colour(line)).count();
    same.max(usize::from(line.theory.is_some()))
}

/// Style of a line of a figure on a backend.
pub fn of_line(figure: &Figure, name: &str, backend: usize) -> usize {
    let numbers = 0..figure.lines.len();
    let most = numbers.clone().map(|number| dashes(figure, number)).max();
    let Some(number) = numbers
        .clone()
        .find(|number| figure.lines[*number].name == name)
    else {
        return style(TCP, 0);
    };
    let more = backend * (most.unwrap_or(0) + 1);
    style(colour(&figure.lines[number]), dashes(figure, number) + more)
}

/// Style of a connection of a figure over time (subflow 0), or of one of its subflows.
pub fn over_time(figure: &Figure, line: &str, connection: &str, subflow: usize) -> usize {
    let is_own = figure.connections.iter().any(|name| name == connection);
    let line = figure.lines.iter().find(|one| is_own && one.name == line);
    style(line.map_or(TCP, colour), subflow)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use reproduce::Library;

    use super::*;
    use crate::figure::palette;

    /// An algorithm has one colour in all figures of all papers, whatever a paper calls it, and the lines of a figure differ.
    #[test]
    fn one_colour_for_one_algorithm() {
        let library = Library::new().unwrap();
        let mut colours = BTreeMap::new();
        for figure in library.papers.iter().flat_map(|paper| &paper.figures) {
            let mut styles = BTreeSet::new();
            for line in &figure.lines {
                for backend in 0..2 {
                    let style = of_line(figure, &line.name, backend);
                    let is_table = figure.x.is_none();
                    // The kernel has no predictions.
                    if backend > 0 && line.theory.is_some() {
                        continue;
                    }
                    let dash = palette::dash(style).map(f64::to_bits);
                    assert!(
                        styles.insert((style % COLOURS, dash)) || is_table,
                        "{}: {}",
                        figure.id,
                        line.name
                    );
                    if let Some(algorithm) = &line.algorithm {
                        let colour = style % COLOURS;
                        let known = *colours.entry(algorithm.clone()).or_insert(colour);
                        assert_eq!(known, colour, "{}: {algorithm}", figure.id);
                    }
                }
            }
        }
        let different: BTreeSet<usize> = ["lia", "lisa", "css", "olia", "nmcc", "phi"]
            .into_iter()
            .map(|algorithm| colours[algorithm])
            .collect();
        assert_eq!(different.len(), 6);
    }
}
