//! `lasthop emulate record`: what a real path carries, as traces.

use super::Format;
use crate::failure::Failure;
use crate::output;
use crate::table;
use crate::target::{Target, patience};
use clap::{Args, ValueEnum};
use lasthop_base::{Duration, Rate, Time, quantity};
use lasthop_import::rates::opportunities;
use lasthop_lab::document::{Cell, Table};
use lasthop_os::datagrams::{Datagrams, Leaves};
use lasthop_os::{Clock, SystemError};
use lasthop_record::{Ask, LONGEST_S, PORT, Recording, Way, Ways, client, server};
use serde_json::{Map, Value, json};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// Record what a real path carries: keep the queue at its bottleneck full, and write what comes through as traces.
///
/// A saturator, as that of Mahimahi's traces: one side serves (--serve), the other one, behind the path, records. UDP
/// packets go as fast as the path takes them. Needs no privilege. The exit status is 3 if the recording must not be
/// trusted.
#[derive(Args)]
pub(crate) struct Record {
    /// Where somebody serves: a name or an address, with :PORT if that is not 9001
    #[arg(value_name = "SERVER", required_unless_present = "serve")]
    server: Option<String>,
    /// Serve: wait for somebody who wants to record; at every address and port 9001 by default
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["server", "out", "way", "from", "feedback_from"]
    )]
    serve: Option<String>,
    /// End the server when nobody has come for so long
    #[arg(long, value_name = "TIME", default_value = "600 s", value_parser = quantity::duration, requires = "serve")]
    idle: Duration,
    /// How long to record each direction
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=i64::from(LONGEST_S)))]
    seconds: u32,
    /// The traces to write: NAME.down and NAME.up
    #[arg(long, value_name = "NAME", required_unless_present = "serve")]
    out: Option<PathBuf>,
    /// Which directions, and when
    #[arg(long, value_enum, default_value = "in-turn")]
    way: Which,
    /// Where the packets leave: an address of this host's, or a device
    #[arg(long, value_name = "ADDRESS|DEVICE")]
    from: Option<String>,
    /// A second way, for what is said of the packets: an address of this host's, or a device
    #[arg(long, value_name = "ADDRESS|DEVICE")]
    feedback_from: Option<String>,
    /// How to print what came out
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Which directions are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Which {
    /// To this side.
    Down,
    /// To the server.
    Up,
    /// Down, then up.
    InTurn,
    /// Both at once: best with --feedback-from.
    Together,
}

impl Record {
    pub(super) fn execute(&self) -> Result<(), Failure> {
        match (&self.serve, &self.server, &self.out) {
            (Some(address), ..) => self.serve(address),
            (None, Some(server), Some(out)) => self.record(server, out),
            // The command line wants one of them.
            _ => Err(Failure::bad_input("there is neither SERVER nor --serve", "give one of them")),
        }
    }

    fn serve(&self, address: &str) -> Result<(), Failure> {
        let socket = match address {
            "" => Datagrams::open(&Leaves::Address((Ipv6Addr::UNSPECIFIED, PORT).into()))
                .or_else(|_| Datagrams::open(&Leaves::Address((Ipv4Addr::UNSPECIFIED, PORT).into()))),
            given => Datagrams::open(&Leaves::Address(resolved(given)?)),
        }
        .map_err(failure)?;
        let idle = self.idle;
        output::note(&format!(
            "serving at {} (UDP), one client at a time; ends when nobody has come for {idle}",
            socket.address()
        ));
        let served = patience::during(|| {
            server::serve(socket, idle, &patience::is_interrupted, &mut |news| {
                let shown = |who: SocketAddr| SocketAddr::new(who.ip().to_canonical(), who.port());
                output::note(&match news {
                    server::News::Began(who) => format!("{}: records", shown(who)),
                    server::News::Done(who) => format!("{}: done", shown(who)),
                    server::News::Gone(who) => format!("{}: nothing heard for 30 s, given up", shown(who)),
                });
            })
        });
        match (patience::is_interrupted(), served) {
            (true, _) => Err(Failure::interrupted()),
            (false, 0) => Err(Failure::failed(
                format!("nobody came for {idle}"),
                "on the other side: lasthop emulate record SERVER --out NAME; does a firewall let UDP through?",
            )),
            (false, _) => Ok(()),
        }
    }

    fn record(&self, server: &str, out: &Path) -> Result<(), Failure> {
        let server = resolved(server)?;
        let name = |way: &str| {
            let mut name = out.as_os_str().to_owned();
            name.push(format!(".{way}"));
            PathBuf::from(name)
        };
        let ways = match self.way {
            Which::Down => Ways::Down,
            Which::Up => Ways::Up,
            Which::InTurn => Ways::InTurn,
            Which::Together => Ways::Together,
        };
        let wanted = [("down", ways != Ways::Up), ("up", ways != Ways::Down)];
        let targets =
            wanted.map(|(way, is_wanted)| is_wanted.then(|| Target::create(&name(way))).transpose());
        let [down, up] = targets;
        let targets = [down?, up?];
        let ask = Ask {
            server,
            from: leaves(self.from.as_deref(), server),
            feedback: self.feedback_from.as_deref().map(|from| leaves(Some(from), server)),
            ways,
            span_ms: self.seconds * 1000,
        };
        let clock = Clock::new();
        let recording = patience::during(|| {
            client::record(&ask, &patience::is_interrupted, &mut |news| tell(&clock, news))
        });
        let Some(recording) = recording.map_err(failure)? else { return Err(Failure::interrupted()) };
        let mut traces = Vec::new();
        for ((way, target), name) in recording.ways.iter().zip(targets).zip(["down", "up"]) {
            let (Some(way), Some(mut target)) = (way, target) else { continue };
            let shown = target.path().display().to_string();
            opportunities::write(way.recorded.bytes.iter().copied(), &mut target).map_err(|refusal| {
                Failure::failed(
                    format!("{shown} was not written: {}", refusal.message),
                    "is the way there, or does something let no UDP through?",
                )
            })?;
            target.finish()?;
            traces.push((name, shown));
        }
        match self.format {
            Format::Json => output::print_line(&object(&recording, &ask, &traces).to_string())?,
            Format::Table => output::print(&text(&recording))?,
        }
        for (_, trace) in &traces {
            output::note(&format!("{trace}: written"));
        }
        if let [(_, down), (_, up)] = &traces[..] {
            let rtt = recording.rtt[0].as_millis();
            output::note(&format!("try: lasthop run trace={down},up_trace={up},rtt={rtt:.0}ms"));
        }
        let complaints = complaints(&recording);
        match complaints.is_empty() {
            true => Ok(()),
            false => Err(Failure::invalid(
                format!("the recording is doubtful: {}", complaints.join("; ")),
                "the traces are written all the same; see docs/emulate.md, Record",
            )),
        }
    }
}

/// What goes on, on standard error.
fn tell(clock: &Clock, news: client::News) {
    output::note(&match news {
        client::News::Found([least, median]) => format!(
            "the server is there; round trips without load: {:.1} ms at least, {:.1} ms in the middle",
            least.as_millis(),
            median.as_millis()
        ),
        client::News::Begins(ways, span) => {
            let way = match ways {
                [true, false] => "down",
                [false, _] => "up",
                [true, true] => "down and up",
            };
            let at = clock.now().since(Time::ZERO).as_secs();
            format!("{way}: {:.0} s, from {at:.1} s on", span.as_secs())
        }
    });
}

/// A name or an address, with a port or without.
fn resolved(text: &str) -> Result<SocketAddr, Failure> {
    let bare = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let found = match bare {
        Ok(address) => Ok(Some(SocketAddr::new(address, PORT))),
        Err(_) if text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) => {
            text.to_socket_addrs().map(|mut all| all.next())
        }
        Err(_) => (text, PORT).to_socket_addrs().map(|mut all| all.next()),
    };
    let help = "give an address or a name, with :PORT if it is not the usual one: 192.0.2.1:9001, [2001:db8::1]:9001";
    match found {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err(Failure::bad_input(format!("`{text}` has no address"), help)),
        Err(error) => Err(Failure::bad_input(format!("`{text}` is no address: {error}"), help)),
    }
}

/// Where datagrams to a server leave.
fn leaves(from: Option<&str>, server: SocketAddr) -> Leaves {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    match from.map(|from| (from, from.parse::<IpAddr>())) {
        None => Leaves::Address((any, 0).into()),
        Some((_, Ok(address))) => Leaves::Address((address, 0).into()),
        Some((device, Err(_))) => Leaves::Device(device.to_owned(), (any, 0).into()),
    }
}

fn complaints(recording: &Recording) -> Vec<String> {
    let ways = recording.ways.iter().zip(["down", "up"]);
    let all = ways.filter_map(|(way, name)| Some((way.as_ref()?.complaints(), name)));
    all.flat_map(|(complaints, name)| complaints.into_iter().map(move |one| format!("{name}: {one}")))
        .collect()
}

/// What is said of a direction: its name, its unit, and the number.
fn numbers(way: &Way) -> [(&'static str, &'static str, f64); 7] {
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    [
        ("rate_kbps", "mean rate with headers, kbit/s", way.mean_bps() / 1e3),
        ("packets", "packets", way.recorded.packets as f64),
        ("lost_pct", "lost, by overflow of the queue too, %", way.lost_share() * 100.0),
        ("queue_wait_ms", "wait at the queue (median), ms", f64::from(way.recorded.wait_ms)),
        ("queue_empty_pct", "queue empty, % of the time", way.empty_share() * 100.0),
        ("sender_behind_pct", "sender came too late, % of the time", way.behind_share() * 100.0),
        ("clock_drift_ms", "clocks went apart, ms", way.drift.as_millis()),
    ]
    .map(|(key, name, value)| (key, name, rounded(value)))
}

fn object(recording: &Recording, ask: &Ask, traces: &[(&str, String)]) -> Value {
    let [least, median] = recording.rtt.map(|rtt| rtt.as_millis());
    let [sent, came] = recording.probes;
    let complaints = complaints(recording);
    let mut object = json!({
        "valid": complaints.is_empty(),
        "complaints": complaints,
        "server": ask.server.to_string(),
        "seconds": ask.span_ms / 1000,
        "rtt_ms": { "min": least, "median": median },
        "probes": { "sent": sent, "came": came },
        "feedback_shares_way": recording.shares_way,
    });
    for (way, name) in recording.ways.iter().zip(["down", "up"]) {
        let Some(way) = way else { continue };
        let mut said: Map<String, Value> =
            numbers(way).iter().map(|(key, _, value)| ((*key).to_owned(), json!(value))).collect();
        said.insert("packets".into(), json!(way.recorded.packets));
        let trace = traces.iter().find(|(of, _)| *of == name).map(|(_, trace)| trace);
        said.insert("trace".into(), json!(trace));
        object[name] = Value::Object(said);
    }
    object
}

fn text(recording: &Recording) -> String {
    let ways: Vec<(&Way, &str)> = recording
        .ways
        .iter()
        .zip(["down", "up"])
        .filter_map(|(way, name)| Some((way.as_ref()?, name)))
        .collect();
    let all: Vec<_> = ways.iter().map(|(way, _)| numbers(way)).collect();
    let names = all.first().map_or(Vec::new(), |first| first.iter().map(|(_, name, _)| *name).collect());
    let row = |(place, name): (usize, &&str)| {
        let number = |all: &[(&str, &str, f64); 7]| match all[place] {
            ("packets", _, value) => Cell::Number(format!("{value:.0}")),
            (.., value) => Cell::Number(format!("{value:.1}")),
        };
        [vec![Cell::Text((*name).to_owned())], all.iter().map(number).collect()].concat()
    };
    let columns = [""].into_iter().chain(ways.iter().map(|(_, name)| *name)).map(str::to_owned).collect();
    let rows = names.iter().enumerate().map(row).collect();
    let mut text = table::text(&Table { caption: String::new(), columns, rows });
    let [least, median] = recording.rtt.map(|rtt| rtt.as_millis());
    let [sent, came] = recording.probes;
    text += &format!(
        "\nround trip without load: {least:.1} ms at least, {median:.1} ms in the middle; {came} of {sent} came back\n"
    );
    for (way, name) in ways {
        let seconds: Vec<u64> = way
            .recorded
            .bytes
            .chunks(1000)
            .filter(|second| second.len() == 1000)
            .map(|second| second.iter().map(|bytes| u64::from(*bytes) * 8).sum())
            .collect();
        let [least, most] = [seconds.iter().min(), seconds.iter().max()]
            .map(|rate| Rate::from_bps(rate.copied().unwrap_or(0)).to_string());
        text += &format!("{name}: from {least} to {most} in single seconds\n");
    }
    if recording.shares_way {
        text += "what was said of one direction went with the packets of the other: a rate that rises is followed late\n";
    }
    text
}

fn failure(error: SystemError) -> Failure {
    Failure::failed(error.message, error.help)
}
