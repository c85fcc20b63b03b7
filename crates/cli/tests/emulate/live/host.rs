//! `emulate` without `--server`: the emulated path leads to the host's network. A network namespace acts as the host.

use crate::common::{lasthop, stderr_of};
use crate::is_possible;
use crate::traffic::{client, printed, server};
use lasthop_os::namespace::{self, Namespace};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Three namespaces connected in a row by virtual Ethernet devices: `internet`, `host` and `bystander`. The host
/// forwards only packets that arrive on the interface `own0`. The emulation must not change this setting of the host's
/// owner.
pub struct World {
    pub host: Namespace,
    internet: Namespace,
    bystander: Namespace,
}

/// Address of the server in the namespace `internet`.
pub const REMOTE: &str = "10.99.0.1";

impl World {
    pub fn new() -> World {
        let nameless = || Namespace::unconfigured().unwrap();
        let world = World { host: nameless(), internet: nameless(), bystander: nameless() };
        let ip = |namespace: &Namespace, lines: &[&str]| {
            for line in lines {
                let words: Vec<&str> = line.split(' ').collect();
                namespace.within(|| namespace::ip(&words)).unwrap().unwrap();
            }
        };
        for (name, namespace) in [("up0", &world.internet), ("side0", &world.bystander)] {
            let cable =
                format!("link add {name} type veth peer name in0 netns {}", namespace.path().display());
            ip(&world.host, &[&cable]);
        }
        ip(&world.host, &["addr add 10.99.0.2/24 dev up0", "link set up0 up"]);
        ip(&world.host, &["addr add 10.98.0.1/24 dev side0", "link set side0 up"]);
        ip(&world.host, &["link add own0 type veth peer name own1", "addr add 10.97.0.1/24 dev own0"]);
        ip(&world.internet, &["addr add 10.99.0.1/24 dev in0", "link set in0 up"]);
        // The namespace `internet` has a route back to the other namespaces.
        ip(&world.internet, &["route add default via 10.99.0.2"]);
        ip(&world.bystander, &["addr add 10.98.0.2/24 dev in0", "link set in0 up"]);
        ip(&world.bystander, &["route add default via 10.98.0.1"]);
        world.set("own0", "1");
        world
    }

    /// Sets whether the host forwards packets that arrive on an interface.
    fn set(&self, interface: &str, value: &str) {
        let file = format!("/proc/sys/net/ipv4/conf/{interface}/forwarding");
        self.host.within(|| std::fs::write(file, value)).unwrap().unwrap();
    }

    fn in_host(&self, words: &[&str]) -> Output {
        self.host.within(|| Command::new(words[0]).args(&words[1..]).output().unwrap()).unwrap()
    }

    fn begin(namespace: &Namespace, words: &[&str]) -> KillOnDrop {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
        KillOnDrop(namespace.within(|| command.spawn().unwrap()).unwrap())
    }

    /// Starts a server in the namespace `internet`, and waits until the server listens.
    pub fn serve(&self) -> KillOnDrop {
        let running = World::begin(&self.internet, &["sh", "-c", &server("cubic")]);
        wait_until("the server listens", || {
            self.host.within(|| TcpStream::connect((REMOTE, 5001)).is_ok()).unwrap()
        });
        running
    }

    /// Returns the result of an attempt to connect within 700 ms.
    fn connect(&self, from: &Namespace, to: &str) -> Result<(), ErrorKind> {
        let address: SocketAddr = to.parse().unwrap();
        let attempt = || TcpStream::connect_timeout(&address, Duration::from_millis(700));
        from.within(|| attempt().map(|_| ()).map_err(|error| error.kind())).unwrap()
    }

    /// Returns Lasthop's rules on the host in nft, Lasthop's rules on the host in iptables, and the forwarding setting
    /// of each interface.
    fn state(&self) -> Vec<String> {
        let said = [
            self.in_host(&["sh", "-c", "nft list ruleset 2>/dev/null | grep lasthop"]),
            self.in_host(&["sh", "-c", "iptables-save 2>/dev/null | grep lasthop"]),
            self.in_host(&[
                "sh",
                "-c",
                "grep . /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/conf/*/forwarding",
            ]),
        ];
        said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).to_vec()
    }
}

/// Program that is killed on drop.
pub struct KillOnDrop(Child);

impl KillOnDrop {
    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.end();
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: not within 20 s");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub fn has(tool: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(tool)).find(|file| file.exists());
    if found.is_none() {
        eprintln!("skipped: {tool} is not installed");
    }
    found
}

/// Fills a folder with links to some programs. Returns false if a program is not installed. Tests use this folder as
/// the only folder in PATH.
pub fn only(folder: &Path, programs: &[&str]) -> bool {
    let link =
        |name: &&str| has(name).map(|file| std::os::unix::fs::symlink(file, folder.join(name)).unwrap());
    programs.iter().all(|name| link(name).is_some())
}

#[test]
fn the_host_is_a_router_for_the_path_alone() {
    if !is_possible() {
        return;
    }
    let program = lasthop().get_program().to_str().unwrap().to_owned();
    for tool in ["nft", "iptables"] {
        let folder = tempfile::tempdir().unwrap();
        if !only(folder.path(), &[tool, "ip", "sh"]) {
            continue;
        }
        let world = World::new();
        let _far = world.serve();
        // The port is closed, so a refused connection shows that a route exists. The server's port is unsuitable,
        // because the server sends to one client at a time and would be blocked by a cut connection of the bystander.
        let far = format!("{REMOTE}:9");
        // The bystander has a route while the host forwards packets from all interfaces.
        let before = world.state();
        let bystander = || world.connect(&world.bystander, &far);
        world.set("all", "1");
        assert_eq!(bystander(), Err(ErrorKind::ConnectionRefused));
        // Writing `all` has changed the setting of every interface, so the setting of `own0` is restored.
        world.set("all", "0");
        world.set("own0", "1");
        assert_eq!(world.state(), before);
        assert_eq!(bystander(), Err(ErrorKind::TimedOut));

        let command = client(REMOTE, 5.0);
        let path = "rate=5Mbit/s,rtt=20ms,queue=100packets";
        let mut running = Command::new(&program);
        running.args(["emulate", path, "--", "sh", "-c", &command]).env("PATH", folder.path());
        running.stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = world.host.within(|| running.spawn().unwrap()).unwrap();
        wait_until("the run begins", || world.state()[2].contains("conf/lasthop-nat/forwarding:1"));
        let during = world.state();
        assert_eq!(bystander(), Err(ErrorKind::TimedOut), "{tool}: {during:?}");
        // The client's end of the path is unreachable from outside, too. If a route existed, the closed port would
        // refuse the connection.
        for from in [&world.internet, &world.bystander] {
            assert_eq!(world.connect(from, "198.18.0.2:9"), Err(ErrorKind::TimedOut), "{tool}: {during:?}");
        }
        assert!(during[2].contains("net/ipv4/ip_forward:0\n"), "{during:?}");
        let output = running.wait_with_output().unwrap();
        let goodput = printed(&output, "goodput_kbps");
        // This test only checks that data arrives; other tests check the rate.
        assert!(goodput > 500.0, "{tool}: {goodput} kbit/s; {}", stderr_of(&output));
        assert_eq!(world.state(), before, "{tool}");
    }
}

#[test]
fn what_a_killed_run_changed_is_taken_back() {
    if !is_possible() {
        return;
    }
    if ["nft", "iptables"].iter().all(|tool| has(tool).is_none()) {
        return;
    }
    let program = lasthop().get_program().to_str().unwrap().to_owned();
    let world = World::new();
    let before = world.state();
    let mut killed = World::begin(&world.host, &[&program, "emulate", crate::CLEAN, "--", "sleep", "14142"]);
    wait_until("the run begins", || world.state()[2].contains("conf/lasthop-nat/forwarding:1"));
    assert!(world.state()[..2].iter().any(|rules| rules.contains("lasthop")));
    // A second path to the host's network at the same time is refused.
    let second = world.in_host(&[&program, "emulate", crate::CLEAN, "--", "true"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(stderr_of(&second).contains("already"), "{}", stderr_of(&second));
    killed.end();
    wait_until("the changes are undone", || world.state() == before);
    // If the guard is also killed, the next run undoes the changes, even if the next run needs no rules.
    let mut killed = World::begin(&world.host, &[&program, "emulate", crate::CLEAN, "--", "sleep", "14142"]);
    wait_until("the run begins", || world.state()[2].contains("conf/lasthop-nat/forwarding:1"));
    crate::kill_with_guard(&mut killed.0);
    assert_ne!(world.state(), before);
    let next = world.in_host(&[&program, "emulate", crate::CLEAN, "--server", "sleep 1000", "--", "true"]);
    assert!(matches!(next.status.code(), Some(0 | 3)), "{}", stderr_of(&next));
    assert_eq!(world.state(), before);
    // If the owner changes the forwarding setting during a run, the next run does not undo the owner's change.
    let mut killed = World::begin(&world.host, &[&program, "emulate", crate::CLEAN, "--", "sleep", "14143"]);
    wait_until("the run begins", || world.state()[2].contains("conf/lasthop-nat/forwarding:1"));
    world.set("all", "1");
    crate::kill_with_guard(&mut killed.0);
    let router = world.in_host(&[&program, "emulate", crate::CLEAN, "--", "true"]);
    assert!(matches!(router.status.code(), Some(0 | 3)), "{}", stderr_of(&router));
    let after = world.state();
    assert!(after[..2] == before[..2] && !after[2].contains(":0"), "{after:?}");
}
