//! Network namespaces whose names have any bytes: found, entered, printed, and chosen by a filter.
//!
//! Needs root.

mod support;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::process::Command;

use kernel::default;
use kernel::holders;
use support::turn::good;
use support::world::run;
use support::{LISA, Loaded, able};

/// Names and how they are printed: control characters and bytes that are not UTF-8 are escaped, everything else is as it is.
const NAMES: [(&[u8], &str); 10] = [
    (b"h1 sp ace", "h1 sp ace"),
    (b" two  blanks", " two  blanks"),
    (b"tab\there", r"tab\there"),
    (b"line\nfeed", r"line\nfeed"),
    (br"back\slash", r"back\slash"),
    (br"digits\040", r"digits\040"),
    (b"a - nsfs nsfs rw", "a - nsfs nsfs rw"),
    (b"clear\x1b[2J", r"clear\u{1b}[2J"),
    ("na\u{ef}ve \u{202e}".as_bytes(), r"naïve \u{202e}"),
    (b"bytes\xff\xfe", r"bytes\xff\xfe"),
];

/// A network namespace with such a name, which is deleted when this is dropped.
struct Named(OsString);

impl Named {
    fn new(name: &[u8]) -> Self {
        let suffix = format!("-{}", std::process::id());
        let name = OsString::from_vec([name, suffix.as_bytes()].concat());
        good(netns([OsStr::new("add"), &name]));
        Self(name)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = netns([OsStr::new("del"), &self.0]).output();
    }
}

fn netns<'a>(arguments: impl IntoIterator<Item = &'a OsStr>) -> Command {
    let mut command = Command::new("ip");
    command.arg("netns").args(arguments);
    command
}

#[test]
fn network_namespaces() {
    if !able() {
        return;
    }
    let loaded = Loaded::lisa();
    for (name, printed) in NAMES {
        let printed = format!("{printed}-{}", std::process::id());
        let named = Named::new(name);
        let lisa = ["kernel", "default", loaded.name()].map(OsStr::new);
        let exec = [OsStr::new("exec"), &named.0, OsStr::new(LISA)];
        good(netns(exec.into_iter().chain(lisa)));

        let found = holders::find().expect("holders").of(&loaded);
        let [default] = &found.defaults[..] else {
            panic!("{printed}: {found:?}")
        };
        assert_eq!(default.netns.name.as_deref(), Some(&printed[..]));
        assert!(
            found.summary().contains(&format!("`{printed}`")),
            "{found:?}"
        );
        let mut status = Command::new(LISA);
        let status = status.args(["kernel", "status", "--netns", &printed]);
        let text = String::from_utf8(run(status).stdout).expect("UTF-8");
        assert!(
            text.contains(&format!("default of `{printed}`\n")),
            "{printed}: {text:?}"
        );

        // As `lisa kernel default --off --all` does it in each namespace.
        let off = default.netns.run(default::off);
        let (from, _) = off.expect("it is entered").expect("one of lisa's");
        assert_eq!(from, loaded.name(), "{printed}");
    }
}
