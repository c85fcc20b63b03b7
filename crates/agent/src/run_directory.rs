//! Directory for the locks and sockets of agents and emulations. Other users cannot tamper with the directory's files.
//!
//! Root creates files in this directory. If other users could write to the directory, a planted link could make root
//! overwrite its own files. Therefore the directory and all its parents must have trusted owners. The directory is
//! opened once. Files are opened relative to the open directory, and symbolic links are not followed.

use lasthop_os::SystemError;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::geteuid;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// An open directory.
pub struct RunDirectory {
    path: PathBuf,
    opened: File,
}

const AGAIN: Duration = Duration::from_millis(10);
/// Permission bits that let the group and all other users write.
const OTHERS_WRITE: u32 = 0o022;
/// Permission bit that lets only the owners of files remove them (sticky).
const STICKY: u32 = 0o1000;

impl RunDirectory {
    /// Opens a directory. If the directory does not exist, creates the directory with access for its owner only.
    ///
    /// # Errors
    /// Fails if the path is not a directory, if users besides root and the current user could change its content, or if
    /// the system refuses.
    pub fn open(path: &Path) -> Result<RunDirectory, SystemError> {
        let path: PathBuf =
            std::path::absolute(path).map_err(|error| refused(path, &error))?.components().collect();
        let own = geteuid().as_raw();
        check_above(&path, own)?;
        // If the path contains a symbolic link, the real parent must also be checked.
        if let Some(real) = path.parent().and_then(|parent| parent.canonicalize().ok()) {
            check_above(&real.join("it"), own)?;
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|error| {
            match fs::symlink_metadata(&path) {
                Ok(found) if !found.is_dir() => untrusted(&path, "it is not a directory"),
                _ => refused(&path, &error),
            }
        })?;
        let flags = OFlag::O_NOFOLLOW | OFlag::O_DIRECTORY;
        let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(&path);
        let opened = opened.map_err(|error| match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => untrusted(&path, "it is a symbolic link"),
            _ => refused(&path, &error),
        })?;
        let found = opened.metadata().map_err(|error| refused(&path, &error))?;
        match distrust(found.uid(), found.mode() & !STICKY, own) {
            Some(why) => Err(untrusted(&path, &format!("it {why}"))),
            None => Ok(RunDirectory { path, opened }),
        }
    }

    /// Locks a file that only its owner may write; waits up to `patience`. The error is `None` if another process still
    /// holds the lock.
    pub(crate) fn lock(&self, name: &str, patience: Duration) -> Result<Flock<File>, Option<SystemError>> {
        let shown = self.path.join(name);
        let mut file = self.file(name).map_err(|error| {
            Some(match error {
                Errno::ELOOP => SystemError {
                    message: format!("`{}` is a symbolic link", shown.display()),
                    help: "the agent does not create such a link: remove it".to_owned(),
                },
                other => refused(&shown, &other.into()),
            })
        })?;
        if !file.metadata().is_ok_and(|found| found.is_file() && found.nlink() == 1) {
            return Err(Some(SystemError {
                message: format!("`{}` is not a file of the agent", shown.display()),
                help: "it is not a regular file or has a second link: remove it".to_owned(),
            }));
        }
        let start = Instant::now();
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => return Ok(lock),
                Err((_, Errno::EAGAIN)) if start.elapsed() >= patience => return Err(None),
                Err((same, Errno::EAGAIN)) => file = same,
                Err((_, error)) => return Err(Some(refused(&shown, &error.into()))),
            }
            sleep(AGAIN);
        }
    }

    /// Absolute path of an entry, for messages.
    pub fn shown(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Path of an entry, relative to the open directory. The path stays valid if parents are renamed, and is short
    /// enough for a socket address.
    pub fn inside(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.opened.as_raw_fd())).join(name)
    }

    fn file(&self, name: &str) -> Result<File, Errno> {
        // O_NONBLOCK is needed because opening a planted pipe must not block.
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        openat(&self.opened, name, flags, Mode::S_IRUSR | Mode::S_IWUSR).map(File::from)
    }
}

/// Checks every existing parent directory and every symbolic link in the path.
fn check_above(path: &Path, own: u32) -> Result<(), SystemError> {
    for above in path.ancestors().skip(1) {
        let Ok(found) = fs::symlink_metadata(above) else { continue };
        if let Some(why) = distrust_above(&found, own) {
            return Err(untrusted(path, &format!("its parent `{}` {why}", above.display())));
        }
    }
    Ok(())
}

fn distrust_above(found: &Metadata, own: u32) -> Option<String> {
    // The mode of a symbolic link has no meaning: the mode of its directory decides.
    let mode = if found.is_symlink() { 0 } else { found.mode() };
    distrust(found.uid(), mode, own)
}

/// Returns the reason why users besides root and the current user could change a directory's content, if any.
fn distrust(owner: u32, mode: u32, own: u32) -> Option<String> {
    if owner != 0 && owner != own {
        return Some(format!("belongs to user {owner}"));
    }
    let others_may = mode & OTHERS_WRITE != 0 && mode & STICKY == 0;
    others_may.then(|| format!("may be written to by others (its mode is {:o})", mode & 0o7777))
}

fn untrusted(path: &Path, why: &str) -> SystemError {
    SystemError {
        message: format!("the directory `{}` cannot be trusted: {why}", path.display()),
        help: "use a directory that belongs to root or you, that only its owner may write to, and whose parents are \
               safe in the same way: --run-dir DIR"
            .to_owned(),
    }
}

fn refused(path: &Path, error: &io::Error) -> SystemError {
    SystemError {
        message: format!("cannot use `{}`: {error}", path.display()),
        help: "choose another directory: --run-dir DIR".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn why(path: &Path) -> String {
        RunDirectory::open(path).err().map_or(String::new(), |error| error.message)
    }

    fn permit(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn owners_and_modes_decide() {
        // Root or the current user owns these directories. In /tmp (sticky) only owners may remove files.
        for (owner, mode) in [(0, 0o755), (7, 0o700), (7, 0o755), (0, 0o1777)] {
            assert_eq!(distrust(owner, mode, 7), None, "{owner} {mode:o}");
        }
        for (owner, mode) in [(8, 0o700), (7, 0o775), (0, 0o757), (0, 0o777)] {
            assert!(distrust(owner, mode, 7).is_some(), "{owner} {mode:o}");
        }
    }

    #[test]
    fn a_directory_is_made_for_its_owner_alone() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("a/b");
        let folder = RunDirectory::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        let lock = folder.lock("lock", Duration::ZERO).unwrap_or_else(|_| panic!("the lock is free"));
        assert_eq!(fs::metadata(path.join("lock")).unwrap().mode() & 0o777, 0o600);
        assert!(
            matches!(RunDirectory::open(&path).unwrap().lock("lock", AGAIN), Err(None)),
            "the lock is held"
        );
        drop(lock);
        assert!(RunDirectory::open(&path).unwrap().lock("lock", Duration::ZERO).is_ok());
    }

    #[test]
    fn no_link_is_followed() {
        let above = tempfile::tempdir().unwrap();
        let (real, link) = (above.path().join("real"), above.path().join("link"));
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        assert!(why(&link).contains("it is a symbolic link"), "{}", why(&link));
        // A symbolic link in a parent directory is trusted if the current user owns it.
        assert_eq!(why(&link.join("run")), "");

        let treasure = above.path().join("treasure");
        fs::write(&treasure, "gold").unwrap();
        symlink(&treasure, real.join("lock")).unwrap();
        let error = RunDirectory::open(&real).unwrap().lock("lock", Duration::ZERO).unwrap_err().unwrap();
        assert!(error.message.contains("lock` is a symbolic link"), "{}", error.message);
        // A hard link is as dangerous as a symbolic link.
        fs::hard_link(&treasure, real.join("other")).unwrap();
        assert!(RunDirectory::open(&real).unwrap().lock("other", Duration::ZERO).unwrap_err().is_some());
        assert_eq!(fs::read_to_string(&treasure).unwrap(), "gold");
    }

    #[test]
    fn where_others_may_write_nothing_is_written() {
        let above = tempfile::tempdir().unwrap();
        let open = above.path().join("open");
        fs::create_dir(&open).unwrap();
        // Even a sticky directory is refused, because other users may have prepared its content.
        for mode in [0o777, 0o1777, 0o770] {
            permit(&open, mode);
            assert!(why(&open).contains("it may be written to by others"), "{}", why(&open));
        }
        permit(&open, 0o777);
        assert!(why(&open.join("run")).contains("open` may be written to by others"));
        assert!(!open.join("run").exists());
        permit(&open, 0o1777);
        assert_eq!(why(&open.join("run")), "");
        let file = above.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(why(&file).contains("it is not a directory"), "{}", why(&file));
    }
}
