//! Progress of a long computation, which the command line displays.

/// Receiver of progress reports. Its methods are called from many threads.
pub trait Progress: Sync {
    /// Starts a part of the computation; `part` is its name, and `steps` its number of steps.
    fn begin(&self, part: &str, steps: u64);
    /// Counts one step of the current part.
    fn step(&self);
    /// Ends the current part.
    fn end(&self);
    /// Whether the user cancelled the computation. Work in progress may then stop early; its results are discarded.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores all progress.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64) {}
    fn step(&self) {}
    fn end(&self) {}
}
