//! List of the middleboxes that a node can have. Scenarios, `lasthop list` and the schema use this list. A caller may
//! add middleboxes.

use crate::{ALL, Build, DEFAULT};
use lasthop_base::{Choice, Seam, SeamInfo, Selection};

/// The kinds of mechanism that a node has. The only kind is the middlebox. [`Catalogue::default`] lists this crate's
/// middleboxes.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The middleboxes that scenarios can select; by default, all of [`ALL`].
    pub middlebox: Seam<Build>,
}

impl Default for Catalogue {
    fn default() -> Catalogue {
        let label = "middlebox between the node's links";
        Catalogue { middlebox: Seam::new("node", "middlebox", label, &DEFAULT, ALL) }
    }
}

impl Catalogue {
    /// Returns the descriptions of all kinds of mechanism.
    pub fn seams(&self) -> Vec<&SeamInfo> {
        vec![self.middlebox.info()]
    }

    /// Stores the selection in `choice`. Returns false if the kind of mechanism or the mechanism is unknown.
    pub fn select(&self, choice: &mut Choice<Build>, seam: &SeamInfo, selection: &Selection) -> bool {
        seam.name == "middlebox" && self.middlebox.select(selection, choice)
    }
}
