//! Progress of a long computation, which the command line displays.

/// Receiver of progress reports. Many threads call its methods.
pub trait Progress: Sync {
    /// Starts a part of the computation. `part` is the name of the part, and `steps` its number of steps.
    fn begin(&self, part: &str, steps: u64);
    /// Counts one step of the current part.
    fn step(&self);
    /// Ends the current part.
    fn end(&self);
    /// Whether the user has cancelled the computation. If so, work in progress may stop early, and its results are
    /// discarded.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Receiver that ignores all progress reports.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64) {}
    fn step(&self) {}
    fn end(&self) {}
}
