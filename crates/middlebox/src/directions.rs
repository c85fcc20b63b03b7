//! State of a middlebox for each flow and each direction of its data.

use crate::{Exit, Site};
use lasthop_wire::{FlowId, Packet};

/// Direction of the data that a middlebox serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Toward {
    /// Data goes down to the last hop: the mobile receives.
    Mobile,
    /// Data comes up from the last hop: the mobile sends.
    Network,
}

/// Two states for each flow: first the state for the forward data, then the state for the reverse data. A state is
/// `None` if the middlebox does not serve that direction.
#[derive(Debug)]
pub(crate) struct PerDirection<T>(Vec<[Option<T>; 2]>);

impl<T> PerDirection<T> {
    /// Builds the states, with a call of `new` for each direction whose data goes `toward`.
    pub(crate) fn new(site: &Site, toward: Toward, new: impl Fn(&Exit) -> T) -> PerDirection<T> {
        let made = |flow, forward| {
            let exit = site.exit(flow, forward)?;
            (exit.down == (toward == Toward::Mobile)).then(|| new(&exit))
        };
        PerDirection((0..site.flows.len()).map(|flow| [made(flow, true), made(flow, false)]).collect())
    }

    /// Returns two states: the state for data in the packet's direction, and the state for the data that the packet
    /// acknowledges.
    pub(crate) fn by_direction(&mut self, packet: &Packet) -> [Option<&mut T>; 2] {
        match self.0.get_mut(packet.flow.0 as usize) {
            Some([forward_state, reverse_state]) => {
                if packet.forward {
                    [forward_state.as_mut(), reverse_state.as_mut()]
                } else {
                    [reverse_state.as_mut(), forward_state.as_mut()]
                }
            }
            None => [None, None],
        }
    }

    pub(crate) fn get_mut(&mut self, flow: FlowId, forward: bool) -> Option<&mut T> {
        self.0.get_mut(flow.0 as usize)?[usize::from(!forward)].as_mut()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten().flatten()
    }
}
