//! The files of the shared budget, in `monthly-budget/` in the home: `2026-11.1.json` and so on,
//! each with the amounts of one process, which holds a lock on it as long as it runs. The next
//! process takes over the file of one that has ended, and adds to its amounts.
//!
//! All of them are read and written under the lock of `monthly-budget.lock` beside the folder. A
//! process that is killed at any moment leaves whole files: a new one is complete before it gets
//! its name, and each later write replaces all of it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::money::MicroUsd;
use crate::files::write::{Access, WriteError, create_private_dir, write_atomically};
use crate::files::{self, LinkPolicy, SizeLimit};

/// The version of the files.
const SCHEMA_VERSION: &str = "1.0";

/// The length of a file: its JSON is padded with blanks, so that each write replaces all of the one
/// before.
const LENGTH: usize = 256;

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
}

/// The amounts that a process has reserved, spent and recorded, in micro-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Amounts {
    #[serde(rename = "reserved_micro_usd")]
    pub(super) reserved: MicroUsd,
    #[serde(rename = "spent_micro_usd")]
    pub(super) spent: MicroUsd,
    #[serde(rename = "recorded_micro_usd")]
    pub(super) recorded: MicroUsd,
    /// Whether a journal has the calls of the reservations. If not, they are in no record when
    /// their process is killed.
    #[serde(default)]
    pub(super) is_journalled: bool,
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
            is_journalled: false,
        }
    }

    /// Returns the amounts of a process that has ended, for readers of its journal: the calls in
    /// flight are there.
    fn ended_with_journal(self) -> Self {
        Self {
            recorded: self.recorded + self.reserved,
            ..self.ended()
        }
    }
}

#[derive(Debug, Deserialize)]
struct AmountsFile {
    #[serde(rename = "schema_version")]
    _schema_version: String,
    #[serde(flatten)]
    amounts: Amounts,
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
    pub(super) amounts: Amounts,
}

impl ProcessFile {
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
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.write_all(padded(amounts).as_bytes()))
            .map_err(io_error(&self.path))?;
        self.amounts = amounts;
        Ok(())
    }

    /// Makes the file one of an ended process.
    pub(super) fn release(&self) {
        // Closing alone does not do it while a child process that is being started has a copy.
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
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let failed = |source| MonthBudgetError::Lock {
            path: self.lock.clone(),
            source,
        };
        let file = files::open_with(
            &mut options,
            &self.lock,
            SizeLimit::SMALL,
            LinkPolicy::Refuse,
        )
        .map_err(failed)?;
        file.lock().map_err(failed)?;
        // Only now: the last process to close removes it under the lock.
        create_private_dir(&self.path)?;
        Ok(FolderLock { _file: file })
    }

    /// Takes over the file of a process that has ended, or creates one.
    pub(super) fn register(&self, lock: &FolderLock) -> Result<ProcessFile, MonthBudgetError> {
        let mut number = 1;
        let path = loop {
            let path = self.path.join(format!("{}.{number}.json", self.month));
            if !path.exists() {
                let content = padded(Amounts::default());
                write_atomically(&path, content.as_bytes(), Access::Own)?;
                break path;
            }
            if !is_running(&path)? {
                break path;
            }
            number += 1;
        };
        let amounts = read(&path)?.ended();
        let mut options = File::options();
        options.write(true);
        let file = files::open_with(&mut options, &path, SizeLimit::SMALL, LinkPolicy::Refuse)
            .map_err(io_error(&path))?;
        file.lock().map_err(io_error(&path))?;
        let mut own = ProcessFile {
            path,
            file,
            amounts,
        };
        own.write(lock, amounts)?;
        Ok(own)
    }

    /// Turns the reservations of ended processes that have a journal into recorded spending. To be
    /// called before the records are read.
    pub(super) fn release_ended(&self, _lock: &FolderLock) -> Result<(), MonthBudgetError> {
        for (month, path) in self.files()? {
            if month != self.month || is_running(&path)? {
                continue;
            }
            let amounts = read(&path)?;
            if amounts.is_journalled {
                let content = padded(amounts.ended_with_journal());
                write_atomically(&path, content.as_bytes(), Access::Private)?;
            }
        }
        Ok(())
    }

    /// Adds up the amounts of all processes. Reservations of those that have ended count as spent.
    pub(super) fn sum(&self, _lock: &FolderLock) -> Result<Amounts, MonthBudgetError> {
        let mut sum = Amounts::default();
        let files = self.files()?.into_iter();
        for (_, path) in files.filter(|(month, _)| *month == self.month) {
            let amounts = read(&path)?;
            sum.add(if is_running(&path)? {
                amounts
            } else {
                amounts.ended()
            });
        }
        Ok(sum)
    }

    /// Removes the files of earlier months and those without unrecorded spending, and the folder
    /// once it is empty, unless a process runs: it may count what they hold.
    pub(super) fn clean_up(&self, _lock: &FolderLock) -> Result<(), MonthBudgetError> {
        let files = self.files()?;
        for (_, path) in &files {
            if is_running(path)? {
                return Ok(());
            }
        }
        for (month, path) in files {
            let is_settled = || {
                let amounts = read(&path)?.ended();
                Ok::<_, MonthBudgetError>(amounts.spent == amounts.recorded)
            };
            if month < self.month || is_settled()? {
                fs::remove_file(&path).map_err(io_error(&path))?;
            }
        }
        // A folder that stays harms nothing.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }

    /// Returns the files with their months. One without a number is of a version that added up the
    /// amounts of ended processes in it.
    fn files(&self) -> Result<Vec<(String, PathBuf)>, MonthBudgetError> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(io_error(&self.path))? {
            let path = entry.map_err(io_error(&self.path))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            files.extend(name.and_then(month_of).map(|month| (month, path.clone())));
        }
        Ok(files)
    }
}

/// Returns the month in the name of a file.
fn month_of(name: &str) -> Option<String> {
    let (month, _) = name.strip_suffix("json")?.split_once('.')?;
    let first_day = format!("{month}-01").parse::<Date>();
    first_day.is_ok().then(|| month.to_owned())
}

/// Returns whether the process of a file runs: whether the file is locked.
fn is_running(path: &Path) -> Result<bool, MonthBudgetError> {
    let file = files::open(path, SizeLimit::SMALL).map_err(io_error(path))?;
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(MonthBudgetError::Lock {
            path: path.to_owned(),
            source,
        }),
    }
}

fn read(path: &Path) -> Result<Amounts, MonthBudgetError> {
    let bytes = files::read(path, SizeLimit::SMALL).map_err(io_error(path))?;
    let damaged = |source| MonthBudgetError::Damaged {
        path: path.to_owned(),
        source,
    };
    let json: Value = serde_json::from_slice(&bytes).map_err(damaged)?;
    match json.get("schema_version").and_then(Value::as_str) {
        Some(version) if version != SCHEMA_VERSION => Err(MonthBudgetError::OtherVersion {
            path: path.to_owned(),
            version: version.to_owned(),
        }),
        Some(_) | None => {
            let file: AmountsFile = serde_json::from_value(json).map_err(damaged)?;
            Ok(file.amounts)
        }
    }
}

/// Returns the content of this process's file.
fn padded(amounts: Amounts) -> String {
    let json = json!({
        "schema_version": SCHEMA_VERSION,
        // For people; a process runs as long as its file is locked.
        "pid": std::process::id(),
        "reserved_micro_usd": amounts.reserved.0,
        "spent_micro_usd": amounts.spent.0,
        "recorded_micro_usd": amounts.recorded.0,
        "is_journalled": amounts.is_journalled,
    });
    format!("{:<LENGTH$}", json.to_string())
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> MonthBudgetError {
    let path = path.to_owned();
    move |source| MonthBudgetError::Io { path, source }
}
