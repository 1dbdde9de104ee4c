//! Capabilities of this process (capabilities(7)).

use caps::{CapSet, Capability};

/// Capabilities that an operation may lack, with those that include them.
const NEEDED: [(Capability, &[Capability]); 4] = [
    (Capability::CAP_SYS_ADMIN, &[]),
    (Capability::CAP_NET_ADMIN, &[]),
    (Capability::CAP_BPF, &[Capability::CAP_SYS_ADMIN]),
    (Capability::CAP_PERFMON, &[Capability::CAP_SYS_ADMIN]),
];

/// Names of the capabilities that work on loaded algorithms needs and that this process does not have.
///
/// CAP_SYS_ADMIN opens BPF objects by their ids and enters network namespaces. It includes CAP_BPF and CAP_PERFMON, which
/// load programs. CAP_NET_ADMIN loads programs of the network and changes a namespace's default.
pub fn missing() -> Vec<String> {
    // If they cannot be read, the operation itself reports the lack.
    let effective = caps::read(None, CapSet::Effective).unwrap_or_else(|_| caps::all());
    let has = |capability: &Capability| effective.contains(capability);
    let lacks = |(capability, including): &&(Capability, &[Capability])| {
        !has(capability) && !including.iter().any(has)
    };
    let missing = NEEDED.iter().filter(lacks);
    missing
        .map(|(capability, _)| capability.to_string())
        .collect()
}

/// These names in one line: `CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN`.
pub fn list(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Whether this process sees the namespaces of processes that have more capabilities than itself.
pub(crate) fn sees_all_processes() -> bool {
    caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_PTRACE).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists() {
        let list = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            super::list(&names)
        };
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["A"]), "A");
        assert_eq!(list(&["A", "B", "C"]), "A, B and C");
    }
}
