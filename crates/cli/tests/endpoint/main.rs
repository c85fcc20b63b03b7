//! `lasthop endpoint` against sockets of the kernel.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
/// Tests in real time: see `make live`.
mod live;
