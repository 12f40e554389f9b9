//! Reads the files that a person names: single ones, those of folders, and those that globs match.
//!
//! A named file that is not text is an error; in a folder, it is left out and listed. The limits
//! are checked before a file is read as a whole, and sizes are counted to the end, so that the
//! error has the true figures.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::error::{PathError, PathProblem, SourcesError, printable};
use super::walk::Glob;
use super::{HEAD, check_head, decode};
use super::{SourceSize, SourceText};
use crate::domain::context::SourceKind;
use crate::files::{self, SizeLimit, resolved};

/// A walk ends when it has counted this many files: the person named a whole disk.
const MAX_COUNTED: usize = 100_000;

/// The texts of files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileTexts {
    /// In the order of their paths, those of a folder by name. Each file is there once.
    pub texts: Vec<SourceText>,
    pub size: SourceSize,
    /// Folders and globs of which files were left out.
    pub left_out: Vec<LeftOut>,
}

/// The files of a folder or a glob that are not regular text files.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The folder or glob as named, safe to print.
    pub path: String,
    /// The files, safe to print.
    pub files: Vec<String>,
}

/// Who has named paths.
#[derive(Clone, Copy, Debug)]
pub enum NamedBy<'a> {
    /// A person: links are followed, and folders and globs expand, without what the user's ignore
    /// file for all repositories excludes.
    Person(Option<&'a Path>),
    /// A suite, by resolved paths, of which no part may be a link by now.
    Suite,
}

/// Reads files, the text files of folders, and those that match globs.
///
/// # Errors
///
/// Names every path that cannot be used, or the limit that they exceed together.
pub fn read_files(
    paths: &[PathBuf],
    limits: SourceSize,
    named_by: NamedBy<'_>,
) -> Result<FileTexts, SourcesError> {
    let mut collector = FileCollector {
        limits,
        read: FileTexts::default(),
        met: BTreeSet::new(),
        errors: Vec::new(),
    };
    for path in paths {
        if let Err(problem) = collector.add(path, named_by) {
            collector.errors.push(PathError::new(path, problem));
        }
    }
    if !collector.errors.is_empty() {
        return Err(SourcesError::Paths(collector.errors));
    }
    if collector.is_over_limits() {
        return Err(SourcesError::Limits {
            found: collector.read.size,
            limits,
        });
    }
    Ok(collector.read)
}

struct FileCollector {
    limits: SourceSize,
    read: FileTexts,
    /// The canonical paths of all files so far.
    met: BTreeSet<PathBuf>,
    errors: Vec<PathError>,
}

impl FileCollector {
    fn add(&mut self, path: &Path, named_by: NamedBy<'_>) -> Result<(), PathProblem> {
        let NamedBy::Person(excludes) = named_by else {
            return self.add_file(path, path.to_owned());
        };
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let files = Glob::folder(path);
                self.add_all(path, &files, excludes, PathProblem::NoText)
            }
            Ok(_) => {
                // A pipe of another process cannot be resolved.
                files::open(path, SizeLimit::NONE)?;
                self.add_file(path, fs::canonicalize(path)?)
            }
            Err(error) => match Glob::of(path) {
                Some(glob) if error.kind() == io::ErrorKind::NotFound => {
                    self.add_all(path, &glob?, excludes, PathProblem::NoMatch)
                }
                _ => Err(error.into()),
            },
        }
    }

    /// Without any, `nothing` is the problem.
    fn add_all(
        &mut self,
        path: &Path,
        glob: &Glob,
        excludes: Option<&Path>,
        nothing: PathProblem,
    ) -> Result<(), PathProblem> {
        let errors_before = self.errors.len();
        let mut has_text = false;
        let mut left_out = Vec::new();
        let problem = |error: io::Error| PathProblem::of_io(&error, PathProblem::UnreadableFolder);
        for (shown, found) in glob.files(excludes).map_err(problem)? {
            let added = match found.kind {
                Ok(FileType::RegularFile) => self.add_file(&shown, found.path),
                Ok(_) => {
                    left_out.push(printable(&shown));
                    continue;
                }
                Err(error) => Err(problem(error)),
            };
            match added {
                Ok(()) => has_text = true,
                Err(PathProblem::NotText(_)) => left_out.push(printable(&shown)),
                Err(problem) => self.errors.push(PathError::new(&shown, problem)),
            }
            if self.read.size.files >= MAX_COUNTED.max(self.limits.files.saturating_add(1)) {
                break;
            }
        }
        let is_empty = !has_text && self.errors.len() == errors_before;
        if !left_out.is_empty() {
            self.read.left_out.push(LeftOut {
                path: printable(path),
                files: left_out,
            });
        }
        if is_empty { Err(nothing) } else { Ok(()) }
    }

    /// Beyond a limit, its size is counted and it is not read as a whole.
    fn add_file(&mut self, shown: &Path, resolved: PathBuf) -> Result<(), PathProblem> {
        let mut file = resolved::open(&resolved, SizeLimit::NONE)?;
        if !self.met.insert(resolved) {
            // It is there by another path.
            return Ok(());
        }
        let mut bytes = Vec::new();
        let head = u64::try_from(HEAD).unwrap_or(u64::MAX);
        (&mut file).take(head).read_to_end(&mut bytes)?;
        check_head(&bytes).map_err(PathProblem::NotText)?;
        let size = file.metadata()?.len();
        self.read.size.files += 1;
        if self.is_over_limits() || self.read.size.bytes.saturating_add(size) > self.limits.bytes {
            self.read.size.bytes = self.read.size.bytes.saturating_add(size);
            return Ok(());
        }
        let left = self.limits.bytes - self.read.size.bytes;
        // One byte more than may be left, for a file that grows meanwhile.
        let most = left.saturating_add(1).saturating_sub(bytes.len() as u64);
        file.take(most).read_to_end(&mut bytes)?;
        self.read.size.bytes += bytes.len() as u64;
        if self.is_over_limits() {
            return Ok(());
        }
        let length = bytes.len() as u64;
        let text = decode(bytes).map_err(|error| {
            self.read.size.files -= 1;
            self.read.size.bytes -= length;
            PathProblem::NotText(error)
        })?;
        self.read.texts.push(SourceText {
            kind: SourceKind::File,
            name: printable(shown),
            text,
        });
        Ok(())
    }

    fn is_over_limits(&self) -> bool {
        let size = self.read.size;
        size.files > self.limits.files || size.bytes > self.limits.bytes
    }
}
