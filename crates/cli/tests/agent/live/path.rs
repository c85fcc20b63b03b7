//! Two network namespaces with an emulated path between them.

use lasthop_base::Duration;
use lasthop_emu::Emulation;
use lasthop_emu::emulation::{Charge, EmulationPlan};
use lasthop_os::ends::{self, CLIENT, CLIENT6, SERVER, SERVER6};
use lasthop_os::priority::RealTimePriority;
use lasthop_os::{Namespace, SystemError, namespace};
use lasthop_scenario::Scenario;
use lasthop_sim::assemble::{EXTERNAL_FLOWS, assemble_external};
use std::io::Sink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// An emulated path between two namespaces, removed on drop.
pub struct Path {
    client: Namespace,
    server: Namespace,
    over: Arc<AtomicBool>,
    carrier: Option<JoinHandle<()>>,
}

impl Path {
    /// Opens the path of a scenario. If the machine cannot emulate paths, prints the reason and returns `None`.
    pub fn open(scenario: &str) -> Option<Path> {
        let scenario = Scenario::load(scenario).unwrap();
        Path::over(scenario).map_err(|why| println!("skipped: {why}")).ok()
    }

    /// Connects the two namespaces by virtual Ethernet devices (veth) instead of an emulated path. The client's device
    /// is a port of a bridge.
    pub fn wired() -> Result<Path, SystemError> {
        let (client, server) = (Namespace::unconfigured()?, Namespace::unconfigured()?);
        let far = server.path();
        let far = far.to_str().unwrap_or_default();
        let ip = |line: &str| namespace::ip(&line.split(' ').collect::<Vec<_>>());
        client.within(|| ip(&format!("link add card type veth peer name card netns {far}")))??;
        client.within(|| -> Result<(), SystemError> {
            ip("link add bridge type bridge")?;
            ip("link set card master bridge up")?;
            ip(&format!("addr add {CLIENT}/24 dev bridge"))?;
            ip("link set bridge up")
        })??;
        server.within(|| -> Result<(), SystemError> {
            ip(&format!("addr add {SERVER}/24 dev card"))?;
            ip("link set card up")
        })??;
        Ok(Path { client, server, over: Arc::default(), carrier: None })
    }

    fn over(scenario: Scenario) -> Result<Path, SystemError> {
        let (client, server) = (Namespace::unconfigured()?, Namespace::unconfigured()?);
        let near = ends::open(&client, CLIENT, Some(CLIENT6), 1500)?;
        let far = ends::open(&server, SERVER, Some(SERVER6), 1500)?;
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let carrier = thread::spawn(move || {
            let plan = EmulationPlan {
                engine: assemble_external(&scenario, 0, scenario.seed),
                external_flows: EXTERNAL_FLOWS as u32,
                charge: Charge::Real,
                spin: Duration::ZERO,
                sample: None,
                pipes: Vec::new(),
            };
            let mut emulation: Emulation<Sink> = Emulation::new(plan, far, near);
            let _hurry = RealTimePriority::begin();
            while !ends.load(Ordering::Relaxed) {
                emulation.turn(Duration::from_millis(20)).unwrap();
            }
        });
        Ok(Path { client, server, over, carrier: Some(carrier) })
    }

    pub fn at_client<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.client.within(work).unwrap()
    }

    pub fn at_server<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.server.within(work).unwrap()
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(carrier) = self.carrier.take() {
            carrier.join().unwrap();
        }
    }
}
