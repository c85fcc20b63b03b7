//! Records of losses, and loss models that are fitted to records.
//!
//! A record is stored as lengths of runs (consecutive packets, all lost or all delivered), so memory grows with the
//! number of bursts. Three models are fitted by maximum likelihood, and BIC chooses one:
//! * independent losses: closed form, with an interval from the profile likelihood;
//! * Gilbert's model, whose bad state loses all packets: closed form, with intervals from the profile likelihood;
//! * the Gilbert-Elliott model, with four probabilities and hidden states: the forward algorithm computes the
//!   likelihood, a numerical search maximises it, and the observed information gives the intervals.

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
