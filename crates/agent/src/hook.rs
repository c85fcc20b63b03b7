//! Where the kernel's program is attached to a device: tcx (Linux 6.6), or a filter of the qdisc clsact on older kernels.
//!
//! A link of tcx is a file descriptor, which goes with its process. A filter stays when its process is killed: it then does
//! nothing, since nobody is alive for it, and the next start removes it.

use aya::programs::tc::{
    NlOptions, SchedClassifierLink, TcAttachOptions, qdisc_add_clsact, qdisc_detach_program,
};
use aya::programs::{LinkOrder, ProgramError, SchedClassifier, TcAttachType};
use aya::util::KernelVersion;

/// How programs are attached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hook {
    /// By a link of its own.
    Tcx,
    /// As a filter.
    Clsact,
}

impl Hook {
    /// What this kernel has.
    pub fn of_kernel() -> Hook {
        match KernelVersion::current() {
            Ok(version) if version < KernelVersion::new(6, 6, 0) => Hook::Clsact,
            _ => Hook::Tcx,
        }
    }

    /// Attaches a loaded program of this name; it is detached with what is given back.
    pub(crate) fn attach(
        self,
        program: &mut SchedClassifier,
        name: &str,
        device: &str,
        way: TcAttachType,
    ) -> Result<SchedClassifierLink, ProgramError> {
        let options = match self {
            Hook::Tcx => TcAttachOptions::TcxOrder(LinkOrder::default()),
            Hook::Clsact => {
                // It may be there; if it is not to be had, attaching says so.
                let _ = qdisc_add_clsact(device);
                // Of an agent that was killed.
                let _ = qdisc_detach_program(device, way, name);
                TcAttachOptions::Netlink(NlOptions::default())
            }
        };
        let link = program.attach_with_options(device, way, options)?;
        program.take_link(link)
    }
}
