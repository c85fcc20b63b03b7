//! Streams between hosts that use Lasthop's TCP. Each host has a TUN device; at each end, the kernel forwards packets
//! between this device and the path.

use super::kernel_tcp::address_of;
use super::stream_results::port_of;
use super::{TrialContext, TrialStream};
use crate::exchange::Exchange;
use crate::tun_host::TunHost;
use lasthop_base::{Duration, Time};
use lasthop_host::{Error, Handle, Host, Options};
use lasthop_os::ends::PathEnds;
use lasthop_os::error::SystemError;
use lasthop_os::tun::{Interface, Tun};
use lasthop_tcp::Config;
use std::fs;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const DEVICE: &str = "lasthop1";
const PATIENCE: Duration = Duration::from_millis(50);
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// Send buffer, bytes; larger than any window, so that the application never limits a stream.
const SEND_BUFFER: usize = 1 << 25;

pub(super) struct EndpointHost {
    tun_host: TunHost,
    senders: Vec<OwnSender>,
    receivers: Vec<OwnReceiver>,
    next_sample: Time,
}

struct OwnSender {
    number: usize,
    stream: TrialStream,
    to: SocketAddr,
    options: Options,
    exchange: Option<Exchange>,
}

struct OwnReceiver {
    number: usize,
    listener: Handle,
    exchange: Option<Exchange>,
    is_done: bool,
}

/// Addresses of the kernel and of Lasthop's host at an end (benchmark network of RFC 2544).
fn addresses(end: usize) -> [Ipv4Addr; 2] {
    [1, 2].map(|host| Ipv4Addr::new(198, 19, end as u8, host))
}

/// Creates the sending hosts and, unless the kernels receive, the receiving hosts. Receiving hosts listen.
pub(super) fn open(
    ends: &PathEnds,
    streams: &[TrialStream],
    configs: &[[Config; 2]],
    kernel_receives: bool,
    mtu: u16,
) -> Result<Vec<EndpointHost>, SystemError> {
    let is_needed = |end: &usize| !kernel_receives || streams.iter().any(|stream| stream.from() == *end);
    let one = |end| endpoint_host(ends, end, streams, configs, kernel_receives, mtu);
    [0, 1].into_iter().filter(is_needed).map(one).collect()
}

fn endpoint_host(
    ends: &PathEnds,
    end: usize,
    streams: &[TrialStream],
    configs: &[[Config; 2]],
    kernel_receives: bool,
    mtu: u16,
) -> Result<EndpointHost, SystemError> {
    let [kernels, ours] = addresses(end);
    let tun = ends.namespace(end).within(|| {
        fs::write("/proc/sys/net/ipv4/ip_forward", "1").map_err(|error| {
            SystemError::of_system(
                "cannot enable forwarding in the kernel",
                &error,
                "check that /proc/sys is writable",
            )
        })?;
        let addresses = vec![(IpAddr::V4(kernels), 24)];
        Tun::open(&Interface { name: DEVICE.to_owned(), addresses, mtu })
    })??;
    // A fixed key is enough: no attacker can reach the namespace.
    let mut host = Host::new(&[IpAddr::V4(ours)], mtu, [end as u8; 16]);
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for (number, (stream, [source, destination])) in streams.iter().zip(configs).enumerate() {
        let options =
            |config: &Config| Options { tcp: config.clone(), send_buffer: SEND_BUFFER, ..Options::default() };
        if stream.from() == end {
            let to = if kernel_receives {
                address_of(number, stream)
            } else {
                SocketAddr::from((addresses(stream.to())[1], port_of(number)))
            };
            let options = options(source);
            senders.push(OwnSender { number, stream: stream.clone(), to, options, exchange: None });
        } else if !kernel_receives {
            let at = SocketAddr::from((ours, port_of(number)));
            let listener = host.listen(at, 8, &options(destination)).map_err(failed)?;
            receivers.push(OwnReceiver { number, listener, exchange: None, is_done: false });
        }
    }
    let mut tun_host = TunHost::new(host, tun);
    tun_host.answer_each();
    Ok(EndpointHost { tun_host, senders, receivers, next_sample: Time::ZERO })
}

impl EndpointHost {
    pub(super) fn serve(mut self, context: TrialContext<'_>) -> Result<(), SystemError> {
        while !context.is_over() {
            let now = context.clock.now();
            let mut wakes = now + PATIENCE;
            for sender in &mut self.senders {
                if sender.stream.start > now {
                    wakes = wakes.min(sender.stream.start);
                } else {
                    sender.advance(&mut self.tun_host)?;
                }
            }
            for receiver in &mut self.receivers {
                receiver.advance(&mut self.tun_host, context)?;
            }
            if now >= self.next_sample && !self.senders.is_empty() {
                self.next_sample = now + SAMPLE_INTERVAL;
                self.sample(context);
            }
            if !self.senders.is_empty() {
                wakes = wakes.min(self.next_sample);
            }
            self.tun_host.turn(wakes.since(now))?;
            context.results.record_wakeup(context.clock.now().since(wakes));
        }
        Ok(())
    }

    fn sample(&self, context: TrialContext<'_>) {
        for sender in &self.senders {
            let info = sender.exchange.as_ref().and_then(|it| self.tun_host.host.info(it.handle()).ok());
            if let Some(info) = info {
                context.results.record_sample(
                    sender.number,
                    context.clock.now(),
                    info.total_retrans,
                    Some(info.timeouts),
                    info.srtt.unwrap_or_default(),
                );
            }
        }
    }
}

impl OwnSender {
    fn advance(&mut self, tun_host: &mut TunHost) -> Result<(), SystemError> {
        let exchange = match &mut self.exchange {
            Some(exchange) => exchange,
            None => {
                let now = tun_host.now();
                let handle = tun_host.host.connect(now, None, self.to, &self.options).map_err(failed)?;
                let zeros = io::repeat(0);
                self.exchange.insert(Exchange::sending(
                    handle,
                    match self.stream.bytes {
                        Some(bytes) => Box::new(zeros.take(bytes)),
                        None => Box::new(zeros),
                    },
                ))
            }
        };
        exchange.advance(&mut tun_host.host).map(|_| ())
    }
}

impl OwnReceiver {
    fn advance(&mut self, tun_host: &mut TunHost, context: TrialContext<'_>) -> Result<(), SystemError> {
        if self.exchange.is_none() {
            let accepted = tun_host.host.accept(self.listener).ok();
            self.exchange = accepted.map(|(handle, _)| Exchange::receiving(handle, Box::new(io::sink())));
        }
        let Some(exchange) = self.exchange.as_mut().filter(|_| !self.is_done) else { return Ok(()) };
        self.is_done = exchange.advance(&mut tun_host.host)?;
        context.results.receive(self.number, exchange.received());
        if self.is_done {
            context.results.complete(self.number, context.clock.now());
        }
        Ok(())
    }
}

fn failed(error: Error) -> SystemError {
    SystemError::new(
        format!("a stream of Lasthop's TCP failed: {error}"),
        "check that the path delivers packets",
    )
}
