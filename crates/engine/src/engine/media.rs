//! Media shared by several pipes.

use crate::pipe::PipeId;

/// Member pipes of each medium.
#[derive(Default)]
pub(super) struct Media(Vec<Vec<PipeId>>);

impl Media {
    pub(super) fn add(&mut self, members: Vec<PipeId>) -> u32 {
        self.0.push(members);
        self.0.len() as u32 - 1
    }

    pub(super) fn member(&self, medium: u32, member: u32) -> Option<PipeId> {
        self.0.get(medium as usize)?.get(member as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_found_by_its_place_in_its_medium() {
        let mut media = Media::default();
        let (one, other) = (media.add(vec![PipeId(4), PipeId(5)]), media.add(vec![PipeId(7)]));
        assert_eq!((media.member(one, 1), media.member(other, 0)), (Some(PipeId(5)), Some(PipeId(7))));
        assert_eq!((media.member(other, 1), media.member(2, 0)), (None, None));
    }
}
