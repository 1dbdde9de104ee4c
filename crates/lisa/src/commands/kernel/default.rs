//! `lisa kernel default`: the default algorithm of network namespaces.

use kernel::default::{self, Restored};
use kernel::holders::{self, abbreviated};
use kernel::namespace::Namespace;
use kernel::registry::{self, Registered};
use std::collections::BTreeMap;

use crate::output::Failure;

/// Makes a loaded algorithm the default of this network namespace.
pub fn make(name: &str) -> Result<(), Failure> {
    let (plain, changed) = default::make(&registry::find_one(name)?)?;
    print_made(name, &plain, changed);
    Ok(())
}

/// Prints the algorithms that MPTCP and plain TCP sockets get from now on.
pub fn print_made(name: &str, plain: &str, changed: bool) {
    let sockets = match changed {
        true => format!("sockets that are opened from now on use `{name}`"),
        false => format!("sockets use `{name}`, as before"),
    };
    println!("the default of this network namespace: MPTCP {sockets}, plain TCP uses `{plain}`");
    if default::is_first() {
        println!("network namespaces that are made from now on inherit it");
    }
}

/// Restores the previous default of this network namespace.
pub fn off() -> Result<(), Failure> {
    match default::off()? {
        Some((from, to)) => println!("the default is `{to}` again (it was `{from}`)"),
        None => println!(
            "nothing to do: the default is `{}`, no algorithm of lisa",
            default::get()?
        ),
    }
    Ok(())
}

/// Restores the previous defaults of all network namespaces.
pub fn off_everywhere() -> Result<(), Failure> {
    let restored = default::off_everywhere()?;
    if restored.is_empty() {
        println!("nothing to do: no network namespace has an algorithm of lisa as default");
    }
    let mut failures: BTreeMap<String, Vec<Namespace>> = BTreeMap::new();
    for Restored { netns, from, to } in restored {
        match to {
            Ok(to) => println!("{netns}: the default is `{to}` again (it was `{from}`)"),
            Err(why) => failures.entry(why).or_default().push(netns),
        }
    }
    let failures = failures.iter();
    let failures = failures.map(|(why, netns)| format!("{}: {why}", abbreviated(netns.iter())));
    let failures: Vec<String> = failures.collect();
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(failures.join("; "))),
    }
}

/// Shows this network namespace's default, and the other namespaces that have an algorithm of lisa as default.
pub fn show() -> Result<(), Failure> {
    let (here, found) = (default::netns()?, holders::find()?);
    let current = default::get()?;
    let all = registry::find()?;
    let is_default = |registered: &&Registered| {
        let defaults = found.of(registered).defaults;
        defaults.iter().any(|default| default.netns.inode == here)
    };
    let ours = all.iter().find(is_default);
    match ours
        .map(|registered| default::before(registered))
        .transpose()?
        .flatten()
    {
        Some(before) => {
            let plain = before.plain;
            println!("this network namespace: `{current}`, and `{plain}` for plain TCP");
        }
        None => println!("this network namespace: `{current}`"),
    }
    for registered in all {
        let defaults = found.of(&registered).defaults;
        for default in defaults.iter().filter(|d| d.netns.inode != here && !d.ends) {
            println!("{}: `{}`", default.netns, registered.name());
        }
    }
    Ok(())
}
