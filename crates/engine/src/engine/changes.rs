//! What may be set on a pipe while the engine runs: rate, delay, losses. It happens at the engine's time, between events,
//! so that the same changes at the same times give the same run.

use super::Engine;
use crate::pipe::PipeId;
use lasthop_base::Duration;
use lasthop_net::{Change, Fixed, Setting};

impl Engine {
    /// What holds on a pipe now; `None` if that cannot be said in a few numbers.
    pub fn setting(&self, pipe: PipeId) -> Option<Setting> {
        self.pipes[pipe.0 as usize].line.setting()
    }

    /// Why a change of a pipe is not possible; `None` if it is.
    pub fn refuses(&self, pipe: PipeId, change: &Change) -> Option<Fixed> {
        self.pipes[pipe.0 as usize].line.refuses(change)
    }

    /// Changes a pipe now, which is where [`Engine::run_until`] has got to, in what it does not refuse. Nobody is told of it:
    /// not a middlebox, and no host that asks for plans.
    pub fn change(&mut self, pipe: PipeId, change: &Change) {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.change(now, change, &mut self.decided);
        self.take_decisions(pipe);
    }

    /// How long a packet that joins a pipe now would wait until its first bit is sent, if nothing is changed and that can
    /// be said.
    pub fn wait(&mut self, pipe: PipeId) -> Option<Duration> {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.wait(now)
    }
}
