//! Everything that is not needed is given up, also for programs started from here.

use caps::{CapSet, Capability, CapsHashSet};
use lasthop_os::SystemError;

/// What is needed to decide on packets, to send marked ones, and to remove the rules at the end.
const NEEDED: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];

/// Whether this thread has what is needed.
pub(crate) fn missing() -> Vec<String> {
    let lacks = |one: &Capability| !caps::has_cap(None, CapSet::Effective, *one).unwrap_or(false);
    NEEDED.into_iter().filter(lacks).map(|one| one.to_string()).collect()
}

/// Gives up the rest, in this thread and those that it starts.
///
/// # Errors
/// If the system refuses.
pub(crate) fn drop_rest() -> Result<(), SystemError> {
    let refused = |error: caps::errors::CapsError| SystemError {
        message: format!("cannot give up capabilities: {error}"),
        help: "is it run in a container that forbids prctl?".to_owned(),
    };
    let needed: CapsHashSet = NEEDED.into_iter().collect();
    // Without CAP_SETPCAP what is started from here may have more; a service has it from its manager.
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
        // Who is not root hands them on to iptables like this; where that is forbidden, root needs no help.
        let _ = caps::raise(None, CapSet::Ambient, one);
    }
    Ok(())
}
