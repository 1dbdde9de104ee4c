//! `lisa kernel load`.

use kernel::load::{Applied, How, Options, apply};

use super::default;
use crate::output::Failure;

/// Loads an algorithm, and makes it the default if `is_default` is set.
pub fn load(name: &str, options: &Options, is_default: bool) -> Result<(), Failure> {
    let Applied {
        registered,
        how,
        exec,
    } = apply(name, options)?;
    let done = match how {
        How::Loaded => format!("loaded `{name}`"),
        How::Unchanged => format!("`{name}` is loaded already, with these settings"),
        How::Changed => {
            format!("changed `{name}`: connections that open from now on have these settings")
        }
        How::Replaced => {
            format!(
                "loaded `{name}` anew: open connections keep the former load until they close, and are not coupled with subflows that join later"
            )
        }
    };
    if is_default {
        let made = kernel::default::make(&registered);
        if made.is_err() && how == How::Loaded {
            // `make` returned the cause.
            let _ = registered.unload(None);
        }
        let (plain, changed) = made?;
        println!("{done}");
        default::print_made(name, &plain, changed);
    } else if how == How::Loaded {
        println!("{done}; `lisa kernel exec {name} -- COMMAND` uses it");
        println!(
            "MPTCP connections that choose it are coupled; plain TCP keeps the algorithm that it has"
        );
    } else {
        println!("{done}");
    }
    if let (How::Loaded, Err(why)) = (how, exec) {
        let why = Failure::from(why);
        println!("`lisa kernel exec` uses a helper process for each command ({why})");
    }
    Ok(())
}
