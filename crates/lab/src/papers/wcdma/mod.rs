//! What the two chapters over W-CDMA (koga4, koga5) share: scenarios by series and abscissa, verdicts, blocks of a chapter.

pub(super) mod blocks;
pub(super) mod claims;
pub(super) mod grid;
pub(super) mod row;
