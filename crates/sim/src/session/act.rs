//! Acts between the steps of a session.

use super::{Session, id};
use crate::assemble::pipe_of;
use lasthop_base::Stream;
use lasthop_engine::{LinkChange, PipeId, RequestRefused};
use lasthop_net::Config;
use lasthop_scenario::Hop;
use lasthop_tcp::sender::congestion::Steer;
use std::fmt;

/// An act between steps.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sets cwnd or the pacing rate of a flow with an external congestion control.
    Steer(usize, Steer),
    /// Adds bytes to the data of a flow's source.
    Write(usize, u64),
    /// Requests a response of this many bytes in a flow with `response = "external"`.
    Ask(usize, u64),
    /// Ends the requests of a flow with `response = "external"`.
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
    pub(super) fn apply(&mut self, act: &Act) -> Result<(), Refused> {
        let refused = |it: RequestRefused| Refused(it.clause());
        match act {
            Act::Steer(flow, order) => {
                if !self.takes_orders[*flow] {
                    return Err(Refused("its congestion control is not external"));
                }
                self.run.engine_mut().steer(id(*flow), order);
            }
            Act::Write(flow, bytes) => self.run.engine_mut().write(id(*flow), *bytes),
            Act::Ask(flow, bytes) => self.run.engine_mut().ask(id(*flow), *bytes).map_err(refused)?,
            Act::Close(flow) => self.run.engine_mut().close(id(*flow)).map_err(refused)?,
            Act::Change(hop, change) => {
                let pipe = self.changing_pipe(*hop)?;
                let engine = self.run.engine_mut();
                if let Some(why) = engine.refusal(pipe, change) {
                    return Err(Refused(why.0));
                }
                engine.change(pipe, change);
            }
            Act::Queue(hop, config) => {
                let pipe = self.changing_pipe(*hop)?;
                let random = Stream::named(self.seed, &format!("session.queue.{}", self.log.len()));
                let engine = self.run.engine_mut();
                if let Some(why) = engine.queue_refusal(pipe) {
                    return Err(Refused(why.0));
                }
                engine.set_queue(pipe, config.queue_with(random));
            }
        }
        Ok(())
    }

    fn changing_pipe(&self, hop: Hop) -> Result<PipeId, Refused> {
        if self.changing.contains(&hop) {
            Ok(pipe_of(hop.link, hop.is_down))
        } else {
            Err(Refused("it was not named as a link that changes"))
        }
    }
}
