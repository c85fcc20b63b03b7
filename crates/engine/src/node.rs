//! A node with a middlebox, between the pipes that end there and those that begin.

use crate::pipe::PipeId;
use lasthop_middlebox::Middlebox;

/// Which node: the number that its owner gave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// What a node's middlebox has done. A node without one only forwards, and the engine knows nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeAccount {
    /// Packets that came.
    pub came: u64,
    /// Of these, those that went on.
    pub passed: u64,
    /// Copies of earlier packets.
    pub repeated: u64,
    /// Packets of its own.
    pub made: u64,
    /// Packets that it received in the place of the host that they were sent to.
    pub received: u64,
    /// Packets that it took out.
    pub dropped: u64,
}

pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) middlebox: Box<dyn Middlebox>,
    /// For each route the hop by which it leaves the node, if it passes.
    pub(crate) exits: Vec<Option<u8>>,
    pub(crate) account: NodeAccount,
}

/// For each route the hop behind the one that ends in one of these pipes.
pub(crate) fn exits(routes: &[Vec<PipeId>], ending: &[PipeId]) -> Vec<Option<u8>> {
    let exit = |route: &Vec<PipeId>| {
        let before_last = &route[..route.len() - 1];
        before_last.iter().position(|pipe| ending.contains(pipe)).map(|hop| hop as u8 + 1)
    };
    routes.iter().map(exit).collect()
}
