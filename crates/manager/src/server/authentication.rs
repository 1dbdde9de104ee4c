//! Tokens: who sends a request, and how many requests are left.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use sha2::{Digest, Sha256};

use crate::error::{Error, Kind, Result};
use crate::state::{EndpointId, Hash};

/// Address of the client, in the extensions of its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub(crate) IpAddr);

/// Who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Principal {
    /// Sets the map, prefixes, routes, rates and endpoints, and reads all.
    Operator,
    /// Reads the map and the connections.
    Viewer,
    /// Reports its subflows, and reads its groups.
    Endpoint(EndpointId),
}

/// The tokens of the operator and of the viewer.
pub(crate) struct Tokens {
    operator: Hash,
    viewer_hash: Hash,
    pub(crate) viewer: String,
}

/// File of the operator's token.
pub(crate) fn operator_file(folder: &Path) -> PathBuf {
    folder.join("operator.token")
}

/// File of the viewer's token.
pub(crate) fn viewer_file(folder: &Path) -> PathBuf {
    folder.join("viewer.token")
}

/// Creates the folder, readable by its owner only. Refuses an existing folder that group or others can write: they could replace the
/// database and the tokens.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let metadata = fs::metadata(folder)?;
    let owner = metadata.uid();
    if owner != 0 && owner != geteuid().as_raw() {
        return Err(io::Error::other(format!(
            "belongs to user id {owner}, who could replace the database: choose a folder of your own"
        )));
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o022 != 0 {
        return Err(io::Error::other(format!(
            "other users may write here (mode {mode:o}): `chmod go-w` forbids it"
        )));
    }
    Ok(())
}

/// Longest file of a token, bytes.
const TOKEN_FILE: u64 = 4096;

/// The text of a file with a secret.
///
/// # Errors
/// If all users can read the file: each of them would have the rights of its token. Reading by the group is allowed.
fn secret(path: &Path) -> io::Result<String> {
    let file = files::open(path)?;
    let mode = file.metadata()?.mode() & 0o777;
    if mode & 0o027 != 0 {
        return Err(io::Error::other(format!(
            "other users may read or write this token (mode {mode:o}): `chmod 600` forbids it"
        )));
    }
    let text = files::read_from(file, TOKEN_FILE)?;
    String::from_utf8(text).map_err(|_| io::Error::other("not UTF-8 text"))
}

/// A hash of a token.
pub(crate) fn hash(token: &str) -> Hash {
    Sha256::digest(token.as_bytes()).into()
}

/// A new token: 256 bits at random.
pub(crate) fn new_token() -> Result<String> {
    let mut bytes = [0; 32];
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| Error::new(Kind::Store, format!("/dev/urandom: {error}")))?;
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    Ok(format!("lisa_{}", digits.collect::<String>()))
}

/// The token in this file, which is created with a new one if it does not exist.
fn token_in(file: &Path) -> Result<String> {
    let failed =
        |error: std::io::Error| Error::new(Kind::Store, format!("{}: {error}", file.display()));
    match secret(file) {
        Ok(text) if text.trim().len() >= 16 => return Ok(text.trim().into()),
        Ok(_) => {
            let text = format!(
                "{}: a token has at least 16 characters; remove the file for a new one",
                file.display()
            );
            return Err(Error::new(Kind::Store, text));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let token = new_token()?;
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file);
    let written = created.and_then(|mut file| writeln!(file, "{token}"));
    written.map_err(failed)?;
    Ok(token)
}

impl Tokens {
    /// Reads the tokens, or creates them.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let operator = token_in(&operator_file(folder))?;
        let viewer = token_in(&viewer_file(folder))?;
        if operator == viewer {
            let text = format!(
                "{}: the operator has the same token, so that a viewer could change everything; remove one of the two files for a new token",
                viewer_file(folder).display()
            );
            return Err(Error::new(Kind::Store, text));
        }
        Ok(Self {
            operator: hash(&operator),
            viewer_hash: hash(&viewer),
            viewer,
        })
    }

    /// The role with this hash: operator or viewer. Hashes are compared, not tokens, so that the time of a comparison does not depend on the token.
    pub(crate) fn principal(&self, hash: &Hash) -> Option<Principal> {
        if *hash == self.operator {
            Some(Principal::Operator)
        } else if *hash == self.viewer_hash {
            Some(Principal::Viewer)
        } else {
            None
        }
    }
}

/// Seconds of requests that an endpoint may send at once.
const BURST_S: u64 = 5;

/// Requests that each endpoint may still send: token buckets.
#[derive(Debug, Default)]
pub(crate) struct Budgets {
    /// Time at which the bucket is full again, milliseconds.
    full_ms: HashMap<EndpointId, u64>,
}

impl Budgets {
    /// Takes one request from the endpoint's budget, which refills every second. Returns whether there was one.
    pub(crate) fn take(&mut self, id: EndpointId, per_second: u32, now_ms: u64) -> bool {
        // The price of a request is the time in which the bucket gains one, in microseconds to keep fractions.
        let price = 1_000_000 / u64::from(per_second.max(1));
        let now = now_ms * 1000;
        let full = self.full_ms.entry(id).or_default();
        let after = (*full).max(now) + price;
        let may = after <= now + BURST_S * 1_000_000;
        if may {
            *full = after;
        }
        may
    }

    /// Forgets a removed endpoint.
    pub(crate) fn forget(&mut self, id: EndpointId) {
        self.full_ms.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Limits, State};

    #[test]
    fn a_bucket_has_a_burst_and_then_a_rate() {
        let mut state = State::new(Limits::default());
        let spec = crate::api::EndpointRequest {
            addresses: vec!["10.0.0.0/8".parse().unwrap()],
            from: Vec::new(),
        };
        state.set_endpoint("one", spec, [1; 32], 0).unwrap();
        let id = state.authenticate(&[1; 32]).unwrap();
        let mut budgets = Budgets::default();
        let at_once = (0..1000)
            .filter(|_| budgets.take(id, 50, 1_000_000))
            .count();
        assert_eq!(at_once, 250);
        let later = (0..1000)
            .filter(|_| budgets.take(id, 50, 1_001_000))
            .count();
        assert_eq!(later, 50);
    }
}
