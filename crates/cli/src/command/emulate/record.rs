//! Command `lasthop emulate record`: records traces of a real path.

use super::SummaryFormat;
use crate::failure::Failure;
use crate::output;
use crate::table;
use crate::target::{Target, interrupts};
use clap::{Args, ValueEnum};
use lasthop_base::{Duration, Rate, Time, quantity};
use lasthop_import::rates::opportunities;
use lasthop_lab::document::{Cell, Table};
use lasthop_os::datagrams::{Datagrams, SourceBinding};
use lasthop_os::{Clock, SystemError};
use lasthop_record::{
    DirectionResult, Directions, LONGEST_S, PORT, Recording, RecordingOptions, client, server,
};
use serde_json::{Map, Value, json};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// Record traces of a real path: fill the queue at its bottleneck, and write deliveries as traces
///
/// Works like Mahimahi's saturator: one side serves (--serve); the other side, behind the path, records. Sends UDP
/// packets as fast as the path carries them. Needs no privileges. Exit status 3: the recording is invalid.
#[derive(Args)]
pub(crate) struct RecordCommand {
    /// Server: name or address, with :PORT if not 9001
    #[arg(value_name = "SERVER", required_unless_present = "serve")]
    server: Option<String>,
    /// Serve clients that record; by default at every address, port 9001
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with_all = ["server", "out", "way", "from", "feedback_from"]
    )]
    serve: Option<String>,
    /// End the server after this time without a connected client
    #[arg(long, value_name = "TIME", default_value = "600 s", value_parser = quantity::duration, requires = "serve")]
    idle: Duration,
    /// Recording time per direction, s
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=i64::from(LONGEST_S)))]
    seconds: u32,
    /// Traces to write: NAME.down and NAME.up
    #[arg(long, value_name = "NAME", required_unless_present = "serve")]
    out: Option<PathBuf>,
    /// Directions to record
    #[arg(long, value_enum, default_value = "in-turn")]
    way: RecordedDirections,
    /// Source of the packets: an address of this host, or a device
    #[arg(long, value_name = "ADDRESS|DEVICE")]
    from: Option<String>,
    /// Source of the feedback, for a second path: an address of this host, or a device
    #[arg(long, value_name = "ADDRESS|DEVICE")]
    feedback_from: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: SummaryFormat,
}

/// Directions to record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum RecordedDirections {
    /// To this side
    Down,
    /// To the server
    Up,
    /// Down, then up
    InTurn,
    /// Both at once: best with --feedback-from
    Together,
}

impl RecordCommand {
    pub(super) fn execute(&self) -> Result<(), Failure> {
        match (&self.serve, &self.server, &self.out) {
            (Some(address), ..) => self.serve(address),
            (None, Some(server), Some(out)) => self.record(server, out),
            _ => Err(Failure::bad_input("neither SERVER nor --serve is given", "give one of them")),
        }
    }

    fn serve(&self, address: &str) -> Result<(), Failure> {
        let socket = match address {
            "" => Datagrams::open(&SourceBinding::Address((Ipv6Addr::UNSPECIFIED, PORT).into()))
                .or_else(|_| Datagrams::open(&SourceBinding::Address((Ipv4Addr::UNSPECIFIED, PORT).into()))),
            given => Datagrams::open(&SourceBinding::Address(resolved(given)?)),
        }
        .map_err(failure)?;
        let idle = self.idle;
        output::note(&format!(
            "serving at {} (UDP), one client at a time; ends after {idle} without a client",
            socket.address()
        ));
        let served = interrupts::handle_during(|| {
            server::serve(socket, idle, &interrupts::is_interrupted, &mut |news| {
                let shown = |who: SocketAddr| SocketAddr::new(who.ip().to_canonical(), who.port());
                output::note(&match news {
                    server::ServerProgress::Began(who) => format!("{}: recording", shown(who)),
                    server::ServerProgress::Done(who) => format!("{}: done", shown(who)),
                    server::ServerProgress::Gone(who) => {
                        format!("{}: dropped, because no packet arrived for 30 s", shown(who))
                    }
                });
            })
        });
        match (interrupts::is_interrupted(), served) {
            (true, _) => Err(Failure::interrupted()),
            (false, 0) => Err(Failure::failed(
                format!("no client for {idle}"),
                "on the other side run: lasthop emulate record SERVER --out NAME; check that firewalls pass UDP",
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
            RecordedDirections::Down => Directions::Down,
            RecordedDirections::Up => Directions::Up,
            RecordedDirections::InTurn => Directions::InTurn,
            RecordedDirections::Together => Directions::Concurrent,
        };
        let wanted = [("down", ways != Directions::Up), ("up", ways != Directions::Down)];
        let targets =
            wanted.map(|(way, is_recorded)| is_recorded.then(|| Target::create(&name(way))).transpose());
        let [down, up] = targets;
        let targets = [down?, up?];
        let ask = RecordingOptions {
            server,
            from: source_binding(self.from.as_deref(), server),
            feedback: self.feedback_from.as_deref().map(|from| source_binding(Some(from), server)),
            directions: ways,
            span_ms: self.seconds * 1000,
        };
        let clock = Clock::new();
        let recording = interrupts::handle_during(|| {
            client::record(&ask, &interrupts::is_interrupted, &mut |news| print_news(&clock, news))
        });
        let Some(recording) = recording.map_err(failure)? else { return Err(Failure::interrupted()) };
        let mut traces = Vec::new();
        for ((way, target), name) in recording.directions.iter().zip(targets).zip(["down", "up"]) {
            let (Some(way), Some(mut target)) = (way, target) else { continue };
            let shown = target.path().display().to_string();
            opportunities::write(way.recorded.bytes.iter().copied(), &mut target).map_err(|refusal| {
                Failure::failed(
                    format!("cannot write {shown}: {}", refusal.message),
                    "check that the path works and firewalls pass UDP",
                )
            })?;
            target.finish()?;
            traces.push((name, shown));
        }
        match self.format {
            SummaryFormat::Json => output::print_line(&object(&recording, &ask, &traces).to_string())?,
            SummaryFormat::Table => output::print(&text(&recording))?,
        }
        for (_, trace) in &traces {
            output::note(&format!("{trace}: written"));
        }
        if let [(_, down), (_, up)] = &traces[..] {
            let rtt = recording.rtt[0].as_millis();
            output::note(&format!("try: lasthop run trace={down},up_trace={up},rtt={rtt:.0}ms"));
        }
        let complaints = complaints(&recording);
        if complaints.is_empty() {
            Ok(())
        } else {
            Err(Failure::invalid(
                format!("the recording is invalid: {}", complaints.join("; ")),
                "the traces are written nevertheless; see the section Record in docs/how-to/record-a-path.md",
            ))
        }
    }
}

fn print_news(clock: &Clock, news: client::ClientProgress) {
    output::note(&match news {
        client::ClientProgress::Found([least, median]) => format!(
            "connected; round-trip time without load: minimum {:.1} ms, median {:.1} ms",
            least.as_millis(),
            median.as_millis()
        ),
        client::ClientProgress::Begins(ways, span) => {
            let way = match ways {
                [true, false] => "down",
                [false, _] => "up",
                [true, true] => "down and up",
            };
            let at = clock.now().since(Time::ZERO).as_secs();
            format!("{way}: {:.0} s, starting at {at:.1} s", span.as_secs())
        }
    });
}

fn resolved(text: &str) -> Result<SocketAddr, Failure> {
    let bare = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let found = match bare {
        Ok(address) => Ok(Some(SocketAddr::new(address, PORT))),
        Err(_) if text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) => {
            text.to_socket_addrs().map(|mut all| all.next())
        }
        Err(_) => (text, PORT).to_socket_addrs().map(|mut all| all.next()),
    };
    let help = "give an address or a name, with :PORT if not 9001: 192.0.2.1:9001, [2001:db8::1]:9001";
    match found {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err(Failure::bad_input(format!("`{text}` has no address"), help)),
        Err(error) => Err(Failure::bad_input(format!("cannot resolve `{text}`: {error}"), help)),
    }
}

fn source_binding(from: Option<&str>, server: SocketAddr) -> SourceBinding {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    match from.map(|from| (from, from.parse::<IpAddr>())) {
        None => SourceBinding::Address((any, 0).into()),
        Some((_, Ok(address))) => SourceBinding::Address((address, 0).into()),
        Some((device, Err(_))) => SourceBinding::Device(device.to_owned(), (any, 0).into()),
    }
}

fn complaints(recording: &Recording) -> Vec<String> {
    let ways = recording.directions.iter().zip(["down", "up"]);
    let all = ways.filter_map(|(way, name)| Some((way.as_ref()?.complaints(), name)));
    all.flat_map(|(complaints, name)| complaints.into_iter().map(move |one| format!("{name}: {one}")))
        .collect()
}

/// Returns the results of a direction. Each result has a key for JSON, a label with the unit for the table, and a
/// value.
fn numbers(way: &DirectionResult) -> [(&'static str, &'static str, f64); 7] {
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    [
        ("rate_kbps", "mean rate with headers, kbit/s", way.mean_bps() / 1e3),
        ("packets", "packets", way.recorded.packets as f64),
        ("lost_pct", "lost (including queue overflow), %", way.lost_share() * 100.0),
        ("queue_wait_ms", "queueing delay (median), ms", f64::from(way.recorded.wait_ms)),
        ("queue_empty_pct", "queue empty, % of the time", way.empty_share() * 100.0),
        ("sender_behind_pct", "sender too slow, % of the time", way.behind_share() * 100.0),
        ("clock_drift_ms", "clock drift, ms", way.drift.as_millis()),
    ]
    .map(|(key, name, value)| (key, name, rounded(value)))
}

fn object(recording: &Recording, ask: &RecordingOptions, traces: &[(&str, String)]) -> Value {
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
        "feedback_shares_way": recording.shares_path,
    });
    for (way, name) in recording.directions.iter().zip(["down", "up"]) {
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
    let ways: Vec<(&DirectionResult, &str)> = recording
        .directions
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
        "\nround-trip time without load: min. {least:.1} ms, median {median:.1} ms; {came} of {sent} probes answered\n"
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
        text += &format!("{name}: {least} to {most}, averaged over one second each\n");
    }
    if recording.shares_path {
        text += "feedback shared the path with packets of the other direction, so the sender follows a rising rate \
                 only after a delay\n";
    }
    text
}

fn failure(error: SystemError) -> Failure {
    Failure::failed(error.message, error.help)
}
