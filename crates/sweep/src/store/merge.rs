//! Merging of a second store into a store. The second store may contain runs of a different shard (part of the sweep),
//! or of a different user.

use super::write::Fault;
use super::{Error, Store, StoreReader};
use std::path::Path;

/// Result of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Number of runs that were added.
    pub new: u64,
    /// Number of runs that the two stores had in common.
    pub known: u64,
}

/// Maps row numbers of the second store to row numbers of this store. Two points match if their digests are equal, and
/// two metrics match if their names are equal.
const MATCHES: &str = "
    CREATE TEMP TABLE points AS
        SELECT theirs.id AS their, ours.id AS our
        FROM other.point AS theirs JOIN main.point AS ours USING (digest);
    CREATE UNIQUE INDEX temp.points_their ON points (their);
    CREATE TEMP TABLE names AS
        SELECT theirs.id AS their, ours.id AS our
        FROM other.name AS theirs JOIN main.name AS ours USING (name);
    CREATE UNIQUE INDEX temp.names_their ON names (their);";

/// Adds the points, sweeps and metric names of the second store.
const FRAME: &str = "
    INSERT INTO main.point (digest, engine, scenario)
        SELECT digest, engine, scenario FROM other.point WHERE true ORDER BY id ON CONFLICT DO NOTHING;
    INSERT INTO main.sweep (digest, title, paths)
        SELECT digest, title, paths FROM other.sweep WHERE true ORDER BY id ON CONFLICT DO NOTHING;
    INSERT INTO main.name (name)
        SELECT name FROM other.name WHERE true ORDER BY id ON CONFLICT DO NOTHING;";

/// Adds the rows that refer to points, sweeps and metric names. The references are row numbers of this store.
const WITHIN: &str = "
    INSERT INTO main.place (sweep, number, point, x)
        SELECT ours.id, place.number, points.our, place.x
        FROM other.place AS place JOIN other.sweep AS theirs ON theirs.id = place.sweep
        JOIN main.sweep AS ours ON ours.digest = theirs.digest JOIN points ON points.their = place.point
        WHERE true ON CONFLICT DO NOTHING;
    INSERT INTO main.subject (point, number, kind, name)
        SELECT points.our, subject.number, kind, subject.name
        FROM other.subject AS subject JOIN points ON points.their = subject.point
        WHERE true ON CONFLICT DO NOTHING;
    CREATE TEMP TABLE both AS
        SELECT theirs.id AS their, ours.id AS our
        FROM other.run AS theirs JOIN points ON points.their = theirs.point
        JOIN main.run AS ours ON ours.point = points.our AND ours.seed = theirs.seed
        WHERE ours.state = 'done' AND theirs.state = 'done';
    CREATE UNIQUE INDEX temp.both_their ON both (their);";

/// Counts the runs that are in both stores with different numbers.
const DIFFERING: &str = "
    SELECT count(*) FROM both WHERE
        (SELECT count(*) FROM other.metric WHERE run = both.their)
            <> (SELECT count(*) FROM main.metric WHERE run = both.our)
        OR EXISTS (
            SELECT 1 FROM other.metric AS theirs JOIN names ON names.their = theirs.name
            LEFT JOIN main.metric AS ours
                ON ours.run = both.our AND ours.subject = theirs.subject AND ours.name = names.our
            WHERE theirs.run = both.their AND theirs.value IS NOT ours.value)";

/// Adds the runs that this store lacks or that failed in this store, with their numbers.
const RUNS: &str = "
    INSERT INTO main.run (point, seed, state, attempt, wall_s, error)
        SELECT points.our, seed, state, attempt, wall_s, error
        FROM other.run AS theirs JOIN points ON points.their = theirs.point
        WHERE theirs.id NOT IN (SELECT their FROM both) ORDER BY theirs.id
        ON CONFLICT (point, seed) DO UPDATE
        SET state = excluded.state, attempt = attempt + excluded.attempt, wall_s = excluded.wall_s,
            error = excluded.error
        WHERE state = 'failed' AND excluded.state = 'done';
    INSERT INTO main.metric (run, subject, name, value)
        SELECT ours.id, metric.subject, names.our, metric.value
        FROM other.run AS theirs JOIN points ON points.their = theirs.point
        JOIN main.run AS ours ON ours.point = points.our AND ours.seed = theirs.seed
        JOIN other.metric AS metric ON metric.run = theirs.id JOIN names ON names.their = metric.name
        WHERE theirs.state = 'done' AND theirs.id NOT IN (SELECT their FROM both);";

const CLEAR: &str = "DROP TABLE temp.points; DROP TABLE temp.names; DROP TABLE temp.both;";

impl Store {
    /// Adds the runs of a second store. Merging A into B gives the same content as merging B into A, except for the
    /// order of sweeps.
    ///
    /// # Errors
    /// Fails if the second file is not a store or cannot be read, or if it has different numbers for the same run.
    /// After a failure, nothing is merged.
    pub fn merge(&mut self, other: &Path) -> Result<Merged, Error> {
        // Opening the reader checks the second store. While the reader is open, DETACH leaves the write-ahead log of
        // the second store unchanged.
        let reader = StoreReader::open(other)?;
        let failed = |error| Error::of(other, &error);
        let text = other
            .to_str()
            .ok_or_else(|| Error::Broken(other.into(), "its name is not valid UTF-8".into()))?;
        self.connection.execute("ATTACH ?1 AS other", [text]).map_err(failed)?;
        let merged = self.within(|transaction| {
            transaction.execute_batch(FRAME)?;
            transaction.execute_batch(MATCHES)?;
            transaction.execute_batch(WITHIN)?;
            let differing: i64 = transaction.query_row(DIFFERING, [], |row| row.get(0))?;
            if differing > 0 {
                return Err(Fault::Other(Error::Disagree { path: other.into(), runs: differing as u64 }));
            }
            let count = "SELECT count(*) FROM main.run WHERE state = 'done'";
            let before: i64 = transaction.query_row(count, [], |row| row.get(0))?;
            let known: i64 = transaction.query_row("SELECT count(*) FROM both", [], |row| row.get(0))?;
            transaction.execute_batch(RUNS)?;
            let after: i64 = transaction.query_row(count, [], |row| row.get(0))?;
            transaction.execute_batch(CLEAR)?;
            Ok(Merged { new: (after - before) as u64, known: known as u64 })
        });
        let _ = self.connection.execute("DETACH other", []);
        drop(reader);
        merged
    }
}
