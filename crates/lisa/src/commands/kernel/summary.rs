//! The lines about a loaded algorithm, above its connections.

use kernel::status::Status;

use crate::output::{age, counted};

/// A line about the algorithm and a line about its connections; further lines only after failures.
pub fn summary(status: &Status) -> String {
    let totals = &status.totals;
    let mut notes = vec![format!("loaded {} ago", age(status.age_s))];
    if let Some(pid) = status.owner_pid {
        notes.push(format!("for process {pid}"));
    }
    if status.leaving {
        notes.push("unloaded".into());
    }
    notes.push(format!(
        "in use by {} {}",
        status.users,
        if status.users == 1 {
            "socket or namespace"
        } else {
            "sockets or namespaces"
        }
    ));
    let plain = totals.plain_opened.saturating_sub(totals.plain_closed);
    let mut text = format!(
        "{} ({}): {}\n  {} open of {}, {} plain TCP; credits: {} taken, {} settled, {} void",
        status.name,
        status.about,
        notes.join(", "),
        counted(status.connections.len(), "connection"),
        totals.connections_opened,
        plain,
        totals.credits_taken,
        totals.credits_settled,
        totals.credits_void,
    );
    let alone = totals.connections_alone + totals.subflows_alone;
    if alone > 0 {
        let alone = counted(alone as usize, "subflow");
        text.push_str(&format!("\n  {alone} found no room and run uncoupled"));
    }
    if totals.deletions_failed > 0 {
        let kept = counted(totals.deletions_failed as usize, "deletion");
        text.push_str(&format!(
            "\n  {kept} of map entries failed; `lisa kernel status` deletes entries without a socket"
        ));
    }
    text
}
