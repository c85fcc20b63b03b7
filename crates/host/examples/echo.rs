//! Two hosts connected by real IPv4 packets; one host echoes the bytes that the other host sends.
//!
//! In this example, packets go directly from one host to the other. With a TUN device between them, the other host can
//! be any TCP implementation.

use lasthop_base::{Duration, Time};
use lasthop_host::{Error, Handle, Host, Options};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// Echoes every byte, and closes the connection after the other end has closed.
fn echo(host: &mut Host, now: Time, socket: Handle) -> Result<(), Error> {
    let mut buffer = [0; 4096];
    loop {
        match host.peek(socket, &mut buffer) {
            Ok(0) => return host.close(now, socket),
            Ok(bytes) => {
                // Read only as many bytes as fit into the send buffer.
                let sent = host.send(socket, &buffer[..bytes])?;
                host.recv(socket, &mut buffer[..sent])?;
            }
            Err(Error::WouldBlock) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Sends a text to the other host and returns the echo.
pub fn answer_to(text: &[u8]) -> Result<Vec<u8>, Error> {
    let options = Options::default();
    let mut now = Time::ZERO;
    let mut client = Host::new(&[CLIENT], 1500, [1; 16]);
    let mut server = Host::new(&[SERVER], 1500, [2; 16]);
    let port = SocketAddr::new(SERVER, 7);
    let listener = server.listen(port, 16, &options)?;
    let asking = client.connect(now, None, port, &options)?;
    let (mut serving, mut sent, mut answer) = (Vec::new(), 0, Vec::new());
    let mut is_over = false;
    while !is_over {
        // This is the driver: it delivers packets in both directions.
        while let Some(packet) = client.poll_packet(now) {
            server.handle_packet(now, packet);
        }
        while let Some(packet) = server.poll_packet(now) {
            client.handle_packet(now, packet);
        }
        while let Ok((socket, _)) = server.accept(listener) {
            serving.push(socket);
        }
        serving.retain(|socket| echo(&mut server, now, *socket).is_ok() && server.info(*socket).is_ok());
        if client.readiness(asking)?.writable && sent < text.len() {
            sent += client.send(asking, &text[sent..])?;
            if sent == text.len() {
                client.shutdown(asking)?;
            }
        }
        let mut buffer = [0; 4096];
        match client.recv(asking, &mut buffer) {
            Ok(0) => is_over = true,
            Ok(bytes) => answer.extend_from_slice(&buffer[..bytes]),
            Err(Error::WouldBlock) => {}
            Err(error) => return Err(error),
        }
        // Each round lasts one millisecond of virtual time.
        now += Duration::from_millis(1);
        for host in [&mut client, &mut server] {
            if host.poll_timeout() <= now {
                host.handle_timeout(now);
            }
        }
    }
    Ok(answer)
}

/// Prints the echo.
pub fn main() -> Result<(), Error> {
    let answer = answer_to(b"Is anybody there?")?;
    println!("{}", String::from_utf8_lossy(&answer));
    Ok(())
}
