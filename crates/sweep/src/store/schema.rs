//! Tables of a store, and upgrades of older files.

use rusqlite::{Connection, TransactionBehavior};

/// SQLite's `application_id` of a store: the letters `LHOP`.
pub(super) const APPLICATION: u32 = 0x4c48_4f50;

/// Upgrades of the tables. The first upgrade creates the tables; each other upgrade leads from one version to the next.
const STEPS: &[&str] = &[FIRST];

/// Version of the tables that this program writes.
pub(super) const VERSION: u32 = STEPS.len() as u32;

/// First version of the tables. A point is a scenario that an engine simulates; a digest identifies the point. A run is
/// a point with a seed. The table `place` lists the combinations of a sweep, with the point of each combination. Each
/// number of a run refers to a subject: a flow, all flows, or a link direction.
const FIRST: &str = "
    CREATE TABLE sweep (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        paths TEXT NOT NULL             -- a JSON array
    ) STRICT;
    CREATE TABLE point (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        engine TEXT NOT NULL,           -- version, and hash of its sources
        scenario TEXT NOT NULL          -- resolved, as TOML
    ) STRICT;
    CREATE TABLE place (
        sweep INTEGER NOT NULL REFERENCES sweep,
        number INTEGER NOT NULL,        -- from 0
        point INTEGER NOT NULL REFERENCES point,
        x TEXT NOT NULL,                -- the values of the sweep's paths, a JSON array
        PRIMARY KEY (sweep, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE subject (
        point INTEGER NOT NULL REFERENCES point,
        number INTEGER NOT NULL,        -- from 0
        kind TEXT NOT NULL CHECK (kind IN ('flow', 'all', 'link')),
        name TEXT NOT NULL,
        PRIMARY KEY (point, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        point INTEGER NOT NULL REFERENCES point,
        seed INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('done', 'failed')),
        attempt INTEGER NOT NULL,       -- from 1
        wall_s REAL NOT NULL,
        error TEXT,
        UNIQUE (point, seed)
    ) STRICT;
    CREATE TABLE name (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE       -- of a metric, with its unit
    ) STRICT;
    CREATE TABLE metric (
        run INTEGER NOT NULL REFERENCES run,
        subject INTEGER NOT NULL,       -- its number at the run's point
        name INTEGER NOT NULL REFERENCES name,
        value REAL NOT NULL,
        PRIMARY KEY (run, subject, name)
    ) STRICT, WITHOUT ROWID;
";

/// Applies all missing upgrades in one transaction.
pub(super) fn upgrade(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version < VERSION {
        for step in &STEPS[version as usize..] {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}
