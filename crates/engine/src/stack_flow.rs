//! A flow whose two ends are transport implementations of other projects ([`Stack`]).

use crate::application::{Application, Socket};
use crate::flow::FlowSide;
use lasthop_base::Time;
use lasthop_stack::{Guarded, Observed, Stack};
use lasthop_wire::Ecn;

/// The two ends of a flow, their applications, and the datagrams in flight.
pub struct StackFlow {
    /// First the source, then the destination.
    ends: [StackEnd; 2],
    /// Side that opens the connection.
    pub(crate) opener: FlowSide,
    pub(crate) is_open: bool,
    /// Applications; `None` if the source has one transfer.
    application: Option<Box<Application>>,
    /// Time of the last call of an end, and the number of calls at this time.
    pub(crate) calls: (Time, u32),
    pub(crate) failure: Option<(Time, String)>,
    pub(crate) in_flight: DatagramBuffers,
}

impl StackFlow {
    /// Creates a flow between two ends, in the order source and destination. `bytes` is the amount of data that the
    /// source's application writes; `None`: unlimited.
    pub fn new(ends: [Box<dyn Stack>; 2], opener: FlowSide, bytes: Option<u64>) -> StackFlow {
        let [mut source, destination] = ends.map(StackEnd::new);
        (source.unwritten, source.is_closed) = (bytes.unwrap_or(u64::MAX), true);
        StackFlow {
            ends: [source, destination],
            opener,
            is_open: false,
            application: None,
            calls: (Time::ZERO, 0),
            failure: None,
            in_flight: DatagramBuffers::default(),
        }
    }

    /// Creates a flow between two ends, in the order source and destination, with applications at both ends.
    pub fn with_application(ends: [Box<dyn Stack>; 2], application: Application) -> StackFlow {
        let flow = StackFlow::new(ends, application.opener(), Some(0));
        let [source, destination] = flow.ends;
        let ends = [StackEnd { is_closed: false, ..source }, destination];
        StackFlow { ends, application: Some(Box::new(application)), ..flow }
    }

    /// Payload that applications have read, bytes: first at the destination, then at the source.
    pub fn delivered(&self) -> [u64; 2] {
        let [source, destination] = &self.ends;
        [destination.delivered, source.delivered]
    }

    /// Number of datagrams sent: first by the source, then by the destination.
    pub fn sent(&self) -> [u64; 2] {
        self.ends.each_ref().map(|end| end.sent)
    }

    /// Time of the failure that has ended the flow, and the reason for the failure.
    pub fn failure(&self) -> Option<(Time, &str)> {
        self.failure.as_ref().map(|(at, reason)| (*at, reason.as_str()))
    }

    /// State of the source's sender.
    pub fn observe(&self) -> Observed {
        self.ends[0].stack.observe()
    }

    /// Number of datagrams in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.used()
    }

    /// Returns the stack at this side of the flow.
    pub fn end(&mut self, side: FlowSide) -> &mut dyn Stack {
        &mut self.side(side).stack
    }

    /// Applications; `None` if the source has one transfer.
    pub(crate) fn application(&self) -> Option<&Application> {
        self.application.as_deref()
    }

    pub(crate) fn application_mut(&mut self) -> Option<&mut Application> {
        self.application.as_deref_mut()
    }

    /// Time of the application's next action that depends on the clock and not on arrived data.
    pub(crate) fn next_action(&self) -> Time {
        self.application.as_ref().map_or(Time::NEVER, |application| application.next())
    }

    /// Passes the bytes of this slot to the stack at this side, unless the flow has failed, and releases the slot.
    pub(crate) fn handle_datagram(&mut self, side: FlowSide, now: Time, slot: u64, ecn: Ecn) {
        if self.failure.is_none() {
            let end = &mut self.ends[usize::from(side == FlowSide::Destination)];
            end.stack.handle_datagram(now, self.in_flight.buffer(slot), ecn);
        }
        self.in_flight.release(slot);
    }

    /// Reads the data that has arrived at this side. Returns the number of bytes.
    pub(crate) fn read(&mut self, side: FlowSide, now: Time) -> u64 {
        let end = self.side(side);
        let bytes = end.stack.read(now);
        end.delivered += bytes;
        bytes
    }

    /// Lets the applications act on arrived data or elapsed time. Returns whether each side has data to write.
    pub(crate) fn act(&mut self, now: Time) -> [bool; 2] {
        let Some(application) = &mut self.application else { return [false; 2] };
        let [source, destination] = &mut self.ends;
        let delivered = [source.delivered, destination.delivered];
        let mut server = StackSocket { end: source, peer_delivered: delivered[1] };
        let mut client = StackSocket { end: destination, peer_delivered: delivered[0] };
        let mut has_output = application.act(now, &mut server, &mut client);
        // A server closes the connection after its client.
        if source.stack.is_at_end() && !source.is_closed {
            source.is_closed = true;
            has_output[0] = true;
        }
        has_output
    }

    /// Passes the data and the close of this side's application to the stack.
    pub(crate) fn write(&mut self, side: FlowSide, now: Time) {
        let end = self.side(side);
        if end.unwritten > 0 {
            let accepted = end.stack.write(now, end.unwritten).min(end.unwritten);
            end.unwritten -= accepted;
            end.accepted += accepted;
        }
        if end.unwritten == 0 && end.is_closed && !end.is_finished {
            end.is_finished = true;
            end.stack.finish(now);
        }
    }

    /// Counts a datagram that this side sends.
    pub(crate) fn count_sent(&mut self, side: FlowSide) {
        self.side(side).sent += 1;
    }

    fn side(&mut self, side: FlowSide) -> &mut StackEnd {
        &mut self.ends[usize::from(side == FlowSide::Destination)]
    }
}

/// One end of a flow: a stack, and the data of the application at this end.
struct StackEnd {
    stack: Guarded,
    /// Data that the application has written and that the stack has yet to accept, bytes.
    unwritten: u64,
    /// Data that the stack has accepted, bytes.
    accepted: u64,
    /// Whether the application writes no more data.
    is_closed: bool,
    /// Whether the stack was told that the application's data has ended.
    is_finished: bool,
    /// Payload that the application has read, bytes.
    delivered: u64,
    /// Number of datagrams sent.
    sent: u64,
}

impl StackEnd {
    fn new(stack: Box<dyn Stack>) -> StackEnd {
        StackEnd {
            stack: Guarded::new(stack),
            unwritten: 0,
            accepted: 0,
            is_closed: false,
            is_finished: false,
            delivered: 0,
            sent: 0,
        }
    }
}

/// One end of a flow, as the end's application uses the flow.
struct StackSocket<'a> {
    end: &'a mut StackEnd,
    /// Payload that the peer's application has read, bytes.
    peer_delivered: u64,
}

impl Socket for StackSocket<'_> {
    fn delivered(&self) -> u64 {
        self.end.delivered
    }

    /// Estimates the unsent data, which a stack does not report. Sent data that the peer has not read is at most twice
    /// cwnd: one window before a loss, and one window during its repair. Linux limits the send buffer to twice cwnd for
    /// the same reason. Without cwnd, all data that the stack has accepted counts as sent.
    fn unsent(&self) -> u64 {
        let unread = self.end.accepted.saturating_sub(self.peer_delivered);
        let cwnd = self.end.stack.observe().cwnd;
        self.end.unwritten + cwnd.map_or(0, |cwnd| unread.saturating_sub(cwnd.saturating_mul(2)))
    }

    fn write(&mut self, bytes: u64) {
        self.end.unwritten += bytes;
    }

    fn close(&mut self) {
        self.end.is_closed = true;
    }

    fn close_when_sent(&mut self) {
        self.close();
    }
}

/// Bytes of the datagrams in flight. A packet's datagram number is the number of its slot. Slots and their buffers are
/// reused.
#[derive(Default)]
pub(crate) struct DatagramBuffers {
    /// For each slot, the bytes of a datagram, and the number of packets in flight with these bytes.
    slots: Vec<(Vec<u8>, u32)>,
    free: Vec<u32>,
    /// Buffer for the next datagram.
    next: Vec<u8>,
}

impl DatagramBuffers {
    /// Returns an empty buffer for the next datagram. The caller returns the buffer to [`DatagramBuffers::insert`] or to
    /// [`DatagramBuffers::give_back`].
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.next);
        buffer.clear();
        buffer
    }

    /// Accepts an unused buffer.
    pub(crate) fn give_back(&mut self, buffer: Vec<u8>) {
        self.next = buffer;
    }

    /// Stores the bytes of one packet. Returns the number of their slot.
    pub(crate) fn insert(&mut self, bytes: Vec<u8>) -> u64 {
        match self.free.pop() {
            Some(slot) => {
                let place = &mut self.slots[slot as usize];
                self.next = std::mem::replace(&mut place.0, bytes);
                place.1 = 1;
                u64::from(slot)
            }
            None => {
                self.slots.push((bytes, 1));
                self.next = Vec::with_capacity(1536);
                self.slots.len() as u64 - 1
            }
        }
    }

    pub(crate) fn buffer(&mut self, slot: u64) -> &mut Vec<u8> {
        &mut self.slots[slot as usize].0
    }

    /// Counts a copy of a packet.
    pub(crate) fn add_copy(&mut self, slot: u64) {
        self.slots[slot as usize].1 += 1;
    }

    /// Counts a packet that has arrived or was lost.
    pub(crate) fn release(&mut self, slot: u64) {
        let packets = &mut self.slots[slot as usize].1;
        *packets = packets.saturating_sub(1);
        if *packets == 0 {
            self.free.push(slot as u32);
        }
    }

    fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_reused_after_its_last_packet() {
        let mut buffers = DatagramBuffers::default();
        let (one, two) = (buffers.insert(vec![7]), buffers.insert(vec![8]));
        buffers.add_copy(one);
        buffers.release(one);
        assert_eq!((buffers.used(), &buffers.buffer(one)[..]), (2, &[7][..]));
        buffers.release(one);
        buffers.release(two);
        let mut next = buffers.take();
        assert_eq!((buffers.used(), next.len()), (0, 0));
        next.push(9);
        let slot = buffers.insert(next);
        assert_eq!((slot, &buffers.buffer(slot)[..]), (two, &[9][..]));
    }
}
