//! What the service has loaded and set, and changes of it.

use super::config::Config;
use super::instance::{Instance, Record};
use super::log::Log;
use super::namespaces::Deleted;
use super::publish::Publisher;
use crate::default::{self, Restored};
use crate::load::{self, How, Options};
use crate::namespace::{Namespace, Namespaces};
use crate::registry::{self, Found, Registered};
use crate::totals::{self, Former};
use crate::{Error, Result, holders, left_over};
use std::collections::{BTreeMap, BTreeSet};

/// The state of the kernel, as far as it is the work of the service.
pub(super) struct State {
    instance: Instance,
    config: Config,
    /// Names of the algorithms that it has loaded, or found loaded and named in its file.
    algorithms: BTreeSet<String>,
    /// Inode number of its network namespace, if it has set its default.
    own: Option<u32>,
    /// Named network namespaces whose default it has set, by inode number.
    named: BTreeMap<u32, Named>,
    /// Whether it has reported why `lisa kernel exec` uses its helper.
    exec_reported: bool,
    former: Former,
    publisher: Publisher,
}

/// A named network namespace and its default.
#[derive(Clone, PartialEq, Eq)]
struct Named {
    name: String,
    algorithm: String,
}

impl State {
    /// Continues the work of an instance that was killed.
    ///
    /// # Errors
    /// If the named network namespaces cannot be read.
    pub(super) fn new(instance: Instance, record: Record) -> Result<Self> {
        let mut named = BTreeMap::new();
        for found in Namespaces::named()? {
            let name = found.name.unwrap_or_default();
            if let Some(algorithm) = record.namespaces.get(&name).cloned() {
                named.insert(found.inode, Named { name, algorithm });
            }
        }
        Ok(Self {
            instance,
            config: Config::default(),
            algorithms: record.algorithms,
            own: record.own,
            named,
            exec_reported: false,
            former: Former::default(),
            publisher: Publisher::default(),
        })
    }

    /// Gives the kernel the state that a file describes. Running connections continue.
    ///
    /// # Errors
    /// The first algorithm that cannot be loaded or changed, or the default that cannot be set. Algorithms that this call loaded
    /// are unloaded again.
    pub(super) fn change(&mut self, config: Config, log: &mut Log<'_>) -> Result<()> {
        let mut new = Vec::new();
        let changed = self
            .apply_algorithms(&config.algorithms, &mut new, log)
            .and_then(|()| self.publisher.change(&config.metrics, log))
            .and_then(|()| self.set_own(config.default.as_deref(), log));
        if let Err(error) = changed {
            for name in new {
                self.remove(&name, None, log)?;
            }
            return Err(error);
        }
        self.config = config;
        self.set_named(log);
        self.remove_unnamed(log);
        self.gather(log);
        self.publisher.write(log);
        self.record(log);
        Ok(())
    }

    /// Loads or changes each algorithm. Pushes the loaded ones to `new`.
    fn apply_algorithms(
        &mut self,
        algorithms: &BTreeMap<String, Options>,
        new: &mut Vec<String>,
        log: &mut Log<'_>,
    ) -> Result<()> {
        for (name, options) in algorithms {
            let applied = load::apply(name, options)?;
            let room = format!("at most {} coupled connections", options.max_connections);
            match applied.how {
                How::Loaded => {
                    new.push(name.clone());
                    log.info(&format!("loaded `{name}`: {room}"));
                    if let (Err(why), false) = (&applied.exec, self.exec_reported) {
                        self.exec_reported = true;
                        log.info(&format!(
                            "`lisa kernel exec` uses a helper process for each command ({why})"
                        ));
                    }
                }
                How::Unchanged if self.algorithms.contains(name) => {}
                How::Unchanged => log.info(&format!("`{name}` is loaded already: {room}")),
                How::Changed => log.info(&format!("changed `{name}` for new connections: {room}")),
                How::Replaced => log.info(&format!(
                    "loaded `{name}` anew: {room}; open connections keep the former load until they close"
                )),
            }
            self.algorithms.insert(name.clone());
        }
        Ok(())
    }

    /// Sets the default of the network namespace of the service, or sets it back.
    fn set_own(&mut self, algorithm: Option<&str>, log: &mut Log<'_>) -> Result<()> {
        let here = default::netns()?;
        if let Some(name) = algorithm {
            let (plain, changed) = default::make(&registry::find_one(name)?)?;
            self.own = Some(here);
            if changed {
                log.info(&format!(
                    "the default of this network namespace is `{name}`, plain TCP keeps `{plain}`"
                ));
            }
        } else if self.own.take() == Some(here) {
            if let Some((_, to)) = default::off()? {
                log.info(&format!(
                    "the default of this network namespace is `{to}` again"
                ));
            }
        }
        Ok(())
    }

    /// Sets the defaults of the named network namespaces that have another one than the file names. A failure is reported; it
    /// concerns one namespace.
    fn set_named(&mut self, log: &mut Log<'_>) {
        let found = match Namespaces::named() {
            Ok(found) => found,
            Err(error) => return log.error(&error.to_string()),
        };
        let mounted: BTreeMap<u32, &str> = found
            .iter()
            .filter_map(|found| Some((found.inode, found.name.as_deref()?)))
            .collect();
        self.named
            .retain(|inode, named| mounted.get(inode) == Some(&named.name.as_str()));
        for namespace in &found {
            let name = namespace.name.clone().unwrap_or_default();
            let before = self.named.get(&namespace.inode);
            let Some(rule) = self.config.rule_of(&name) else {
                if self.named.remove(&namespace.inode).is_some() {
                    report(namespace, namespace.run(default::off), log);
                }
                continue;
            };
            let named = Named {
                algorithm: rule.algorithm.clone(),
                name,
            };
            if before == Some(&named) {
                continue;
            }
            match set_default(namespace, &named.algorithm) {
                Ok(line) => line.into_iter().for_each(|line| log.info(&line)),
                // It may have been deleted meanwhile.
                Err(_) if !is_mounted(namespace) => continue,
                Err(error) => log.warning(&format!("{namespace}: {error}")),
            }
            self.named.insert(namespace.inode, named);
        }
    }

    /// Sets the defaults of named network namespaces that are new.
    pub(super) fn namespaces_changed(&mut self, deleted: Deleted, log: &mut Log<'_>) {
        match deleted {
            Deleted::Names(names) => self.named.retain(|_, named| !names.contains(&named.name)),
            Deleted::Any => self.named.clear(),
        }
        self.set_named(log);
        self.record(log);
    }

    /// Unloads the algorithms that the file does not name any more. Namespaces that have one of them as default get the file's
    /// default, if the service has set it in the first namespace, from which they inherit; else the previous default.
    fn remove_unnamed(&mut self, log: &mut Log<'_>) {
        let named = &self.config.algorithms;
        let unnamed = self.algorithms.iter().filter(|n| !named.contains_key(*n));
        let unnamed: Vec<String> = unnamed.cloned().collect();
        let inherited = self
            .config
            .default
            .as_deref()
            .filter(|_| default::is_first());
        let to = match inherited.map(registry::find_one).transpose() {
            Ok(to) => to,
            Err(error) => return log.error(&error.to_string()),
        };
        for name in unnamed {
            if let Err(error) = self.remove(&name, to.as_ref(), log) {
                log.error(&error.to_string());
            }
        }
    }

    /// Unloads an algorithm, after the defaults that refer to it were replaced. Sockets keep it until they close.
    fn remove(&mut self, name: &str, to: Option<&Registered>, log: &mut Log<'_>) -> Result<()> {
        self.algorithms.remove(name);
        let found = holders::find()?;
        // An earlier registration of this name may be a default, too, and is unloaded already.
        for registered in registry::find_registrations()?
            .iter()
            .filter(|r| r.name() == name)
        {
            for restored in default::replace(registered, &found, to) {
                let Restored { netns, to, .. } = restored;
                match to {
                    Ok(to) if Some(netns.inode) == self.own => {
                        log.info(&format!("the default of this network namespace is `{to}`"));
                    }
                    Ok(to) => log.info(&format!("{netns}: the default is `{to}`")),
                    Err(error) => log.warning(&error),
                }
            }
        }
        let registered = match registry::find_any(name) {
            // Unloaded by a command.
            Err(Error::NotLoaded { .. } | Error::Foreign { .. }) => return Ok(()),
            Err(error) | Ok(Found::Damaged(error)) => return Err(error),
            Ok(found) => found.registration().expect("it is not damaged"),
        };
        let left = match registered.unload(Some(&mut |_| false)) {
            Ok(unloaded) => unloaded.left,
            // It became the default of a namespace meanwhile. No command can undo the state after this.
            Err(in_use @ Error::InUse { .. }) => {
                log.warning(&in_use.to_string());
                registered.unregister()?;
                registered.users()
            }
            Err(error) => return Err(error),
        };
        log.info(&match left {
            0 => format!("unloaded `{name}`"),
            1 => format!("unloaded `{name}`, which 1 socket or namespace keeps until its end"),
            n => format!("unloaded `{name}`, which {n} sockets or namespaces keep until their end"),
        });
        Ok(())
    }

    /// Restores the defaults and unloads everything.
    ///
    /// # Errors
    /// The last failure. The other algorithms are unloaded all the same.
    pub(super) fn stop(&mut self, log: &mut Log<'_>) -> Result<()> {
        let mut result = Ok(());
        self.publisher.end();
        for name in self.algorithms.clone() {
            if let Err(error) = self.remove(&name, None, log) {
                result = Err(error);
            }
        }
        (self.own, self.config) = (None, Config::default());
        self.named.clear();
        self.record(log);
        result
    }

    /// Writes the metrics into the text file, with the counters of former loads.
    pub(super) fn publish(&mut self, log: &mut Log<'_>) {
        if !self.former.is_empty() {
            self.gather(log);
        }
        self.publisher.write(log);
    }

    fn gather(&mut self, log: &mut Log<'_>) {
        if let Err(error) = self.former.gather() {
            log.warning(&format!("counters of former loads: {error}"));
        }
    }

    /// Deletes the entries of connections without sockets.
    pub(super) fn delete_left_over(&mut self, log: &mut Log<'_>) {
        self.gather(log); // a command may have replaced a load
        if let Err(error) = self.try_delete_left_over(log) {
            log.warning(&format!(
                "entries without a socket are not deleted: {error}"
            ));
        }
    }

    fn try_delete_left_over(&self, log: &mut Log<'_>) -> Result<()> {
        // Loading the programs that list the sockets costs more than all else here: not without entries, and once for all.
        let mut sockets = None;
        for registered in registry::find()? {
            let name = registered.name();
            if registered.is_leaving() || !self.algorithms.contains(name) {
                continue;
            }
            totals::make_room(&registered)?;
            if left_over::is_empty(&registered) {
                continue;
            }
            let found = match &mut sockets {
                Some(found) => found,
                none => none.insert(holders::find()?),
            };
            match left_over::delete(&registered, found)? {
                0 => {}
                n => log.info(&format!(
                    "`{name}`: deleted {n} entries of connections without a socket"
                )),
            }
        }
        Ok(())
    }

    /// One line for the service manager.
    pub(super) fn summary(&self) -> String {
        let mut parts = Vec::new();
        if self.algorithms.is_empty() {
            parts.push("the file names no algorithm".into());
        } else {
            let names: Vec<&str> = self.algorithms.iter().map(String::as_str).collect();
            parts.push(names.join(", "));
        }
        if let Some(name) = &self.config.default {
            parts.push(format!("default {name}"));
        }
        match self.named.len() {
            0 => {}
            1 => parts.push("1 named network namespace".into()),
            n => parts.push(format!("{n} named network namespaces")),
        }
        parts.join("; ")
    }

    fn record(&mut self, log: &mut Log<'_>) {
        let named = self.named.values();
        let record = Record {
            pid: std::process::id(),
            algorithms: self.algorithms.clone(),
            own: self.own,
            namespaces: named
                .map(|named| (named.name.clone(), named.algorithm.clone()))
                .collect(),
        };
        if let Err(error) = self.instance.write(record) {
            log.warning(&error.to_string());
        }
    }
}

/// Sets the default of a namespace. Returns the line that reports it, if it was another one before.
fn set_default(namespace: &Namespace, algorithm: &str) -> Result<Option<String>> {
    let registered = registry::find_one(algorithm)?;
    let (plain, changed) = namespace.run(|| default::make(&registered))?;
    let line = format!("{namespace}: the default is `{algorithm}`, plain TCP keeps `{plain}`");
    Ok(changed.then_some(line))
}

fn is_mounted(namespace: &Namespace) -> bool {
    let same = |found: &Namespace| (found.inode, &found.name) == (namespace.inode, &namespace.name);
    Namespaces::named().is_ok_and(|found| found.iter().any(same))
}

fn report(namespace: &Namespace, off: Result<Option<(String, String)>>, log: &mut Log<'_>) {
    match off {
        Ok(Some((_, to))) => log.info(&format!("{namespace}: the default is `{to}` again")),
        Ok(None) => {} // changed meanwhile
        Err(error) => log.warning(&format!("{namespace}: {error}")),
    }
}
