//! Records of losses, and models fitted to them.
//!
//! A record is kept as lengths of runs, so that memory grows with the number of bursts. Three models are fitted by
//! maximum likelihood; BIC chooses. Independent losses and Gilbert's model (a bad state that loses all) have closed
//! forms and profile-likelihood intervals. Gilbert and Elliott's model (four probabilities, hidden states) is maximised
//! over the forward algorithm's likelihood, with intervals from the observed information.

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
