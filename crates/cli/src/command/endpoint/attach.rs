//! Device, addresses, mechanisms and impairments of the commands `serve`, `fetch` and `send`.

use super::job::EndpointJob;
use super::summary;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::target::{self, Target};
use crate::values::{self, Assignment};
use clap::Args;
use lasthop_base::{self as base, Duration, Unit, quantity};
use lasthop_capture::Capture;
use lasthop_emu::{Impairment, TunHost};
use lasthop_host::host::Traced;
use lasthop_host::{Host, Options};
use lasthop_os::{Interface, SystemError, Tun};
use lasthop_scenario::{Draft, Traffic};
use lasthop_sim::trace::describe;
use lasthop_tcp::Config;
use lasthop_tcp::receiver::ack_policy::at_once;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// Flags that attach Lasthop's endpoint to the kernel.
#[derive(Args)]
pub(crate) struct Attach {
    /// Name of the TUN device
    #[arg(long, value_name = "NAME", default_value = "lasthop0")]
    device: String,
    /// Kernel's address on the device, with prefix length; repeat for IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS/LENGTH", default_value = "10.77.0.1/24", value_parser = network)]
    kernel: Vec<(IpAddr, u8)>,
    /// Address of Lasthop's endpoint in that network; repeat for IPv4 and IPv6
    #[arg(long, value_name = "ADDRESS", default_value = "10.77.0.2")]
    address: Vec<IpAddr>,
    /// MTU, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..))]
    mtu: u16,
    /// Set a mechanism or parameter of Lasthop's endpoint, as in scenarios: recovery=new_reno, ecn=true, ack_splitting=split
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<Assignment>,
    #[command(flatten)]
    impairments: ImpairmentFlags,
    /// Capture packets of Lasthop's endpoint, as pcapng
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Keep at most this many bytes of each captured packet
    #[arg(long, value_name = "BYTES", requires = "pcap", value_parser = values::snap)]
    snap: Option<u32>,
    /// Write every event of Lasthop's endpoint, one JSON object per line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Impairments between endpoint and kernel, in both directions.
#[derive(Args)]
struct ImpairmentFlags {
    /// Drop packets with this probability: 1%
    #[arg(long, value_name = "P", value_parser = share, help_heading = "Impairments")]
    loss: Option<f64>,
    /// Mean number of consecutive losses
    #[arg(long, value_name = "N", requires = "loss", value_parser = burst, help_heading = "Impairments")]
    burst: Option<f64>,
    /// Duplicate packets with this probability
    #[arg(long, value_name = "P", value_parser = share, help_heading = "Impairments")]
    duplicate: Option<f64>,
    /// Delay packets by up to --jitter with this probability, to reorder them
    #[arg(long, value_name = "P", value_parser = share, help_heading = "Impairments")]
    reorder: Option<f64>,
    /// Maximum delay of reordered packets
    #[arg(long, value_name = "TIME", default_value = "10 ms", value_parser = quantity::duration, help_heading = "Impairments")]
    jitter: Duration,
    /// Flip one bit of packets with this probability
    #[arg(long, value_name = "P", value_parser = share, help_heading = "Impairments")]
    corrupt: Option<f64>,
    /// One-way delay of each packet
    #[arg(long, value_name = "TIME", value_parser = quantity::duration, help_heading = "Impairments")]
    delay: Option<Duration>,
    /// Seed of the impairments' random numbers
    #[arg(long, default_value_t = 1, value_parser = values::seed, help_heading = "Impairments")]
    seed: u64,
}

impl ImpairmentFlags {
    fn impairment(&self) -> Impairment {
        Impairment {
            loss: self.loss.unwrap_or(0.0),
            burst: self.burst.unwrap_or(1.0),
            duplicate: self.duplicate.unwrap_or(0.0),
            reorder: self.reorder.unwrap_or(0.0),
            jitter: self.jitter,
            corrupt: self.corrupt.unwrap_or(0.0),
            delay: self.delay.unwrap_or_default(),
        }
    }
}

impl Attach {
    pub(crate) fn run(&self, mut job: EndpointJob) -> Result<(), Failure> {
        let options = Options { tcp: self.config()?, ..Options::default() };
        let capture = self.pcap.as_deref().map(|path| self.begin_capture(path)).transpose()?;
        let (trace, lines) = (self.trace.as_deref().map(Target::create).transpose()?, mpsc::channel());
        let interface =
            Interface { name: self.device.clone(), addresses: self.kernel.clone(), mtu: self.mtu };
        let tun = Tun::open(&interface).map_err(failure)?;
        let host = Host::new(&self.address, self.mtu, secret()?);
        let mut station: TunHost<Target> = TunHost::new(host, tun);
        if self.impairments.impairment() != Impairment::default() {
            station.impair(self.impairments.impairment(), self.impairments.seed);
        }
        if at_once(&options.tcp.ack_policy)[0] {
            station.answer_each();
        }
        if let Some(capture) = capture {
            station.capture(capture);
        }
        if trace.is_some() {
            let sender = lines.0;
            // Sending cannot fail, because the receiver outlives `station`.
            station.on_event(Box::new(move |traced| drop(sender.send(line(traced)))));
        }
        let mut trace = trace;
        let done = job.begin(&mut station, &self.address, &options).and_then(|()| {
            while !job.advance(&mut station)? {
                station.turn(Duration::from_millis(200))?;
                write_lines(&mut trace, &lines.1)?;
            }
            job.linger(&mut station)
        });
        write_lines(&mut trace, &lines.1).map_err(failure)?;
        if let (_, Some(target)) = station.finish().map_err(failure)? {
            target.finish()?;
        }
        if let Some(target) = trace {
            target.finish()?;
        }
        output::print(&summary::text(job.connections(), self.format))?;
        done.and_then(|()| job.finish()).map_err(failure)
    }

    /// Returns the configuration of Lasthop's endpoint as sender and receiver, from keys of the scenario language.
    fn config(&self) -> Result<Config, Failure> {
        let mut draft = Draft::load("profile=plain,rate=1Gbit/s,rtt=1ms")?;
        // Data that no program has read occupies memory (unlike in a simulation), so the receive buffer is limited.
        draft.set("window", "{ kind = \"buffer\", size = \"4 MiB\" }")?;
        for Assignment { path, value } in &self.set {
            draft.set(path, value)?;
        }
        let scenario = draft.check()?;
        let Some(Traffic::Tcp { source, destination, .. }) = scenario.flows.first().map(|flow| &flow.traffic)
        else {
            return Err(Failure::bad_input(
                "an endpoint must have one TCP flow",
                "set mechanisms only: --set recovery=reno",
            ));
        };
        let defaults = Config::default();
        let packet = if self.set.iter().any(|assignment| assignment.path.ends_with("segment")) {
            source.segment
        } else {
            u32::from(u16::MAX)
        };
        Ok(Config {
            segment: packet,
            ack_policy: destination.ack_policy.clone(),
            ack_splitting: destination.ack_splitting.clone(),
            ecn_echo: destination.ecn_echo.clone(),
            window: destination.window.clone(),
            window_estimate: destination.window_estimate.clone(),
            receiver_discrimination: destination.receiver_discrimination.clone(),
            time_wait: defaults.time_wait,
            ..Config::clone(source)
        })
    }

    fn begin_capture(&self, path: &Path) -> Result<Capture<Target>, Failure> {
        let target = Target::create(path)?;
        let names = [format!("{} at Lasthop's endpoint", self.device)];
        match self.snap {
            Some(snap) => Capture::with_snap_length(target, &names, snap),
            None => Capture::new(target, &names),
        }
        .map_err(|error| target::unfinished(path, &error))
    }
}

fn write_lines(trace: &mut Option<Target>, lines: &mpsc::Receiver<String>) -> Result<(), SystemError> {
    let Some(target) = trace else { return Ok(()) };
    for line in lines.try_iter() {
        writeln!(target, "{line}").map_err(|error| SystemError {
            message: format!("cannot write the trace: {error}"),
            help: "is the disk full?".to_owned(),
        })?;
    }
    Ok(())
}

fn line(traced: &Traced) -> String {
    let (name, details) = describe(&traced.event);
    let mut line = Map::new();
    line.insert("time_s".into(), json!(traced.time.as_secs()));
    line.insert("kind".into(), json!("event"));
    line.insert("peer".into(), json!(traced.ends.destination));
    line.insert("event".into(), json!(name));
    if let Value::Object(details) = details {
        line.extend(details);
    }
    Value::Object(line).to_string()
}

/// Returns a random secret from which initial sequence numbers and ports are derived.
fn secret() -> Result<[u8; 16], Failure> {
    let mut secret = [0; 16];
    getrandom::fill(&mut secret).map_err(|error| {
        Failure::failed(format!("cannot get random numbers from the system: {error}"), "try again")
    })?;
    Ok(secret)
}

pub(super) fn failure(error: SystemError) -> Failure {
    Failure::failed(error.message, error.help)
}

fn network(text: &str) -> Result<(IpAddr, u8), String> {
    let wrong = || format!("`{text}` is not an address with a prefix length, like 10.77.0.1/24");
    let (address, length) = text.split_once('/').ok_or_else(wrong)?;
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = length.parse().ok().filter(|length| (1..=most).contains(length)).ok_or_else(wrong)?;
    Ok((address, length))
}

fn share(text: &str) -> Result<f64, String> {
    match Unit::Probability(0.0, 1.0).parse(text)? {
        base::Value::Number(share) => Ok(share),
        _ => Err(format!("`{text}` is not a probability")),
    }
}

fn burst(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(burst) if (1.0..=1e6).contains(&burst) => Ok(burst),
        _ => Err("expected a number of packets, 1 or more".to_owned()),
    }
}
