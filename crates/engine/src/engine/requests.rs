//! [`Engine`]: requests on demand, which a driver makes between events.
//!
//! A request takes effect at the current simulated time. A run with the same requests at the same simulated times
//! therefore has the same results.

use super::Engine;
use crate::application::{Application, OnDemand};
use crate::flow::{FlowSide, NoEndpoint, TcpConnection, Traffic};
use lasthop_tcp::State;
use lasthop_wire::FlowId;
use std::fmt;

/// Largest response, bytes. Scenarios have the same limit.
const MAX_RESPONSE: u64 = 1_000_000_000_000;

/// Reason why a flow accepts no request, no data, or no close. `Display` writes a clause such as `the flow has ended`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestRefused {
    /// The flow has no application with requests on demand ([`crate::Application::on_demand`]).
    NotOnDemand,
    /// The flow is no fed transfer ([`crate::Application::fed`]).
    NotFed,
    /// The driver decides neither the requests nor the data of the flow, and thus not their end.
    NotDriven,
    /// The flow has not opened its connection yet.
    NotBegun,
    /// The driver has closed the flow, or the connection has ended.
    Ended,
    /// The response has less than 1 byte or more than 1 TB.
    Size,
    /// The data has less than 1 byte, or the fed transfer would have more than 1 PB.
    Amount,
}

impl RequestRefused {
    /// The reason as a clause, such as `the flow has ended`.
    pub fn clause(self) -> &'static str {
        match self {
            RequestRefused::NotOnDemand => "the flow has no responses that are decided during the run",
            RequestRefused::NotFed => "its size is not external",
            RequestRefused::NotDriven => "neither its size nor its responses are external",
            RequestRefused::NotBegun => "the flow has not begun",
            RequestRefused::Ended => "the flow has ended",
            RequestRefused::Size => "a response has at least 1 byte and at most 1 TB",
            RequestRefused::Amount => "data has at least 1 byte, and all data of a flow has at most 1 PB",
        }
    }
}

impl fmt::Display for RequestRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.clause())
    }
}

impl std::error::Error for RequestRefused {}

impl Engine {
    /// Lets the client of a flow send a request now. The server responds with `response` bytes, 1 to 10^12, as soon as the
    /// request has arrived. Requests that follow before the response is complete are pipelined: the server responds to all
    /// requests in their order. [`Application::requests`](crate::Application::requests) has the response times.
    pub fn ask(&mut self, flow: FlowId, response: u64) -> Result<(), RequestRefused> {
        let now = self.now;
        let requests = self.requests_on_demand(flow)?;
        if !(1..=MAX_RESPONSE).contains(&response) {
            return Err(RequestRefused::Size);
        }
        requests.ask(now, response);
        self.write_requests(flow);
        Ok(())
    }

    /// Ends the requests of a flow, or the data of a fed transfer. With requests, the client closes the connection as soon
    /// as all responses are complete, which may be now. In a fed transfer, a FIN follows the data. A fed transfer accepts
    /// the close also before the flow begins.
    pub fn close(&mut self, flow: FlowId) -> Result<(), RequestRefused> {
        if self.is_fed(flow) {
            return self.close_fed(flow);
        }
        let requests = self.requests_on_demand(flow).map_err(|why| match why {
            RequestRefused::NotOnDemand => RequestRefused::NotDriven,
            why => why,
        });
        requests?.close();
        self.write_requests(flow);
        Ok(())
    }

    /// Returns the requests of a flow that accepts a request now. If the flow's start time is now, first handles all events
    /// that are due, so that the client has opened the connection.
    fn requests_on_demand(&mut self, flow: FlowId) -> Result<&mut OnDemand, RequestRefused> {
        let now = self.now;
        let is_due = self.flows.get(flow.0 as usize).is_some_and(|state| state.start == now);
        let is_waiting = is_due && self.state_of_requests(flow) == Some(Connection::NotOpen);
        if is_waiting {
            self.run_until(now);
        }
        match self.state_of_requests(flow) {
            None => Err(RequestRefused::NotOnDemand),
            Some(Connection::NotOpen) => Err(RequestRefused::NotBegun),
            Some(Connection::Ended) => Err(RequestRefused::Ended),
            Some(Connection::Open) => self.on_demand_of(flow).ok_or(RequestRefused::NotOnDemand),
        }
    }

    /// State of the connection of a flow; `None` if the flow has no requests on demand.
    fn state_of_requests(&mut self, flow: FlowId) -> Option<Connection> {
        let is_closed = self.on_demand_of(flow)?.is_closed();
        let (is_open, has_ended) = match &self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(connection) => {
                let TcpConnection { source, destination, .. } = &**connection;
                let has_ended = source.ended().is_some() || destination.ended().is_some();
                (destination.state() != State::Closed, has_ended)
            }
            Traffic::NoEndpoint(NoEndpoint::Stack(stacks)) => (stacks.is_open, stacks.failure.is_some()),
            Traffic::NoEndpoint(_) => (false, false),
        };
        Some(match (is_closed || has_ended, is_open) {
            (true, _) => Connection::Ended,
            (false, true) => Connection::Open,
            (false, false) => Connection::NotOpen,
        })
    }

    /// Requests on demand of a flow; `None` if the flow has another application, or none.
    fn on_demand_of(&mut self, flow: FlowId) -> Option<&mut OnDemand> {
        self.application_mut(flow)?.requests_on_demand()
    }

    /// Application of a flow; `None` if the flow has no application or does not exist.
    pub(super) fn application_mut(&mut self, flow: FlowId) -> Option<&mut Application> {
        match &mut self.flows.get_mut(flow.0 as usize)?.traffic {
            Traffic::Tcp(connection) => connection.application.as_deref_mut(),
            Traffic::NoEndpoint(NoEndpoint::Stack(stacks)) => stacks.application_mut(),
            Traffic::NoEndpoint(_) => None,
        }
    }

    /// Lets the application of a flow write its requests, and sends the packets that the connection permits now.
    fn write_requests(&mut self, flow: FlowId) {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(_) => self.call_application(flow),
            Traffic::NoEndpoint(_) => self.pump_stack(flow, FlowSide::Source),
        }
    }
}

/// State of a connection, for requests on demand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    NotOpen,
    Open,
    Ended,
}
