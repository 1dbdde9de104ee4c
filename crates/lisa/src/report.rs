//! The demo's tables, for the terminal and as a page.

use crate::demo::{
    BASELINE, BYTES, CONTENDERS, Cell, Kernel, LISA, RECEIVE_WINDOW, SHOWN, SIDES, Side,
};
use crate::simulate::tables;
use crate::{figure, output::counted};
use comfy_table::{Attribute, Cell as Text, CellAlignment, Table, presets::UTF8_HORIZONTAL_ONLY};
use plotters::prelude::{IntoDrawingArea, SVGBackend, WHITE};
use scenario::metrics::Metric;
use scenario::statistics::Mean;
use std::fmt::Write;

/// The cells of each bottleneck: one a contender, in their order.
fn groups(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunks(CONTENDERS.len())
}

/// A difference of means with its sign; `*` where its interval leaves zero out.
fn difference(mean: Option<Mean>, metric: &Metric) -> String {
    let decimals = metric.decimals;
    match mean {
        Some(Mean {
            mean,
            ci95: Some(half),
            ..
        }) => {
            let clear = if mean.abs() > half { " *" } else { "" };
            format!("{mean:+.decimals$} ± {half:.decimals$}{clear}")
        }
        Some(Mean { mean, .. }) => format!("{mean:+.decimals$}"),
        None => "–".into(),
    }
}

fn headings() -> Vec<String> {
    SHOWN.map(tables::heading).into()
}

/// A row of a table: what is in it, whose endpoints they are, and a text for each metric.
struct Line {
    title: &'static str,
    side: Side,
    texts: Vec<String>,
}

/// The lines of a bottleneck: each contender on the kernel and simulated, then what LISA changed.
fn lines(group: &[Cell]) -> Vec<Line> {
    let each = |of: &dyn Fn(&Metric) -> String| SHOWN.map(of).into();
    let contender = |cell: &Cell, side| Line {
        title: CONTENDERS[cell.contender].name,
        side,
        texts: each(&|metric| tables::mean(cell.mean(side, metric), metric.decimals)),
    };
    let change = |side| Line {
        title: CHANGE,
        side,
        texts: each(&|metric| {
            let change = group[LISA].difference(&group[BASELINE], side, metric);
            difference(change, metric)
        }),
    };
    let mut lines: Vec<Line> = group
        .iter()
        .flat_map(|cell| SIDES.map(|side| contender(cell, side)))
        .collect();
    lines.extend(SIDES.map(change));
    lines
}

/// The title of the lines that say what LISA changed.
const CHANGE: &str = "LISA − MPTCP LIA";

/// A table for each bottleneck.
pub fn tables(kernel: &Kernel, cells: &[Cell]) -> String {
    let mut text = String::new();
    for group in groups(cells) {
        let mut table = Table::new();
        table.load_preset(UTF8_HORIZONTAL_ONLY);
        table.set_header(["", ""].map(String::from).into_iter().chain(headings()));
        // Two lines to a row: the kernel's figure above the simulator's.
        for pair in lines(group).chunks(2) {
            let bold = |text: Text| {
                if pair[0].title == CHANGE {
                    text.add_attribute(Attribute::Bold)
                } else {
                    text
                }
            };
            let both = |of: &dyn Fn(&Line) -> String| {
                let texts: Vec<String> = pair.iter().map(of).collect();
                Text::new(texts.join("\n"))
            };
            let mut row = vec![
                bold(Text::new(pair[0].title)),
                both(&|line| line.side.label(kernel)),
            ];
            for i in 0..SHOWN.len() {
                let text = bold(both(&|line| line.texts[i].clone()));
                row.push(text.set_alignment(CellAlignment::Right));
            }
            table.add_row(row);
        }
        let _ = writeln!(text, "{}, {}\n{table}\n", size(), group[0].bottleneck);
    }
    text.push_str("Means with 95 % confidence intervals; differences are paired, * where the interval leaves zero out.\n");
    text
}

fn size() -> String {
    format!("{} KB", BYTES / 1000)
}

/// What LISA changed on the kernel, in a few lines for the terminal.
pub fn verdict(kernel: &Kernel, cells: &[Cell]) -> String {
    let findings = findings(cells)
        .into_iter()
        .map(|finding| format!("\n  {finding}"));
    format!(
        "What LISA changed on {}, against MPTCP of the papers:{}",
        kernel.label(),
        findings.collect::<String>()
    )
}

fn findings(cells: &[Cell]) -> Vec<String> {
    let mut findings = Vec::new();
    for metric in &SHOWN[..2] {
        let (mut less, mut more, mut unclear) = (Vec::new(), Vec::new(), 0);
        for group in groups(cells) {
            let base = group[BASELINE].mean(Side::Kernel, metric);
            let base = base.map_or(0.0, |mean| mean.mean);
            match group[LISA].difference(&group[BASELINE], Side::Kernel, metric) {
                Some(Mean {
                    mean,
                    ci95: Some(half),
                    ..
                }) if mean.abs() > half && base > 0.0 => {
                    let change = format!("{:+.0} % ({})", 100.0 * mean / base, group[0].bottleneck);
                    if mean < 0.0 {
                        less.push(change)
                    } else {
                        more.push(change)
                    }
                }
                _ => unclear += 1,
            }
        }
        let say = |list: &[String]| {
            if list.is_empty() {
                "nowhere".into()
            } else {
                list.join("; ")
            }
        };
        let bottlenecks = groups(cells).count();
        let (lower, higher) = (say(&less), say(&more));
        findings.push(format!("{}, lower: {lower}.", metric.title));
        findings.push(format!("{}, higher: {higher}.", metric.title));
        findings.push(format!(
            "{}, no clear difference: {unclear} of {bottlenecks} bottlenecks.",
            metric.title
        ));
    }
    let credits: Vec<_> = cells
        .iter()
        .flat_map(|c| &c.runs)
        .flat_map(|r| &r.credits)
        .collect();
    let settled: Vec<_> = credits.iter().filter_map(|c| c.settled.as_ref()).collect();
    let conserved = settled
        .iter()
        .filter(|s| s.sum_before == s.sum_after)
        .count();
    findings.push(format!(
        "credits: {} taken, {} paid, {} void; Σ cwnd the same before and after in {conserved} of {} paid.",
        credits.len(),
        settled.len(),
        credits.len() - settled.len(),
        settled.len()
    ));
    findings
}

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
tr.difference td { font-weight: 600; }
figure { margin: 1rem 0; background: #fff; border: 1px solid var(--line); border-radius: .5rem; padding: .5rem; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { color: #333; font-size: .9rem; }
";

/// The whole page, with its figures in it.
pub fn html(kernel: &Kernel, cells: &[Cell]) -> String {
    let label = kernel.label();
    let (place, time) = match kernel {
        Kernel::Here => ("", "real"),
        Kernel::InVm(_) => (" in a VM", "its virtual"),
    };
    let runs = cells.iter().map(|cell| cell.runs.len()).max().unwrap_or(0);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>LISA on {label}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>LISA on {label}</h1>\n\
         <p>{} from a server with two addresses to a client, over one bottleneck that both paths share: real TCP and \
         MPTCP sockets of Linux {}{place} in network namespaces, links in {time} time; and beside them the same scenario on simulated \
         endpoints. {} each; the round-trip time of \
         a run is drawn from ±10 % and the same for all. Receive buffers of {} MiB; TCP_NODELAY is set.</p>\n<ul>",
        size(),
        escape(&kernel.release()),
        counted(runs, "run"),
        RECEIVE_WINDOW >> 20,
    );
    for contender in &CONTENDERS {
        let _ = write!(
            page,
            "<li><b>{}</b>: {}</li>",
            contender.name,
            escape(contender.about)
        );
    }
    let _ = write!(
        page,
        "</ul>\n<h2>What LISA changed on {label}, against MPTCP of the papers</h2>\n<ul>"
    );
    for finding in findings(cells) {
        let _ = write!(page, "<li>{}</li>", escape(&finding));
    }
    page.push_str("</ul>\n");
    page.push_str(
        "<p>Means with 95 % confidence intervals; differences are paired by run, * where the interval leaves zero \
         out. <i>R<sub>ss</sub></i>: segments retransmitted before the last subflow left slow start. \
         <i>Σcwnd at exit</i>: the windows with which congestion avoidance begins.</p>\n",
    );
    for group in groups(cells) {
        let _ = writeln!(
            page,
            "<h2>{}</h2>\n{}",
            group[0].bottleneck,
            table(kernel, group)
        );
        let _ = writeln!(
            page,
            "<figure>{}<figcaption>Windows over time in the first run. {}</figcaption></figure>",
            windows(kernel, group),
            figure::LEGEND
        );
    }
    let late = cells
        .iter()
        .flat_map(|c| &c.runs)
        .map(|r| r.outcome.lateness_s)
        .fold(0.0, f64::max);
    let spoiled: u64 = cells
        .iter()
        .flat_map(|c| &c.runs)
        .map(|r| r.outcome.spoiled_packets)
        .sum();
    let _ = writeln!(
        page,
        "<p>The network handed packets over at most {:.1} ms late; it lost {spoiled} packets beside those that its queues \
         dropped. Every outcome is in <code>outcomes.jsonl</code>, every credit in <code>credits.jsonl</code>, the \
         windows of the first run of each kind in <code>trace-NN-*.csv</code>.</p></body></html>",
        late * 1e3
    );
    page
}

/// The first run of each contender, the kernel's beside the simulated one, as SVG.
fn windows(kernel: &Kernel, group: &[Cell]) -> String {
    const SIZE: (u32, u32) = (1120, 1280);
    fn panel<'a>(cell: &'a Cell, side: Side, kernel: &Kernel) -> Option<figure::Panel<'a>> {
        let (name, run) = (CONTENDERS[cell.contender].name, cell.of(side).first()?);
        let completion = run.outcome.connections[0].completion_s;
        let completion = completion.map_or(String::new(), |s| format!(", {s:.2} s"));
        Some(figure::Panel {
            caption: format!("{name}, {}{completion}", side.label(kernel)),
            rows: run.rows.iter().collect(),
            credits: run.credits.iter().collect(),
            losses: run.losses.iter().collect(),
        })
    }
    let panels: Vec<_> = group
        .iter()
        .flat_map(|cell| SIDES.map(|side| panel(cell, side, kernel)))
        .flatten()
        .collect();
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let drawn = root.fill(&WHITE).is_ok() && figure::windows(&root, &panels, 2).is_ok();
        debug_assert!(drawn, "drawing into a string cannot fail");
    }
    svg
}

fn table(kernel: &Kernel, group: &[Cell]) -> String {
    let mut html = String::from("<table><tr><th></th><th></th>");
    for heading in headings() {
        let _ = write!(html, "<th>{}</th>", escape(&heading));
    }
    html.push_str("</tr>");
    for line in lines(group) {
        let class = if line.title == CHANGE {
            " class=\"difference\""
        } else {
            ""
        };
        // The title stands once, above the other side's line.
        let title = if line.side == Side::Kernel {
            line.title
        } else {
            ""
        };
        let _ = write!(
            html,
            "<tr{class}><td>{title}</td><td>{}</td>",
            line.side.label(kernel)
        );
        for text in line.texts {
            let _ = write!(html, "<td>{text}</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</table>");
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
