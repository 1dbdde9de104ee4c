//! `lisa kernel load`.

use kernel::load::{Ensured, Options, ensure};

use super::default;
use crate::output::Failure;

/// Loads an algorithm, and makes it the default if `is_default` is set.
pub fn load(name: &str, options: &Options, is_default: bool) -> Result<(), Failure> {
    let Ensured {
        registered,
        new,
        exec,
    } = ensure(name, options)?;
    if is_default {
        let made = kernel::default::make(&registered);
        if made.is_err() && new {
            // `make` returned the cause.
            let _ = registered.unload(None);
        }
        let (plain, changed) = made?;
        match new {
            true => println!("loaded `{name}`"),
            false => println!("`{name}` is loaded already, with these settings"),
        }
        default::print_made(name, &plain, changed);
    } else if new {
        println!("loaded `{name}`; `lisa kernel exec {name} -- COMMAND` uses it");
        println!(
            "MPTCP connections that choose it are coupled; plain TCP keeps the algorithm that it has"
        );
    } else {
        println!("`{name}` is loaded already, with these settings");
    }
    if let (true, Err(why)) = (new, exec) {
        println!("`lisa kernel exec` uses a helper process for each command ({why})");
    }
    Ok(())
}
