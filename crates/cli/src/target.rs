//! Files that are written whole or not at all, and files that grow.
//!
//! What is to be whole goes to a hidden file beside the target, which takes the
//! target's name at the end. If the user interrupts, or the run fails, it is removed.
//! A file that grows has its name from the beginning, whole lines only, and stays.
//!
//! As root, a name leads through links of root's and of the user who called sudo only: another user's link is refused.

use crate::failure::{Failure, INTERRUPTED};
use crate::output;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Hidden files that have not taken their target's name yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file being written.
pub(crate) struct Target {
    /// As the user wrote it.
    path: PathBuf,
    /// What is renamed to what; `None` where the target is no regular file (a pipe, a device) and written directly.
    renaming: Option<(PathBuf, PathBuf)>,
    writer: BufWriter<File>,
}

impl Target {
    /// Begins to write a file; a mistake in its path shows now, before anything is computed.
    pub(crate) fn create(path: &Path) -> Result<Target, Failure> {
        refuse_foreign_links(path)?;
        let begun = match fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory)),
            Ok(known) if !known.is_file() => {
                OpenOptions::new().write(true).open(path).map(|file| (None, file))
            }
            // Through links to the file itself, which must let itself be written.
            Ok(_) => OpenOptions::new().write(true).open(path).and_then(|_| hidden(&fs::canonicalize(path)?)),
            Err(_) => hidden(path),
        };
        let (renaming, file) = begun.map_err(|error| unwritable(path, &error))?;
        Ok(Target { path: path.to_owned(), renaming, writer: BufWriter::with_capacity(1 << 16, file) })
    }

    /// The same for a file that we have named ourselves, in a folder: what has its name is replaced, and nothing is
    /// written where a link leads that somebody may have put there.
    #[cfg(target_os = "linux")]
    pub(crate) fn create_in(folder: &Path, name: &str) -> Result<Target, Failure> {
        let path = folder.join(name);
        let begun = match fs::symlink_metadata(&path) {
            Ok(known) if known.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory)),
            _ => hidden(&path),
        };
        let (renaming, file) = begun.map_err(|error| unwritable(&path, &error))?;
        Ok(Target { path, renaming, writer: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Begins a file that has its name at once and keeps what is in it however the command ends.
    pub(crate) fn growing(path: &Path) -> Result<Target, Failure> {
        refuse_foreign_links(path)?;
        let file = grown(path).map_err(|error| unwritable(path, &error))?;
        Ok(Target { path: path.to_owned(), renaming: None, writer: BufWriter::new(file) })
    }

    /// Adds whole lines to a file that grows; they are there when this returns.
    pub(crate) fn append(&mut self, lines: &str) -> Result<(), Failure> {
        self.writer.write_all(lines.as_bytes()).and_then(|()| self.writer.flush()).map_err(|error| {
            let shown = self.path.display();
            Failure::failed(format!("cannot write `{shown}`: {error}"), "is the disk full?")
        })
    }

    /// All is written: the file takes its name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let failed = |error: &io::Error| unfinished(&self.path, error);
        self.writer.flush().map_err(|error| failed(&error))?;
        if let Some((hidden, path)) = self.renaming.take() {
            let mut unfinished = lock();
            let renamed = fs::rename(&hidden, &path);
            if renamed.is_err() {
                let _ = fs::remove_file(&hidden);
            }
            unfinished.retain(|known| *known != hidden);
            renamed.map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Writes a whole text and finishes.
    pub(crate) fn write_and_finish(self, text: &str) -> Result<(), Failure> {
        self.filled(text)?.finish()
    }

    /// The same, and says so.
    pub(crate) fn write_and_note(self, text: &str) -> Result<(), Failure> {
        let shown = self.path.display().to_string();
        self.write_and_finish(text)?;
        output::note(&format!("{shown}: written"));
        Ok(())
    }

    /// With this text written.
    pub(crate) fn filled(mut self, text: &str) -> Result<Target, Failure> {
        match self.write_all(text.as_bytes()) {
            Ok(()) => Ok(self),
            Err(error) => Err(unfinished(&self.path, &error)),
        }
    }

    /// The file's name as the user wrote it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Refuses two flags that name the same file.
pub(crate) fn refuse_doubles(files: &[(&str, &Option<PathBuf>)]) -> Result<(), Failure> {
    let mut paths: Vec<&Path> = files.iter().filter_map(|(_, path)| path.as_deref()).collect();
    paths.sort();
    let flags: Vec<&str> = files.iter().map(|(flag, _)| *flag).collect();
    match paths.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::bad_input(
            format!("two files are to be written to `{}`", pair[0].display()),
            format!("give each of {} a name of its own", flags.join(", ")),
        )),
        None => Ok(()),
    }
}

/// The failure of a write under way.
pub(crate) fn unfinished(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(
        format!("cannot write `{}`: {error}", path.display()),
        "is the disk full? nothing half-written is left behind",
    )
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((hidden, _)) = self.renaming.take() {
            let mut unfinished = lock();
            let _ = fs::remove_file(&hidden);
            unfinished.retain(|known| *known != hidden);
        }
    }
}

/// Removes what is half-written and ends the program when the user interrupts it.
pub(crate) fn discard_all_when_interrupted() {
    let installed = ctrlc::set_handler(|| {
        if patience::takes_it() {
            return;
        }
        // Kept: no file is begun or renamed from here on.
        let _unfinished = discard_all();
        output::note("interrupted");
        std::process::exit(INTERRUPTED.into());
    });
    if let Err(error) = installed {
        output::note(&format!(
            "note: Ctrl-C will end the program at once, half-written files may stay: {error}"
        ));
    }
}

/// Removes what is half-written: runs that were left to themselves may still hold such files.
pub(crate) fn discard_all() -> impl Drop {
    let unfinished = lock();
    for hidden in unfinished.iter() {
        let _ = fs::remove_file(hidden);
    }
    unfinished
}

/// Work that ends by itself when it is interrupted, because it has more to do then than to remove files.
pub(crate) mod patience {
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether such work is being done, and whether it has been interrupted.
    static WORKING: AtomicBool = AtomicBool::new(false);
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);

    /// Does work that looks at [`is_interrupted`] again and again.
    pub(crate) fn during<T>(work: impl FnOnce() -> T) -> T {
        WORKING.store(true, Ordering::SeqCst);
        let done = work();
        WORKING.store(false, Ordering::SeqCst);
        done
    }

    /// Whether the user wants no more.
    pub(crate) fn is_interrupted() -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }

    /// An interruption: whether such work heeds it.
    pub(super) fn takes_it() -> bool {
        let working = WORKING.load(Ordering::SeqCst);
        INTERRUPTED.fetch_or(working, Ordering::SeqCst);
        working
    }
}

/// Begins a file anew, or opens a pipe or a device. As root, a link that has taken the file's name meanwhile is not
/// followed.
fn grown(path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if is_privileged() && fs::metadata(path).is_ok_and(|known| known.is_file()) {
        use std::os::unix::fs::OpenOptionsExt;
        let itself = fs::canonicalize(path)?;
        let follows_none = nix::fcntl::OFlag::O_NOFOLLOW.bits();
        return OpenOptions::new().write(true).truncate(true).custom_flags(follows_none).open(itself);
    }
    File::create(path)
}

/// Whether we may write what the user who gave the name may not: root of the machine.
#[cfg(target_os = "linux")]
fn is_privileged() -> bool {
    nix::unistd::geteuid().is_root() && lasthop_os::apart::run().is_none()
}

/// As root: refuses a name that leads through a link of another user's, who could have us write wherever root may.
#[cfg(target_os = "linux")]
fn refuse_foreign_links(path: &Path) -> Result<(), Failure> {
    let caller = std::env::var("SUDO_UID").ok().and_then(|number| number.parse().ok());
    let is_trusted = |owner: u32| owner == 0 || Some(owner) == caller;
    match is_privileged().then(|| foreign_link(path, &is_trusted, MOST_LINKS)).flatten() {
        None => Ok(()),
        Some((link, owner)) => Err(Failure::bad_input(
            format!(
                "cannot write `{}`: `{}` is a link of another user's (number {owner}), which root does not follow",
                path.display(),
                link.display()
            ),
            "remove the link, or give the name of the file itself, in a directory of your own",
        )),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_foreign_links(_: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Links that a name may lead through (path_resolution(7): 40).
#[cfg(target_os = "linux")]
const MOST_LINKS: usize = 40;

/// The first link on the way of a name whose owner is not trusted, and that owner.
#[cfg(target_os = "linux")]
fn foreign_link(path: &Path, is_trusted: &dyn Fn(u32) -> bool, most: usize) -> Option<(PathBuf, u32)> {
    use std::os::unix::fs::MetadataExt;
    let mut so_far = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        so_far.push(part);
        let Ok(found) = fs::symlink_metadata(&so_far) else { continue };
        if !found.is_symlink() {
            continue;
        }
        if !is_trusted(found.uid()) {
            return Some((so_far, found.uid()));
        }
        // A relative target begins where the link is.
        let to = fs::read_link(&so_far).ok()?;
        let to = so_far.parent().unwrap_or(Path::new("")).join(to).join(parts.as_path());
        return if most > 0 { foreign_link(&to, is_trusted, most - 1) } else { None };
    }
    None
}

/// A new hidden file beside the target.
fn hidden(path: &Path) -> io::Result<(Option<(PathBuf, PathBuf)>, File)> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::from(ErrorKind::InvalidFilename));
    };
    for number in 0..1000 {
        let mut hidden_name = std::ffi::OsString::from(".");
        hidden_name.push(name);
        hidden_name.push(format!(".{}-{number}.part", std::process::id()));
        let hidden = path.with_file_name(hidden_name);
        let mut unfinished = lock();
        match OpenOptions::new().write(true).create_new(true).open(&hidden) {
            Ok(file) => {
                unfinished.push(hidden.clone());
                return Ok((Some((hidden, path.to_owned())), file));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::from(ErrorKind::AlreadyExists))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (why, help) = match error.kind() {
        ErrorKind::IsADirectory => {
            ("it is a directory".to_owned(), "give the name of a file in it".to_owned())
        }
        ErrorKind::NotFound if folder.is_dir() => (
            format!("no file can be made in `{}`", folder.display()),
            "choose a directory of your own, such as the one you are in".to_owned(),
        ),
        ErrorKind::NotFound => (
            format!("there is no directory `{}`", folder.display()),
            format!("create it first: mkdir -p '{}'", folder.display()),
        ),
        ErrorKind::PermissionDenied => {
            ("it may not be written".to_owned(), "choose another place".to_owned())
        }
        ErrorKind::InvalidFilename => ("that is no name of a file".to_owned(), "give one".to_owned()),
        _ => (error.to_string(), "choose another place".to_owned()),
    };
    Failure::bad_input(format!("cannot write `{shown}`: {why}"), help)
}

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
