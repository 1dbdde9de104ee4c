//! What libbpf needs, and its messages, for the errors of refused objects.

use crate::{Error, Result};
use std::fs::File;
use std::sync::Mutex;

/// Messages since the last [`prepare`].
#[derive(Clone, Default)]
struct Messages {
    last: String,
    /// The verifier's verdict on the first refused program.
    verdict: Option<String>,
}

static MESSAGES: Mutex<Messages> = Mutex::new(Messages {
    last: String::new(),
    verdict: None,
});

/// Number of file descriptors that every command can open at a time. A load opens thirty.
const DESCRIPTORS: usize = 64;

/// Checks that enough file descriptors are free. Without one libbpf takes a feature of the kernel for missing and fails later, with
/// another errno.
///
/// # Errors
/// [`Error::Io`], EMFILE or ENFILE.
pub(crate) fn check_descriptors() -> Result<()> {
    let what = || format!("opening {DESCRIPTORS} files at a time (`ulimit -n`)");
    let open = |_| File::open("/").map_err(Error::io(what()));
    (0..DESCRIPTORS).map(open).collect::<Result<Vec<_>>>()?;
    Ok(())
}

/// Before an object is opened: checks that libbpf can load it here, and records the messages of libbpf from here on, instead of
/// printing them.
///
/// # Errors
/// Those of [`check_descriptors`].
pub(crate) fn prepare() -> Result<()> {
    check_descriptors()?;
    record_messages();
    Ok(())
}

fn record_messages() {
    if let Ok(mut messages) = MESSAGES.lock() {
        *messages = Messages::default();
    }
    libbpf_rs::set_print(Some((libbpf_rs::PrintLevel::Warn, |_, message| {
        if let Ok(mut messages) = MESSAGES.lock() {
            messages.last = message.trim().trim_start_matches("libbpf: ").into();
            messages.verdict = messages.verdict.take().or(verdict(&message));
        }
    })));
}

fn messages() -> Messages {
    let messages = MESSAGES.lock();
    messages
        .map(|messages| messages.clone())
        .unwrap_or_default()
}

/// The verifier's verdict on a refused program, or else the last message of libbpf.
pub(crate) fn last_message() -> String {
    let Messages { last, verdict } = messages();
    verdict.unwrap_or(last)
}

/// Whether the verifier has refused a program.
pub(crate) fn has_verdict() -> bool {
    messages().verdict.is_some()
}

/// The verdict in libbpf's copy of the verifier's log: the line before its statistics.
fn verdict(message: &str) -> Option<String> {
    let (_, log) = message.split_once("-- BEGIN PROG LOAD LOG --")?;
    let (log, _) = log.split_once("-- END PROG LOAD LOG --")?;
    let line = |line: &&str| !line.trim().is_empty() && !line.starts_with("processed");
    log.lines().rfind(line).map(|line| line.trim().into())
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn the_verdict_of_a_log() {
        let log = "libbpf: prog 'lisa_init': -- BEGIN PROG LOAD LOG --\n\
                   855: (63) *(u32 *)(r1 +48) = r5\nR1 invalid mem access 'scalar'\n\
                   processed 937 insns (limit 1000000) max_states_per_insn 4\n-- END PROG LOAD LOG --\n";
        assert_eq!(verdict(log).unwrap(), "R1 invalid mem access 'scalar'");
        assert_eq!(verdict("libbpf: failed to load object 'lisa_bpf'\n"), None);
    }
}
