use lasthop_base::*;
use lasthop_engine::*;
use lasthop_engine::flow::*;
use lasthop_net::*;
use lasthop_net::service::Service;
use lasthop_tcp::*;
use lasthop_wire::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: u32 = args[1].parse().unwrap();
    let secs: u64 = args[2].parse().unwrap();
    let mut config = lasthop_tcp::Config { segment: 1000, ..Default::default() };
    config.timing = Choice::named(lasthop_tcp::receiver::timing::ALL, "immediate");
    config.counting = Choice::named(lasthop_tcp::sender::counting::ALL, "per-ack");
    config.initial_window = 2;
    let rate = |m: u64| Service::Rate(Rate::from_bps(m));
    let ms = Duration::from_millis;
    let wire = |m, d| Link::new(&lasthop_net::Config::wire(rate(m), d), Stream::named(1, "w"));
    let (links, fw, bw) = if n == 0 {
        config.rto.tick = ms(10);
        let mut down = lasthop_net::Config::wire(rate(2_000_000), ms(1));
        down.queue.values.set("packets", Value::Count(50));
        down.channel = Choice::named(lasthop_net::channel::ALL, "bit_error");
        down.channel.values.set("rate", Value::Number(2e-5));
        down.arq = Choice::named(lasthop_net::arq::ALL, "repeat");
        (vec![wire(10_000_000, ms(45)), Link::new(&down, Stream::named(1, "down")), wire(384_000, ms(1)), wire(10_000_000, ms(45))], vec![0, 1], vec![2, 3])
    } else {
        let mut down = lasthop_net::Config::wire(rate(100_000_000), ms(10));
        down.queue.values.set("packets", Value::Count(300));
        (vec![wire(1_000_000_000, ms(1)), Link::new(&down, Stream::named(1, "down")), wire(1_000_000_000, ms(1)), wire(1_000_000_000, ms(1)), wire(100_000_000, ms(10)), wire(1_000_000_000, ms(1))], vec![0, 1, 2], vec![3, 4, 5])
    };
    let flows = (0..n.max(1)).map(|i| {
        let mut source = Endpoint::new(config.clone(), Role::Active, Seq(i * 77), Stream::named(1, "s"));
        source.write(u64::MAX / 4);
        let destination = Endpoint::new(config.clone(), Role::Passive, Seq(i * 99), Stream::named(1, "d"));
        Flow { start: Time::from_nanos(i as u64 * 1_000_000), forward: fw.iter().map(|i| PipeId(*i)).collect(), backward: bw.iter().map(|i| PipeId(*i)).collect(), overhead: Overhead::Fixed(40),
            traffic: Traffic::Tcp(Connection::new(source, destination, false)) }
    }).collect();
    let mut engine = Engine::new(links, flows);
    let t = std::time::Instant::now();
    engine.run_until(Time::ZERO + Duration::from_secs(secs));
    let el = t.elapsed().as_secs_f64();
    let mut sent = 0; let mut del = 0; let mut re = 0; let mut to = 0;let mut rec=0;
    for i in 0..n.max(1) {
        let (s, d) = engine.endpoints(FlowId(i)).unwrap();
        sent += s.counters().data_sent; del += d.delivered(); re += s.counters().retransmitted; to += s.counters().timeouts; rec += s.counters().recoveries;
    }
    println!("n={n} sent={sent} goodput={:.1} kbit/s retr={re} to={to} rec={rec} lost={:?} size={} {} cpu={el:.3} {:.2} Mpkt/s", del as f64 * 8.0 / secs as f64 / 1e3, engine.pipe_account(PipeId(1)).lost, std::mem::size_of::<Packet>(), std::mem::size_of::<Endpoint>(), sent as f64 / el / 1e6);
}
