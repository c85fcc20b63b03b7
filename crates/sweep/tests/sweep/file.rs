//! Tests of files that are not stores, and of faults of a store's file.

use super::*;
use lasthop_sweep::store::Error;
use std::fs;
use std::path::PathBuf;

/// Whether the file is unchanged and alone in its directory.
fn is_untouched(path: &PathBuf, before: &[u8]) -> bool {
    let names = fs::read_dir(path.parent().unwrap()).unwrap().count();
    fs::read(path).unwrap() == before && names == 1
}

#[test]
fn what_is_no_store_is_left_as_it_is() {
    let texts: [&[u8]; 3] = [b"time,flow\n0,1\n", b"SQLite format 3", b"\0"];
    for text in texts {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        fs::write(&path, text).unwrap();
        let refused = Error::NoDatabase(path.clone());
        assert_eq!(Store::open(&path).unwrap_err(), refused);
        assert_eq!(StoreReader::open(&path).unwrap_err(), refused);
        assert!(is_untouched(&path, text));
    }
}

#[test]
fn a_database_of_something_else_is_left_as_it_is() {
    // The databases belong to different programs. The first database has an application ID, and the second has none.
    for application in [0x4750_4b47, 0] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("photos.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE photo (id INTEGER PRIMARY KEY, name TEXT)").unwrap();
        connection.pragma_update(None, "application_id", application).unwrap();
        drop(connection);
        let before = fs::read(&path).unwrap();
        let refused = Error::AnotherDatabase(path.clone());
        assert_eq!(Store::open(&path).unwrap_err(), refused);
        assert_eq!(StoreReader::open(&path).unwrap_err(), refused);
        assert!(is_untouched(&path, &before));
    }
}

#[test]
fn a_store_of_a_newer_version_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    complete(&path, &grid(), &RunCount::Runs(1), Shard::WHOLE);
    fs::remove_file(folder.path().join("r.sqlite.lock")).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let refused = Error::Newer { path: path.clone(), version: 7 };
    assert_eq!(Store::open(&path).unwrap_err(), refused);
    assert_eq!(StoreReader::open(&path).unwrap_err(), refused);
    assert!(is_untouched(&path, &before));
}

#[test]
fn a_file_that_may_not_be_written_is_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    complete(&path, &grid(), &RunCount::Runs(1), Shard::WHOLE);
    fs::remove_file(folder.path().join("r.sqlite.lock")).unwrap();
    let before = fs::read(&path).unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    assert_eq!(Store::open(&path).unwrap_err(), Error::ReadOnly(path.clone()));
    assert!(exported_from(&path).lines().count() > 6, "a read-only store must be readable");
    assert!(is_untouched(&path, &before));
}

#[test]
fn a_store_has_one_writer_and_readers_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    let mut driver = driver(&path, &grid(), &RunCount::Runs(2), Shard::WHOLE);
    work(&mut driver, 6);
    driver.commit().unwrap();
    assert_eq!(Store::open(&path).unwrap_err(), Error::InUse(path.clone()));
    let reader = StoreReader::open(&path).unwrap();
    assert_eq!(reader.contents().sweeps().unwrap()[0].done, 6);
    work(&mut driver, usize::MAX);
    driver.into_store().unwrap().close();
    assert_eq!(reader.contents().sweeps().unwrap()[0].done, 12);
    assert!(Store::open(&path).is_ok());
}

#[test]
fn a_closed_store_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.sqlite");
    complete(&path, &grid(), &RunCount::Runs(1), Shard::WHOLE);
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["r.sqlite", "r.sqlite.lock"]);
    assert_eq!(fs::metadata(folder.path().join("r.sqlite.lock")).unwrap().len(), 0);
}

#[test]
fn what_is_not_there_is_not_read_and_no_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.sqlite");
    assert_eq!(StoreReader::open(&missing).unwrap_err(), Error::Missing(missing.clone()));
    assert!(!missing.exists());
    let nowhere = folder.path().join("none/r.sqlite");
    assert_eq!(Store::open(&nowhere).unwrap_err(), Error::NoFolder(nowhere));
    assert!(!folder.path().join("none").exists());
    assert_eq!(Store::open(folder.path()).unwrap_err(), Error::NoDatabase(folder.path().to_owned()));
}

#[test]
fn messages() {
    let path = || PathBuf::from("r.sqlite");
    let errors = [
        Error::Missing(path()),
        Error::InUse(path()),
        Error::NoFolder("none/r.sqlite".into()),
        Error::NoDatabase(path()),
        Error::AnotherDatabase(path()),
        Error::Newer { path: path(), version: 7 },
        Error::ReadOnly(path()),
        Error::Full(path()),
        Error::Broken(path(), "disk I/O error".into()),
        Error::Disagree { path: path(), runs: 2 },
    ];
    let told: Vec<String> = errors.iter().map(|error| format!("{error}\n  {}\n", error.help())).collect();
    insta::assert_snapshot!(told.concat());
}
