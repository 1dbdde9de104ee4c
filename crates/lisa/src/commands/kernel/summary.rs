//! The lines about a loaded algorithm, above its connections.

use kernel::status::Status;

use crate::output::{age, counted};

/// A line about the algorithm and a line about its connections, of which `open` are open; further lines only after failures.
pub fn summary(status: &Status, open: usize) -> String {
    let totals = &status.totals;
    let mut notes = vec![format!("loaded {} ago", age(status.age_s))];
    if let Some(pid) = status.owner_pid {
        notes.push(format!("for process {pid}"));
    }
    if status.leaving {
        notes.push("unloaded".into());
    }
    if status.off {
        notes.push("switched off".into());
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
        counted(open, "connection"),
        totals.connections_opened,
        plain,
        totals.credits_taken,
        totals.credits_settled,
        totals.credits_void,
    );
    if totals.alone() > 0 {
        text.push_str(&format!(
            "\n  {} uncoupled for lack of room: {} beyond {}, {} beyond {} of a user, {} beyond 16 of a connection",
            counted(totals.alone() as usize, "subflow"),
            totals.alone_full,
            counted(status.limits.connections as usize, "connection"),
            totals.alone_user,
            status.limits.user_connections,
            totals.alone_slots,
        ));
    }
    if totals.apart_joins > 0 {
        text.push_str(&format!(
            "\n  {} joined connections whose earlier subflows run another algorithm or a former load, and are not coupled with these",
            counted(totals.apart_joins as usize, "subflow"),
        ));
    }
    if totals.deletions_failed > 0 {
        let kept = counted(totals.deletions_failed as usize, "deletion");
        text.push_str(&format!(
            "\n  {kept} of map entries failed; `lisa kernel status` deletes entries without a socket"
        ));
    }
    text
}
