//! Network namespaces with a name, as `ip netns add` creates them.

use super::turn::good;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// A named namespace, which is deleted when this is dropped.
pub struct Named(pub String);

impl Named {
    /// A namespace with a name that no other test has.
    pub fn new() -> Self {
        let number = super::number();
        Self::with(format!("lisa-test-{}-{number}", std::process::id()))
    }

    /// A namespace with this name.
    pub fn with(name: String) -> Self {
        good(netns_command(&["add", &name]));
        Self(name)
    }

    /// A command inside.
    pub fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = netns_command(&["exec", &self.0, program]);
        command.args(arguments);
        command
    }

    /// Its inode number.
    pub fn inode(&self) -> u64 {
        let file = fs::metadata(format!("/run/netns/{}", self.0));
        file.expect("a namespace").ino()
    }

    /// Its default congestion control.
    pub fn default(&self) -> String {
        let file = "/proc/sys/net/ipv4/tcp_congestion_control";
        good(self.command("cat", &[file])).trim().into()
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = netns_command(&["del", &self.0]).output();
    }
}

fn netns_command(arguments: &[&str]) -> Command {
    let mut command = Command::new("ip");
    command.arg("netns").args(arguments);
    command
}
