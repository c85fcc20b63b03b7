//! How far a long computation has come; the command line draws it.

/// Is told of steps. Called from many threads.
pub trait Progress: Sync {
    /// A part begins: its name, and how many steps it has.
    fn begin(&self, part: &str, steps: u64);
    /// One step of the current part is done.
    fn step(&self);
    /// The current part is done.
    fn end(&self);
    /// Whether the user wants to stop: what is under way may end early, its results are not used.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Tells nobody.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64) {}
    fn step(&self) {}
    fn end(&self) {}
}
