//! `lasthop endpoint` with sockets of the kernel as peers.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
/// Tests in real time (`make live`).
mod live;
