//! Server of a recording: waits for clients and records with one client at a time.
//!
//! Until an address is proven, responses are no longer than requests. A session ends after 30 s without messages from
//! its client.

use crate::LONGEST_S;
use crate::cookie::Cookies;
use crate::message::{Message, PART_BYTES, RecordingPhase};
use crate::saturation::Saturation;
use crate::sockets::{Received, Socket, Sockets};
use lasthop_base::{Duration, Time};
use lasthop_os::datagrams::Datagrams;
use std::net::SocketAddr;

/// Time without messages from the client after which a session ends.
pub(crate) const SILENCE: Duration = Duration::from_secs(30);
/// Maximum time that a client may request for filling the queue before the recording, ms.
pub(crate) const LONGEST_WARM_MS: u32 = 60_000;
const MAX_WAIT: Duration = Duration::from_millis(100);
/// Maximum number of datagrams read before the next send.
const BATCH: usize = 64;

/// Progress of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerProgress {
    /// A client has opened a session.
    Began(SocketAddr),
    /// The client has closed its session.
    Done(SocketAddr),
    /// The client was silent for 30 s.
    Gone(SocketAddr),
}

/// Serves clients until no session has existed for `idle`, or until the user stops the server. Returns the number of
/// results fetched.
pub fn serve(
    socket: Datagrams,
    idle: Duration,
    is_over: &dyn Fn() -> bool,
    on_progress: &mut dyn FnMut(ServerProgress),
) -> u64 {
    let mut server = Server {
        sockets: Sockets::new(socket, None),
        cookies: Cookies::default(),
        session: None,
        quiet_since: Time::ZERO,
        served: 0,
    };
    while !is_over() && !server.is_idle(idle) {
        server.turn(on_progress);
    }
    server.served
}

struct Server {
    sockets: Sockets,
    cookies: Cookies,
    session: Option<Session>,
    /// End of the last session, or start of the server.
    quiet_since: Time,
    served: u64,
}

struct Session {
    id: u64,
    nonce: u64,
    /// The client's address for reports and responses.
    reports: SocketAddr,
    /// The client's address for the packets of the measurement.
    packets: SocketAddr,
    last_received: Time,
    phase: Option<(Saturation, u8, u32)>,
    /// Number of the last finished phase, and its encoded result.
    result: Option<(u8, Vec<u8>)>,
}

impl Server {
    fn is_idle(&self, idle: Duration) -> bool {
        self.session.is_none() && self.sockets.now().since(self.quiet_since) >= idle
    }

    fn turn(&mut self, on_progress: &mut dyn FnMut(ServerProgress)) {
        for _ in 0..BATCH {
            if !self.answer(on_progress) {
                break;
            }
        }
        let now = self.sockets.now();
        let mut wakes = now + MAX_WAIT;
        let mut is_full = false;
        if let Some(session) = &mut self.session {
            if now.since(session.last_received) > SILENCE {
                let client = session.reports;
                self.end();
                return on_progress(ServerProgress::Gone(client));
            }
            if let Some((phase, ..)) = &mut session.phase {
                is_full = self.sockets.send_phase(phase, session.packets, session.reports);
                wakes = if phase.is_over(now) { wakes } else { wakes.min(phase.next_action(now)) };
            }
        }
        self.sockets.wait(wakes, is_full);
    }

    fn end(&mut self) {
        self.session = None;
        self.quiet_since = self.sockets.now();
    }

    /// Reads one datagram and responds to it. Returns false if no datagram is waiting.
    fn answer(&mut self, on_progress: &mut dyn FnMut(ServerProgress)) -> bool {
        let Server { sockets, cookies, session, served, .. } = self;
        let Some((message, received)) = sockets.receive() else { return false };
        let mut answer: Option<Message> = None;
        let mut part = Vec::new();
        match message {
            Message::Hello { nonce } => {
                answer = Some(Message::Cookie { nonce, cookie: cookies.of(received.from, received.at) });
            }
            Message::Begin { nonce, cookie } if cookies.is_of(cookie, received.from, received.at) => {
                answer = Some(match session {
                    // The client repeats its request if the response was lost.
                    Some(known) if known.reports == received.from && known.nonce == nonce => {
                        Message::Welcome { nonce, session: known.id }
                    }
                    Some(known) if known.reports != received.from => Message::Busy { nonce },
                    _ => {
                        let id = cookies.number();
                        *session = Some(Session::new(id, nonce, &received));
                        on_progress(ServerProgress::Began(received.from));
                        Message::Welcome { nonce, session: id }
                    }
                });
            }
            Message::Attach { session: id, cookie } if cookies.is_of(cookie, received.from, received.at) => {
                if let Some(known) = session.as_mut().filter(|known| known.id == id) {
                    known.packets = received.from;
                    answer = Some(Message::Attached { session: id });
                }
            }
            _ => {
                let Some(known) = session.as_mut().filter(|known| known.is_from_client(&message, &received))
                else {
                    return true;
                };
                known.last_received = received.at;
                if let Some((phase, ..)) = &mut known.phase {
                    // Packets on the separate path for reports use no capacity of the measured path.
                    let bytes = if received.from == known.packets { received.bytes } else { 0 };
                    phase.handle_message(&message, received.at, bytes);
                }
                let id = known.id;
                match message {
                    Message::Ping { number, .. } => {
                        let clock = received.at.as_nanos();
                        answer = Some(Message::Pong { session: id, number, clock });
                    }
                    Message::Start { phase, .. } => {
                        let dropped = sockets.dropped();
                        if known.start(&phase, received.at, dropped) {
                            answer = Some(Message::Started { session: id, number: phase.number });
                        }
                    }
                    Message::Fetch { number, part: wanted, .. } => {
                        if known.finish(number, received.at, sockets.dropped()) {
                            *served += 1;
                        }
                        if let Some(parts) = known.part(number, wanted, &mut part) {
                            let len = part.len() as u32;
                            answer = Some(Message::Part { session: id, number, part: wanted, parts, len });
                        }
                    }
                    Message::Bye { .. } => {
                        on_progress(ServerProgress::Done(known.reports));
                        self.end();
                        return true;
                    }
                    _ => {}
                }
            }
        }
        if let Some(answer) = answer {
            let _ = sockets.send_with(&answer, &part, Socket::Path, received.from);
        }
        true
    }
}

impl Session {
    fn new(id: u64, nonce: u64, received: &Received) -> Session {
        Session {
            id,
            nonce,
            reports: received.from,
            packets: received.from,
            last_received: received.at,
            phase: None,
            result: None,
        }
    }

    /// Returns whether a message belongs to this session and comes from a proven address of its client.
    fn is_from_client(&self, message: &Message, received: &Received) -> bool {
        message.session() == Some(self.id) && (received.from == self.reports || received.from == self.packets)
    }

    /// Begins a phase unless it is already running. Returns false if the server refuses the phase.
    fn start(&mut self, phase: &RecordingPhase, at: Time, dropped: u32) -> bool {
        if self.phase.as_ref().is_some_and(|(_, number, _)| *number == phase.number) {
            return true;
        }
        let is_done = self.result.as_ref().is_some_and(|(number, _)| *number == phase.number);
        if is_done || phase.span_ms > LONGEST_S * 1000 || phase.warm_ms > LONGEST_WARM_MS {
            return false;
        }
        let [down, up] = phase.directions;
        self.phase = Some((Saturation::new(self.id, phase, at, down, up), phase.number, dropped));
        true
    }

    /// Converts a phase that has ended to a result. Returns false if the phase runs, is unknown, or is already
    /// converted.
    fn finish(&mut self, wanted: u8, now: Time, dropped: u32) -> bool {
        let is_over =
            |(phase, number, _): &mut (Saturation, u8, u32)| *number == wanted && phase.is_over(now);
        let Some((phase, number, before)) = self.phase.take_if(is_over) else { return false };
        self.result = Some((number, phase.finish(dropped.saturating_sub(before)).bytes()));
        true
    }

    /// Copies a part of a result to `out`; returns the number of parts.
    fn part(&self, wanted: u8, part: u32, out: &mut Vec<u8>) -> Option<u32> {
        let (_, bytes) = self.result.as_ref().filter(|(number, _)| *number == wanted)?;
        let mut parts = bytes.chunks(PART_BYTES);
        let count = u32::try_from(parts.len()).ok()?;
        out.extend_from_slice(parts.nth(part as usize)?);
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_os::datagrams::SourceBinding;
    use std::net::{Ipv4Addr, UdpSocket};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    struct TestClient(UdpSocket);

    impl TestClient {
        fn of(server: SocketAddr) -> TestClient {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            socket.connect(server).unwrap();
            TestClient(socket)
        }

        /// Sends a message. Returns the response within 0.3 s, if any. Without a session, the response must not be
        /// longer than the message.
        fn request(&self, message: &Message) -> Option<Message> {
            let mut bytes = Vec::new();
            message.write(&mut bytes, &[]);
            let answer = self.send(&bytes)?;
            assert!(answer.len() <= bytes.len() || message.session().is_some(), "{message:?}");
            Message::read(&answer).map(|(message, _)| message)
        }

        fn send(&self, bytes: &[u8]) -> Option<Vec<u8>> {
            self.0.send(bytes).unwrap();
            self.0.set_read_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
            let mut buffer = [0; 2048];
            self.0.recv(&mut buffer).ok().map(|len| buffer[..len].to_vec())
        }

        fn cookie(&self) -> u64 {
            match self.request(&Message::Hello { nonce: 7 }) {
                Some(Message::Cookie { nonce: 7, cookie }) => cookie,
                other => panic!("{other:?}"),
            }
        }

        fn begin(&self) -> u64 {
            let cookie = self.cookie();
            match self.request(&Message::Begin { nonce: 7, cookie }) {
                Some(Message::Welcome { nonce: 7, session }) => session,
                other => panic!("{other:?}"),
            }
        }
    }

    /// Runs a server during a test; returns the number of results fetched and the progress events.
    fn with_server(test: impl FnOnce(SocketAddr)) -> (u64, Vec<ServerProgress>) {
        let socket = Datagrams::open(&SourceBinding::Address((Ipv4Addr::LOCALHOST, 0).into())).unwrap();
        let (address, is_over) = (socket.address(), AtomicBool::new(false));
        thread::scope(|scope| {
            let server = scope.spawn(|| {
                let mut news = Vec::new();
                let is_over = || is_over.load(Ordering::Relaxed);
                let served = serve(socket, Duration::from_secs(20), &is_over, &mut |one| news.push(one));
                (served, news)
            });
            let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(address)));
            is_over.store(true, Ordering::Relaxed);
            let news = server.join().unwrap();
            tested.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            news
        })
    }

    #[test]
    fn strangers_get_no_more_than_a_cookie_and_the_second_client_waits() {
        let (served, news) = with_server(|server| {
            let (one, other) = (TestClient::of(server), TestClient::of(server));
            // The server does not respond to a hello without padding, an invalid cookie, an unknown session, or bytes
            // that are not a message.
            let mut short = Vec::new();
            Message::Hello { nonce: 7 }.write(&mut short, &[]);
            assert_eq!(one.send(&short[..40]), None);
            assert_eq!(one.request(&Message::Begin { nonce: 7, cookie: 1 }), None);
            assert_eq!(one.request(&Message::Ping { session: 1, number: 0 }), None);
            assert_eq!(one.send(b"LHr1 what is this?"), None);
            // A cookie is valid for one address only.
            let cookie = one.cookie();
            assert_eq!(other.request(&Message::Begin { nonce: 7, cookie }), None);
            let session = one.begin();
            assert_eq!(one.begin(), session, "a repeated request opens no new session");
            let cookie = other.cookie();
            assert_eq!(other.request(&Message::Begin { nonce: 7, cookie }), Some(Message::Busy { nonce: 7 }));
            assert_eq!(other.request(&Message::Ping { session, number: 0 }), None);
            let pong = one.request(&Message::Ping { session, number: 5 });
            assert!(matches!(pong, Some(Message::Pong { number: 5, .. })), "{pong:?}");
            assert_eq!(other.request(&Message::Bye { session }), None);
            assert_eq!(one.request(&Message::Bye { session }), None);
            assert_ne!(other.begin(), session);
        });
        assert_eq!(served, 0);
        assert!(
            matches!(news[..], [ServerProgress::Began(_), ServerProgress::Done(_), ServerProgress::Began(_)]),
            "{news:?}"
        );
    }

    #[test]
    fn nobody_keeps_it_busy_for_longer_than_allowed() {
        with_server(|server| {
            let one = TestClient::of(server);
            let session = one.begin();
            let phase = |span_ms, warm_ms| RecordingPhase {
                number: 0,
                directions: [false, true],
                warm_ms,
                span_ms,
                jitter_us: 0,
            };
            for phase in [phase(LONGEST_S * 1000 + 1, 0), phase(10, LONGEST_WARM_MS + 1)] {
                assert_eq!(one.request(&Message::Start { session, phase }), None);
            }
            let start = Message::Start { session, phase: phase(10, 0) };
            let started = Some(Message::Started { session, number: 0 });
            assert_eq!((one.request(&start), one.request(&start)), (started, started));
            assert_eq!(one.request(&Message::Fetch { session, number: 0, part: 9 }), None);
            let part = one.request(&Message::Fetch { session, number: 0, part: 0 });
            assert!(matches!(part, Some(Message::Part { part: 0, parts: 1, .. })), "{part:?}");
            assert_eq!(one.request(&start), None, "a finished phase does not start again");
        });
    }

    #[test]
    fn it_ends_when_nobody_comes() {
        let socket = Datagrams::open(&SourceBinding::Address((Ipv4Addr::LOCALHOST, 0).into())).unwrap();
        assert_eq!(serve(socket, Duration::from_millis(300), &|| false, &mut |_| {}), 0);
    }
}
