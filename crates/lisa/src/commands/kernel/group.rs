//! `lisa kernel group`: the groups of coupled subflows.

use kernel::group::{Assignment, Token};
use kernel::registry::Registered;
use kernel::status::{Connection, Subflow};

use super::connections::group;
use crate::output::{Failure, counted};
use crate::tables;

/// Shows the groups of one connection, or of all.
pub fn show(token: Option<Token>) -> Result<(), Failure> {
    let mut table = tables::table(&["connection", "subflow", "group"], 3).with_lines();
    for connection in chosen(token)?
        .iter()
        .flat_map(|(_, connections)| connections)
    {
        for subflow in &connection.subflows {
            table.add_row([connection.token.clone(), subflow.ends(), group(subflow)]);
        }
    }
    if table.is_empty() {
        println!("no connection is open");
    } else {
        println!("{table}");
    }
    Ok(())
}

/// Requests these groups.
pub fn request(token: Token, assignments: &[Assignment]) -> Result<(), Failure> {
    let (registered, connection) = kernel::group::find(token)?;
    let moves = kernel::group::assign(&connection, assignments)?;
    let moves: Vec<_> = moves
        .into_iter()
        .filter(|(s, to)| is_change(s, *to))
        .collect();
    let open = kernel::group::request(&registered, &connection, &moves)?;
    if open < moves.len() {
        let closed = counted(moves.len() - open, "subflow");
        return Err(Failure::new(format!(
            "{closed} of connection {token} closed in the meantime; `lisa kernel group {token}` shows the open ones"
        )));
    }
    for (subflow, to) in &moves {
        println!("subflow {}: group {} → {to}", subflow.ends(), subflow.group);
    }
    if moves.is_empty() {
        println!("nothing to do: these subflows are in these groups");
    }
    Ok(())
}

/// Requests group 0 for all subflows of one connection, or of all connections.
pub fn reset(token: Option<Token>) -> Result<(), Failure> {
    let mut reset = 0;
    for (registered, connections) in chosen(token)? {
        for connection in connections {
            let moves = connection.subflows.iter().map(|subflow| (subflow, 0));
            let moves: Vec<_> = moves.filter(|(s, to)| is_change(s, *to)).collect();
            reset += kernel::group::request(&registered, &connection, &moves)?;
        }
    }
    match reset {
        0 => println!("nothing to do: all subflows are in group 0"),
        _ => println!("{} back to group 0", counted(reset, "subflow")),
    }
    Ok(())
}

/// Whether this group is neither the subflow's nor requested already.
fn is_change(subflow: &Subflow, group: u8) -> bool {
    subflow.group_asked.unwrap_or(subflow.group) != group
}

/// The connection of this token, or all connections, by algorithm.
fn chosen(token: Option<Token>) -> Result<Vec<(Registered, Vec<Connection>)>, Failure> {
    let Some(token) = token else {
        return Ok(kernel::group::all()?);
    };
    let (registered, connection) = kernel::group::find(token)?;
    Ok(vec![(registered, vec![connection])])
}
