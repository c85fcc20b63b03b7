//! Detection of network file systems. All processes that use a write-ahead log must share memory, which is impossible
//! on network file systems (SQLite's documentation, "Write-Ahead Logging", §1). On a network file system, the store
//! uses a rollback journal instead.

use std::path::Path;

/// Names of network file systems in Linux.
const REMOTE: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "lustre",
    "gpfs",
    "beegfs",
    "glusterfs",
    "ncpfs",
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.s3fs",
    "virtiofs",
];

/// Whether a file is on a network file system. Returns `false` if the type of the file system is unknown.
pub(super) fn is_remote(path: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    path.canonicalize().is_ok_and(|path| kind(&mounts, &path).is_some_and(|kind| REMOTE.contains(&kind)))
}

/// Returns the type of the file system that contains a path, according to the longest mount point above the path. If
/// several file systems are mounted at this point, returns the type of the last.
fn kind<'m>(mounts: &'m str, path: &Path) -> Option<&'m str> {
    let mount = |line: &'m str| {
        let mut fields = line.split(' ');
        let (place, kind) = (fields.nth(1)?, fields.next()?);
        // The kernel writes blanks and similar characters as octal escapes.
        let place = place.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
        path.starts_with(&place).then_some((place.len(), kind))
    };
    mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_point_counts() {
        let mounts = "/dev/sda1 / ext4 rw 0 0\nserver:/home /home nfs4 rw 0 0\ntmpfs /home/me/fast tmpfs rw 0 0\n\
                      server:/x /my\\040data cifs rw 0 0\n";
        let of = |path: &str| kind(mounts, Path::new(path));
        assert_eq!(of("/tmp/results.sqlite"), Some("ext4"));
        assert_eq!(of("/home/me/results.sqlite"), Some("nfs4"));
        assert_eq!(of("/homes/results.sqlite"), Some("ext4"));
        assert_eq!(of("/home/me/fast/results.sqlite"), Some("tmpfs"));
        assert_eq!(of("/my data/results.sqlite"), Some("cifs"));
        assert_eq!(kind("", Path::new("/")), None);
    }
}
