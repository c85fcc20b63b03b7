//! Sources that compete in pairs: some tens in six rounds, where those that move most stand apart and only meet the winner;
//! hundreds and thousands in as many rounds as they need.

use lasthop_base::Time;

/// Sources at most: two to the number of rounds.
pub(super) const MOST: usize = 1 << ROUNDS;
const ROUNDS: u32 = 6;
/// How many may stand apart.
const APART: usize = 2;

/// See the file. A time, ns, and its source behind it are one key, so that the lower number wins among equal times.
#[derive(Debug)]
pub(super) struct Pairs {
    /// The winner of all at 1; of the pair at 2 i and 2 i + 1 at i; from [`MOST`] on the sources themselves.
    keys: [u64; 2 * MOST],
    apart: [u64; APART],
    /// Where each source begins; below [`APART`]: there.
    places: [u8; MOST],
}

/// Times from here on, nine years, do not fit in a key, but for [`Time::NEVER`].
const END: Time = Time::from_nanos(u64::MAX >> ROUNDS);

impl Pairs {
    /// Of so many sources none has anything due; those of `often` move most.
    pub(super) fn new(count: usize, often: &[u32]) -> Pairs {
        let mut pairs = Pairs { keys: [u64::MAX; 2 * MOST], apart: [u64::MAX; APART], places: [0; MOST] };
        for source in 0..count.min(MOST) {
            let apart = often.iter().take(APART).position(|one| *one as usize == source);
            pairs.places[source] = apart.unwrap_or(MOST + source) as u8;
        }
        pairs
    }

    /// Whether a key can tell this time.
    #[inline]
    pub(super) fn can_tell(time: Time) -> bool {
        time < END || time == Time::NEVER
    }

    /// A source is next due at `time`; returns which is the first then.
    #[inline]
    pub(super) fn set(&mut self, source: u32, time: Time) -> u32 {
        let mut place = usize::from(self.places[source as usize % MOST]);
        // Of what never comes, all bits are set that stay.
        let mut key = time.as_nanos() << ROUNDS | u64::from(source);
        match self.apart.get_mut(place) {
            Some(apart) => *apart = key,
            None => {
                place %= 2 * MOST;
                self.keys[place] = key;
                for _ in 0..ROUNDS {
                    key = key.min(self.keys[place ^ 1]);
                    place /= 2;
                    self.keys[place] = key;
                }
            }
        }
        let [one, other] = self.apart;
        (self.keys[1].min(one).min(other) % MOST as u64) as u32
    }
}

/// Sources at most that compete in [`Wide`] pairs: with more, the times that fit in a key would end too soon, after 52 days.
pub(super) const MOST_WIDE: usize = 1 << 12;

/// Hundreds and thousands of sources; keys as in [`Pairs`].
#[derive(Debug)]
pub(super) struct Wide {
    /// The winner of all at 1; of the pair at 2 i and 2 i + 1 at i; the sources themselves in the last half.
    keys: Vec<u64>,
    /// Of a key, those of the source.
    bits: u32,
}

impl Wide {
    /// Of so many sources none has anything due.
    pub(super) fn new(count: usize) -> Wide {
        let room = count.next_power_of_two();
        Wide { keys: vec![u64::MAX; 2 * room], bits: room.ilog2() }
    }

    /// Whether a key can tell this time.
    #[inline]
    pub(super) fn can_tell(&self, time: Time) -> bool {
        time.as_nanos() < u64::MAX >> self.bits || time == Time::NEVER
    }

    /// A source is next due at `time`; returns which is the first then.
    #[inline]
    pub(super) fn set(&mut self, source: u32, time: Time) -> u32 {
        let keys = &mut self.keys[..];
        let mut place = keys.len() / 2 + source as usize;
        let mut key = time.as_nanos() << self.bits | u64::from(source);
        keys[place] = key;
        while place > 1 {
            key = key.min(keys[place ^ 1]);
            place /= 2;
            if keys[place] == key {
                break;
            }
            keys[place] = key;
        }
        keys[1] as u32 & ((1 << self.bits) - 1)
    }
}
