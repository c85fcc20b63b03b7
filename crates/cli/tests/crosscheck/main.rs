//! `lasthop crosscheck`: the simulator and real TCP over the same path.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
/// Tests in real time (`make live`).
mod live;
