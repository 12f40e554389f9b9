//! The files of a folder or a glob, as `ripgrep` finds them: without hidden files and those that
//! `.gitignore` excludes, in the order of their names.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};

use super::error::{PathProblem, printable};
use crate::context::ignores::IgnoreRules;
use crate::context::walk::{WalkEntry, walk};

/// A folder, or a pattern for paths such as `src/**/*.rs`.
#[derive(Debug, Default)]
pub(super) struct Glob {
    /// The folder in front of the first wildcard.
    base: PathBuf,
    /// `None` for all files of the folder.
    matcher: Option<Override>,
    /// How far below the base its files are; `None` for any depth.
    depth: Option<usize>,
    /// Whether it asks for names that begin with a point.
    is_for_hidden: bool,
}

impl Glob {
    pub(super) fn folder(path: &Path) -> Self {
        Self {
            base: path.to_owned(),
            ..Self::default()
        }
    }

    /// `None` when the path has no wildcard.
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
            matcher: Some(matcher),
            depth: (!rest.iter().any(|part| part.contains("**"))).then_some(rest.len()),
            is_for_hidden: rest.iter().any(|part| part.starts_with('.')),
        }))
    }

    /// `excludes` is the user's ignore file for all repositories.
    pub(super) fn files<'a>(
        &'a self,
        excludes: Option<&'a Path>,
    ) -> io::Result<impl Iterator<Item = (PathBuf, WalkEntry)> + 'a> {
        let root = fs::canonicalize(&self.base)?;
        // The files of the current folder are shown without it.
        let base = self.base.strip_prefix(".").unwrap_or(&self.base);
        let mut above = IgnoreRules::above(&root)?;
        if let Some(file) = excludes {
            above.add_of_user(&root, file)?;
        }
        if !self.is_for_hidden {
            above.hide()?;
        }
        let parts = |path: &Path| path.components().count();
        let deepest = self.depth.map(|depth| parts(&root) + depth);
        let is_too_deep = move |folder: &Path, _: &_| deepest == Some(parts(folder));
        Ok(walk(&root, above, is_too_deep)?.filter_map(move |found| {
            let shown = base.join(found.path.strip_prefix(&root).unwrap_or(&found.path));
            let matches = |glob: &Override| glob.matched(&shown, false).is_whitelist();
            let is_wanted = found.kind.is_err() || self.matcher.as_ref().is_none_or(matches);
            is_wanted.then_some((shown, found))
        }))
    }
}

/// Without the pattern itself.
fn pattern_problem(error: ignore::Error) -> PathProblem {
    let why = match error {
        ignore::Error::Glob { err, .. } => err,
        error => error.to_string(),
    };
    PathProblem::Pattern(printable(Path::new(&why)))
}
