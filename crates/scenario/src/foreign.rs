//! Names that other tools use, and Lasthop's names with the same meaning.

/// A name in another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The name in lower case, with `_` in place of `-`.
    pub name: &'static str,
    /// Usual name of the tool; empty if several tools use `name`.
    pub tool: &'static str,
    /// Lasthop's keys, mechanisms, columns or metrics with this meaning, the likeliest first.
    pub here: &'static [&'static str],
    /// A sentence without its full stop; may be empty. The sentence states a difference, or that Lasthop lacks an
    /// equivalent.
    pub note: &'static str,
}

const fn same(name: &'static str, tool: &'static str, here: &'static [&'static str]) -> Foreign {
    Foreign { name, tool, here, note: "" }
}

const fn noted(
    name: &'static str,
    tool: &'static str,
    here: &'static [&'static str],
    note: &'static str,
) -> Foreign {
    Foreign { name, tool, here, note }
}

const BBR2: &str = "BBRv2 is not implemented; BBRv3 is its successor";

/// Names of keys and mechanisms in other tools. The list omits names that Lasthop uses in the same sense.
const FOREIGN_KEYS: &[Foreign] = &[
    // Names that several tools and papers use.
    same("bandwidth", "", &["rate"]),
    same("bw", "", &["rate"]),
    same("latency", "", &["one_way_delay", "rtt"]),
    same("delay", "", &["one_way_delay", "rtt"]),
    same("owd", "", &["one_way_delay"]),
    same("buffer", "", &["queue"]),
    same("aqm", "", &["queue"]),
    same("cc", "", &["congestion"]),
    same("cca", "", &["congestion"]),
    same("flows", "", &["count"]),
    same("streams", "", &["count"]),
    same("mss", "", &["segment"]),
    same("per", "", &["loss"]),
    same("fer", "", &["loss"]),
    same("plr", "", &["loss"]),
    same("gilbert_elliott", "", &["two_state"]),
    same("iw", "", &["initial_window"]),
    same("simtime", "", &["duration"]),
    same("repetitions", "", &["runs"]),
    noted("bbr2", "", &["bbr3"], BBR2),
    noted("bbrv2", "", &["bbr3"], BBR2),
    same("bbrv3", "", &["bbr3"]),
    same("bbrv1", "", &["bbr"]),
    // tc: netem and the queueing disciplines.
    same("qdisc", "tc", &["queue"]),
    same("limit", "tc", &["packets", "queue"]),
    same("gemodel", "tc", &["two_state", "burst"]),
    same("pfifo", "tc", &["drop_tail"]),
    same("bfifo", "tc", &["drop_tail"]),
    noted("pfifo_fast", "tc", &["drop_tail"], "pfifo_fast's three bands are one queue in Lasthop"),
    noted(
        "netem",
        "tc",
        &["one_way_delay", "loss", "jitter", "corrupt", "duplicate"],
        "each option is a key of the link",
    ),
    noted("htb", "tc", &["tbf", "cbq"], "HTB is not implemented"),
    noted(
        "fq",
        "tc",
        &["fq_codel", "sfq"],
        "Linux's fq is not implemented; rate-based senders pace themselves",
    ),
    noted("reorder", "tc", &["jitter"], "links deliver in order; parallel routes do not"),
    same("parallel", "iperf3", &["count"]),
    same("bitrate", "iperf3", &["rate", "write_rate"]),
    same("time", "iperf3", &["duration"]),
    same("bytes", "iperf3", &["transfer"]),
    same("num", "iperf3", &["transfer"]),
    same("set_mss", "iperf3", &["segment"]),
    same("omit", "iperf3", &["warmup"]),
    same("interval", "iperf3", &["sample"]),
    noted("reverse", "iperf3", &["from", "to"], "a flow's direction is its `from` and `to`"),
    noted("udp", "iperf3", &["kind"], "datagrams at a constant rate are kind = \"cbr\""),
    // Linux: sysctl, ip route, ss.
    same("tcp_congestion_control", "Linux", &["congestion"]),
    same("tcp_sack", "Linux", &["sack"]),
    same("tcp_dsack", "Linux", &["dsack"]),
    same("tcp_timestamps", "Linux", &["timestamps"]),
    same("tcp_ecn", "Linux", &["ecn"]),
    same("tcp_frto", "Linux", &["f_rto"]),
    same("tcp_recovery", "Linux", &["recovery"]),
    same("tcp_rmem", "Linux", &["window"]),
    same("initcwnd", "Linux", &["initial_window"]),
    same("rto_min", "Linux", &["min_rto"]),
    same("mm_link", "Mahimahi", &["trace"]),
    same("mm_delay", "Mahimahi", &["one_way_delay"]),
    same("mm_loss", "Mahimahi", &["loss"]),
    same("mm_onoff", "Mahimahi", &["plan"]),
    same("uplink_queue", "Mahimahi", &["up_queue"]),
    same("downlink_queue", "Mahimahi", &["queue"]),
    noted("infinite", "Mahimahi", &["queue"], "a queue without a limit is \"unlimited\""),
    noted(
        "drophead",
        "Mahimahi",
        &["codel"],
        "a plain head-drop queue is not implemented; CoDel drops at the head",
    ),
    // ns-3: attributes and types.
    same("datarate", "ns-3", &["rate"]),
    same("maxsize", "ns-3", &["queue", "packets"]),
    same("segmentsize", "ns-3", &["segment"]),
    same("initialcwnd", "ns-3", &["initial_window"]),
    same("initialslowstartthreshold", "ns-3", &["initial_ssthresh"]),
    same("delackcount", "ns-3", &["every"]),
    same("delacktimeout", "ns-3", &["after"]),
    same("rcvbufsize", "ns-3", &["size"]),
    same("maxbytes", "ns-3", &["transfer"]),
    same("rngrun", "ns-3", &["seed"]),
    same("stoptime", "ns-3", &["duration", "stop"]),
    same("rateerrormodel", "ns-3", &["iid", "bit_error"]),
    same("bursterrormodel", "ns-3", &["two_state"]),
    same("bulksendapplication", "ns-3", &["transfer"]),
    noted("onoffapplication", "ns-3", &["kind"], "datagrams with pauses are kind = \"on_off\""),
    same("tcpnewreno", "ns-3", &["reno", "new_reno"]),
    same("tcplinuxreno", "ns-3", &["reno"]),
    same("tcpcubic", "ns-3", &["cubic"]),
    same("tcpbbr", "ns-3", &["bbr"]),
    same("tcpvegas", "ns-3", &["vegas"]),
    same("tcpveno", "ns-3", &["veno"]),
    same("tcpscalable", "ns-3", &["scalable"]),
    same("tcphtcp", "ns-3", &["htcp"]),
    same("tcpillinois", "ns-3", &["illinois"]),
    same("tcpbic", "ns-3", &["bic"]),
    same("tcpyeah", "ns-3", &["yeah"]),
    same("tcpledbat", "ns-3", &["ledbat"]),
    same("tcpdctcp", "ns-3", &["dctcp"]),
    same("tcphybla", "ns-3", &["hybla"]),
    same("tcpwestwoodplus", "ns-3", &["westwood_plus"]),
    same("tcpprrrecovery", "ns-3", &["prr"]),
    same("droptailqueue", "ns-3", &["drop_tail"]),
    same("codelqueuedisc", "ns-3", &["codel"]),
    same("fqcodelqueuedisc", "ns-3", &["fq_codel"]),
    same("piequeuedisc", "ns-3", &["pie"]),
    same("redqueuedisc", "ns-3", &["red"]),
    // ns-2: variables of agents and queues.
    same("packetsize_", "ns-2", &["segment", "packet"]),
    same("windowinit_", "ns-2", &["initial_window"]),
    same("window_", "ns-2", &["size", "window"]),
    same("thresh_", "ns-2", &["min_threshold"]),
    same("maxthresh_", "ns-2", &["max_threshold"]),
    same("q_weight_", "ns-2", &["weight"]),
    same("minrto_", "ns-2", &["min_rto"]),
    same("tcptick_", "ns-2", &["tick"]),
    // Obsolete names of Lasthop's own keys.
    same("judge", "", &["loss_discrimination"]),
    same("cause", "", &["loss_discrimination"]),
    same("counting", "", &["ack_counting"]),
    same("timing", "", &["ack_policy"]),
    same("shape", "", &["ack_splitting"]),
    same("echo", "", &["ecn_echo"]),
    same("estimate", "", &["window_estimate"]),
];

/// Names of result columns in other tools, and obsolete names of Lasthop's columns. The build for the web page omits
/// this table, because the page shows no columns.
const FOREIGN_COLUMNS: &[Foreign] = &[
    same("throughput", "", &["goodput_kbps", "carried_kbps"]),
    same("cwnd", "", &["cwnd_bytes"]),
    same("ssthresh", "", &["ssthresh_bytes", "initial_ssthresh"]),
    same("fct", "", &["completed_s"]),
    same("retr", "iperf3", &["retransmissions"]),
    same("lost_notice", "", &["lost_tag_drop"]),
    same("tags_sent", "", &["tagged_sent"]),
    same("tags_lost_channel", "", &["tagged_lost_channel"]),
    same("born_at_nodes", "", &["middlebox_sent"]),
    same("suppressed", "", &["middlebox_removed"]),
    same("copied", "", &["duplicated"]),
    same("wait_mean_ms", "", &["excess_delay_mean_ms"]),
    same("wait_p50_ms", "", &["excess_delay_p50_ms"]),
    same("wait_p95_ms", "", &["excess_delay_p95_ms"]),
    same("wait_p99_ms", "", &["excess_delay_p99_ms"]),
    same("blocks_again", "", &["blocks_retransmitted"]),
    same("waits_expired", "", &["reordering_timeouts"]),
    same("reordering_wait_ms", "", &["reordering_wait_mean_ms"]),
    same("longest_wait_ms", "", &["reordering_wait_max_ms"]),
    same("watched_s", "", &["max_follow_up_s"]),
    same("again", "", &["retransmission"]),
    same("judged", "", &["loss_classified"]),
    same("shaped", "", &["ack_split"]),
    same("troubled", "", &["r1_reached"]),
];

/// Returns all names of other tools.
pub fn all_foreign() -> impl Iterator<Item = &'static Foreign> {
    let columns: &[Foreign] = if cfg!(target_arch = "wasm32") { &[] } else { FOREIGN_COLUMNS };
    FOREIGN_KEYS.iter().chain(columns)
}

/// Returns the entry for a name. Ignores case, the choice of `-` or `_`, and a leading `ns3::`.
pub fn foreign(written: &str) -> Option<&'static Foreign> {
    let name = written.trim().to_lowercase().replace('-', "_");
    let name = name.strip_prefix("ns3::").unwrap_or(&name);
    all_foreign().find(|entry| entry.name == name)
}

impl Foreign {
    /// Returns a sentence that gives Lasthop's names for this name: "tc: `qdisc` is `queue` here".
    pub fn sentence(&self) -> String {
        let whose = if self.tool.is_empty() { String::new() } else { format!("{}: ", self.tool) };
        let (name, here) = (self.name, one_of(self.here));
        if self.note.is_empty() {
            format!("{whose}`{name}` is {here} here")
        } else {
            format!("{whose}`{name}`: {}; see {here}", self.note)
        }
    }
}

/// Joins the names, in backquotes, to a list: "`a`, `b` or `c`".
pub(crate) fn one_of(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.concat(),
    }
}
