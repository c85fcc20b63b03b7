//! Without --server the path leads to the host's network: here to that of a namespace which plays the host.

use crate::common::{lasthop, stderr_of};
use crate::is_possible;
use crate::traffic::{client, printed, server};
use lasthop_emu::namespace::{self, Namespace};
use std::fs;
use std::process::{Child, Command, Output, Stdio};

/// `internet` — `host`, joined by a cable; gone at the end.
struct World {
    host: Namespace,
    internet: Namespace,
}

impl World {
    fn new() -> World {
        let world = World { host: Namespace::nameless().unwrap(), internet: Namespace::nameless().unwrap() };
        let World { host, internet } = &world;
        let far = internet.path();
        let ip = |namespace: &Namespace, lines: &[String]| {
            for line in lines {
                let words: Vec<&str> = line.split(' ').collect();
                namespace.within(|| namespace::ip(&words)).unwrap().unwrap();
            }
        };
        let cable = format!("link add up0 type veth peer name in0 netns {}", far.display());
        ip(host, &[cable, "addr add 10.99.0.2/24 dev up0".into(), "link set up0 up".into()]);
        ip(internet, &["addr add 10.99.0.1/24 dev in0".into(), "link set in0 up".into()]);
        world
    }

    fn in_host(&self, words: &[&str]) -> Output {
        self.host.within(|| Command::new(words[0]).args(&words[1..]).output().unwrap()).unwrap()
    }

    fn begin(namespace: &Namespace, words: &[&str]) -> Running {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
        Running(namespace.within(|| command.spawn().unwrap()).unwrap())
    }

    /// Its rules, by both tools, and whether it forwards.
    fn state(&self) -> Vec<String> {
        let said = [
            self.in_host(&["sh", "-c", "nft list ruleset 2>/dev/null | grep lasthop"]),
            self.in_host(&["sh", "-c", "iptables-save 2>/dev/null | grep lasthop"]),
            self.in_host(&["cat", "/proc/sys/net/ipv4/ip_forward"]),
        ];
        said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).to_vec()
    }
}

/// A program that is killed with its owner.
struct Running(Child);

impl Running {
    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

#[test]
fn the_hosts_network_is_reached_and_left_as_it_was() {
    if !is_possible() {
        return;
    }
    if fs::exists("/run/lasthop-nat").unwrap_or(false) {
        eprintln!("skipped: somebody emulates a path to the host's network already");
        return;
    }
    let tools = ["nft", "iptables"].map(|tool| Command::new(tool).arg("--version").output().is_ok());
    if tools == [false, false] {
        eprintln!("skipped: there is neither nft nor iptables");
        return;
    }
    let world = World::new();
    let before = world.state();
    assert_eq!(before, ["", "", "0\n"]);
    let _far = World::begin(&world.internet, &["sh", "-c", &server("cubic")]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    // The far end knows the host's address only: it is reached by NAT.
    let program = lasthop().get_program().to_str().unwrap().to_owned();
    let command = client("10.99.0.1", 2.0);
    let output = world.in_host(&[
        &program,
        "emulate",
        "rate=5Mbit/s,rtt=20ms,queue=100packets",
        "--",
        "sh",
        "-c",
        &command,
    ]);
    let goodput = printed(&output, "goodput_kbps");
    assert!(goodput < 5000.0 && goodput > 1000.0, "{goodput} kbit/s; {}", stderr_of(&output));
    assert_eq!(world.state(), before);

    // Killed, it leaves its rules; the next start removes them.
    let mut killed = World::begin(&world.host, &[&program, "emulate", crate::CLEAN, "--", "sleep", "14142"]);
    let start = std::time::Instant::now();
    while world.state() == before {
        assert!(start.elapsed().as_secs() < 20, "no rules");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(world.state()[..2].iter().any(|rules| rules.contains("lasthop")));
    // Two at a time cannot.
    let second = world.in_host(&[&program, "emulate", crate::CLEAN, "--", "true"]);
    assert_eq!(second.status.code(), Some(1));
    assert!(stderr_of(&second).contains("already"), "{}", stderr_of(&second));
    killed.end();
    assert_ne!(world.state(), before);
    let next = world.in_host(&[&program, "emulate", crate::CLEAN, "--", "true"]);
    assert!(matches!(next.status.code(), Some(0 | 3)), "{}", stderr_of(&next));
    assert_eq!(world.state(), before);
}
