//! Mechanisms of a crate of one's own: nothing of Lasthop is changed for them.
//!
//! Each example is one file: a mechanism, and a program that runs it beside Lasthop's own.
//!
//! * `cargo run -p own-mechanism --example own_congestion`: a congestion control;
//! * `cargo run -p own-mechanism --example own_queue`: a queue;
//! * `cargo run -p own-mechanism --example own_timing`: when a receiver acknowledges;
//! * `cargo run -p own-mechanism --example own_middlebox`: a box at a base station.
//!
//! The way is the same for all: implement the seam's trait, describe the mechanism in a `Mechanism`, add that to a
//! `Catalogue`, load a scenario with it. It is then found by its name in scenarios and settings, with its parameters,
//! their units, ranges and defaults.
