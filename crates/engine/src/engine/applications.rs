//! What programs at the ends do when data arrives, or it is time.

use super::settling::note_completion;
use super::{Engine, timer_of};
use crate::flow::{Connection, Side, Traffic};
use lasthop_wire::FlowId;

impl Engine {
    /// Something has come to an end of a connection with applications, or their time has.
    #[cold]
    pub(super) fn ask_application(&mut self, id: FlowId) {
        let now = self.now;
        let carried = &mut self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = &mut carried.traffic else { return };
        let Connection { source, destination, application: Some(application), .. } = &mut **connection else {
            return;
        };
        let [of_source, of_destination] = application.act(now, source, destination);
        let (next, is_over) = (application.next(), application.is_over());
        if is_over {
            note_completion(carried, &mut self.together, now);
        }
        self.timers.at_latest(timer_of(id.0 as usize, Side::Source), next);
        if of_source {
            self.pump(id, Side::Source);
        }
        if of_destination {
            self.pump(id, Side::Destination);
        }
    }
}
