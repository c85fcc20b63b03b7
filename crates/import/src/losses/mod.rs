//! Records of losses: which packets were lost, and which model loses so.
//!
//! A record is kept as lengths of runs, so that memory grows with the number of bursts. Three models are fitted by
//! maximum likelihood: independent losses, Gilbert's (a bad state that loses all) and Gilbert and Elliott's (four
//! probabilities, states hidden). Independent losses and Gilbert's have closed forms and profile-likelihood intervals; the
//! third is maximised over the forward algorithm's likelihood, with intervals from the observed information. BIC chooses.

mod elliott;
mod fit;
mod interval;
mod reader;
mod record;
mod runs;
mod search;

pub use fit::{Fit, Model, fitted};
pub(crate) use reader::read;
pub use record::Record;
