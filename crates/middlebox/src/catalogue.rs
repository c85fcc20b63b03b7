//! Mechanisms of a node by seam, for scenarios, `lasthop list` and the schema. A caller may add mechanisms.

use crate::{ALL, Build, DEFAULT};
use lasthop_base::{Choice, Seam, SeamInfo, Selection};

/// The seam of a node. [`Catalogue::default`] has this crate's middleboxes.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// See [`ALL`].
    pub middlebox: Seam<Build>,
}

impl Default for Catalogue {
    fn default() -> Catalogue {
        let label = "middlebox between the node's links";
        Catalogue { middlebox: Seam::new("node", "middlebox", label, &DEFAULT, ALL) }
    }
}

impl Catalogue {
    /// Descriptions of all seams.
    pub fn seams(&self) -> Vec<&SeamInfo> {
        vec![self.middlebox.info()]
    }

    /// Stores the selection in `choice`; returns false for an unknown seam or mechanism.
    pub fn select(&self, choice: &mut Choice<Build>, seam: &SeamInfo, selection: &Selection) -> bool {
        seam.name == "middlebox" && self.middlebox.select(selection, choice)
    }
}
