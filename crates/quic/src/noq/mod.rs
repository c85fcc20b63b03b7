//! Adapter for the interface of noq-proto.

/// Type by which the library passes a connection identifier.
macro_rules! identifier {
    () => {
        ConnectionId
    };
}

mod crypto;
#[path = "../end.rs"]
#[expect(clippy::duplicate_mod, reason = "both libraries have the same calls, but not the same types")]
mod end;
#[path = "../session.rs"]
#[expect(clippy::duplicate_mod, reason = "as for end.rs")]
mod session;

use noq_proto as library;

use crate::control::ControlFactory;
use crate::log::LogSlot;
use crate::{Congestion, Settings, SmallestRtt, instant};
use bytes::{Bytes, BytesMut};
use lasthop_base::{Duration, Time};
use lasthop_stack::{Observed, Stack};
use library::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use library::{
    Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, FourTuple,
    PathId, RttEstimator, ServerConfig, StreamId, TransportConfig,
};
use std::any::Any;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn pair(settings: &Settings, source_opens: bool) -> [Box<dyn Stack>; 2] {
    end::Quic::pair(settings, source_opens)
}

fn congestion(settings: &Settings, smallest_rtt: &SmallestRtt) -> Arc<dyn ControllerFactory + Send + Sync> {
    let control: Arc<dyn ControllerFactory + Send + Sync> = match &settings.congestion {
        Congestion::Cubic => {
            let mut cubic = CubicConfig::default();
            settings.initial_window.map(|window| cubic.initial_window(window));
            Arc::new(cubic)
        }
        Congestion::NewReno => {
            let mut reno = NewRenoConfig::default();
            settings.initial_window.map(|window| reno.initial_window(window));
            Arc::new(reno)
        }
        Congestion::Lasthop(config) => Arc::new(ControlFactory::new(config, settings)),
    };
    Arc::new(WatchedFactory {
        control,
        is_paced: settings.stack.is_paced,
        smallest_rtt: smallest_rtt.clone(),
    })
}

/// Lets each connection write the qlog for which the slot has a writer. Returns whether the library writes qlogs.
#[cfg(feature = "qlog")]
fn set_log(transport: &mut TransportConfig, log: &LogSlot) -> bool {
    transport.qlog_factory(Arc::new(QlogSlot(log.clone())));
    true
}

/// Returns whether the library writes qlogs.
#[cfg(not(feature = "qlog"))]
fn set_log(_: &mut TransportConfig, _: &LogSlot) -> bool {
    false
}

/// Source of the writer of a connection's qlog.
#[cfg(feature = "qlog")]
struct QlogSlot(LogSlot);

#[cfg(feature = "qlog")]
impl library::QlogFactory for QlogSlot {
    fn for_connection(
        &self,
        _: library::Side,
        _: SocketAddr,
        _: library::ConnectionId,
        _: Instant,
    ) -> Option<library::QlogConfig> {
        let mut config = library::QlogConfig::new(self.0.take()?);
        config.start_time(instant(Time::ZERO));
        Some(config)
    }
}

/// Factory of [`Watched`] controls.
struct WatchedFactory {
    control: Arc<dyn ControllerFactory + Send + Sync>,
    is_paced: bool,
    smallest_rtt: SmallestRtt,
}

impl ControllerFactory for WatchedFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let control = self.control.clone().build(now, mtu);
        Box::new(Watched { control, is_paced: self.is_paced, smallest_rtt: self.smallest_rtt.clone() })
    }
}

/// A congestion control whose smallest RTT is recorded, and whose pacing may be disabled.
struct Watched {
    control: Box<dyn Controller>,
    is_paced: bool,
    smallest_rtt: SmallestRtt,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.control.fmt(formatter)
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
        self.control.on_sent(now, bytes, largest);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.control.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.control.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.smallest_rtt.set(rtt.min());
        self.control.on_ack(now, sent, bytes, number, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.control.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        bytes: u64,
        largest: u64,
    ) {
        self.control.on_congestion_event(now, sent, is_persistent, is_ecn, bytes, largest);
    }

    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.control.on_packet_lost(bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.control.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.control.on_mtu_update(mtu);
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_delay: std::time::Duration) {
        self.control.on_ack_frequency_update(threshold, max_delay);
    }

    fn window(&self) -> u64 {
        self.control.window()
    }

    /// Returns the library's metrics. If pacing is disabled, the window is the largest number, because the library's
    /// pacer does not pace a window above 4 GiB. Only the pacer reads this copy of the window.
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.control.metrics();
        if !self.is_paced {
            metrics.congestion_window = u64::MAX;
            metrics.pacing_rate = None;
        }
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let (control, smallest_rtt) = (self.control.clone_box(), self.smallest_rtt.clone());
        Box::new(Watched { control, is_paced: self.is_paced, smallest_rtt })
    }

    fn initial_window(&self) -> u64 {
        self.control.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn set_identifiers(
    endpoint: &mut EndpointConfig,
    identifiers: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    endpoint.cid_generator(Arc::new(identifiers));
}

fn new_endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Time,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    response: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(instant(now), FourTuple::new(peer, None), ecn, datagram, response)
}

/// Writes the next datagram to `datagram` and returns its ECN field; `None` if the connection has nothing to send.
fn poll_transmit(
    connection: &mut Connection,
    now: Time,
    datagram: &mut Vec<u8>,
) -> Option<Option<EcnCodepoint>> {
    connection.poll_transmit(instant(now), NonZeroUsize::MIN, datagram).map(|transmit| transmit.ecn)
}

/// Writes data to a stream. Returns the number of bytes accepted, or `None` if the stream is blocked.
fn write(connection: &mut Connection, stream: StreamId, data: Bytes) -> Option<u64> {
    let written = connection.send_stream(stream).write_chunks(&mut &mut [data][..]).ok()?;
    Some(written as u64)
}

fn observe(connection: &Connection, smallest_rtt: &SmallestRtt) -> Observed {
    let Some(control) = connection.congestion_state(PathId::ZERO) else { return Observed::default() };
    Observed {
        cwnd: Some(control.window()),
        ssthresh: control.metrics().ssthresh.filter(|it| *it < u64::MAX),
        srtt: connection.rtt(PathId::ZERO).map(|rtt| Duration::from_nanos(rtt.as_nanos() as u64)),
        min_rtt: smallest_rtt.get(),
        ..Observed::default()
    }
}
