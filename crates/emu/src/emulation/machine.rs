//! Load of the machine, from the kernel's tick counts of all processors (proc(5), /proc/stat).

use std::fs;

/// Processor time since boot, in kernel ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ticks {
    total: u64,
    idle: u64,
    stolen: u64,
}

/// Shares of processor time, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// Idle, or waiting for a disk.
    pub idle: f64,
    /// Used by other virtual machines (steal time of the hypervisor).
    pub stolen: f64,
}

impl Ticks {
    /// Returns the current tick counts; `None` if /proc/stat is unreadable.
    pub fn now() -> Option<Ticks> {
        Ticks::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn read(text: &str) -> Option<Ticks> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // Columns: user nice system idle iowait irq softirq steal; guest time is part of user.
        let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        let [.., _, idle, waiting, _, _, stolen] = ticks[..] else { return None };
        Some(Ticks { total: ticks.iter().sum(), idle: idle + waiting, stolen })
    }

    /// Returns the load between this count and a later count; `None` if no time has passed.
    pub fn until(&self, later: &Ticks) -> Option<Load> {
        let total = later.total.checked_sub(self.total).filter(|total| *total > 0)? as f64;
        let share = |before: u64, after: u64| after.saturating_sub(before) as f64 / total;
        Some(Load { idle: share(self.idle, later.idle), stolen: share(self.stolen, later.stolen) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_from_differences() {
        let before = Ticks::read("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n").expect("valid tick counts");
        let after = Ticks::read("cpu  160 0 60 810 60 0 0 10 0 0\n").expect("valid tick counts");
        let load = before.until(&after).expect("time has passed");
        assert!((load.idle - 0.2).abs() < 1e-9 && (load.stolen - 0.1).abs() < 1e-9, "{load:?}");
        assert_eq!(after.until(&after), None);
        assert_eq!(Ticks::read("cpu  1 2\n"), None);
    }
}
