//! Unloads an algorithm.

use crate::holders::{self, DefaultOf};
use crate::registry::{self, Found, Registration};
use crate::{Error, Result, default, exec};
use std::thread;
use std::time::{Duration, Instant};

/// Result of [`Registration::unload`].
#[derive(Debug)]
pub struct Unloaded {
    /// Whether the programs of `lisa kernel exec` agree with the loaded algorithms again.
    pub exec: Result<()>,
    /// The restored default of this network namespace.
    pub restored: Option<String>,
    /// Number of sockets and namespaces that still had it when the wait ended.
    pub left: u64,
}

impl Registration {
    /// Unregisters it: no socket can choose it any more, and the sockets that have it keep it until they close. If
    /// [`default::make`] made it this namespace's default, the previous default is restored.
    ///
    /// With `wait`, sockets may have it. `wait` is then called about ten times a second with the number of references, until
    /// there are none or it returns false.
    ///
    /// # Errors
    /// [`Error::InUse`], and nothing is changed, if it is the default of another namespace, which would assign it to new sockets
    /// all the same; or if sockets have it and there is no `wait`.
    pub fn unload(&self, wait: Option<&mut dyn FnMut(u64) -> bool>) -> Result<Unloaded> {
        let restored = default::restore(self)?;
        if let Err(error) = self.check_holders(wait.is_some()) {
            if restored.is_some() {
                default::set(self.name())?;
            }
            return Err(error);
        }
        self.unregister()?;
        let exec = match self.owner() {
            None => exec::cgroup::programs::after_unload(),
            Some(_) => Ok(()),
        };
        let left = match wait {
            Some(wait) => self.wait(wait)?,
            None => 0,
        };
        Ok(Unloaded {
            exec,
            restored,
            left,
        })
    }

    /// Waits for the last socket of an unregistered algorithm, as [`Registration::unload`] does. Returns the number of remaining
    /// references.
    pub fn wait(&self, wait: &mut dyn FnMut(u64) -> bool) -> Result<u64> {
        loop {
            let next = Instant::now() + Duration::from_millis(100);
            let left = self.references_now()?;
            if left == 0 || !wait(left) {
                return Ok(left);
            }
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }

    /// Number of sockets and namespaces that have it at this moment.
    fn references_now(&self) -> Result<u64> {
        let all = registry::find_registrations()?;
        let this = all.iter().find(|found| found.map_id() == self.map_id());
        Ok(this.map_or(0, Registration::users))
    }

    /// Checks that it may be unregistered: see [`Registration::unload`]. Waits up to two seconds for the kernel to free sockets that
    /// were just closed and namespaces that were just deleted.
    fn check_holders(&self, waits: bool) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(2);
        loop {
            let this = registry::find_any(self.name())?;
            let Some(this) = Found::registration(this) else {
                return Ok(());
            };
            if this.users() == 0 {
                return Ok(());
            }
            let holders = holders::find()?.of(&this);
            let lasting = |default: &&DefaultOf| !default.ends;
            // A namespace that cannot be entered gets no new sockets, and no command can change its default.
            let assigns_it = |default: &DefaultOf| default.netns.can_be_entered() || !waits;
            if !holders.defaults.iter().filter(lasting).any(assigns_it) && waits {
                return Ok(());
            }
            if !holders.are_passing() || Instant::now() > deadline {
                return Err(Error::InUse {
                    name: self.name().into(),
                    holders: holders.summary(),
                    is_default: holders
                        .defaults
                        .iter()
                        .any(|default| default.netns.can_be_entered()),
                });
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
