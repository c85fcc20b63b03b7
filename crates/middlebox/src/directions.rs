//! What a box keeps of each flow, by direction of the data.

use crate::{Exit, Site};
use lasthop_wire::{FlowId, Packet};

/// Which way the data goes that a box looks after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Toward {
    /// Down, to the last hop: a mobile that receives.
    Mobile,
    /// Up, from it: a mobile that sends.
    Network,
}

/// For each flow what is kept of its data on the way there, and of that on the way back; `None` where it goes the other way.
#[derive(Debug)]
pub(crate) struct Directions<T>(Vec<[Option<T>; 2]>);

impl<T> Directions<T> {
    /// What `new` makes of each direction whose data goes this way.
    pub(crate) fn new(place: &Site, toward: Toward, new: impl Fn(&Exit) -> T) -> Directions<T> {
        let made = |flow, forward| {
            let exit = place.exit(flow, forward)?;
            (exit.down == (toward == Toward::Mobile)).then(|| new(&exit))
        };
        Directions((0..place.flows.len()).map(|flow| [made(flow, true), made(flow, false)]).collect())
    }

    /// That of the data on a packet's own way, and that of the data on the other one, which it acknowledges.
    pub(crate) fn of(&mut self, packet: &Packet) -> [Option<&mut T>; 2] {
        match self.0.get_mut(packet.flow.0 as usize) {
            Some([there, back]) => {
                if packet.forward {
                    [there.as_mut(), back.as_mut()]
                } else {
                    [back.as_mut(), there.as_mut()]
                }
            }
            None => [None, None],
        }
    }

    /// That of a flow's data on its way there, or back.
    pub(crate) fn one(&mut self, flow: FlowId, forward: bool) -> Option<&mut T> {
        self.0.get_mut(flow.0 as usize)?[usize::from(!forward)].as_mut()
    }

    /// All of them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten().flatten()
    }
}
