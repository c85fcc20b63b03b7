//! Records of losses, and loss models that are fitted to records.
//!
//! A record is stored as lengths of runs (consecutive packets, all lost or all delivered), so that memory grows with
//! the number of bursts. Three models are fitted by maximum likelihood, and BIC chooses one. Two models have estimates
//! in closed form, with intervals from the profile likelihood: independent losses, and Gilbert's model (a bad state
//! that loses all packets). Gilbert and Elliott's model has four probabilities and hidden states. Its likelihood is
//! computed by the forward algorithm and maximised numerically, and its intervals are computed from the observed
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
