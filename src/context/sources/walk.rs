//! The files of a folder or a glob, as `ripgrep` finds them: without hidden files and those that
//! `.gitignore` excludes, in the order of their names. Symbolic links in a folder are not followed,
//! so that loops do no harm.

use std::io;
use std::path::{Component, Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder};

use super::error::{PathError, PathProblem, printable};

/// A file that a walk came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WalkedFile {
    Regular(PathBuf),
    /// A symbolic link, a pipe or a device.
    Special(PathBuf),
}

/// A pattern for paths, such as `src/**/*.rs`.
#[derive(Debug)]
pub(super) struct Glob {
    /// The folder in front of the first wildcard.
    base: PathBuf,
    matcher: Override,
    /// How far below the base its files are; `None` for any depth.
    depth: Option<usize>,
    /// Whether it asks for names that begin with a point.
    is_for_hidden: bool,
}

impl Glob {
    /// Reads a pattern; `None` when the path has no wildcard.
    pub(super) fn of(path: &Path) -> Option<Result<Self, PathProblem>> {
        let is_pattern = |component: &Component<'_>| {
            let text = component.as_os_str().to_string_lossy();
            text.contains(['*', '?', '[', '{'])
        };
        let mut components = path.components().peekable();
        let mut base = PathBuf::new();
        while let Some(plain) = components.next_if(|component| !is_pattern(component)) {
            base.push(plain);
        }
        components.peek()?;
        let rest: Vec<String> = components
            .map(|component| component.as_os_str().to_string_lossy().into_owned())
            .collect();
        if base.as_os_str().is_empty() {
            base.push(".");
        }
        // A leading slash ties the pattern to the base.
        let matcher = OverrideBuilder::new(&base)
            .add(&format!("/{}", rest.join("/")))
            .and_then(|builder| builder.build())
            .map_err(pattern_problem);
        Some(matcher.map(|matcher| Self {
            base,
            matcher,
            depth: (!rest.iter().any(|part| part.contains("**"))).then_some(rest.len()),
            is_for_hidden: rest.iter().any(|part| part.starts_with('.')),
        }))
    }

    /// Returns the files that match.
    pub(super) fn files(&self) -> impl Iterator<Item = Result<WalkedFile, PathError>> {
        let mut walk = usual_walk(&self.base);
        walk.max_depth(self.depth).hidden(!self.is_for_hidden);
        files(&walk).filter(|file| match file {
            Ok(WalkedFile::Regular(path) | WalkedFile::Special(path)) => {
                self.matcher.matched(path, false).is_whitelist()
            }
            Err(_) => true,
        })
    }
}

/// Returns the files of a folder.
pub(super) fn folder(path: &Path) -> impl Iterator<Item = Result<WalkedFile, PathError>> {
    files(&usual_walk(path))
}

/// Returns what is wrong with a pattern, without the pattern itself.
fn pattern_problem(error: ignore::Error) -> PathProblem {
    let why = match error {
        ignore::Error::Glob { err, .. } => err,
        error => error.to_string(),
    };
    PathProblem::Pattern(printable(Path::new(&why)))
}

fn usual_walk(path: &Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(path);
    walk.require_git(false)
        .sort_by_file_name(std::ffi::OsStr::cmp);
    walk
}

fn files(walk: &WalkBuilder) -> impl Iterator<Item = Result<WalkedFile, PathError>> + use<> {
    walk.build().filter_map(|entry| match entry {
        Ok(entry) => walked_file(entry).map(Ok),
        Err(error) => Some(Err(walk_error(error))),
    })
}

/// Returns the file of an entry; `None` for a folder.
fn walked_file(entry: DirEntry) -> Option<WalkedFile> {
    let kind = entry.file_type()?;
    let path = entry.into_path();
    let path = match path.strip_prefix(".") {
        Ok(rest) => rest.to_owned(),
        Err(_) => path,
    };
    if kind.is_dir() {
        None
    } else if kind.is_file() {
        Some(WalkedFile::Regular(path))
    } else {
        Some(WalkedFile::Special(path))
    }
}

fn walk_error(mut error: ignore::Error) -> PathError {
    let mut path = PathBuf::new();
    loop {
        error = match error {
            ignore::Error::WithPath { path: at, err } => {
                path = at;
                *err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
                *err
            }
            error => {
                let why = error.to_string();
                let io = error.into_io_error();
                let problem = match io.as_ref().map(io::Error::kind) {
                    Some(io::ErrorKind::NotFound) => PathProblem::Missing,
                    Some(io::ErrorKind::PermissionDenied) => {
                        PathProblem::UnreadableFolder("permission denied".to_owned())
                    }
                    _ => PathProblem::UnreadableFolder(why),
                };
                return PathError::new(&path, problem);
            }
        };
    }
}
