//! Mechanisms in a separate crate, without any change in Lasthop.
//!
//! Each example is one file with a mechanism, and with a program that compares it with Lasthop's mechanisms.
//!
//! * `cargo run -p own-mechanism --example own_congestion`: a congestion control;
//! * `cargo run -p own-mechanism --example own_queue`: a queue discipline;
//! * `cargo run -p own-mechanism --example own_ack_policy`: an ACK policy;
//! * `cargo run -p own-mechanism --example own_middlebox`: a middlebox at a base station;
//! * `cargo run -p own-mechanism --example own_stack`: a transport protocol.
//!
//! The steps are always the same. Implement the trait of the seam (the kind of mechanism). Describe the mechanism in a
//! `Mechanism`, and add this description to a `Catalogue`. Then load a scenario with the catalogue. Scenarios and
//! settings then find the mechanism by name, with its parameters, units, ranges and defaults.
