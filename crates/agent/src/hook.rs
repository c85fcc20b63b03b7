//! Attaches the kernel program to a device: as a tcx link (since Linux 6.6), or as a filter of the clsact qdisc on
//! older kernels.
//!
//! A tcx link is a file descriptor, so the kernel removes the link when the process ends. A clsact filter remains after
//! the process is killed. Without heartbeats the filter does nothing, and the next start of an agent removes the
//! filter.

use aya::programs::tc::{
    NlOptions, SchedClassifierLink, TcAttachOptions, qdisc_add_clsact, qdisc_detach_program,
};
use aya::programs::{LinkOrder, ProgramError, SchedClassifier, TcAttachType};
use aya::util::KernelVersion;

/// Kind of attachment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hook {
    /// A tcx link.
    Tcx,
    /// A filter of the clsact qdisc.
    Clsact,
}

impl Hook {
    /// Returns the attachment that this kernel supports.
    pub fn of_kernel() -> Hook {
        match KernelVersion::current() {
            Ok(version) if version < KernelVersion::new(6, 6, 0) => Hook::Clsact,
            _ => Hook::Tcx,
        }
    }

    /// Attaches a loaded program; dropping the link detaches the program.
    pub(crate) fn attach(
        self,
        program: &mut SchedClassifier,
        name: &str,
        device: &str,
        attach_type: TcAttachType,
    ) -> Result<SchedClassifierLink, ProgramError> {
        let options = match self {
            Hook::Tcx => TcAttachOptions::TcxOrder(LinkOrder::default()),
            Hook::Clsact => {
                // The qdisc may exist already, so a failure is ignored. If the qdisc is missing, the attachment below
                // fails.
                let _ = qdisc_add_clsact(device);
                // A killed agent leaves its filter behind.
                let _ = qdisc_detach_program(device, attach_type, name);
                TcAttachOptions::Netlink(NlOptions::default())
            }
        };
        let link = program.attach_with_options(device, attach_type, options)?;
        program.take_link(link)
    }
}
