//! Command `lasthop endpoint`: runs Lasthop's TCP against the kernel's TCP, over a TUN device.

mod attach;
mod job;
mod summary;

use crate::failure::Failure;
use attach::Attach;
use clap::{Args, Subcommand};
use job::EndpointJob;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Run Lasthop's TCP against the kernel of this machine, over a TUN device
///
/// The device exists only during the command. It has the kernel's address, and Lasthop's endpoint is its only
/// neighbour. Needs root or CAP_NET_ADMIN.
#[derive(Subcommand)]
pub(crate) enum Endpoint {
    Serve(Serve),
    Fetch(Fetch),
    Send(Send),
}

/// Listen, and send a file to each client or receive data
///
/// Try: lasthop endpoint serve 8080 --file README.md & nc 10.77.0.2 8080
#[derive(Args)]
pub(crate) struct Serve {
    /// Port to listen on
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Send this file to each client
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    file: Option<PathBuf>,
    /// Write received data to files 1, 2, 3 … in this directory, one per client; by default only count the bytes
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// End after this many connections
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    connections: Option<u64>,
    #[command(flatten)]
    attach: Attach,
}

/// Connect and receive until the server closes the connection
#[derive(Args)]
pub(crate) struct Fetch {
    /// Address and port of the server
    server: SocketAddr,
    /// Write received data to this file; by default only count the bytes
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    attach: Attach,
}

/// Connect and send a file, until the server has acknowledged all of it
#[derive(Args)]
pub(crate) struct Send {
    /// File to send
    file: PathBuf,
    /// Address and port of the server
    server: SocketAddr,
    #[command(flatten)]
    attach: Attach,
}

impl Endpoint {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        match self {
            Endpoint::Serve(Serve { port, file, out, connections, attach }) => {
                let job = EndpointJob::serve(*port, file.clone(), out.clone(), *connections)?;
                attach.run(job)
            }
            Endpoint::Fetch(Fetch { server, out, attach }) => {
                attach.run(EndpointJob::fetch(*server, out.as_deref())?)
            }
            Endpoint::Send(Send { file, server, attach }) => attach.run(EndpointJob::send(file, *server)?),
        }
    }
}
