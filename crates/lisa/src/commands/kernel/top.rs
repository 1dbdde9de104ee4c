//! `lisa kernel top`: connections and subflows, live.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use kernel::{holders::Holders, registry, status};
use ratatui::{
    Frame,
    crossterm::event::{self, Event, KeyCode, KeyModifiers},
    layout::{Constraint, Layout},
    style::{Color, Modifier, Style},
    text::Line,
    widgets::{Paragraph, Row, Table, TableState},
};

use super::subflows::{COLUMNS, cells, columns, grouped};
use super::summary::summary;
use crate::output::Failure;

/// The content of the screen.
struct Screen {
    headings: Vec<String>,
    rows: Vec<SubflowRow>,
    grouped: bool,
}

/// The row of a subflow.
struct SubflowRow {
    cells: [String; COLUMNS.len()],
    /// Decides the colour.
    phase: &'static str,
}

/// Shows the screen until `q`, Escape or Ctrl-C.
pub fn run(interval: Duration) -> Result<(), Failure> {
    if !std::io::stdout().is_terminal() {
        return Err(Failure::new(
            "top needs a terminal; `lisa kernel status --json` does not",
        ));
    }
    // Read the status first: an error is printed before the terminal changes.
    let mut screen = read()?;
    let mut terminal = ratatui::try_init()?;
    let shown = (|| {
        let mut selected = TableState::default();
        loop {
            terminal.draw(|frame| draw(frame, &screen, &mut selected))?;
            let next = Instant::now() + interval;
            while event::poll(next.saturating_duration_since(Instant::now()))? {
                let Event::Key(key) = event::read()? else {
                    break;
                };
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
                    KeyCode::Char('c') if control => return Ok(()),
                    KeyCode::Down | KeyCode::Char('j') => selected.scroll_down_by(1),
                    KeyCode::Up | KeyCode::Char('k') => selected.scroll_up_by(1),
                    KeyCode::PageDown => selected.scroll_down_by(20),
                    KeyCode::PageUp => selected.scroll_up_by(20),
                    _ => {}
                }
                terminal.draw(|frame| draw(frame, &screen, &mut selected))?;
            }
            screen = read()?;
        }
    })();
    ratatui::restore();
    shown
}

/// Reads the status of all loaded algorithms.
fn read() -> Result<Screen, Failure> {
    let mut screen = Screen {
        headings: Vec::new(),
        rows: Vec::new(),
        grouped: false,
    };
    for registered in registry::find()? {
        let status = status::status(&registered, Holders::default())?;
        screen
            .headings
            .extend(summary(&status).lines().map(String::from));
        screen.grouped |= grouped(&status.connections);
        for connection in &status.connections {
            for subflow in &connection.subflows {
                screen.rows.push(SubflowRow {
                    cells: cells(connection, subflow),
                    phase: subflow.phase,
                });
            }
        }
    }
    if screen.headings.is_empty() {
        screen
            .headings
            .push("no algorithm is loaded; `lisa kernel load lisa` loads one".into());
    }
    Ok(screen)
}

fn draw(frame: &mut Frame<'_>, screen: &Screen, selected: &mut TableState) {
    let heading_lines = screen.headings.len().min(12) as u16;
    let [top, middle, bottom] = Layout::vertical([
        Constraint::Length(heading_lines + 1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let headings: Vec<Line<'_>> = screen
        .headings
        .iter()
        .map(|h| Line::raw(h.as_str()))
        .collect();
    frame.render_widget(Paragraph::new(headings), top);

    let columns = columns(screen.grouped);
    let rows = screen.rows.iter().map(|SubflowRow { cells, phase }| {
        let colour = match *phase {
            "slow start" => Color::Green,
            "recovery" => Color::Red,
            _ => Color::Reset,
        };
        Row::new(cells[..columns].to_vec()).style(Style::new().fg(colour))
    });
    let widths = [
        Constraint::Length(10),
        Constraint::Fill(1),
        Constraint::Length(6),
        Constraint::Length(8),
        Constraint::Length(10),
        Constraint::Length(6),
        Constraint::Length(10),
        Constraint::Length(6),
        Constraint::Length(22),
        Constraint::Length(7),
    ];
    let header =
        Row::new(COLUMNS[..columns].to_vec()).style(Style::new().add_modifier(Modifier::BOLD));
    let table = Table::new(rows, &widths[..columns])
        .header(header)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(table, middle, selected);
    frame.render_widget(
        Line::raw("q quits, arrows scroll").style(Style::new().add_modifier(Modifier::DIM)),
        bottom,
    );
}
