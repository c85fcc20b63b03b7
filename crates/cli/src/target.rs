//! Output files: files written atomically, and files that grow during the run.
//!
//! An atomic file is written to a hidden file beside the target. At the end, the hidden file is renamed to the target.
//! An interruption or failure removes the hidden file.
//!
//! A growing file has its final name from the beginning and contains only whole lines. A growing file stays after an
//! interruption or failure.
//!
//! Root follows only symlinks that belong to root or to the user who called sudo. Symlinks of other users are refused.

use crate::failure::{Failure, INTERRUPTED};
use crate::output;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Paths of the hidden files that are not yet renamed to their targets.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub(crate) struct Target {
    path: PathBuf,
    /// Path of the hidden file, and path of the target. `None` for a file that is written directly: a pipe, a device or
    /// a growing file.
    renaming: Option<(PathBuf, PathBuf)>,
    writer: BufWriter<File>,
}

impl Target {
    /// Opens a file for writing. Commands open their files first, so that a wrong path is reported before any
    /// computation.
    pub(crate) fn create(path: &Path) -> Result<Target, Failure> {
        refuse_foreign_links(path)?;
        let begun = match fs::metadata(path) {
            Ok(known) if known.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory)),
            Ok(known) if !known.is_file() => {
                OpenOptions::new().write(true).open(path).map(|file| (None, file))
            }
            // Opening the existing file checks that it is writable; `canonicalize` follows symlinks.
            Ok(_) => OpenOptions::new().write(true).open(path).and_then(|_| hidden(&fs::canonicalize(path)?)),
            Err(_) => hidden(path),
        };
        let (renaming, file) = begun.map_err(|error| unwritable(path, &error))?;
        Ok(Target { path: path.to_owned(), renaming, writer: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Opens a file whose name the program chose. Replaces an existing file or symlink of this name, and does not
    /// follow the symlink.
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

    /// Opens a growing file. The file has its final name at once, and its contents stay even if the command fails.
    pub(crate) fn growing(path: &Path) -> Result<Target, Failure> {
        refuse_foreign_links(path)?;
        let file = create_growing(path).map_err(|error| unwritable(path, &error))?;
        Ok(Target { path: path.to_owned(), renaming: None, writer: BufWriter::new(file) })
    }

    /// Appends whole lines to a file that grows, and flushes the buffer.
    pub(crate) fn append(&mut self, lines: &str) -> Result<(), Failure> {
        self.writer.write_all(lines.as_bytes()).and_then(|()| self.writer.flush()).map_err(|error| {
            let shown = self.path.display();
            Failure::failed(format!("cannot write `{shown}`: {error}"), "is the disk full?")
        })
    }

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

    pub(crate) fn write_and_finish(self, text: &str) -> Result<(), Failure> {
        self.filled(text)?.finish()
    }

    pub(crate) fn write_and_note(self, text: &str) -> Result<(), Failure> {
        self.filled(text)?.finish_and_note()
    }

    pub(crate) fn finish_and_note(self) -> Result<(), Failure> {
        let shown = self.path.display().to_string();
        self.finish()?;
        output::note(&format!("{shown}: written"));
        Ok(())
    }

    pub(crate) fn filled(mut self, text: &str) -> Result<Target, Failure> {
        match self.write_all(text.as_bytes()) {
            Ok(()) => Ok(self),
            Err(error) => Err(unfinished(&self.path, &error)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Refuses two flags that name the same file.
pub(crate) fn refuse_duplicates(files: &[(&str, &Option<PathBuf>)]) -> Result<(), Failure> {
    let mut paths: Vec<&Path> = files.iter().filter_map(|(_, path)| path.as_deref()).collect();
    paths.sort();
    let flags: Vec<&str> = files.iter().map(|(flag, _)| *flag).collect();
    match paths.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::bad_input(
            format!("two flags name the same file, `{}`", pair[0].display()),
            format!("give {} different names", flags.join(", ")),
        )),
        None => Ok(()),
    }
}

pub(crate) fn unfinished(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(
        format!("cannot write `{}`: {error}", path.display()),
        "is the disk full? No partial file is left",
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

/// Installs a handler of Ctrl-C. The handler removes partial files and exits, or leaves the interruption to the work in
/// progress.
pub(crate) fn discard_all_when_interrupted() {
    let installed = ctrlc::set_handler(|| {
        if interrupts::record() {
            return;
        }
        // The lock stays held until the exit, so no other thread creates or renames a file.
        let _unfinished = discard_all();
        output::note("interrupted");
        std::process::exit(INTERRUPTED.into());
    });
    if let Err(error) = installed {
        output::note(&format!(
            "note: Ctrl-C will end the program at once and may leave partial files: {error}"
        ));
    }
}

/// Removes partial files, including those of abandoned runs. No file is created or renamed until the returned guard is
/// dropped.
pub(crate) fn discard_all() -> impl Drop {
    let unfinished = lock();
    for hidden in unfinished.iter() {
        let _ = fs::remove_file(hidden);
    }
    unfinished
}

/// Interruptions (Ctrl-C) of work that polls for interruptions and then ends by itself.
pub(crate) mod interrupts {
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether work that handles interruptions is in progress.
    static WORKING: AtomicBool = AtomicBool::new(false);
    /// Whether the user has interrupted the work in progress.
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);

    /// Runs work that handles interruptions itself by polling [`is_interrupted`].
    pub(crate) fn handle_during<T>(work: impl FnOnce() -> T) -> T {
        WORKING.store(true, Ordering::SeqCst);
        let done = work();
        WORKING.store(false, Ordering::SeqCst);
        done
    }

    pub(crate) fn is_interrupted() -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }

    /// Records an interruption. Returns whether work in progress handles the interruption.
    pub(super) fn record() -> bool {
        let working = WORKING.load(Ordering::SeqCst);
        INTERRUPTED.fetch_or(working, Ordering::SeqCst);
        working
    }
}

/// Truncates or creates a file, or opens a pipe or a device. If the caller is root, a symlink that has meanwhile
/// replaced the file is not followed.
fn create_growing(path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if is_privileged() && fs::metadata(path).is_ok_and(|known| known.is_file()) {
        use std::os::unix::fs::OpenOptionsExt;
        let itself = fs::canonicalize(path)?;
        let follows_none = nix::fcntl::OFlag::O_NOFOLLOW.bits();
        return OpenOptions::new().write(true).truncate(true).custom_flags(follows_none).open(itself);
    }
    File::create(path)
}

#[cfg(target_os = "linux")]
fn is_privileged() -> bool {
    nix::unistd::geteuid().is_root() && lasthop_os::unprivileged::first_process().is_none()
}

/// Refuses a path through another user's symlink if the caller is root, because the symlink could redirect the write to
/// any file.
#[cfg(target_os = "linux")]
fn refuse_foreign_links(path: &Path) -> Result<(), Failure> {
    let caller = std::env::var("SUDO_UID").ok().and_then(|number| number.parse().ok());
    let is_trusted = |owner: u32| owner == 0 || Some(owner) == caller;
    match is_privileged().then(|| foreign_link(path, &is_trusted, MAX_LINKS)).flatten() {
        None => Ok(()),
        Some((link, owner)) => Err(Failure::bad_input(
            format!(
                "cannot write `{}`: `{}` is a symlink of another user (UID {owner}); root does not follow such links",
                path.display(),
                link.display()
            ),
            "remove the link, or give the path of the file itself, in your own directory",
        )),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_foreign_links(_: &Path) -> Result<(), Failure> {
    Ok(())
}

/// Maximum number of symlinks in a path (path_resolution(7): 40).
#[cfg(target_os = "linux")]
const MAX_LINKS: usize = 40;

/// Returns the first symlink in a path whose owner is not trusted, and the UID of this owner.
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
        // The kernel resolves the relative target of a symlink from the folder of the symlink.
        let to = fs::read_link(&so_far).ok()?;
        let to = so_far.parent().unwrap_or(Path::new("")).join(to).join(parts.as_path());
        return if most > 0 { foreign_link(&to, is_trusted, most - 1) } else { None };
    }
    None
}

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

pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (why, help) = match error.kind() {
        ErrorKind::IsADirectory => {
            ("the path is a directory".to_owned(), "give the name of a file in the directory".to_owned())
        }
        ErrorKind::NotFound if folder.is_dir() => (
            format!("no file can be created in `{}`", folder.display()),
            "choose your own directory, such as the current one".to_owned(),
        ),
        ErrorKind::NotFound => (
            format!("the directory `{}` does not exist", folder.display()),
            format!("create the directory first: mkdir -p '{}'", folder.display()),
        ),
        ErrorKind::PermissionDenied => {
            ("permission denied".to_owned(), "choose a path that you may write to".to_owned())
        }
        ErrorKind::InvalidFilename => ("the path has no file name".to_owned(), "give a file name".to_owned()),
        _ => (error.to_string(), "choose another path".to_owned()),
    };
    Failure::bad_input(format!("cannot write `{shown}`: {why}"), help)
}

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
