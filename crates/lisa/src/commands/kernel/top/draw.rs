//! Draws the screen of `top`.

use kernel::status::{Connection, Status};
use ratatui::{
    Frame,
    layout::{Constraint, Layout as Areas, Rect},
    style::{Color, Modifier, Style},
    text::Line,
    widgets::Paragraph,
};

use super::view::{Row, View};
use crate::commands::kernel::connections::{
    Layout, Namespaces, credit, group, grouped, is_grouped,
};
use crate::commands::kernel::filters::nothing;
use crate::output::{age, counted, wrap};

/// Most lines about the algorithms.
const HEADINGS: usize = 4;
/// Lines with all values of the selection.
const DETAILS: u16 = 3;

/// Draws the algorithms, the list, all values of the selected line, and the keys.
pub fn draw(frame: &mut Frame<'_>, view: &mut View) {
    let headings = headings(&view.statuses, frame.area().width.into());
    let [top, header, list, details, bottom] = Areas::vertical([
        Constraint::Length(headings.len() as u16),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(DETAILS),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let dim = Style::new().add_modifier(Modifier::DIM);
    let headings: Vec<Line<'_>> = headings.into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(headings), top);

    let layout = layout(view, list.width.into());
    frame.render_widget(Line::raw(layout.header()).style(bold), header);
    frame.render_widget(Paragraph::new(lines(view, &layout, list)), list);
    let width = details.width.into();
    let text = details_of(view).map_or(Vec::new(), |text| wrap(&text, width, 2));
    let text: Vec<Line<'_>> = text.into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(text), details);
    let keys = keys(view, bottom.width.into());
    let style = if view.input.is_some() { bold } else { dim };
    frame.render_widget(Line::raw(keys).style(style), bottom);
}

fn connections(view: &View) -> impl Iterator<Item = &Connection> {
    view.statuses.iter().flat_map(|status| &status.connections)
}

fn layout(view: &View, width: usize) -> Layout {
    let mut inodes = connections(view).map(|connection| connection.netns);
    let first = inodes.next();
    let namespaces = match inodes.all(|inode| Some(inode) == first) {
        true => Namespaces::One,
        false => Namespaces::Several,
    };
    Layout::new(width, namespaces, grouped(connections(view)))
}

/// Lines about the algorithms.
fn headings(statuses: &[Status], width: usize) -> Vec<String> {
    if statuses.is_empty() {
        return vec!["no algorithm is loaded; `lisa kernel load` loads one".into()];
    }
    let all = statuses
        .iter()
        .map(|status| wrap(&heading(status), width, 2));
    let mut lines = Vec::new();
    for (number, heading) in all.enumerate() {
        if lines.len() + heading.len() > HEADINGS {
            lines.push(format!("and {} more", statuses.len() - number));
            break;
        }
        lines.extend(heading);
    }
    lines
}

fn heading(status: &Status) -> String {
    let totals = &status.totals;
    let subflows = status.connections.iter().map(|c| c.subflows.len()).sum();
    let mut parts = vec![
        counted(status.connections.len(), "connection"),
        counted(subflows, "subflow"),
    ];
    let plain = totals.plain_opened.saturating_sub(totals.plain_closed);
    if plain > 0 {
        parts.push(format!("{plain} plain TCP"));
    }
    if totals.alone() > 0 {
        parts.push(format!("{} uncoupled", totals.alone()));
    }
    let state = match status {
        status if status.leaving => " (unloaded)",
        status if status.off => " (switched off)",
        _ => "",
    };
    format!(
        "{}{state}: {}; credits: {} taken, {} void",
        status.name,
        parts.join(", "),
        totals.credits_taken,
        totals.credits_void,
    )
}

/// The visible lines of the list. Moves the offset, so that the selection is visible.
fn lines(view: &mut View, layout: &Layout, area: Rect) -> Vec<Line<'static>> {
    if view.rows.is_empty() {
        let line = match view.hidden {
            0 => "no connection is open".into(),
            hidden => format!(
                "{}: {} hidden",
                nothing(&view.filter),
                counted(hidden, "connection")
            ),
        };
        return vec![Line::raw(line)];
    }
    let height = usize::from(area.height.max(1));
    let lowest = (view.selected + 1).saturating_sub(height);
    view.offset = view.offset.clamp(lowest, view.selected);
    let last = view.rows.len().min(view.offset + height);
    let visible = view.rows[view.offset..last].iter().enumerate();
    visible
        .map(|(i, row)| {
            let line = line(view, layout, row);
            match view.offset + i == view.selected {
                true => line.style(Style::new().add_modifier(Modifier::REVERSED)),
                false => line,
            }
        })
        .collect()
}

fn line(view: &View, layout: &Layout, row: &Row) -> Line<'static> {
    let Some(subflow) = view.subflow(row) else {
        let several = view.statuses.len() > 1;
        let name = several.then(|| view.statuses[row.status].name.as_str());
        return Line::raw(layout.connection(view.connection(row), name));
    };
    let colour = match subflow.phase {
        "slow start" => Color::Green,
        "recovery" => Color::Red,
        _ => Color::Reset,
    };
    Line::raw(layout.subflow(subflow)).style(Style::new().fg(colour))
}

/// The values of the selected line that its columns do not have.
fn details_of(view: &View) -> Option<String> {
    let row = view.rows.get(view.selected)?;
    let connection = view.connection(row);
    let mut parts = vec![format!(
        "{} {}",
        connection.token, view.statuses[row.status].name
    )];
    let Some(subflow) = view.subflow(row) else {
        let name = connection.netns_name.clone();
        parts.push(name.unwrap_or_else(|| format!("net:[{}]", connection.netns)));
        parts.push(match &connection.process {
            Some(process) => process.to_string(),
            None => "process not found".into(),
        });
        parts.push(format!("open for {}", age(connection.age_s)));
        parts.push(counted(connection.subflows.len(), "subflow"));
        return Some(parts.join(", "));
    };
    parts.push(subflow.ends());
    parts.push(subflow.phase.into());
    if subflow.backup == Some(true) {
        parts.push("backup".into());
    }
    parts.push(format!("flight {}", subflow.flight));
    parts.push(format!("losses {}", subflow.losses));
    let credit = credit(subflow);
    if !credit.is_empty() {
        parts.push(format!("credits: {credit}"));
    }
    if is_grouped(subflow) {
        parts.push(format!("group {}", group(subflow)));
    }
    Some(parts.join(", "))
}

/// The last line: the keys, or the filter that is being typed.
fn keys(view: &View, width: usize) -> String {
    if let Some(why) = &view.complaint {
        return format!("{why} (Esc)");
    }
    if let Some(input) = &view.input {
        let line = format!("filter: {input}_");
        let length = line.chars().count();
        if length + HINT.chars().count() <= width {
            return line + HINT;
        }
        // The end is what is being typed.
        return line.chars().skip(length.saturating_sub(width)).collect();
    }
    let filter = match view.filter.is_empty() {
        true => "/ filter".into(),
        false => format!("/ filter ({} hidden): {}", view.hidden, view.filter),
    };
    let order = view.order.name();
    format!("q quit  ↑↓ select  s order: {order}  {filter}")
}

/// Explains the form of a filter.
const HINT: &str = "   (as port=443 process=nginx; Enter, Esc)";

#[cfg(test)]
mod tests;
