//! Tests of the keys, the order and the selection.

use super::*;
use kernel::namespace::Process;

/// A connection with subflows of these throughputs.
pub(crate) fn connection(token: &str, process: &str, rates: &[f64]) -> Connection {
    let subflow = |(slot, bps): (usize, &f64)| {
        let local = format!("10.7.{slot}.1:5000{slot}");
        let mut s = Subflow::default();
        (s.slot, s.phase, s.cwnd) = (slot as u32, "avoidance", 10);
        (s.local, s.remote) = (local.parse().ok(), "10.7.0.2:443".parse().ok());
        (s.sent_bps, s.received_bps) = (Some(*bps), Some(0.0));
        s
    };
    let command = process.into();
    let mut connection = Connection::default();
    (connection.token, connection.process) = (token.into(), Some(Process { pid: 7, command }));
    connection.subflows = rates.iter().enumerate().map(subflow).collect();
    connection
}

pub(crate) fn status(connections: Vec<Connection>) -> Status {
    Status {
        name: "lisa".into(),
        algorithm: "lisa".into(),
        connections,
        ..Status::default()
    }
}

fn view() -> View {
    let mut view = View::new(Filter::default());
    view.update(vec![status(vec![
        connection("slow", "curl", &[1e3, 2e3]),
        connection("fast", "nginx", &[5e6]),
    ])]);
    view
}

fn tokens(view: &View) -> Vec<&str> {
    let of_connections = view.rows.iter().filter(|row| row.subflow.is_none());
    of_connections
        .map(|row| view.connection(row).token.as_str())
        .collect()
}

fn press(view: &mut View, keys: &str) {
    for c in keys.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            c => KeyCode::Char(c),
        };
        assert_eq!(view.key(code.into()), Next::Go);
    }
}

#[test]
fn the_fastest_connection_is_the_first() {
    let mut view = view();
    assert_eq!(tokens(&view), ["fast", "slow"]);
    assert_eq!(view.rows.len(), 5);
    press(&mut view, "s");
    assert_eq!(view.order, Order::Window);
    assert_eq!(tokens(&view), ["slow", "fast"]);
    press(&mut view, "<");
    assert_eq!(tokens(&view), ["fast", "slow"]);
    press(&mut view, "<");
    assert_eq!(view.order, Order::Oldest);
}

#[test]
fn the_selection_stays_at_its_subflow() {
    let mut view = view();
    press(&mut view, "jjj");
    assert_eq!(view.subflow(&view.rows[view.selected]).unwrap().slot, 0);
    view.update(vec![status(vec![
        connection("slow", "curl", &[9e6, 2e3]),
        connection("fast", "nginx", &[5e6]),
    ])]);
    assert_eq!(tokens(&view), ["slow", "fast"]);
    let row = view.rows[view.selected];
    let token = view.connection(&row).token.as_str();
    assert_eq!((row.subflow, token), (Some(0), "slow"));
    view.update(Vec::new());
    assert_eq!(view.selected, 0);
}

#[test]
fn a_filter_is_typed() {
    let mut view = view();
    press(&mut view, "/process=curl\n");
    assert_eq!((tokens(&view), view.hidden), (vec!["slow"], 1));
    // `q` is a character of the filter here.
    press(&mut view, "/ prot=q\n");
    let complaint = view.complaint.clone().expect("an error");
    assert!(complaint.contains("`prot=q`"), "{complaint}");
    assert_eq!(tokens(&view), ["slow"]);
    assert_eq!(view.key(KeyCode::Esc.into()), Next::Go);
    assert_eq!((view.input.clone(), view.complaint.clone()), (None, None));
    // The former filter can be edited.
    press(&mut view, "/");
    for _ in 0.."process=curl".len() {
        view.key(KeyCode::Backspace.into());
    }
    press(&mut view, "\n");
    assert_eq!(view.hidden, 0);
    assert_eq!(view.key(KeyCode::Char('q').into()), Next::Quit);
}
