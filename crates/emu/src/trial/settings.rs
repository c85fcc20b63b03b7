//! Kernel settings that make the kernel's TCP as similar as possible to a simulated TCP.

use lasthop_base::{Choice, Duration, Need, Value};
use lasthop_os::ends::{DEVICE, PathEnds};
use lasthop_os::error::SystemError;
use lasthop_os::namespace;
use lasthop_tcp::Config;
use lasthop_tcp::receiver::ack_policy::at_once;
use lasthop_tcp::receiver::window::WindowInput;
use std::fs;

/// Settings of a namespace's kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelSettings {
    /// Pairs of a name below `net.ipv4` (ip-sysctl) and a value. If a name occurs twice, the last value applies.
    pub sysctls: Vec<(String, String)>,
    /// Attributes of the routes, for `ip route` (ip-route(8)).
    pub route: Vec<String>,
    /// Whether the sending sockets are paced by TCP itself.
    pub paces: bool,
}

/// Behaviour that a scenario configures, but for which the kernel has no setting. Each text describes one behaviour.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unsupported {
    /// Behaviour of the sender.
    pub sender: Vec<String>,
    /// Behaviour of the receiver.
    pub receiver: Vec<String>,
}

/// Kernel's timeout before the first RTT sample (TCP_TIMEOUT_INIT; RFC 6298 §2.1).
const KERNELS_INITIAL_RTO: Duration = Duration::from_secs(1);
/// Explanation for scenarios with Accurate ECN (RFC 9768), which Linux 6.18 does not negotiate.
const ACCURATE: &str =
    "the kernel uses ECN by RFC 3168; if the kernel supports Accurate ECN, set --kernel tcp_ecn=3";

impl KernelSettings {
    /// Returns the settings that approximate this sender and this receiver, and the behaviour that cannot be set.
    pub fn like(source: &Config, destination: &Config) -> (KernelSettings, Unsupported) {
        let has_sack = source.recovery.info.needs.contains(&Need::Sack) && source.sack && destination.sack;
        let window = window_of(destination);
        let tuned = tuned_from(destination);
        let switch = |is_on: bool| u8::from(is_on).to_string();
        let sysctls = [
            ("tcp_no_metrics_save", switch(true)),
            ("tcp_sack", switch(has_sack)),
            ("tcp_dsack", switch(has_sack && destination.dsack)),
            ("tcp_timestamps", switch(source.timestamps && destination.timestamps)),
            ("tcp_ecn", switch((source.ecn || source.accecn) && (destination.ecn || destination.accecn))),
            ("tcp_frto", if source.f_rto { "2" } else { "0" }.to_owned()),
            ("tcp_slow_start_after_idle", switch(source.restarts_after_idle)),
            ("tcp_moderate_rcvbuf", switch(tuned.is_some())),
            ("tcp_rmem", format!("4096 {} {}", buffer_of(tuned.unwrap_or(window)), buffer_of(window))),
            ("tcp_wmem", format!("4096 {0} {1}", 1 << 18, 1 << 26)),
        ];
        let mut route = vec!["initcwnd".to_owned(), source.initial_window.to_string()];
        route.extend(["rto_min".to_owned(), format!("{}ms", source.rto.smallest.as_millis().ceil())]);
        if tuned.is_none() {
            route.extend(["window".to_owned(), window.to_string()]);
        }
        if !destination.ack_policy.info.as_linux && at_once(&destination.ack_policy)[0] {
            route.extend(["quickack".to_owned(), "1".to_owned()]);
        }
        let sysctls = sysctls.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let unsupported =
            Unsupported { sender: unsupported_sender(source), receiver: unsupported_receiver(destination) };
        let paces = (source.pacing.build)(&source.pacing.values).is_some();
        (KernelSettings { sysctls, route, paces }, unsupported)
    }

    /// Adds the congestion control to the routes if all streams have the same congestion control. Accepted connections
    /// then use this congestion control from the first packet (ip-route(8), `congctl`).
    pub(super) fn with_congestion(&self, congestion: &[String]) -> KernelSettings {
        let mut settings = self.clone();
        if let Some(first) = congestion.first()
            && congestion.iter().all(|other| other == first)
        {
            settings.route.extend(["congctl".to_owned(), first.clone()]);
        }
        settings
    }

    pub(super) fn apply(&self, ends: &PathEnds) -> Result<(), SystemError> {
        for end in [0, 1] {
            ends.namespace(end).within(|| {
                for (name, value) in &self.sysctls {
                    fs::write(format!("/proc/sys/net/ipv4/{name}"), value).map_err(|error| {
                        let message = format!("the kernel refuses net.ipv4.{name} = `{value}`: {error}");
                        SystemError::new(message, "`sysctl net.ipv4` lists the names that the kernel has")
                    })?;
                }
                let set_route = |to: &str| {
                    let words = ["route", "replace", to, "dev", DEVICE].into_iter();
                    namespace::ip(&words.chain(self.route.iter().map(String::as_str)).collect::<Vec<_>>())
                };
                // The two routes lead to the other kernel and to the hosts behind that kernel.
                set_route(&PathEnds::address(1 - end).to_string())?;
                set_route("default")
            })??;
        }
        Ok(())
    }
}

/// Returns the buffer size for a window. The kernel initially reserves half of the buffer for per-packet overhead.
fn buffer_of(window: u64) -> u64 {
    (2 * window).clamp(1 << 13, 1 << 30)
}

/// Returns the initial window in bytes of a receiver whose window grows like the kernel's; `None` for other receivers.
fn tuned_from(destination: &Config) -> Option<u64> {
    let mut window = (destination.window.build)(&destination.window.values);
    let is_tuned = destination.window.info.as_linux && window.buffer().is_none();
    let segment = u64::from(destination.segment);
    is_tuned.then(|| window.bytes(&WindowInput { unread: 0, segment }))
}

/// Largest window that the receiver advertises, bytes.
fn window_of(destination: &Config) -> u64 {
    (destination.window.build)(&destination.window.values).largest()
}

fn unsupported_sender(source: &Config) -> Vec<String> {
    let (recovery, ack_counting) = (&source.recovery, &source.ack_counting);
    let is_limited = !recovery.values.iter().any(|value| value == ("limited_transmit", &Value::Flag(false)));
    false_entries([
        (
            recovery.info.as_linux,
            format!("recovery = {}: without SACK the kernel recovers like NewReno", recovery.info.name),
        ),
        (
            ack_counting.info.as_linux,
            format!("ack_counting = {}: the kernel counts whole segments (packets)", ack_counting.info.name),
        ),
        (
            is_limited,
            "limited_transmit = false: the kernel always sends new data for the first two duplicate ACKs"
                .to_owned(),
        ),
        (source.initial_ssthresh.is_none(), "initial_ssthresh: unlimited in the kernel".to_owned()),
        (
            source.rto.initial == KERNELS_INITIAL_RTO,
            format!("initial_rto = {}: 1 s in the kernel", source.rto.initial),
        ),
        (
            source.sender_discrimination.info.as_linux,
            format!("loss_discrimination = {}", source.sender_discrimination.info.name),
        ),
        (source.pacing.info.as_linux, format!("pacing = {}", source.pacing.info.name)),
        (!source.accecn, format!("ecn_feedback = accurate: {ACCURATE}")),
    ])
}

fn unsupported_receiver(destination: &Config) -> Vec<String> {
    let [first, second] = at_once(&destination.ack_policy);
    fn usual<B: ?Sized>(choice: &Choice<B>) -> (bool, String) {
        (choice.info.as_linux, format!("the receiver's mechanism `{}`", choice.info.name))
    }
    false_entries([
        (
            window_of(destination) >= window_of(&Config::default()),
            "window.size: the kernel may advertise a window up to 50 % larger, depending on its buffer"
                .to_owned(),
        ),
        (first || second, "ack_policy.every: the kernel acknowledges every second segment".to_owned()),
        usual(&destination.ack_splitting),
        usual(&destination.ecn_echo),
        usual(&destination.window),
        usual(&destination.receiver_discrimination),
        (!destination.accecn, format!("ecn_feedback = accurate of the receiver: {ACCURATE}")),
    ])
}

/// Returns the texts of the entries that are false. Each text describes behaviour that cannot be set.
fn false_entries<const N: usize>(entries: [(bool, String); N]) -> Vec<String> {
    entries.into_iter().filter(|(is_set, _)| !is_set).map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_tcp::receiver::{ack_policy, window};
    use lasthop_tcp::sender::{ack_counting, recovery};

    fn value<'a>(settings: &'a KernelSettings, name: &str) -> &'a str {
        &settings.sysctls.iter().find(|(known, _)| known == name).expect("the setting exists").1
    }

    #[test]
    fn the_kernel_is_told_what_it_can_be() {
        let source = Config { initial_window: 3, ..Config::default() };
        let destination = Config {
            ack_policy: Choice::named(ack_policy::ALL, "immediate"),
            timestamps: false,
            ..Config::default()
        };
        let (settings, _) = KernelSettings::like(&source, &destination);
        assert_eq!((value(&settings, "tcp_sack"), value(&settings, "tcp_timestamps")), ("1", "0"));
        assert_eq!(settings.route.join(" "), "initcwnd 3 rto_min 200ms window 4194304 quickack 1");
        let without = Config { recovery: Choice::named(recovery::ALL, "new_reno"), ..source };
        assert_eq!(value(&KernelSettings::like(&without, &destination).0, "tcp_sack"), "0");
    }

    /// A simulated Linux host needs few kernel settings, because it is similar to the kernel's defaults.
    #[test]
    fn a_kernel_is_left_to_itself_where_a_kernel_is_simulated() {
        let source = Config {
            recovery: Choice::named(recovery::ALL, "rack"),
            ack_counting: Choice::named(ack_counting::ALL, "delivered"),
            ..Config::default()
        };
        let destination = Config {
            ack_policy: Choice::named(ack_policy::ALL, "linux"),
            window: Choice::named(window::ALL, "autotuned"),
            ..Config::default()
        };
        let (settings, unsupported) = KernelSettings::like(&source, &destination);
        assert_eq!(settings.route.join(" "), "initcwnd 10 rto_min 200ms");
        // The default of the second value of tcp_rmem is 131072 (ip-sysctl).
        assert_eq!(value(&settings, "tcp_rmem"), "4096 131072 33554432");
        assert_eq!(value(&settings, "tcp_moderate_rcvbuf"), "1");
        assert_eq!(unsupported, Unsupported::default());
    }

    #[test]
    fn what_it_cannot_be_told_is_said() {
        let mut source =
            Config { ack_counting: Choice::named(ack_counting::ALL, "packets"), ..Config::default() };
        source.recovery.values.set("limited_transmit", Value::Flag(true));
        assert_eq!(KernelSettings::like(&source, &Config::default()).1, Unsupported::default());
        source.recovery = Choice::named(recovery::ALL, "tahoe");
        source.initial_ssthresh = Some(10_000);
        source.accecn = true;
        let unsupported = KernelSettings::like(&source, &Config::default()).1.sender;
        assert!(unsupported[0].contains("NewReno"), "{unsupported:?}");
        for word in ["initial_ssthresh", "ecn_feedback"] {
            assert!(unsupported.iter().any(|line| line.contains(word)), "{unsupported:?}");
        }
    }
}
