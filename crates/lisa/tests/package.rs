//! The Debian package and its service: installation on each release, and a VM that boots with systemd.
//!
//! The systems are those that `make setup` puts into `~/.cache/lisa/roots`. The tests install the package that `packaging/deb.sh`
//! builds from the program under test, and need no network.

#[path = "package/assistance.rs"]
mod assistance;
#[path = "package/boot.rs"]
mod boot;
#[path = "package/guest.rs"]
mod guest;
#[path = "package/guide.rs"]
mod guide;
#[path = "package/install.rs"]
mod install;
#[path = "package/packages.rs"]
mod packages;
#[path = "package/page.rs"]
mod page;
#[path = "package/release.rs"]
mod release;
#[path = "package/roots.rs"]
mod roots;
mod support;
#[path = "package/transfers.rs"]
mod transfers;
