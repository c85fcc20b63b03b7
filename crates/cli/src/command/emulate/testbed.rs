//! Creates the namespaces and devices of a run, and runs the programs.

use super::ending::Ending;
use super::guard::Guard;
use super::privileges::Privileges;
use super::processor_waits::{ProcessorWaits, WaitMeter};
use super::remote_end::RemoteEnd;
use crate::output;
use crate::target::interrupts;
use lasthop_base::Duration as Span;
use lasthop_emu::emulation::End;
use lasthop_emu::kernel::{ConnectionSampler, Kernel};
use lasthop_os::ends::{self, CLIENT6, DEVICE, Network, SERVER6};
use lasthop_os::namespace::Namespace;
use lasthop_os::program::Attachment;
use lasthop_os::{Clock, Port, Program, SystemError};
use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::thread;
use std::time::{Duration, Instant};

const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);

/// Namespaces, programs and helper processes of a run. Rust drops the fields in the order of declaration.
pub(super) struct Testbed {
    command: Option<Program>,
    server: Option<Program>,
    client: Namespace,
    remote: RemoteEnd,
    ending: Ending,
    ends: Network,
    privileges: Privileges,
    as_root: bool,
    wait_meter: WaitMeter,
    guard: Option<Guard>,
}

impl Testbed {
    /// Creates the namespaces, each with a device. Returns the ports that read and write the devices' packets: first
    /// the server's, then the client's.
    pub(super) fn build(
        privileges: Privileges,
        has_server: bool,
        mtu: u16,
        as_root: bool,
    ) -> Result<(Testbed, [Port; 2]), SystemError> {
        // The guard is created first and dropped last, because the guard must outlive the namespaces.
        let guard = privileges.guard()?;
        let client = privileges.namespace("client")?;
        let ends = if has_server { Network::ISOLATED } else { Network::next()? };
        let at_client = ends::open(&client, ends.client(), has_server.then_some(CLIENT6), mtu)?;
        let (remote, at_server) = if has_server {
            RemoteEnd::server(&privileges, mtu)?
        } else {
            RemoteEnd::outside(&privileges, ends, mtu)?
        };
        let testbed = Testbed {
            command: None,
            server: None,
            client,
            remote,
            ending: Ending::new(None),
            ends,
            privileges,
            as_root,
            wait_meter: WaitMeter::new(has_server),
            guard,
        };
        Ok((testbed, [at_server, at_client]))
    }

    /// Sets the congestion control of all TCP connections at both ends, from the first packet on.
    pub(super) fn set_congestion_control(&self, name: &str) -> Result<(), SystemError> {
        let v6 = |address: Ipv6Addr| ends::has_ipv6(DEVICE).then_some(IpAddr::from(address));
        self.client.within(|| {
            let server = [Some(self.ends.server().into()), v6(SERVER6)];
            ends::set_congestion_control(
                DEVICE,
                &server.into_iter().flatten().collect::<Vec<_>>(),
                true,
                name,
            )
        })??;
        if !self.remote.set_congestion_control(self.ends, name)? {
            output::note(
                "note: --congestion applies to COMMAND only; programs outside the run send the downlink traffic",
            )
        }
        Ok(())
    }

    pub(super) fn default_congestion(&self) -> Option<String> {
        self.client.within(ends::default_congestion_control).ok().flatten()
    }

    /// Returns the kernels that send packets on the path. The caller queries these kernels about their TCP connections.
    /// Kernels that do not respond are omitted.
    pub(super) fn senders(&self) -> Vec<(End, Kernel)> {
        let ends = [(End::Client, Some(&self.client)), (End::Server, self.remote.sender_namespace())];
        ends.into_iter().filter_map(|(end, namespace)| Some((end, Kernel::of(namespace?).ok()?))).collect()
    }

    /// Starts sampling the kernel's connections at both ends, once every `span`.
    pub(super) fn watch(&self, span: Span, clock: Clock) -> Result<ConnectionSampler, SystemError> {
        let mut ends = vec![(End::Client, &self.client)];
        if let Some(server) = self.remote.server_namespace() {
            ends.push((End::Server, server));
        }
        ConnectionSampler::every(span, clock, &ends)
    }

    pub(super) fn guard(&mut self) -> Option<&mut Guard> {
        self.guard.as_mut()
    }

    /// Returns the kernels at both ends. The caller queries these kernels about their TCP connections. Kernels that do
    /// not respond are omitted.
    pub(super) fn kernels(&self) -> Vec<(End, Kernel)> {
        let mut ends = vec![(End::Client, &self.client)];
        if let Some(server) = self.remote.server_namespace() {
            ends.push((End::Server, server));
        }
        ends.into_iter().filter_map(|(end, namespace)| Some((end, Kernel::of(namespace).ok()?))).collect()
    }

    pub(super) fn start_server(&mut self, line: &str) -> Result<(), SystemError> {
        let Some(namespace) = self.remote.server_namespace() else { return Ok(()) };
        let words = ["sh", "-c", line].map(str::to_owned);
        let runner = self.privileges.runner(&words, self.as_root);
        let mut running = Program::start(
            namespace,
            &words,
            Attachment::Background,
            &runner,
            self.wait_meter.server(),
            None,
        )?;
        let start = Instant::now();
        while !namespace.within(has_listener)? {
            if start.elapsed() >= LISTEN_TIMEOUT {
                output::note(&format!(
                    "note: the server `{line}` does not listen after {} s; the command starts nevertheless",
                    LISTEN_TIMEOUT.as_secs()
                ));
                break;
            }
            if let Some(status) = running.try_wait()? {
                return Err(SystemError {
                    message: format!(
                        "the server `{line}` ended with status {status} before the command began"
                    ),
                    help: "the server must run in the foreground until the command ends".to_owned(),
                });
            }
            if interrupts::is_interrupted() {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.server = Some(running);
        Ok(())
    }

    pub(super) fn start_command(
        &mut self,
        command: &[String],
        limit: Option<Duration>,
    ) -> Result<(), SystemError> {
        let [v4, v6] = [self.ends.server().to_string(), SERVER6.to_string()];
        let words: Vec<String> =
            command.iter().map(|word| word.replace("{server}", &v4).replace("{server6}", &v6)).collect();
        let runner = self.privileges.runner(&words, self.as_root);
        let (resolv_conf, group) = (self.remote.resolv_conf()?, self.wait_meter.command());
        self.command = Some(Program::start(
            &self.client,
            &words,
            Attachment::Foreground,
            &runner,
            group,
            resolv_conf.as_ref(),
        )?);
        self.ending = Ending::new(limit);
        self.wait_meter.begin();
        Ok(())
    }

    pub(super) fn poll_command(&mut self) -> Result<Option<u8>, SystemError> {
        self.wait_meter.poll();
        match &mut self.command {
            Some(command) => self.ending.poll(command),
            None => Ok(Some(0)),
        }
    }

    pub(super) fn processor_waits(&mut self, took: Duration) -> ProcessorWaits {
        self.wait_meter.waits(took)
    }

    /// Returns the number of packets that the kernel failed to put into the ring of a device, or to take from this
    /// ring.
    pub(super) fn lost_in_devices(&self) -> u64 {
        self.remote.lost_in_device() + self.client.within(|| ends::lost_in(DEVICE)).unwrap_or(0)
    }
}

/// Returns whether any socket in this thread's network namespace listens for connections or datagrams.
fn has_listener() -> bool {
    let has = |file: &str, state: &str| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
        text.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(state))
    };
    // State 0A is TCP_LISTEN. State 07 is TCP_CLOSE, which an unconnected datagram socket has.
    has("tcp", "0A") || has("tcp6", "0A") || has("udp", "07") || has("udp6", "07")
}
