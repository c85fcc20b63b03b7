//! Mechanisms of a node by seam, for scenarios, `lasthop list` and the schema. A caller may add mechanisms.

use crate::{ALL, Build, DEFAULT};
use lasthop_base::{Answer, Choice, Question, Seam};

/// The seam of a node. [`Catalogue::default`] has this crate's middleboxes.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// See [`ALL`].
    pub middlebox: Seam<Build>,
}

impl Default for Catalogue {
    fn default() -> Catalogue {
        let question = "middlebox between the node's links";
        Catalogue { middlebox: Seam::new("node", "middlebox", question, &DEFAULT, ALL) }
    }
}

impl Catalogue {
    /// Returns each seam's label and answers.
    pub fn questions(&self) -> Vec<&Question> {
        vec![self.middlebox.question()]
    }

    /// Stores the answer to the question of this name in `choice`; false if question or answer is unknown.
    pub fn answer(&self, choice: &mut Choice<Build>, question: &Question, answer: &Answer) -> bool {
        question.name == "middlebox" && self.middlebox.answer(answer, choice)
    }
}
