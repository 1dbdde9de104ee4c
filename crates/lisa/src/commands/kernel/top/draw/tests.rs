//! Tests of the screen on 80 by 24 characters.

use super::super::view::tests::{connection, status};
use super::*;
use kernel::filter::Filter;
use ratatui::{Terminal, backend::TestBackend};

fn screen(view: &mut View) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| draw(frame, view)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(80);
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>())
        .map(|row| row.trim_end().to_owned())
        .collect()
}

fn view(connections: usize) -> View {
    let mut view = View::new(Filter::default());
    let connections =
        (0..connections).map(|i| connection(&format!("{i:08x}"), "nginx", &[1e6, 0.0]));
    view.update(vec![status(connections.collect())]);
    view
}

#[test]
fn a_screen() {
    let mut view = view(1);
    view.selected = 2;
    let expected = [
        "lisa: 1 connection, 2 subflows; credits: 0 taken, 0 void",
        "connection, subflows                       cwnd ssthr   srtt phase ↑bit/s ↓bit/s",
        "00000000  nginx 7  0.0 s                                            1.00M      0",
        "  0  10.7.0.1:50000 → 10.7.0.2:443           10     –      – avoid  1.00M      0",
        "  1  10.7.1.1:50001 → 10.7.0.2:443           10     –      – avoid      0      0",
    ];
    let screen = screen(&mut view);
    assert_eq!(screen[..5], expected);
    assert_eq!(
        screen[20],
        "00000000 lisa, 1 10.7.1.1:50001 → 10.7.0.2:443, avoidance, flight 0, losses 0"
    );
    assert_eq!(
        screen[23],
        "q quit  ↑↓ select  s order: throughput  / filter"
    );
}

#[test]
fn a_backup() {
    let mut view = View::new(Filter::default());
    let mut idle = connection("00000000", "nginx", &[1e6, 0.0]);
    (idle.subflows[1].backup, idle.subflows[1].phase) = (Some(true), "standby");
    view.update(vec![status(vec![idle])]);
    view.selected = 2;
    let details = &screen(&mut view)[20];
    assert!(details.contains(", standby, backup, flight 0"), "{details}");
}

#[test]
fn the_list_scrolls_to_the_selection() {
    let mut view = view(100);
    assert!(screen(&mut view)[2].starts_with("00000000"));
    view.selected = 299;
    let lines = screen(&mut view);
    assert!(lines[19].starts_with("  1  10.7.1.1"), "{lines:#?}");
    assert!(lines[20].starts_with("00000063 lisa"), "{lines:#?}");
    view.selected = 0;
    assert!(screen(&mut view)[2].starts_with("00000000"));
}

#[test]
fn a_filter_that_nothing_matches() {
    let mut view = View::new("port=9".parse().unwrap());
    let connections = (0..3).map(|i| connection(&format!("{i:08x}"), "nginx", &[1e6]));
    view.update(vec![status(connections.collect())]);
    let lines = screen(&mut view);
    assert_eq!(lines[2], "nothing matches port=9: 3 connections hidden");
    assert_eq!(
        lines[23],
        "q quit  ↑↓ select  s order: throughput  / filter (3 hidden): port=9"
    );
}

#[test]
fn a_filter_that_is_being_typed() {
    let mut view = view(1);
    view.input = Some("port=443".into());
    let hint = "(as port=443 process=nginx; Enter, Esc)";
    let expected = format!("filter: port=443_   {hint}");
    assert_eq!(screen(&mut view)[23], expected);
    view.input = Some(format!("{} port=7", "peer=2001:db8::1 ".repeat(6)));
    let line = &screen(&mut view)[23];
    assert!(line.ends_with("  port=7_"), "{line}");
}

#[test]
fn many_algorithms_leave_room_for_connections() {
    let mut view = View::new(Filter::default());
    let mut long = status(Vec::new());
    (long.name, long.off) = ("lisa_olia_longer".into(), true);
    (long.totals.alone_full, long.totals.plain_opened) = (123_456, 123_456);
    view.update(vec![long.clone(), long.clone(), long]);
    let lines = screen(&mut view);
    assert_eq!(lines[1], "  123456 uncoupled; credits: 0 taken, 0 void");
    assert_eq!(lines[4], "and 1 more");
    assert!(lines[5].starts_with("connection, subflows"), "{lines:#?}");
}
