//! Acts between the steps of a session.

use super::{Session, id};
use crate::assemble::{hosts_of, pipe_of};
use lasthop_base::Stream;
use lasthop_engine::{LinkChange, RequestRefused};
use lasthop_net::Config;
use lasthop_scenario::Hop;
use lasthop_tcp::sender::congestion::Steer;
use std::fmt;

/// An act between steps.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sets cwnd or the pacing rate of a flow with an external congestion control.
    Steer(usize, Steer),
    /// Adds this many bytes to the data of a flow with `transfer = "external"`. Before the flow begins, the data is kept
    /// until then.
    Write(usize, u64),
    /// Requests a response of this many bytes in a flow with `response = "external"`.
    Ask(usize, u64),
    /// Ends the requests of a flow with `response = "external"`, or the data of a flow with `transfer = "external"`.
    Close(usize),
    /// Changes rate, delay or losses of a direction.
    Change(Hop, LinkChange),
    /// Replaces the queue of a direction by the queue of this configuration.
    Queue(Hop, Box<Config>),
}

/// Reason why an act was refused. `Display` writes a clause such as `its congestion control is not external`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused(pub &'static str);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Session {
    /// Reason why a change of a link or of its queue would be refused now; `None` if the change is possible, and for other
    /// acts.
    pub fn refusal(&self, act: &Act) -> Option<Refused> {
        let engine = self.run.engine();
        let (hop, why) = match act {
            Act::Change(hop, change) => {
                (hop, engine.refusal(pipe_of(hop.link, hop.is_down), change).map(|why| Refused(why.0)))
            }
            Act::Queue(hop, _) => {
                (hop, engine.queue_refusal(pipe_of(hop.link, hop.is_down)).map(|why| Refused(why.0)))
            }
            Act::Steer(..) | Act::Write(..) | Act::Ask(..) | Act::Close(_) => return None,
        };
        if self.changing.contains(hop) {
            why
        } else {
            Some(Refused("it was not named as a link that changes"))
        }
    }

    pub(super) fn apply(&mut self, act: &Act) -> Result<(), Refused> {
        let refused = |it: RequestRefused| Refused(it.clause());
        if let Some(why) = self.refusal(act) {
            return Err(why);
        }
        if matches!(act, Act::Write(..) | Act::Ask(..) | Act::Close(_)) && self.has_ended() {
            return Err(Refused("the run has ended"));
        }
        let random = Stream::named(self.seed, &format!("session.queue.{}", self.log.len()));
        let engine = self.run.engine_mut();
        match act {
            Act::Steer(flow, order) => {
                if !*self.takes_orders[*flow].get_or_insert_with(|| engine.takes_orders(id(*flow))) {
                    return Err(Refused("its congestion control is not external"));
                }
                engine.steer(id(*flow), order);
            }
            Act::Write(flow, bytes) => engine.write(id(*flow), *bytes).map_err(refused)?,
            Act::Ask(flow, bytes) => engine.ask(id(*flow), *bytes).map_err(refused)?,
            Act::Close(flow) => engine.close(id(*flow)).map_err(refused)?,
            Act::Change(hop, change) => engine.change(pipe_of(hop.link, hop.is_down), change),
            Act::Queue(hop, config) => {
                let hosts = config.needs_hosts().then(|| hosts_of(&self.scenario));
                let queue = Config { hosts, ..(**config).clone() }.queue_with(random);
                engine.set_queue(pipe_of(hop.link, hop.is_down), queue);
            }
        }
        Ok(())
    }
}
