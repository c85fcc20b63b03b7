//! Some tens of sources that compete in pairs, six rounds of them; those that move most stand apart, and only meet the winner.

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
