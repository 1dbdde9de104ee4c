//! Groups and backups: keys with an item for each subflow.

use netsim::Span;
use transport::Profile;

use super::limits::LONGEST;
use super::table::{Field, Table};
use crate::connection::{ConnectionSpec, Regroup};
use crate::error::Error;
use crate::units;

/// The items of a list with one for each subflow.
fn items<'a>(field: &Field<'a>, subflows: u32) -> Result<Vec<Field<'a>>, Error> {
    let items = field.list()?;
    if items.len() == subflows as usize {
        return Ok(items);
    }
    let items = items.len();
    Err(field.error(format!(
        "{items} items, but there are {subflows} subflows: one for each"
    )))
}

/// Reads `backup`.
pub(super) fn backup(table: &Table<'_>, spec: &mut ConnectionSpec) -> Result<(), Error> {
    let Some(field) = table.get("backup") else {
        return Ok(());
    };
    if spec.profile != Profile::linux() {
        return Err(field.error("only for `profile = \"linux\"`"));
    }
    let items = items(&field, spec.subflows)?;
    spec.backup = items.iter().map(Field::boolean).collect::<Result<_, _>>()?;
    if spec.backup[0] {
        return Err(
            items[0].error("the first subflow cannot be a backup: MP_CAPABLE has no flag for it")
        );
    }
    Ok(())
}

/// Reads `assistance`, `groups`, and `regroup`: one table, or a list in order of time.
pub(super) fn groups(
    table: &Table<'_>,
    spec: &mut ConnectionSpec,
    stop: Span,
) -> Result<(), Error> {
    let subflows = spec.subflows;
    let read = |field: &Field<'_>| {
        let items = items(field, subflows)?;
        let group = |item: &Field<'_>| Ok(item.integer_u32(0..=mpcc::GROUP_MAX.into())? as u8);
        items.iter().map(group).collect::<Result<Vec<u8>, Error>>()
    };
    if let Some(field) = table.get("assistance") {
        spec.assistance = field.boolean()?;
        if spec.assistance {
            let decided = "not with `assistance = true`, which decides the groups";
            table.refuse(&["groups", "regroup"], decided)?;
        }
    }
    if let Some(field) = table.get("groups") {
        spec.groups = read(&field)?;
    }
    let Some(field) = table.get("regroup") else {
        return Ok(());
    };
    let items = match field.is_list() {
        true => field.list()?,
        false => vec![field],
    };
    for item in items {
        let table = item.table(&["at", "groups"])?;
        let at = table.require("at", "at = \"5s\"")?;
        let regroup = Regroup {
            at: at.time(Span::ZERO..=LONGEST)?,
            groups: read(&table.require("groups", "groups = [0, 1]")?)?,
        };
        if regroup.at >= stop {
            return Err(at.error("must be before `stop`"));
        }
        match spec.regroup.last() {
            Some(before) if regroup.at <= before.at => {
                let before = units::show_time(before.at);
                return Err(at.error(format!("must be later than the change before, at {before}")));
            }
            _ => spec.regroup.push(regroup),
        }
    }
    Ok(())
}
