//! Drops unneeded capabilities, also for child processes.

use caps::{CapSet, Capability, CapsHashSet};
use lasthop_os::SystemError;

/// Capabilities needed to decide on packets, to send marked packets, and to remove the rules.
const NEEDED: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];

pub(crate) fn missing() -> Vec<String> {
    let lacks = |one: &Capability| !caps::has_cap(None, CapSet::Effective, *one).unwrap_or(false);
    NEEDED.into_iter().filter(lacks).map(|one| one.to_string()).collect()
}

/// Drops all capabilities but `NEEDED`, of this thread and its children.
pub(crate) fn drop_rest() -> Result<(), SystemError> {
    let refused = |error: caps::errors::CapsError| SystemError {
        message: format!("cannot give up capabilities: {error}"),
        help: "a container may forbid prctl: check its seccomp profile".to_owned(),
    };
    let needed: CapsHashSet = NEEDED.into_iter().collect();
    // The bounding set can only be reduced with CAP_SETPCAP. Otherwise the bounding set of the children stays
    // unchanged.
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).unwrap_or(false) {
        for one in caps::read(None, CapSet::Bounding).map_err(refused)? {
            if !needed.contains(&one) {
                caps::drop(None, CapSet::Bounding, one).map_err(refused)?;
            }
        }
    }
    caps::set(None, CapSet::Effective, &needed).map_err(refused)?;
    caps::set(None, CapSet::Permitted, &needed).map_err(refused)?;
    caps::set(None, CapSet::Inheritable, &needed).map_err(refused)?;
    for one in NEEDED {
        // An agent without root passes these capabilities on to iptables. Root needs no ambient capabilities, so a
        // failure is ignored.
        let _ = caps::raise(None, CapSet::Ambient, one);
    }
    Ok(())
}
