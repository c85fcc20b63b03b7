//! The agent's data path in the kernel: a BPF program on tc egress that reduces windows.
//!
//! The source `bpf/window.c` describes the program's guarantees. `make bpf` builds the object file that this crate
//! embeds. `hook` attaches the BPF program.

use crate::counters::AgentCounters;
use crate::events::Event;
use crate::flow::{AckRequest, FlowWindows};
use crate::hook::Hook;
use crate::table::ConnectionKey;
use aya::maps::{Array, HashMap, MapData, PerCpuArray, RingBuf};
use aya::programs::tc::SchedClassifierLink;
use aya::programs::{SchedClassifier, TcAttachType};
use aya::{Ebpf, EbpfLoader};
use lasthop_os::{Namespace, SystemError};
use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType};
use nix::sys::socket::{bind, recv, socket};
use nix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, HashMap as Hashed};
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;

const OBJECT: &[u8] = aya::include_bytes_aligned!("../bpf/window.o");

/// Largest number of ACKs that the program sends for one kernel ACK.
pub(crate) const MAX_PIECES: u32 = 16;

/// Addresses and ports of both ends, encoded as in the program's `struct key`.
type KeyBytes = [u8; 36];
/// The program's `struct flow` as 32-bit words.
type FlowWords = [u32; 22];
type RequestWords = [u64; 2];
type CounterWords = [u64; 7];

/// Device type (linux/if_arp.h) of packets that begin with an Ethernet header.
const ETHERNET: u16 = 1;
/// Device types of packets that begin with the IP header: PPP, raw IP, tunnels, and ARPHRD_NONE.
const PLAIN: [u16; 6] = [512, 519, 768, 769, 776, 65534];
/// Names of the programs for devices with Ethernet headers: egress, then ingress.
const ETHERNET_PROGRAMS: [&str; 2] = ["lasthop_out", "lasthop_in"];
/// Names of the programs for devices of [`PLAIN`] types: egress, then ingress.
const PLAIN_PROGRAMS: [&str; 2] = ["lasthop_raw_out", "lasthop_raw_in"];
/// Netlink group of device changes (linux/rtnetlink.h, RTMGRP_LINK).
const LINKS: u32 = 1;

/// The program, attached to every device except loopback. Dropping this value detaches the program.
pub struct Program {
    bpf: Ebpf,
    requests: HashMap<MapData, KeyBytes, RequestWords>,
    flows: HashMap<MapData, KeyBytes, FlowWords>,
    heartbeat: Array<MapData, u64>,
    counters: PerCpuArray<MapData, CounterWords>,
    events: RingBuf<MapData>,
    attached: Hashed<u32, Vec<SchedClassifierLink>>,
    /// Devices that refused the program, with the reason.
    left_out: BTreeMap<String, String>,
    changes: OwnedFd,
    hook: Hook,
}

impl Program {
    /// Loads the program and attaches it to all devices of this network namespace. Fails if the kernel lacks BPF or the
    /// permission (CAP_BPF, CAP_NET_ADMIN) is missing.
    pub fn start(hook: Hook) -> Result<Program, SystemError> {
        Program::load(hook).map_err(|error| SystemError {
            message: format!("the kernel refuses the agent's BPF program: {error}"),
            help: "the program needs Linux 5.8 or later with CONFIG_BPF_SYSCALL and CONFIG_NET_CLS_ACT, CAP_BPF and \
                   CAP_NET_ADMIN; otherwise use --path nfqueue"
                .to_owned(),
        })
    }

    fn load(hook: Hook) -> Result<Program, String> {
        let mut bpf = EbpfLoader::new().load(OBJECT).map_err(describe)?;
        for (_, program) in bpf.programs_mut() {
            let program: &mut SchedClassifier = program.try_into().map_err(describe)?;
            program.load().map_err(describe)?;
        }
        let mut map =
            |name: &str| bpf.take_map(name).ok_or_else(|| format!("the BPF object file has no map {name}"));
        let changes = listen_for_changes().map_err(describe)?;
        let mut program = Program {
            requests: map("wishes")?.try_into().map_err(describe)?,
            flows: map("flows")?.try_into().map_err(describe)?,
            heartbeat: map("heart")?.try_into().map_err(describe)?,
            counters: map("counters")?.try_into().map_err(describe)?,
            events: map("events")?.try_into().map_err(describe)?,
            left_out: BTreeMap::new(),
            attached: Hashed::new(),
            changes,
            hook,
            bpf,
        };
        match program.attach().map_err(describe)?.pop_first() {
            Some((device, error)) => Err(format!("on {device}: {error}")),
            None => Ok(program),
        }
    }

    /// Files to poll: one for packet events, one for changes of devices.
    pub(crate) fn poll_files(&self) -> io::Result<[OwnedFd; 2]> {
        Ok([self.events.as_fd().try_clone_to_owned()?, self.changes.try_clone()?])
    }

    pub(crate) fn process_events(&mut self, mut handle: impl FnMut(Event)) {
        while let Some(bytes) = self.events.next() {
            Event::read(&bytes).into_iter().for_each(&mut handle);
        }
    }

    /// Attaches the program to new devices and drops the links of removed devices. Skips a device that refuses the
    /// program.
    pub(crate) fn update_devices(&mut self) {
        let mut has_changed = false;
        // If the kernel reports that messages were lost, a device may also have changed.
        while !matches!(
            recv(self.changes.as_raw_fd(), &mut [0; 4096], MsgFlags::MSG_DONTWAIT),
            Err(nix::errno::Errno::EAGAIN)
        ) {
            has_changed = true;
        }
        if has_changed && let Ok(left_out) = self.attach() {
            self.left_out = left_out;
        }
    }

    /// Records a heartbeat in the kernel: user space has processed all packets so far, and its requests remain valid
    /// for 200 ms.
    pub(crate) fn send_heartbeat(&mut self) -> io::Result<()> {
        self.heartbeat.set(0, monotonic()?, 0).map_err(io::Error::other)
    }

    pub(crate) fn write_request(&mut self, key: &ConnectionKey, request: AckRequest) -> io::Result<()> {
        // The number of ACKs and the flag share one 64-bit word, in host byte order.
        let (count, is_copies) = (request.count.to_ne_bytes(), u32::from(request.is_copies).to_ne_bytes());
        let mut word = [0; 8];
        word[..4].copy_from_slice(&count);
        word[4..].copy_from_slice(&is_copies);
        self.requests
            .insert(key_bytes(key), [request.window, u64::from_ne_bytes(word)], 0)
            .map_err(io::Error::other)
    }

    pub(crate) fn remove_request(&mut self, key: &ConnectionKey) {
        // A connection that never had a request has no entry.
        let _ = self.requests.remove(&key_bytes(key));
    }

    pub(crate) fn windows(&self, key: &ConnectionKey) -> Option<FlowWindows> {
        let [_, _, kernel, _, _, _, acks, window, ..] =
            self.flows.get(&key_bytes(key), 0).ok()?.map(u64::from);
        Some(FlowWindows { kernel, window, acks, min_rtt: None })
    }

    pub(crate) fn count(&self, counters: &AgentCounters) {
        let Ok(each) = self.counters.get(&0, 0) else { return };
        let sum = |at: usize| each.iter().map(|counts| counts[at]).sum::<u64>();
        let to = [
            &counters.acks_queued,
            &counters.acks_rewritten,
            &counters.acks_added,
            &counters.acks_left_alone,
            &counters.acks_missed,
            &counters.errors,
            &counters.packets_seen,
        ];
        to.into_iter().enumerate().for_each(|(at, counter)| counter.store(sum(at), Ordering::Relaxed));
    }

    pub(crate) fn devices(&self) -> usize {
        self.attached.len()
    }

    pub(crate) fn left_out(&self) -> &BTreeMap<String, String> {
        &self.left_out
    }

    /// Attaches to new devices. Returns the devices that refuse the program, with their reasons.
    fn attach(&mut self) -> io::Result<BTreeMap<String, String>> {
        let devices = devices()?;
        let mut left_out = BTreeMap::new();
        self.attached.retain(|index, _| devices.iter().any(|device| device.index == *index));
        for Device { name, index, is_ethernet } in devices {
            if self.attached.contains_key(&index) {
                continue;
            }
            let programs = if is_ethernet { ETHERNET_PROGRAMS } else { PLAIN_PROGRAMS };
            let attach_types = [TcAttachType::Egress, TcAttachType::Ingress];
            let links = programs
                .iter()
                .zip(attach_types)
                .map(|(program, attach_type)| self.link(program, &name, attach_type));
            match links.collect() {
                Ok(links) => drop(self.attached.insert(index, links)),
                // The device has disappeared.
                Err(_) if if_nametoindex(name.as_str()).is_err() => {}
                Err(error) => drop(left_out.insert(name, error)),
            }
        }
        Ok(left_out)
    }

    fn link(
        &mut self,
        name: &str,
        device: &str,
        attach_type: TcAttachType,
    ) -> Result<SchedClassifierLink, String> {
        let program =
            self.bpf.program_mut(name).ok_or_else(|| format!("the BPF object file has no program {name}"))?;
        let program: &mut SchedClassifier = program.try_into().map_err(describe)?;
        self.hook.attach(program, name, device, attach_type).map_err(describe)
    }
}

/// Returns the time in ns of CLOCK_MONOTONIC, the clock of [`Event`]s.
pub(crate) fn monotonic() -> io::Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// Loads the program in a temporary network namespace; returns a sentence for `lasthop doctor`. The error is the
/// kernel's reason for a refusal.
pub fn trial() -> Result<String, String> {
    let namespace = Namespace::unconfigured().map_err(|error| error.message)?;
    let loaded =
        namespace.within(|| Program::load(Hook::of_kernel()).map(drop)).map_err(|error| error.message)?;
    loaded.map(|()| "the kernel accepts the agent's program".to_owned())
}

/// Number of tcx programs that any owner has attached to a device of this network namespace. Fails if the device does
/// not exist.
pub fn count_attached(device: &str) -> io::Result<usize> {
    let query =
        |attach_type| SchedClassifier::query_tcx(device, attach_type).map(|(_, programs)| programs.len());
    let both = query(TcAttachType::Egress).and_then(|out| Ok(out + query(TcAttachType::Ingress)?));
    both.map_err(io::Error::other)
}

struct Device {
    name: String,
    index: u32,
    is_ethernet: bool,
}

/// Returns all devices whose link-layer header the agent can read, except loopback.
fn devices() -> io::Result<Vec<Device>> {
    // Types of the devices that have a link-layer address. A device without such an address has no Ethernet header.
    let kinds: Hashed<String, u16> = getifaddrs()?
        .filter_map(|one| Some((one.interface_name, one.address?.as_link_addr()?.hatype())))
        .collect();
    // The names are read from /proc, because /sys may belong to another network namespace.
    let listed = fs::read_to_string("/proc/thread-self/net/dev")?;
    let names = listed.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    let all = names.filter_map(|name| {
        let kind = kinds.get(name).copied();
        let is_ethernet = kind == Some(ETHERNET);
        let is_readable = is_ethernet || kind.is_none_or(|kind| PLAIN.contains(&kind));
        // A device that was removed after the list was read has no index.
        let index = if_nametoindex(name).ok()?;
        is_readable.then(|| Device { name: name.to_owned(), index, is_ethernet })
    });
    Ok(all.collect())
}

fn listen_for_changes() -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
    bind(socket.as_raw_fd(), &NetlinkAddr::new(0, LINKS))?;
    Ok(socket)
}

fn key_bytes(key: &ConnectionKey) -> KeyBytes {
    let mut bytes = [0; 36];
    let mut put = |at: usize, port_at: usize, end: &SocketAddr| {
        let address = match end.ip() {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        bytes[at..at + 16].copy_from_slice(&address.octets());
        bytes[port_at..port_at + 2].copy_from_slice(&end.port().to_be_bytes());
    };
    put(0, 32, &key.own);
    put(16, 34, &key.peer);
    bytes
}

/// Describes an error with its causes, which contain most of the information. Omits the verifier's log.
fn describe(error: impl std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !words.contains(&next) {
            words = format!("{words}: {next}");
        }
        source = error.source();
    }
    words.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_the_programs() {
        let key = ConnectionKey {
            own: "192.0.2.1:258".parse().unwrap(),
            peer: "[2001:db8::7]:80".parse().unwrap(),
        };
        let bytes = key_bytes(&key);
        assert_eq!(bytes[..16], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]);
        assert_eq!(bytes[16..32], [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(bytes[32..], [1, 2, 0, 80]);
    }
}
