//! Adapter for the interface of quinn-proto.

/// Type by which the library passes a connection identifier.
macro_rules! identifier {
    () => {
        &ConnectionId
    };
}

mod crypto;
#[path = "../end.rs"]
mod end;
#[path = "../session.rs"]
mod session;

use quinn_proto as library;

use crate::log::LogSlot;
use crate::{Congestion, Settings, SmallestRtt, instant};
use bytes::{Bytes, BytesMut};
use lasthop_base::{Duration, Time};
use lasthop_stack::{Observed, Stack};
use library::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use library::{
    Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, ServerConfig,
    StreamId, TransportConfig,
};
use std::net::SocketAddr;
use std::sync::Arc;

pub(crate) fn pair(settings: &Settings, source_opens: bool) -> [Box<dyn Stack>; 2] {
    end::Quic::pair(settings, source_opens)
}

/// Returns whether the library writes qlogs. quinn-proto needs a feature for qlogs, which this crate does not enable.
fn set_log(_: &mut TransportConfig, _: &LogSlot) -> bool {
    false
}

/// Returns the library's CUBIC, or New Reno in place of every other control.
fn congestion(settings: &Settings, _: &SmallestRtt) -> Arc<dyn ControllerFactory + Send + Sync> {
    if let Congestion::Cubic = settings.congestion {
        let mut cubic = CubicConfig::default();
        settings.initial_window.map(|window| cubic.initial_window(window));
        Arc::new(cubic)
    } else {
        let mut reno = NewRenoConfig::default();
        settings.initial_window.map(|window| reno.initial_window(window));
        Arc::new(reno)
    }
}

fn set_identifiers(
    endpoint: &mut EndpointConfig,
    identifiers: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    endpoint.cid_generator(identifiers);
}

fn new_endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true, None)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Time,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    response: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(instant(now), peer, None, ecn, datagram, response)
}

/// Writes the next datagram to `datagram` and returns its ECN field; `None` if the connection has nothing to send.
fn poll_transmit(
    connection: &mut Connection,
    now: Time,
    datagram: &mut Vec<u8>,
) -> Option<Option<EcnCodepoint>> {
    connection.poll_transmit(instant(now), 1, datagram).map(|transmit| transmit.ecn)
}

/// Writes data to a stream. Returns the number of bytes accepted, or `None` if the stream is blocked.
fn write(connection: &mut Connection, stream: StreamId, data: Bytes) -> Option<u64> {
    let written = connection.send_stream(stream).write_chunks(&mut [data]).ok()?;
    Some(written.bytes as u64)
}

fn observe(connection: &Connection, _: &SmallestRtt) -> Observed {
    let (stats, metrics) = (connection.stats(), connection.congestion_state().metrics());
    let duration = |it: std::time::Duration| Some(Duration::from_nanos(it.as_nanos() as u64));
    Observed {
        cwnd: Some(stats.path.cwnd),
        ssthresh: metrics.ssthresh.filter(|it| *it < u64::MAX),
        lost: Some(stats.path.lost_packets),
        congestion_events: Some(stats.path.congestion_events),
        srtt: duration(stats.path.rtt),
        min_rtt: duration(stats.path.min_rtt),
        ..Observed::default()
    }
}
