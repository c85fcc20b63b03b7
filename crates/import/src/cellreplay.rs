//! Reads a folder of CellReplay's recordings (Sentosa et al., NSDI 2025).
//!
//! Each direction has two or three files:
//! * a heavy trace: packet delivery opportunities under saturating load, in Mahimahi's format;
//! * a light trace: base delays and packet trains under light load;
//! * optionally, delays by packet size.

use crate::import_result::{ImportResult, Light, Service, Sourced, shown};
use crate::limited::BoundedLines;
use crate::opened::RecordingFile;
use crate::rates::mahimahi;
use crate::{ImportError, ImportOptions, import_result};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes that one delivery opportunity of a heavy trace carries, including four bytes of the virtual device's header.
const BYTES: f64 = 1400.0;
/// MSS of Linux with timestamps over CellReplay's virtual device, whose MTU is 1392 bytes.
const SEGMENT: u32 = 1340;
/// Size limit of a light trace, bytes of text. Light traces are stored in memory.
const LARGEST: usize = 256 << 20;

/// Reads a folder. Writes the heavy traces to `down` and `up`.
pub(crate) fn read(
    folder: &Path,
    options: &ImportOptions,
    down: &mut dyn Write,
    up: &mut dyn Write,
) -> Result<ImportResult, ImportError> {
    let mut whole =
        ImportResult { kind: "CellReplay's light and heavy traces".into(), ..ImportResult::default() };
    (whole.down, whole.light_traces[0]) = direction(folder, "down", down, &mut whole)?;
    (whole.up, whole.light_traces[1]) = direction(folder, "up", up, &mut whole)?;
    whole.rtt_ms =
        Some(Sourced::new(0.0, "derived: no delay is added; the light traces contain the base delays"));
    if options.assumed.queue.is_none() {
        whole.queue =
            Some(Sourced::new("unlimited".to_owned(), "assumed: unlimited, as in CellReplay's replay"));
    }
    whole.segment = Some(Sourced::new(
        SEGMENT,
        "derived: CellReplay's device has an MTU of 1392 bytes and sends one packet per delivery opportunity",
    ));
    Ok(whole)
}

fn direction(
    folder: &Path,
    side: &str,
    out: &mut dyn Write,
    whole: &mut ImportResult,
) -> Result<(Option<Sourced<Service>>, Option<Light>), ImportError> {
    let heavy = existing_file(folder, &[format!("{side}-heavy-pdo"), format!("{side}-pdo")])?;
    let light = existing_file(folder, &[format!("{side}-delay-light-pdo")])?;
    let found = read_named(&heavy, |file| mahimahi::read(file, out))?;
    let mut parsed = read_named(&light, light_trace)?;
    let sizes = folder.join(format!("latency-offset-{side}"));
    if sizes.is_file() {
        parsed.light.sizes = Some(read_named(&sizes, delays_by_size)?);
    }
    if let Some(Service::Trace { opportunities, millis }) = found.down.as_ref().map(|summary| &summary.value)
    {
        let millis = (*millis).max(1) as f64;
        whole.findings.push(format!(
            "{side}, heavy trace: {opportunities} delivery opportunities of 1400 bytes in {} s: mean {} Mbit/s",
            shown(millis / 1000.0),
            shown(*opportunities as f64 * BYTES * 8.0 / millis / 1000.0),
        ));
    }
    whole
        .findings
        .extend(found.findings.into_iter().skip(1).map(|line| format!("{side}, heavy trace: {line}")));
    whole.findings.push(format!("{side}, light trace: {}", parsed.summary));
    whole.seconds = whole.seconds.max(found.seconds);
    Ok((found.down, Some(parsed.light)))
}

/// Returns the path of the first of `names` that exists in the folder.
fn existing_file(folder: &Path, names: &[String]) -> Result<PathBuf, ImportError> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file()).ok_or_else(|| {
        ImportError::new(
            format!(
                "{}: the folder has no `{}`",
                import_result::plain(&folder.display().to_string()),
                names[0]
            ),
            "a folder must hold CellReplay's recordings: down-heavy-pdo, up-heavy-pdo, down-delay-light-pdo, \
             up-delay-light-pdo and optionally latency-offset-down and latency-offset-up",
        )
    })
}

/// Reads a file. Errors get the file's name as a prefix.
fn read_named<T>(
    path: &Path,
    read: impl FnOnce(RecordingFile) -> Result<T, ImportError>,
) -> Result<T, ImportError> {
    let shown = import_result::plain(&path.display().to_string());
    let file = RecordingFile::open(path).map_err(|error| ImportError::io(&shown, &error))?;
    read(file).map_err(|ImportError { message, help }| ImportError::new(format!("{shown}: {message}"), help))
}

struct LightTrace {
    light: Light,
    summary: String,
}

fn light_trace(file: RecordingFile) -> Result<LightTrace, ImportError> {
    let mut lines = BoundedLines::new(file);
    let (mut text, mut count, mut last) = (String::new(), 0_u64, 0_u64);
    let (mut least, mut most, mut longest) = (u64::MAX, 0_u64, 0_usize);
    while let Some(line) = lines.next().map_err(|error| ImportError::io("cannot be read", &error))? {
        if line.trim().is_empty() {
            continue;
        }
        let refused = |what: String| {
            Err(ImportError::new(
                format!("line {}: {what}", lines.number),
                "each line has a time, the one-way base delay and the delivery opportunities of a train, \
                 `0 21 0 2 4`, in whole milliseconds",
            ))
        };
        let numbers: Result<Vec<u64>, &str> =
            line.split_ascii_whitespace().map(|word| word.parse().map_err(|_| word)).collect();
        let numbers = match numbers {
            Ok(numbers) if numbers.len() < 3 => {
                return refused("not a time, a base delay and at least one delivery opportunity".to_owned());
            }
            Ok(numbers) => numbers,
            Err(word) => {
                let word: String = import_result::plain(word).chars().take(40).collect();
                return refused(format!("`{word}` is not a whole number of milliseconds"));
            }
        };
        if numbers[0] < last {
            return refused(format!("{} ms is less than the time before, {last} ms", numbers[0]));
        }
        if text.len() + line.len() > LARGEST {
            return refused("the light trace is larger than 256 MiB".to_owned());
        }
        let _ = writeln!(text, "{}", line.trim());
        (count, last) = (count + 1, numbers[0]);
        (least, most) = (least.min(numbers[1]), most.max(numbers[1]));
        longest = longest.max(numbers.len() - 2);
    }
    if count < 2 || last == 0 {
        return Err(ImportError::new(
            "the light trace has no length",
            "it needs at least two lines, and a last time above 0",
        ));
    }
    let summary = format!(
        "{count} trains of up to {longest} packets in {} s; one-way base delay from {least} to {most} ms",
        shown(last as f64 / 1000.0),
    );
    Ok(LightTrace { light: Light { text, sizes: None }, summary })
}

fn delays_by_size(file: RecordingFile) -> Result<String, ImportError> {
    let mut lines = BoundedLines::new(file);
    let mut text = String::new();
    while let Some(line) = lines.next().map_err(|error| ImportError::io("cannot be read", &error))? {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let expected = 100 * lines.number;
        let is_delay = |word: &str| word.parse::<f64>().is_ok_and(|delay| delay.abs() <= 1e6);
        match words[..] {
            [] => continue,
            [size, delay] if size.parse() == Ok(expected) && is_delay(delay) => {
                let _ = writeln!(text, "{size} {delay}");
            }
            _ => {
                return Err(ImportError::new(
                    format!("line {}: expected the delay of {expected} bytes", lines.number),
                    "each line has a size and a delay, `100 0.5`, bytes and ms, in steps of 100 bytes",
                ));
            }
        }
    }
    if text.is_empty() {
        Err(ImportError::new("the file has no line with a size and a delay", "remove the file, or fill it"))
    } else {
        Ok(text)
    }
}
