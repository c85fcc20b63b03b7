//! Single ACK.

use super::{AckSplitting, Build, Due, Pieces, Shape};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "once",
        summary: "one ACK per ACK due, without splitting",
        source: "RFC 9293 §3.8.6.3",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| Box::new(Once),
};

struct Once;

impl AckSplitting for Once {
    fn split(&mut self, _: &Due, _: &PathEstimate) -> Shape {
        Shape::Once
    }

    fn pieces(&self) -> Option<Pieces> {
        Some(Pieces { count: 1, are_copies: false })
    }

    fn is_once(&self) -> bool {
        true
    }
}
