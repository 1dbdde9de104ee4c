//! The report of the demo: a page with its figures in it.

use std::fmt::Write;

use super::cells::{Cell, by_bottleneck};
use super::contenders::{BYTES, CONTENDERS, RECEIVE_WINDOW};
use super::findings::findings;
use super::lines::{headings, lines};
use super::sides::{Kernel, SIDES, Side};
use crate::figure::page::{self, Grid, Texts};
use crate::figure::windows::{self, Interval, Panel, Windows};
use crate::output::counted;

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

/// The page.
pub fn html(kernel: &Kernel, cells: &[Cell]) -> String {
    let mut page = introduction(kernel, cells);
    for group in by_bottleneck(cells) {
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
            windows::CAPTION
        );
    }
    page + &end(cells)
}

/// The head of the page, the set-up and the findings.
fn introduction(kernel: &Kernel, cells: &[Cell]) -> String {
    let label = kernel.label();
    let (place, time) = match kernel.in_vm {
        false => ("", "real"),
        true => (" in a VM", "virtual"),
    };
    let runs = cells.iter().map(|cell| cell.kernel.len()).max();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>LISA on {label}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>LISA on {label}</h1>\n\
         <p>{} KB from a server with two addresses to a client, over one bottleneck that both paths share. TCP and MPTCP \
         sockets of Linux {}{place} run in network namespaces, with links in {time} time; the same scenarios run on simulated \
         endpoints. {} each. Each run draws its round-trip time from ±10 %, the same for all contenders. The receive \
         buffers have {} MiB; TCP_NODELAY is set.</p>\n<ul>",
        BYTES / 1000,
        escape(&kernel.release),
        counted(runs.unwrap_or(0), "run"),
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
        "</ul>\n<h2>LISA compared with MPTCP LIA on {label}</h2>\n<ul>"
    );
    for finding in findings(cells) {
        let _ = write!(page, "<li>{}</li>", escape(&finding));
    }
    page.push_str("</ul>\n");
    page.push_str(
        "<p>Means with 95 % confidence intervals; differences are taken seed by seed, * where the interval excludes zero. \
         <i>R<sub>ss</sub></i>: segments retransmitted before the last subflow left slow start. \
         <i>Σcwnd at exit</i>: sum of the windows with which congestion avoidance begins.</p>\n",
    );
    page
}

/// The accuracy of the network in real time, and the files of the report.
fn end(cells: &[Cell]) -> String {
    let outcomes = || cells.iter().flat_map(|c| &c.kernel).map(|run| &run.outcome);
    let late = outcomes().map(|o| o.lateness_s).fold(0.0, f64::max);
    let spoiled: u64 = outcomes().map(|o| o.spoiled_packets).sum();
    format!(
        "<p>The network delivered packets at most {:.1} ms late, and lost {spoiled} packets in addition to the drops of its \
         queues. <code>outcomes.jsonl</code> has every outcome, <code>credits.jsonl</code> every credit, \
         <code>trace-NN-*.csv</code> the windows of the first run of each contender over each \
         bottleneck.</p></body></html>\n",
        late * 1e3
    )
}

/// An SVG with the first run of each contender, the kernel's panel beside the simulator's.
fn windows(kernel: &Kernel, group: &[Cell]) -> String {
    let sides = group.iter().flat_map(|cell| SIDES.map(|side| (cell, side)));
    let runs: Vec<(String, Windows)> = sides
        .filter_map(|(cell, side)| {
            let (name, run) = (CONTENDERS[cell.contender].name, cell.of(side).first()?);
            let completion = run.outcome.connections[0].completion_s;
            let completion = completion.map_or(String::new(), |s| format!(", {s:.2} s"));
            let caption = format!("{name}, {}{completion}", side.label(kernel));
            Some((caption, windows::of_run(run, Interval::ALL, &[], 1)))
        })
        .collect();
    let panels: Vec<Panel<'_>> = (runs.iter())
        .map(|(caption, windows)| Panel {
            caption: caption.clone(),
            runs: windows.connections.iter().collect(),
        })
        .collect();
    let texts = Texts {
        title: "Congestion windows".into(),
        legend: windows::legend(&panels, &[], &[], page::plot_width(2, None)),
        ..Texts::default()
    };
    let grid = Grid {
        panels: panels.len(),
        columns: 2,
        height: windows::HEIGHT,
        least: windows::LEAST,
    };
    let drawn = page::page(&texts, grid, None, |canvas, areas| {
        windows::draw(canvas, areas, &panels, Interval::ALL);
    });
    drawn.expect("a page without a size is large enough")
}

fn table(kernel: &Kernel, group: &[Cell]) -> String {
    let mut html = String::from("<table><tr><th></th><th></th>");
    for heading in headings() {
        let _ = write!(html, "<th>{}</th>", escape(&heading));
    }
    html.push_str("</tr>");
    for line in lines(group) {
        let class = match line.is_difference() {
            true => " class=\"difference\"",
            false => "",
        };
        // The title stands only in the first of its two lines.
        let title = match line.side {
            Side::Kernel => line.title,
            Side::Simulator => "",
        };
        let side = line.side.label(kernel);
        let _ = write!(html, "<tr{class}><td>{title}</td><td>{side}</td>");
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
