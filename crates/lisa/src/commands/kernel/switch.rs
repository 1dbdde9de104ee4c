//! `lisa kernel off` and `lisa kernel on`.

use kernel::registry;

use crate::output::Failure;

/// Switches coupling off or on, in all loaded algorithms and in former loads whose sockets have not closed.
pub fn switch(off: bool) -> Result<(), Failure> {
    let all = registry::find()?;
    if all.is_empty() {
        return Err(kernel::Error::NothingLoaded.into());
    }
    for registered in &all {
        let was_off = registered.is_off()?;
        registered.switch(off)?;
        let name = registered.name();
        println!(
            "{}",
            match (was_off, off) {
                (false, true) => format!(
                    "`{name}` couples no more: each subflow runs as the only one of its connection; `lisa kernel on` couples them again"
                ),
                (true, true) => format!("`{name}` is off already"),
                (true, false) => format!("`{name}` couples again"),
                (false, false) => format!("`{name}` is on already"),
            }
        );
    }
    Ok(())
}
