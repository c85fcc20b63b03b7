//! A Wi-Fi cell: who sends when, what a collision costs, and what arrives.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::across::Across;
use lasthop_net::service::Service;
use lasthop_net::{Config, Element, Line, Output, arq, channel, wifi};
use lasthop_wire::{Body, Ecn, FlowId, Packet, Priority};

fn packet(number: u64) -> Packet {
    Packet {
        number,
        flow: FlowId(0),
        route: 0,
        wire_bytes: 1500,
        forward: true,
        again: false,
        early: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::Normal,
        hop: 0,
        joined: 0,
        body: Body::Datagram { number },
    }
}

/// 54 Mbit/s: a frame of 1540 bytes takes 228.1 us.
fn config(settings: &[(&'static str, Value)], loss: f64) -> Config {
    let mut config = Config::wire(Service::Rate(Rate::from_bps(54_000_000)), Duration::ZERO);
    config.arq = Choice::named(wifi::ALL, "wifi");
    settings.iter().for_each(|(name, value)| config.arq.values.set(name, value.clone()));
    config.channel = Choice::named(channel::ALL, "iid");
    config.channel.values.set("loss", Value::Number(loss));
    config
}

/// What became of a run: by direction the packets that arrived, with their times, those lost, and when it began to send.
#[derive(Default)]
struct Heard {
    arrived: [Vec<(u64, Time)>; 2],
    lost: [u64; 2],
    begun: [Vec<Time>; 2],
    until: Time,
}

/// Both directions until `end`, as an engine runs them: the earlier first, the first one first; of those that `sends`,
/// each always has ten packets waiting.
fn run(config: &Config, sends: [bool; 2], end: Time) -> Heard {
    let mut stations: Vec<Box<dyn Element>> = ["down", "up"]
        .iter()
        .map(|side| match Line::new(config, Stream::named(3, side)) {
            Line::Element(element) => element,
            Line::Link(_) => panic!("a station is an element"),
        })
        .collect();
    let (mut heard, mut out, mut numbers) = (Heard::default(), Vec::new(), [0u64; 2]);
    let mut now = Time::ZERO;
    loop {
        for (side, station) in stations.iter_mut().enumerate() {
            while sends[side] && station.backlog(now).waiting < 70 {
                station.handle_packet(now, packet(numbers[side]), &mut out);
                numbers[side] += 1;
            }
        }
        let side = usize::from(stations[1].poll_timeout() < stations[0].poll_timeout());
        now = stations[side].poll_timeout();
        if now > end {
            return heard;
        }
        stations[side].handle_timeout(now, &mut out);
        for output in out.drain(..) {
            match output {
                Output::Arrives { packet, at } => heard.arrived[side].push((packet.number, at)),
                Output::Lost { .. } => heard.lost[side] += 1,
                Output::Across(across) => {
                    if let Across::Busy { from, until } = across {
                        let collides = heard.begun[1 - side].last() == Some(&from);
                        assert!(from >= heard.until || collides, "{side} sends while the medium is taken");
                        heard.until = heard.until.max(until);
                        heard.begun[side].push(from);
                    }
                    stations[1 - side].handle_across(now, across);
                }
                _ => panic!("a station tells no more"),
            }
        }
    }
}

const SECOND: Time = Time::from_nanos(1_000_000_000);

/// One station alone, a frame at a time: DIFS 34, 7.5 slots of 9 in the mean, preamble 40, frame 228.1, SIFS 16, ACK 32: 417.6 us
/// a frame. With aggregates of 64 frames or 4 ms (17.5 frames: 17 whole ones and one begun within): 18 frames in 4296 us.
#[test]
fn a_station_alone_has_the_medium() {
    let seconds = 20.0;
    let end = Time::ZERO + Duration::from_secs(20);
    let single = run(&config(&[("frames", Value::Count(1))], 0.0), [true, false], end);
    let cycle = seconds * 1e6 / single.arrived[0].len() as f64;
    let expected = 34.0 + 67.5 + 40.0 + 1540.0 * 8.0 / 54.0 + 16.0 + 32.0;
    // Five standard errors of the back-off: 9 us * sqrt((16^2 - 1) / 12) over 47,900 frames.
    let error = 9.0 * (255.0f64 / 12.0).sqrt() / (single.arrived[0].len() as f64).sqrt();
    assert!((cycle - expected).abs() < 5.0 * error + 0.01, "{cycle} us instead of {expected}");
    let many = run(&config(&[], 0.0), [true, false], end);
    let cycle = seconds * 1e6 / many.begun[0].len() as f64;
    let expected = 34.0 + 67.5 + 40.0 + 18.0 * 1540.0 * 8.0 / 54.0 + 16.0 + 32.0;
    let error = 9.0 * (255.0f64 / 12.0).sqrt() / (many.begun[0].len() as f64).sqrt();
    assert!((cycle - expected).abs() < 5.0 * error + 1.0, "{cycle} us instead of {expected}");
}

/// Bianchi 2000, Eq. 7 and 9, of two stations with windows of 16 to 1024: a transmission collides with p = tau =
/// 2 (1 - 2p) / ((1 - 2p) 17 + 16 p (1 - (2p)^6)). The model counts a slot in which the other one sends as one of the
/// back-off's, DCF does not: who was interrupted meets the next sender a little less often. Within a fifth.
#[test]
fn two_stations_share_and_collide_as_bianchi_says() {
    let end = Time::ZERO + Duration::from_secs(30);
    let heard = run(&config(&[("frames", Value::Count(1))], 0.0), [true, true], end);
    let tau =
        |p: f64| 2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * 17.0 + 16.0 * p * (1.0 - (2.0 * p).powi(6)));
    let p = (0..200).fold(0.1, |p, _| 0.5 * (p + tau(p)));
    let [down, up] = &heard.begun;
    let collisions = down.iter().filter(|from| up.binary_search(from).is_ok()).count() as f64;
    for begun in &heard.begun {
        let share = collisions / begun.len() as f64;
        assert!((share / p - 1.0).abs() < 0.2, "{share} instead of {p}");
    }
    // Alike: within five standard errors of a coin thrown so often.
    let (one, other) = (heard.arrived[0].len() as f64, heard.arrived[1].len() as f64);
    assert!((one - other).abs() < 5.0 * (one + other).sqrt(), "{one} and {other}");
    let alone = run(&config(&[("frames", Value::Count(1))], 0.0), [true, false], end).arrived[0].len() as f64;
    // The medium has less back-off and more collisions: together about what one has alone.
    assert!(((one + other) / alone - 1.0).abs() < 0.1, "{one} and {other}, {alone} alone");
}

/// Frames are lost one by one and sent again with the next aggregate; they arrive in order, and what is given up is 0.3^n.
#[test]
fn lost_frames_come_again_in_order() {
    for (transmissions, loss) in [(7, 0.3f64.powi(7)), (2, 0.09)] {
        let config = config(&[("transmissions", Value::Count(transmissions))], 0.3);
        let heard = run(&config, [true, false], SECOND + Duration::from_secs(9));
        let arrived = &heard.arrived[0];
        assert!(arrived.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        let all = arrived.len() as f64 + heard.lost[0] as f64;
        let share = heard.lost[0] as f64 / all;
        assert!((share - loss).abs() < 5.0 * (loss / all).sqrt(), "{share} instead of {loss} of {all}");
    }
}

#[test]
fn it_needs_the_other_direction() {
    let config = config(&[], 0.0);
    assert!(config.partner().is_some());
    assert!(Config { arq: Choice::of(&arq::DEFAULT), ..config }.partner().is_none());
}
