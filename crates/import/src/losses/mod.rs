//! Records of losses, and loss models that are fitted to them.
//!
//! A record is stored as lengths of runs (consecutive packets with the same fate), so that memory grows with the number
//! of bursts. Three models are fitted by maximum likelihood, and BIC chooses one. For independent losses and for
//! Gilbert's model (a bad state that loses all packets), the estimates have closed forms and the intervals are computed
//! from the profile likelihood. Gilbert and Elliott's model has four probabilities and hidden states. Its likelihood is
//! computed by the forward algorithm and maximised numerically; the intervals are computed from the observed
//! information.

mod elliott;
mod fit;
mod interval;
mod loss_record;
mod reader;
mod runs;
mod search;

pub use fit::{Fit, LossModel, fitted};
pub use loss_record::LossRecord;
pub(crate) use reader::read;
