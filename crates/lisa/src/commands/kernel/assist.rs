//! `lisa kernel assist`.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assist::{Event, Manager, Target};
use clap::{Args, ValueHint};
use serde_json::json;

use crate::output::{Failure, complain, print};
use crate::values::{self, Form};

/// File of the token, unless systemd gives one.
const TOKEN: &str = "/etc/lisa/assist.token";

/// Arguments of `lisa kernel assist`.
#[derive(Args)]
#[command(after_help = NOTES)]
pub struct Arguments {
    /// Address of the manager, as `lisa serve` prints it.
    #[arg(long, value_name = "URL", value_parser = target())]
    from: Target,
    /// File with the token of this endpoint [default: the credential `token` of systemd, or else /etc/lisa/assist.token].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
    token: Option<PathBuf>,
    /// Certificates in PEM that the manager's is checked with [default: those of the system].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a file"))]
    ca: Option<PathBuf>,
    /// Send the token to another host without TLS. Whoever sees the packets then has it.
    #[arg(long)]
    plain: bool,
    /// Print a line of JSON for each event (schema lisa.kernel.assist/1) instead of text.
    #[arg(long)]
    json: bool,
}

const NOTES: &str = "\
An operator gives the token: it is the answer to PUT /v1/endpoints/NAME (docs/assistance.md).
The manager accepts only subflows whose local address is in one of the endpoint's prefixes.
A second process, `lisa-network`, has the connection to the manager: it has a user of its own and no capability (docs/security.md).
All subflows are coupled when the command ends, also by SIGKILL.

Examples:
  sudo lisa kernel assist --from https://manager.example:9720 --token laptop.token
  sudo lisa kernel assist --from http://127.0.0.1:9720 --json
  sudo systemctl enable --now lisa-assist       # at each boot, as /etc/lisa/assist.env says";

fn target() -> Form<Target> {
    let form = "the address of a manager, like https://manager.example:9720";
    Form::new(form, |text| text.parse())
}

/// Follows the manager until SIGINT, SIGTERM or SIGHUP.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    if arguments.from.is_exposed() && !arguments.plain {
        return Err(Failure::usage(format!(
            "--from {}: the token would be sent in plain text; use https, or --plain",
            arguments.from
        )));
    }
    let file = arguments.token.unwrap_or_else(|| {
        let folder = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        let credential = folder.map(|folder| folder.join("token"));
        let credential = credential.filter(|file| file.exists());
        credential.unwrap_or_else(|| TOKEN.into())
    });
    let token = token(&file).map_err(|error| {
        Failure::new(format!(
            "{}: {error}; an operator gives the token with PUT /v1/endpoints/NAME",
            file.display()
        ))
    })?;
    let manager = Manager::new(arguments.from, &token, arguments.ca.as_deref())?;
    let url = manager.target().to_string();
    Ok(assist::follow(manager, move |event| {
        show(&event, &url, arguments.json);
    })?)
}

/// Longest file of a token, bytes.
const TOKEN_FILE: u64 = 4096;

/// The token in a file.
fn token(path: &Path) -> io::Result<String> {
    let file = files::open(path)?;
    if file.metadata()?.mode() & 0o004 != 0 {
        complain(format!(
            "{}: every user may read this token, and report for this endpoint: `chmod o-r` forbids it",
            path.display()
        ));
    }
    let text = files::read_from(file, TOKEN_FILE)?;
    String::from_utf8(text).map_err(|_| io::Error::other("not UTF-8 text"))
}

/// Prints an event. A reader who has gone does not end the command.
fn show(event: &Event, url: &str, as_json: bool) {
    if as_json {
        let line = match event {
            Event::Connected(endpoint) => json!({ "event": "connected", "endpoint": endpoint }),
            Event::Lost(error) => json!({ "event": "lost", "error": error.to_string() }),
            Event::Coupled => json!({ "event": "coupled" }),
            Event::Groups(groups) => json!({ "event": "groups", "groups": groups }),
            Event::Kernel(error) => json!({ "event": "kernel", "error": error.to_string() }),
            Event::Omitted(events) => json!({ "event": "omitted", "events": events }),
        };
        let _ = print(&format!("{line}\n"));
        return;
    }
    match event {
        Event::Connected(endpoint) => drop(print(&format!("connected to {url} as `{endpoint}`\n"))),
        Event::Lost(error) => complain(format!("{error}; trying again")),
        Event::Coupled => drop(print("all subflows are coupled\n")),
        Event::Kernel(error) => complain(error.to_string()),
        Event::Omitted(events) => complain(format!(
            "{events} events were left out: the manager sends too many"
        )),
        Event::Groups(groups) => {
            let parts = groups.groups.iter();
            let parts = parts.map(|s| format!("{} → {} in {}", s.local, s.remote, s.group));
            let token = String::from(groups.connection);
            let parts: Vec<_> = parts.collect();
            drop(print(&format!(
                "connection {token}: {}\n",
                parts.join(", ")
            )));
        }
    }
}
