//! The namespaces, the devices and the programs.

use lasthop_emu::namespace::{self, Namespace};
use lasthop_emu::program::Attached;
use lasthop_emu::{Interface, Program, Trouble, Tun};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::thread;
use std::time::{Duration, Instant};

/// The addresses of both ends (RFC 2544: a network for measurements, which nobody has a route to).
const SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const CLIENT: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
/// The devices' name in both namespaces.
const DEVICE: &str = "lasthop0";
/// How long the server's command has until it listens.
const LISTENS_WITHIN: Duration = Duration::from_secs(5);
/// How long a command that is asked to end has until it is made to.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// What is removed at the end; in this order.
pub(super) struct Stage {
    command: Option<Program>,
    server: Option<Program>,
    devices: Option<[Tun; 2]>,
    /// The server's, then the client's.
    namespaces: [Namespace; 2],
    asked_to_end: Option<Instant>,
}

impl Stage {
    /// Two namespaces with a device each, whose other ends we hold.
    pub(super) fn build(mtu: u16) -> Result<Stage, Trouble> {
        for name in namespace::remove_stale() {
            crate::output::note(&format!("removed `{name}`, which a killed run had left"));
        }
        let namespaces = [Namespace::create("server")?, Namespace::create("client")?];
        let device = |namespace: &Namespace, address: Ipv4Addr| {
            let addresses = vec![(IpAddr::V4(address), 24)];
            namespace.within(|| {
                let tun = Tun::open(&Interface { name: DEVICE.to_owned(), addresses, mtu })?;
                namespace::ip(&["route", "add", "default", "dev", DEVICE])?;
                Ok(tun)
            })?
        };
        let devices = Some([device(&namespaces[0], SERVER)?, device(&namespaces[1], CLIENT)?]);
        Ok(Stage { command: None, server: None, devices, namespaces, asked_to_end: None })
    }

    /// Our sides of the devices, the server's first; to be taken once.
    pub(super) fn take_devices(&mut self) -> Option<[Tun; 2]> {
        self.devices.take()
    }

    /// Starts the server, waits until it listens, and starts the command.
    pub(super) fn start(&mut self, server: &str, command: &[String]) -> Result<(), Trouble> {
        let [at_server, at_client] = &self.namespaces;
        let line = ["sh", "-c", server].map(str::to_owned);
        let mut running = Program::start(at_server, &line, Attached::Background)?;
        let start = Instant::now();
        while start.elapsed() < LISTENS_WITHIN && !at_server.within(somebody_listens)? {
            if let Some(status) = running.ended()? {
                return Err(Trouble {
                    message: format!("the server `{server}` ended at once with status {status}"),
                    help: "it must run as long as the command needs it".to_owned(),
                });
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.server = Some(running);
        let words: Vec<String> =
            command.iter().map(|word| word.replace("{server}", &SERVER.to_string())).collect();
        self.command = Some(Program::start(at_client, &words, Attached::Foreground)?);
        Ok(())
    }

    /// The command's status once it has ended. After Ctrl-C it is asked to end, and later made to.
    pub(super) fn ended(&mut self) -> Result<Option<u8>, Trouble> {
        let Some(command) = &mut self.command else { return Ok(Some(0)) };
        if crate::target::patience::is_interrupted() {
            match self.asked_to_end {
                None => {
                    command.stop(false);
                    self.asked_to_end = Some(Instant::now());
                }
                Some(since) if since.elapsed() > ENDS_WITHIN => command.stop(true),
                Some(_) => {}
            }
        }
        command.ended()
    }

    /// Packets that the kernel could not put into the devices' rings, or take from them.
    pub(super) fn lost_in_devices(&self) -> u64 {
        let of = |namespace: &Namespace| namespace.within(device_drops).unwrap_or(0);
        self.namespaces.iter().map(of).sum()
    }
}

/// Whether a socket of this thread's namespace waits for connections or datagrams.
fn somebody_listens() -> bool {
    let has = |file: &str, state: &str| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
        text.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(state))
    };
    // Listening, and a datagram socket that is not connected (the kernel's TCP_LISTEN and TCP_CLOSE).
    has("tcp", "0A") || has("tcp6", "0A") || has("udp", "07") || has("udp6", "07")
}

/// Received and sent packets dropped by our device of this thread's namespace (proc(5), net/dev).
fn device_drops() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'));
    let columns: Vec<u64> =
        line.unwrap_or_default().split_whitespace().map_while(|word| word.parse().ok()).collect();
    // bytes packets errs drop fifo frame compressed multicast, for received and then for sent ones.
    [3, 11].iter().filter_map(|column| columns.get(*column)).sum()
}
