//! Tournament trees: up to 64 sources in six rounds, up to 4096 in twelve, any number with keys of 128 bits.
//! In the smallest tree, the two busiest sources stay outside and meet only the winner.
//!
//! A key is a time (ns) followed by the source number, so that the lower number wins among equal times.

use lasthop_base::Time;

/// A complete binary tree for `PLACES / 2` sources.
#[derive(Debug)]
pub(super) struct Pairs<const PLACES: usize> {
    /// The winner of all at 1, that of the pair at 2 i and 2 i + 1 at i, and the sources in the upper half.
    keys: [u64; PLACES],
}

/// Up to 4096 sources; with more, keys would end after less than 26 days.
pub(super) type Thousands = Pairs<{ 2 << 12 }>;

impl<const PLACES: usize> Pairs<PLACES> {
    pub(super) const MOST: usize = PLACES / 2;
    const ROUNDS: u32 = Self::MOST.ilog2();
    /// First time that does not fit in a key. The highest bit of a key is reserved for [`Time::NEVER`].
    const END: u64 = 1 << (63 - Self::ROUNDS);

    pub(super) fn new() -> Pairs<PLACES> {
        Pairs { keys: [u64::MAX; PLACES] }
    }

    pub(super) fn can_tell(time: Time) -> bool {
        time.as_nanos() < Self::END || time == Time::NEVER
    }

    fn key_of(source: u32, time: Time) -> u64 {
        time.as_nanos() << Self::ROUNDS | u64::from(source)
    }

    fn told_by(key: u64) -> (Time, u32) {
        // The arithmetic shift restores the upper bits of `NEVER`.
        let time = Time::from_nanos((key.cast_signed() >> Self::ROUNDS).cast_unsigned());
        (time, key as u32 % Self::MOST as u32)
    }

    fn place_of(source: u32) -> usize {
        Self::MOST + source as usize % Self::MOST
    }

    pub(super) fn time_of(&self, source: u32) -> Time {
        Self::told_by(self.keys[Self::place_of(source)]).0
    }

    /// Sets a source's due time; returns the winner.
    pub(super) fn set(&mut self, source: u32, time: Time) -> (Time, u32) {
        self.compete(source, Self::key_of(source, time));
        Self::told_by(self.keys[1])
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline)]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn compete(&mut self, source: u32, mut key: u64) {
        let mut place = Self::place_of(source);
        self.keys[place] = key;
        for _ in 0..Self::ROUNDS {
            key = key.min(self.keys[place ^ 1]);
            place /= 2;
            self.keys[place] = key;
        }
    }

    /// Sets a source's due time to `time` unless the source is due earlier.
    pub(super) fn bring_forward(&mut self, source: u32, time: Time) {
        let key = Self::key_of(source, time);
        let mut place = Self::place_of(source);
        while place > 0 && key < self.keys[place] {
            self.keys[place] = key;
            place /= 2;
        }
    }
}

/// Up to 64 sources, two of which may stay outside the tree.
#[derive(Debug)]
pub(super) struct Tens {
    pairs: Few,
    apart: [u64; APART],
    /// Index in `apart` by source; [`APART`] for sources in the tree.
    places: [u8; Few::MOST],
}

type Few = Pairs<{ 2 << 6 }>;
const APART: usize = 2;

impl Tens {
    pub(super) const MOST: usize = Few::MOST;

    /// No source is due. The first two sources of `often` stay outside the tree.
    pub(super) fn new(often: &[u32]) -> Tens {
        let mut places = [APART as u8; Few::MOST];
        for (place, source) in often.iter().take(APART).enumerate() {
            places[*source as usize % Few::MOST] = place as u8;
        }
        Tens { pairs: Pairs::new(), apart: [u64::MAX; APART], places }
    }

    pub(super) fn can_tell(time: Time) -> bool {
        Few::can_tell(time)
    }

    fn apart(&mut self, source: u32) -> Option<&mut u64> {
        self.apart.get_mut(usize::from(self.places[source as usize % Few::MOST]))
    }

    pub(super) fn time_of(&self, source: u32) -> Time {
        match self.apart.get(usize::from(self.places[source as usize % Few::MOST])) {
            Some(key) => Few::told_by(*key).0,
            None => self.pairs.time_of(source),
        }
    }

    pub(super) fn set(&mut self, source: u32, time: Time) -> (Time, u32) {
        let key = Few::key_of(source, time);
        match self.apart(source) {
            Some(apart) => *apart = key,
            None => self.pairs.compete(source, key),
        }
        let [one, other] = self.apart;
        Few::told_by(self.pairs.keys[1].min(one).min(other))
    }

    pub(super) fn bring_forward(&mut self, source: u32, time: Time) {
        match self.apart(source) {
            Some(apart) => *apart = (*apart).min(Few::key_of(source, time)),
            None => self.pairs.bring_forward(source, time),
        }
    }
}

/// Any number of sources and any times: keys of 128 bits.
#[derive(Debug)]
pub(super) struct Wide {
    keys: Vec<u128>,
}

impl Wide {
    const SOURCE: u32 = u32::BITS;

    pub(super) fn new(count: usize) -> Wide {
        Wide { keys: vec![u128::MAX; 2 * count.next_power_of_two()] }
    }

    fn place_of(&self, source: u32) -> usize {
        self.keys.len() / 2 + source as usize
    }

    fn told_by(key: u128) -> (Time, u32) {
        (Time::from_nanos((key >> Self::SOURCE) as u64), key as u32)
    }

    pub(super) fn time_of(&self, source: u32) -> Time {
        Self::told_by(self.keys[self.place_of(source)]).0
    }

    /// Sets a source's due time; returns the winner. Ends at the first round that does not change.
    pub(super) fn set(&mut self, source: u32, time: Time) -> (Time, u32) {
        let mut key = u128::from(time.as_nanos()) << Self::SOURCE | u128::from(source);
        let mut place = self.place_of(source);
        while place > 0 && self.keys[place] != key {
            self.keys[place] = key;
            key = key.min(self.keys[place ^ 1]);
            place /= 2;
        }
        Self::told_by(self.keys[1])
    }
}
