//! Applications at both ends of a connection, other than a single bulk transfer.
//!
//! * [`Exchanges`]: the destination, which is the client, opens the connection and sends requests; the source responds.
//! * [`Application::on_demand`]: the same with requests and responses that the driver of the engine decides ([`crate::Engine::ask`]).
//! * [`Application::fed`]: the driver of the engine decides the data of the source ([`crate::Engine::write`]).
//! * [`Pauses`]: the source alternates between sending and silence.
//!
//! The engine calls the application when data has arrived or when the application's next action is due. The application
//! then writes to the endpoints and closes them, as programs do with sockets.

mod exchanges;
mod fed;
mod on_demand;
mod pauses;

pub use exchanges::Exchanges;
pub(crate) use fed::Fed;
pub(crate) use on_demand::OnDemand;
pub use pauses::Pauses;

use crate::flow::FlowSide;
use exchanges::Exchanging;
use lasthop_base::{Duration, Spread, Stream, Time};
use lasthop_tcp::Endpoint;
use pauses::Pausing;

/// One end of a connection, as the application at this end uses the connection.
pub(crate) trait Socket {
    /// Payload that the application has received in order, bytes.
    fn delivered(&self) -> u64;

    /// Data that the application has written and that was not yet sent, bytes.
    fn unsent(&self) -> u64;

    /// Writes data.
    fn write(&mut self, bytes: u64);

    /// Ends the application's data. The application writes no data after this call.
    fn close(&mut self);

    /// Ends the application's data like [`Socket::close`], but also works before the connection is open.
    fn close_when_sent(&mut self);
}

impl Socket for Endpoint {
    fn delivered(&self) -> u64 {
        Endpoint::delivered(self)
    }

    fn unsent(&self) -> u64 {
        Endpoint::unsent(self)
    }

    fn write(&mut self, bytes: u64) {
        Endpoint::write(self, bytes);
    }

    fn close(&mut self) {
        Endpoint::close(self);
    }

    fn close_when_sent(&mut self) {
        Endpoint::close_when_sent(self);
    }
}

/// The applications at both ends of a connection.
pub struct Application {
    script: Script,
    next: Time,
}

enum Script {
    Exchanges(Exchanges, Exchanging),
    OnDemand(OnDemand),
    Fed(Fed),
    Pauses(Pauses, Pausing),
}

/// A request and its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// Time of the request. The first request of [`Exchanges`] also opens the connection.
    pub requested: Time,
    /// Size of the response, bytes.
    pub bytes: u64,
    /// Time from the request to the response's last byte; `None`: unfinished.
    pub response_time: Option<Duration>,
}

impl Application {
    /// Creates the applications of exchanges from `start` on. `sizes` is the random stream of response sizes, and
    /// `pauses` is the random stream of think times.
    pub fn exchanges(exchanges: Exchanges, start: Time, sizes: Stream, pauses: Stream) -> Application {
        let state = Exchanging::new(&exchanges, start, (sizes, pauses));
        Application { script: Script::Exchanges(exchanges, state), next: start }
    }

    /// Creates the applications of requests on demand. `request` is the size of each request, bytes. The client opens the
    /// connection at the flow's start, and sends no request before [`crate::Engine::ask`].
    pub fn on_demand(request: u64) -> Application {
        Application { script: Script::OnDemand(OnDemand::new(request)), next: Time::NEVER }
    }

    /// Creates a fed transfer. The source opens the connection at the flow's start, and sends only the data of
    /// [`crate::Engine::write`]. The data ends with [`crate::Engine::close`].
    pub fn fed() -> Application {
        Application { script: Script::Fed(Fed::default()), next: Time::NEVER }
    }

    /// Creates a source that alternates between sending and silence from `start` on. `lengths` is the random stream of
    /// the lengths of on and off periods.
    pub fn pauses(pauses: Pauses, start: Time, lengths: Stream) -> Application {
        let state = Pausing::new(start, lengths);
        let script = Script::Pauses(Pauses { chunk: pauses.chunk.max(1), ..pauses }, state);
        Application { script, next: start }
    }

    /// Side of the flow that opens the connection.
    pub fn opener(&self) -> FlowSide {
        match self.script {
            Script::Exchanges(..) | Script::OnDemand(_) => FlowSide::Destination,
            Script::Fed(_) | Script::Pauses(..) => FlowSide::Source,
        }
    }

    /// Whether data that arrives may cause an action of the application.
    pub(crate) fn acts_on_arrivals(&self) -> bool {
        !matches!(self.script, Script::Fed(_))
    }

    /// Time of the application's next action that depends on the clock and not on arrived data.
    pub fn next(&self) -> Time {
        self.next
    }

    /// All requests so far; `None` for [`Pauses`] and fed transfers.
    pub fn requests(&self) -> Option<&[Exchange]> {
        match &self.script {
            Script::Exchanges(_, state) => Some(&state.all),
            Script::OnDemand(state) => Some(&state.all),
            Script::Fed(_) | Script::Pauses(..) => None,
        }
    }

    /// Number of requests whose responses are complete; 0 for [`Pauses`] and fed transfers. Takes constant time.
    pub fn completed(&self) -> usize {
        match &self.script {
            Script::Exchanges(_, state) => state.completed(),
            Script::OnDemand(state) => state.completed,
            Script::Fed(_) | Script::Pauses(..) => 0,
        }
    }

    /// Data that the driver has written in a fed transfer, bytes; `None` for other applications.
    pub fn fed_bytes(&self) -> Option<u64> {
        match &self.script {
            Script::Fed(state) => Some(state.written),
            Script::Exchanges(..) | Script::OnDemand(_) | Script::Pauses(..) => None,
        }
    }

    /// Size of a fed transfer, bytes; `None` for other applications, and before [`crate::Engine::close`].
    pub fn fed_size(&self) -> Option<u64> {
        match &self.script {
            Script::Fed(state) if state.is_closed() => Some(state.written),
            _ => None,
        }
    }

    /// Whether all exchanges are complete. Always false for [`Pauses`], for fed transfers, for unlimited exchanges, and for requests on demand
    /// before [`crate::Engine::close`].
    pub fn is_complete(&self) -> bool {
        match &self.script {
            Script::Exchanges(Exchanges { most, .. }, state) => {
                most.is_some_and(|most| state.completed() as u64 >= most)
            }
            Script::OnDemand(state) => state.is_complete(),
            Script::Fed(_) | Script::Pauses(..) => false,
        }
    }

    /// Whether the application draws random numbers.
    pub fn draws(&self) -> bool {
        match &self.script {
            Script::Exchanges(it, _) => {
                it.sizes.is_random() || (it.pauses.is_random() && it.think > Duration::ZERO)
            }
            Script::OnDemand(_) | Script::Fed(_) => false,
            Script::Pauses(it, _) => it.lengths.is_random(),
        }
    }

    /// State of requests on demand; `None` for the other scripts.
    pub(crate) fn requests_on_demand(&mut self) -> Option<&mut OnDemand> {
        match &mut self.script {
            Script::OnDemand(state) => Some(state),
            Script::Exchanges(..) | Script::Fed(_) | Script::Pauses(..) => None,
        }
    }

    /// State of a fed transfer; `None` for the other scripts.
    pub(crate) fn fed_transfer(&mut self) -> Option<&mut Fed> {
        match &mut self.script {
            Script::Fed(state) => Some(state),
            Script::Exchanges(..) | Script::OnDemand(_) | Script::Pauses(..) => None,
        }
    }

    /// Acts on arrived data or elapsed time. Returns two values: whether the source has something to send, and whether
    /// the destination has something to send.
    pub(crate) fn act<S: Socket>(&mut self, now: Time, source: &mut S, destination: &mut S) -> [bool; 2] {
        let Application { script, next } = self;
        match script {
            Script::Exchanges(it, state) => state.act(it, now, (source, destination), next),
            Script::OnDemand(state) => state.act(now, (source, destination)),
            Script::Fed(state) => [state.act(source), false],
            Script::Pauses(it, state) => [state.act(it, now, source, next), false],
        }
    }
}

fn drawn(spread: Spread, random: &mut Stream, mean: Duration) -> Duration {
    match spread {
        Spread::Fixed => mean,
        _ => Duration::from_secs_f64(spread.draw(random, mean.as_secs())),
    }
}
