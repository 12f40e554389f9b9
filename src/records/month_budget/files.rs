//! The files of the shared budget, in `monthly-budget/` in the home:
//!
//! - `2026-11.PID-N.json`: the amounts of one process, which holds a lock on it as long as it runs;
//! - `2026-11.json`: the amounts of processes that have ended, while another one runs or spending
//!   is unrecorded.
//!
//! All of them are read and written under the lock of `monthly-budget.lock` beside the folder. A
//! process that is killed at any moment leaves whole files: its own is written in one write of
//! fixed length, the shared one is replaced. Killed while it folds a file into the shared one, it
//! can leave both, which counts the amounts twice.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::domain::money::MicroUsd;
use crate::records::files::{Access, WriteError, create_private_dir, write_atomically};

/// The version of the files.
const SCHEMA_VERSION: &str = "1.0";

/// The length of a process's file: its JSON is padded with blanks, so that each write replaces all
/// of the one before.
const LENGTH: usize = 256;

/// The prefix of a file that is not yet complete.
const TEMPORARY: &str = ".new-";

/// The reason why the shared budget cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MonthBudgetError {
    #[error(
        "cannot lock `{}`: processes can share the monthly budget only on a file system with locks",
        path.display()
    )]
    Lock { path: PathBuf, source: io::Error },
    #[error("cannot use the monthly budget's file `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Deleting the file releases the amount it reserves.
    #[error(
        "the monthly budget's file `{}` is damaged: the amount it reserves is unknown",
        path.display()
    )]
    Damaged {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error(
        "the monthly budget's file `{}` has version `{version}`; this program reads \
         `{SCHEMA_VERSION}`",
        path.display()
    )]
    OtherVersion { path: PathBuf, version: String },
    #[error(
        "the monthly budget's file `{}` was deleted while its process was running",
        .0.display()
    )]
    Deleted(PathBuf),
    #[error("the monthly budget is closed")]
    Closed,
}

/// The amounts that a process has reserved, spent and recorded, in micro-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Amounts {
    #[serde(rename = "reserved_micro_usd")]
    pub(super) reserved: MicroUsd,
    #[serde(rename = "spent_micro_usd")]
    pub(super) spent: MicroUsd,
    #[serde(rename = "recorded_micro_usd")]
    pub(super) recorded: MicroUsd,
}

impl Amounts {
    fn add(&mut self, other: Self) {
        self.reserved += other.reserved;
        self.spent += other.spent;
        self.recorded += other.recorded;
    }

    /// Returns the amounts of a process that has ended: what it had reserved may have been billed.
    fn ended(self) -> Self {
        Self {
            reserved: MicroUsd::ZERO,
            spent: self.spent + self.reserved,
            recorded: self.recorded,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct AmountsFile {
    schema_version: String,
    /// For people; a process runs as long as its file is locked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pid: Option<u32>,
    #[serde(flatten)]
    amounts: Amounts,
}

#[derive(Debug, Deserialize)]
struct Version {
    schema_version: String,
}

/// The right to read and write all files, held until this is dropped.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
}

/// The file of this process. Its lock shows other processes that this one runs.
#[derive(Debug)]
pub(super) struct ProcessFile {
    path: PathBuf,
    file: File,
    amounts: Amounts,
}

impl ProcessFile {
    pub(super) fn amounts(&self) -> Amounts {
        self.amounts
    }

    /// Checks that the file is still in the folder: other processes count what they find there.
    pub(super) fn check_exists(&self) -> Result<(), MonthBudgetError> {
        if self.path.exists() {
            Ok(())
        } else {
            Err(MonthBudgetError::Deleted(self.path.clone()))
        }
    }

    pub(super) fn write(
        &mut self,
        _lock: &FolderLock,
        amounts: Amounts,
    ) -> Result<(), MonthBudgetError> {
        let failed = |source| MonthBudgetError::Io {
            path: self.path.clone(),
            source,
        };
        let bytes = padded(amounts).map_err(failed)?;
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.write_all(&bytes))
            .map_err(failed)?;
        self.amounts = amounts;
        Ok(())
    }
}

impl Drop for ProcessFile {
    fn drop(&mut self) {
        // Closing alone does not release it while a child process that is being started has a copy.
        let _ = self.file.unlock();
    }
}

/// The folder with the files of one month.
#[derive(Debug)]
pub(super) struct BudgetFolder {
    home: PathBuf,
    path: PathBuf,
    lock: PathBuf,
    /// `2026-11`.
    month: String,
}

impl BudgetFolder {
    pub(super) fn new(home: &Path, month: Date) -> Self {
        Self {
            home: home.to_owned(),
            path: home.join("monthly-budget"),
            lock: home.join("monthly-budget.lock"),
            month: month.strftime("%Y-%m").to_string(),
        }
    }

    /// Waits until no other process reads or writes the files.
    pub(super) fn lock(&self) -> Result<FolderLock, MonthBudgetError> {
        create_private_dir(&self.home)?;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let failed = |source| MonthBudgetError::Lock {
            path: self.lock.clone(),
            source,
        };
        let file = options.open(&self.lock).map_err(failed)?;
        file.lock().map_err(failed)?;
        // Only now: the last process to close removes it under the lock.
        create_private_dir(&self.path)?;
        Ok(FolderLock { _file: file })
    }

    /// Creates the file of this process.
    pub(super) fn register(&self, _lock: &FolderLock) -> Result<ProcessFile, MonthBudgetError> {
        let failed = |source| MonthBudgetError::Io {
            path: self.path.clone(),
            source,
        };
        let pid = std::process::id();
        let path = (0..=u32::MAX)
            .map(|number| {
                self.path
                    .join(format!("{}.{pid}-{number}.json", self.month))
            })
            .find(|path| !path.exists())
            .ok_or_else(|| failed(io::ErrorKind::AlreadyExists.into()))?;
        // It gets its name once it is whole and locked.
        let create = || {
            let mut file = tempfile::Builder::new()
                .prefix(TEMPORARY)
                .tempfile_in(&self.path)?;
            file.write_all(&padded(Amounts::default())?)?;
            file.as_file().lock()?;
            file.persist_noclobber(&path).map_err(|error| error.error)
        };
        Ok(ProcessFile {
            file: create().map_err(failed)?,
            path,
            amounts: Amounts::default(),
        })
    }

    /// Adds up the amounts of all processes. Reservations of those that have ended count as spent.
    pub(super) fn sum(&self, _lock: &FolderLock) -> Result<Amounts, MonthBudgetError> {
        let mut sum = self.shared()?;
        for path in self.process_files()? {
            let amounts = read(&path)?.unwrap_or_default();
            sum.add(if is_running(&path)? {
                amounts
            } else {
                amounts.ended()
            });
        }
        Ok(sum)
    }

    /// Moves the amounts of processes that have ended to the shared file. Without a process that
    /// runs, only unrecorded spending is kept.
    pub(super) fn fold_ended_processes(&self, _lock: &FolderLock) -> Result<(), MonthBudgetError> {
        let before = self.shared()?;
        let (mut shared, mut ended, mut running) = (before, Vec::new(), 0_usize);
        for path in self.process_files()? {
            if is_running(&path)? {
                running += 1;
            } else {
                shared.add(read(&path)?.unwrap_or_default().ended());
                ended.push(path);
            }
        }
        if running == 0 {
            // No process remembers how much was recorded.
            shared.spent = MicroUsd(shared.spent.0.saturating_sub(shared.recorded.0));
            shared.recorded = MicroUsd::ZERO;
        }
        if shared == Amounts::default() {
            remove(&self.shared_path())?;
        } else if shared != before {
            let failed = |error: serde_json::Error| MonthBudgetError::Io {
                path: self.shared_path(),
                source: error.into(),
            };
            let json = json(None, shared).map_err(failed)?;
            write_atomically(&self.shared_path(), &json, Access::Private)?;
        }
        for path in ended {
            remove(&path)?;
        }
        Ok(())
    }

    /// Removes the folder, unless there is a file in it.
    pub(super) fn remove_if_empty(&self, _lock: &FolderLock) {
        // An empty folder harms nothing.
        let _ = fs::remove_dir(&self.path);
    }

    /// Removes the files of earlier months that no process uses, and incomplete ones.
    pub(super) fn remove_earlier_months(&self, _lock: &FolderLock) -> Result<(), MonthBudgetError> {
        let names = self.names()?;
        let mut in_use = BTreeSet::new();
        let mut earlier = Vec::new();
        for name in &names {
            let Some(month) = month_of(name).filter(|month| *month < self.month.as_str()) else {
                continue;
            };
            earlier.push((name, month));
            if is_running(&self.path.join(name))? {
                in_use.insert(month);
            }
        }
        earlier.retain(|(_, month)| !in_use.contains(month));
        let incomplete = names.iter().filter(|name| name.starts_with(TEMPORARY));
        for name in earlier.iter().map(|(name, _)| *name).chain(incomplete) {
            remove(&self.path.join(name))?;
        }
        Ok(())
    }

    fn shared_path(&self) -> PathBuf {
        self.path.join(format!("{}.json", self.month))
    }

    fn shared(&self) -> Result<Amounts, MonthBudgetError> {
        Ok(read(&self.shared_path())?.unwrap_or_default())
    }

    fn process_files(&self) -> Result<Vec<PathBuf>, MonthBudgetError> {
        let prefix = format!("{}.", self.month);
        let is_process_file = |name: &String| {
            name.strip_prefix(&prefix)
                .and_then(|rest| rest.strip_suffix(".json"))
                .is_some_and(|process| process.contains('-'))
        };
        let names = self.names()?.into_iter().filter(is_process_file);
        Ok(names.map(|name| self.path.join(name)).collect())
    }

    fn names(&self) -> Result<Vec<String>, MonthBudgetError> {
        let read = || {
            let mut names = Vec::new();
            for entry in fs::read_dir(&self.path)? {
                names.extend(entry?.file_name().into_string().ok());
            }
            Ok(names)
        };
        read().map_err(|source| MonthBudgetError::Io {
            path: self.path.clone(),
            source,
        })
    }
}

/// Returns the month in the name of a file.
fn month_of(name: &str) -> Option<&str> {
    let (month, rest) = name.split_once('.')?;
    let (year, number) = month.split_once('-')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_month = year.len() == 4 && number.len() == 2 && is_number(year) && is_number(number);
    (is_month && rest.ends_with("json")).then_some(month)
}

fn remove(path: &Path) -> Result<(), MonthBudgetError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(MonthBudgetError::Io {
            path: path.to_owned(),
            source,
        }),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns whether the process of a file runs: whether the file is locked.
fn is_running(path: &Path) -> Result<bool, MonthBudgetError> {
    let failed = |source| MonthBudgetError::Lock {
        path: path.to_owned(),
        source,
    };
    match File::open(path).map_err(failed)?.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Reads a file; `None` when there is none.
fn read(path: &Path) -> Result<Option<Amounts>, MonthBudgetError> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(MonthBudgetError::Io {
                path: path.to_owned(),
                source,
            });
        }
        Ok(_) => {}
    }
    let damaged = |source| MonthBudgetError::Damaged {
        path: path.to_owned(),
        source,
    };
    let Version { schema_version } = serde_json::from_slice(&bytes).map_err(damaged)?;
    if schema_version != SCHEMA_VERSION {
        return Err(MonthBudgetError::OtherVersion {
            path: path.to_owned(),
            version: schema_version,
        });
    }
    let file: AmountsFile = serde_json::from_slice(&bytes).map_err(damaged)?;
    Ok(Some(file.amounts))
}

fn json(pid: Option<u32>, amounts: Amounts) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(&AmountsFile {
        schema_version: SCHEMA_VERSION.to_owned(),
        pid,
        amounts,
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Returns the bytes of this process's file.
fn padded(amounts: Amounts) -> io::Result<Vec<u8>> {
    let mut bytes = json(Some(std::process::id()), amounts)?;
    bytes.resize(LENGTH.max(bytes.len()), b' ');
    Ok(bytes)
}
