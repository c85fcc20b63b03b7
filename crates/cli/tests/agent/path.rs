//! Two network namespaces with a path between them: a bottleneck with a drop-tail queue towards the client, and a delay.

use lasthop_base::{Duration, Rate, Time};
use lasthop_emu::{Clock, Interface, Tun};
use nix::sched::{CloneFlags, unshare};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

pub const CLIENT: &str = "10.78.0.1";
pub const SERVER: &str = "10.78.0.2";

/// What the path does.
#[derive(Clone, Copy)]
pub struct Shape {
    pub rate: Rate,
    /// Both ways together.
    pub rtt: Duration,
    /// Packets that wait for the bottleneck.
    pub queue: usize,
}

/// 10 Mbit/s, 20 ms, 500 packets.
pub const DEEP: Shape =
    Shape { rate: Rate::from_bps(10_000_000), rtt: Duration::from_millis(20), queue: 500 };

/// A path; it is gone with this.
pub struct Path {
    pub client: Place,
    pub server: Place,
    over: Arc<AtomicBool>,
    carriers: Vec<JoinHandle<()>>,
}

/// A namespace: a thread in it, which does what it is told. What it starts is in there, too.
pub struct Place {
    work: Sender<Work>,
}

type Work = Box<dyn FnOnce() + Send>;

impl Place {
    /// Makes a namespace with a device in it.
    fn with(address: &str) -> Result<(Place, Tun), String> {
        let interface = Interface {
            name: "lasthop-path".to_owned(),
            addresses: vec![(address.parse::<IpAddr>().unwrap(), 24)],
            mtu: 1500,
        };
        let (work, todo) = channel::<Work>();
        let (made, answer) = channel();
        thread::spawn(move || {
            let tun = unshare(CloneFlags::CLONE_NEWNET)
                .map_err(|error| {
                    format!("this process may not make a network namespace ({error}); run as root")
                })
                .and_then(|()| Tun::open(&interface).map_err(|trouble| trouble.to_string()));
            made.send(tun).unwrap();
            todo.iter().for_each(|work| work());
        });
        Ok((Place { work }, answer.recv().unwrap()?))
    }

    /// Does something there, and waits for it.
    pub fn does<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, answer) = channel();
        self.work.send(Box::new(move || drop(done.send(work())))).unwrap();
        answer.recv().expect("the work there failed")
    }
}

impl Path {
    pub fn open(shape: Shape) -> Result<Path, String> {
        let ((client, near), (server, far)) = (Place::with(CLIENT)?, Place::with(SERVER)?);
        let over = Arc::new(AtomicBool::new(false));
        let (near, far) = (Arc::new(near), Arc::new(far));
        let half = shape.rtt.divided_by(2);
        let carry = |from: &Arc<Tun>, to: &Arc<Tun>, rate: Option<Rate>| {
            let (from, to, over) = (Arc::clone(from), Arc::clone(to), Arc::clone(&over));
            thread::spawn(move || carry(&from, &to, rate, half, shape.queue, &over))
        };
        let carriers = vec![carry(&far, &near, Some(shape.rate)), carry(&near, &far, None)];
        Ok(Path { client, server, over, carriers })
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for carrier in self.carriers.drain(..) {
            carrier.join().unwrap();
        }
    }
}

/// Departure times are computed, not observed: being late once makes nobody else late.
fn carry(from: &Tun, to: &Tun, rate: Option<Rate>, delay: Duration, queue: usize, over: &AtomicBool) {
    let clock = Clock::new();
    let mut free = Time::ZERO;
    let mut under_way: VecDeque<(Time, Vec<u8>)> = VecDeque::new();
    let mut buffer = vec![0; 1 << 16];
    while !over.load(Ordering::Relaxed) {
        let now = clock.now();
        while let Some((due, packet)) = under_way.pop_front() {
            if due > now {
                under_way.push_front((due, packet));
                break;
            }
            to.send(&packet).unwrap();
        }
        if let Some(length) = from.recv(&mut buffer).unwrap() {
            let waiting = under_way.iter().rev().take_while(|(due, _)| *due > now + delay).count();
            if rate.is_some() && waiting > queue {
                continue;
            }
            free = free.max(now);
            if let Some(rate) = rate {
                free += rate.time_for(length as u64);
            }
            under_way.push_back((free + delay, buffer[..length].to_vec()));
            continue;
        }
        let due = under_way.front().map_or(now + Duration::from_millis(50), |(due, _)| *due);
        from.wait(due.since(clock.now().min(due)).min(Duration::from_millis(50))).unwrap();
    }
}
