//! Symlinks that another user has created in the directory in which the agent writes as root.

use crate::{Agent, alone, deep_path};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const FIXED: &[&str] = &["--window", "fixed=64KiB", "--path", "nfqueue"];

#[test]
fn a_planted_link_is_not_followed() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let place = tempfile::tempdir().unwrap();
    let treasure = place.path().join("treasure");
    fs::write(&treasure, "root's own\n").unwrap();
    let folder = place.path().join("run");
    fs::create_dir(&folder).unwrap();
    let permit = |mode| fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
    let said_to = |folder: &Path| match Agent::start_in(&path, folder, FIXED) {
        Err(said) => said,
        Ok((mut child, _)) => {
            child.kill().unwrap();
            panic!(
                "the agent started in {}; root's file: {:?}",
                folder.display(),
                fs::read_to_string(&treasure)
            );
        }
    };
    let refused = || {
        let said = said_to(&folder);
        assert_eq!(said.matches("help:").count(), 1, "one message: {said}");
        assert_eq!(fs::read_to_string(&treasure).unwrap(), "root's own\n");
        said
    };
    for name in ["agent.lock", "rules.lock"] {
        symlink(&treasure, folder.join(name)).unwrap();
        // The agent refuses a world-writable directory, whatever its files.
        permit(0o777);
        assert!(refused().contains("may be written to by others (its mode is 777)"));
        // In a directory that only root can write to, the message names the link.
        permit(0o700);
        let said = refused();
        assert!(said.contains(&format!("{name}` is a symbolic link")), "{said}");
        fs::remove_file(folder.join(name)).unwrap();
    }
    let link = place.path().join("link");
    symlink(&folder, &link).unwrap();
    let said = said_to(&link);
    assert!(said.contains("it is a symbolic link"), "{said}");

    // The agent removes a link with the name of its socket, and does not follow the link.
    symlink(&treasure, folder.join("agent.sock")).unwrap();
    let agent = Agent::start_in(&path, &folder, FIXED);
    let (mut child, _) = agent.unwrap();
    assert_eq!(fs::read_to_string(&treasure).unwrap(), "root's own\n");
    child.kill().unwrap();
    child.wait().unwrap();
}
