//! Every mechanism of a node, by seam: what scenarios, `lasthop list` and the schema read. A caller may add to it.

use crate::{ALL, Build, DEFAULT};
use lasthop_base::{Answer, Choice, Question, Seam};

/// The seam of a node. [`Catalogue::default`] has this crate's middleboxes; who brings one adds it.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// See the crate.
    pub middlebox: Seam<Build>,
}

impl Default for Catalogue {
    fn default() -> Catalogue {
        let question = "middlebox between the node's links";
        Catalogue { middlebox: Seam::new("node", "middlebox", question, &DEFAULT, ALL) }
    }
}

impl Catalogue {
    /// Every question, with a description of its answers.
    pub fn questions(&self) -> Vec<&Question> {
        vec![self.middlebox.question()]
    }

    /// Puts the answer to the question of this name in its place; false if there is no such question or answer.
    pub fn answer(&self, place: &mut Choice<Build>, question: &str, answer: &Answer) -> bool {
        question == "middlebox" && self.middlebox.answer(answer, place)
    }
}
