//! What directions of links tell each other, and the media that they share.

use super::Engine;
use crate::agenda::Tournament;
use crate::pipe::{Behind, Pipe, PipeId};
use lasthop_base::Time;
use lasthop_net::across::{Across, Word};
use lasthop_net::{Element, Line};

/// A tournament of pipes' heads. Those of elements move twice for each packet: for what they decide, and where it arrives.
pub(super) fn heads_of(pipes: &[Pipe]) -> Tournament {
    let elements = (0..).zip(pipes).filter(|(_, pipe)| matches!(pipe.line, Line::Element(_)));
    let often: Vec<u32> = elements.map(|(number, _)| number).collect();
    Tournament::with(pipes.len(), &often)
}

impl Engine {
    /// Two pipes are the directions of one link: what one tells the other gets there. Else it is lost.
    pub fn couple(&mut self, one: PipeId, other: PipeId) {
        self.pipes[one.0 as usize].opposite = Some(other);
        self.pipes[other.0 as usize].opposite = Some(one);
    }

    /// Pipes share a medium: what they tell is for its arbiter, which knows them by their places in the list. To be called
    /// before the first event.
    pub fn share_medium(&mut self, arbiter: Box<dyn Element>, members: Vec<PipeId>) {
        let medium = PipeId(self.pipes.len() as u32);
        for (member, pipe) in members.iter().enumerate() {
            let word = Word::Joined;
            self.pipes[pipe.0 as usize].opposite = Some(medium);
            self.tell(*pipe, Across::Air { member: member as u32, word });
        }
        let behind = Behind::Medium(self.media.len() as u32);
        self.media.push(members);
        self.pipes.push(Pipe { behind, ..Pipe::new(Line::Element(arbiter)) });
        self.renumber();
    }

    /// The heads of all pipes compete, after some were added.
    pub(super) fn renumber(&mut self) {
        self.heads = heads_of(&self.pipes);
        for (number, pipe) in (0..).zip(&self.pipes) {
            let due = pipe.due();
            if due < Time::NEVER {
                self.heads.set(number, due);
            }
        }
    }

    /// One direction of a link tells something to the other, or to the medium; a medium to a direction.
    pub(super) fn tell_opposite(&mut self, at: PipeId, across: Across) {
        let pipe = &self.pipes[at.0 as usize];
        let other = match (across, pipe.behind) {
            (Across::Air { member, .. }, Behind::Medium(medium)) => {
                self.media[medium as usize].get(member as usize).copied()
            }
            _ => pipe.opposite,
        };
        if let Some(other) = other {
            self.tell(other, across);
            let due = self.pipes[other.0 as usize].due();
            self.heads.set(other.0, due);
        }
    }

    fn tell(&mut self, pipe: PipeId, across: Across) {
        if let Line::Element(element) = &mut self.pipes[pipe.0 as usize].line {
            element.handle_across(self.now, across);
        }
    }
}
