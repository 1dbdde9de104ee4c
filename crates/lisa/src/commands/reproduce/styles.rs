//! Colours and dashes of the figures of a report: an algorithm has the same colour in all of them.

use reproduce::{Figure, Line};

use crate::figure::palette::COLOURS;

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

/// Style of a line of a figure on a backend. Lines of one colour, and predictions, differ in their dashes.
pub fn of_line(figure: &Figure, name: &str, backend: usize) -> usize {
    let all = figure.lines.len();
    let number = figure.lines.iter().position(|line| line.name == name);
    let Some(number) = number else {
        return style(TCP, 0);
    };
    let line = &figure.lines[number];
    let before = figure.lines[..number].iter();
    let same = before.filter(|one| colour(one) == colour(line)).count();
    let dashes = same.max(usize::from(line.theory.is_some()));
    style(colour(line), dashes + backend * (all + 1))
}

/// Style of a connection of a figure over time (subflow 0), or of one of its subflows.
pub fn over_time(figure: &Figure, line: &str, connection: &str, subflow: usize) -> usize {
    let is_own = figure.connections.iter().any(|name| name == connection);
    let line = figure.lines.iter().find(|one| is_own && one.name == line);
    style(line.map_or(TCP, colour), subflow)
}
