//! Walks a project once, and keeps what its description needs: counts by language and folder, and
//! the paths of manifests, configuration and documents.
//!
//! `.gitignore` is honoured, also without Git and from folders above; vendored and generated
//! folders are skipped. Links are not followed, so that no loop and nothing outside is read.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use rustix::fs::FileType;

use super::patterns::{NamePatterns, depth_of, folder_of, name_of};
use super::rules::{Rules, SkippedFolders};
use crate::context::ignores::IgnoreRules;
use crate::context::walk::walk;
use crate::files::resolved::FolderEntry;

/// The walk ends after so many files, and the description says so. It bounds time and memory when
/// the folder is a home or a whole disk.
const MAX_FILES: u64 = 250_000;

/// Deeper folders are counted in their ancestor at this depth.
const FOLDER_DEPTH: usize = 4;

/// What the walk found. Paths are relative to the project, with `/` between their parts; each list
/// has the paths with the fewest parts first.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: u64,
    /// Source files by language.
    pub(super) languages: BTreeMap<String, u64>,
    /// Source files by folder; `""` is the project itself.
    pub(super) folders: BTreeMap<String, u64>,
    pub(super) manifests: Vec<String>,
    pub(super) configuration: Vec<String>,
    pub(super) documents: Vec<String>,
    /// Files that show a part of the stack, such as those of CI.
    pub(super) signs: Vec<String>,
    /// Files that name a database.
    pub(super) databases: Vec<String>,
    /// Folders and files that could not be read.
    pub(super) unreadable: u64,
    /// False if there are more than [`MAX_FILES`].
    pub(super) is_complete: bool,
}

impl Tree {
    /// Walks a folder, of which the path is resolved.
    ///
    /// # Errors
    ///
    /// When the folder itself, or an ignore file that holds in it, cannot be read. Others inside
    /// are counted and passed over.
    pub(super) fn walk(root: &Path, rules: &Rules) -> io::Result<Self> {
        let tree = Self::walk_with(root, rules, IgnoreRules::above(root)?)?;
        if tree.files > 0 {
            return Ok(tree);
        }
        // A person who names a folder that Git ignores wants it read.
        Self::walk_with(root, rules, IgnoreRules::default())
    }

    fn walk_with(root: &Path, rules: &Rules, above: IgnoreRules) -> io::Result<Self> {
        let mut tree = Self {
            is_complete: true,
            ..Self::default()
        };
        let signs = NamePatterns::union(rules.signs().map(|sign| &sign.paths));
        let is_skipped =
            |folder: &Path, siblings: &[FolderEntry]| is_skipped(folder, siblings, &rules.skipped);
        for entry in walk(root, above, is_skipped)? {
            if entry.kind.is_err() {
                tree.unreadable += 1;
            }
            if !matches!(entry.kind, Ok(FileType::RegularFile)) {
                continue;
            }
            if tree.files == MAX_FILES {
                tree.is_complete = false;
                break;
            }
            if let Some(path) = relative(&entry.path, root) {
                tree.add(&path, rules, &signs);
            }
        }
        for list in [
            &mut tree.manifests,
            &mut tree.configuration,
            &mut tree.documents,
            &mut tree.signs,
            &mut tree.databases,
        ] {
            list.sort_by_cached_key(|path| (depth_of(path), path.clone()));
        }
        Ok(tree)
    }

    fn add(&mut self, path: &str, rules: &Rules, signs: &NamePatterns) {
        self.files += 1;
        let name = name_of(path).to_ascii_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if signs.matches(path) {
            self.signs.push(path.to_owned());
        }
        if rules.files.databases.matches(path) {
            self.databases.push(path.to_owned());
        }
        if rules.files.manifests.matches(path) {
            self.manifests.push(path.to_owned());
        } else if rules.files.configuration.matches(path) {
            self.configuration.push(path.to_owned());
        } else if is_document(path, extension, rules) {
            self.documents.push(path.to_owned());
        } else if let Some(language) = rules.language(extension)
            && !name.ends_with(".min.js")
        {
            *self.languages.entry(language.to_owned()).or_default() += 1;
            *self
                .folders
                .entry(counted_folder(path).to_owned())
                .or_default() += 1;
        }
    }

    pub(super) fn sources(&self) -> u64 {
        self.languages.values().sum()
    }
}

fn counted_folder(path: &str) -> &str {
    let folder = folder_of(path);
    match folder.match_indices('/').nth(FOLDER_DEPTH - 1) {
        Some((end, _)) => folder.get(..end).unwrap_or(folder),
        None => folder,
    }
}

/// `None` if it has other characters than visible ones.
fn relative(path: &Path, root: &Path) -> Option<String> {
    let mut joined = String::new();
    for part in path.strip_prefix(root).ok()? {
        if !joined.is_empty() {
            joined.push('/');
        }
        joined.push_str(part.to_str()?);
    }
    // A line break in a name could pass for a line of the description.
    (!joined.contains(char::is_control)).then_some(joined)
}

/// By its name, or by its folder.
fn is_document(path: &str, extension: &str, rules: &Rules) -> bool {
    let mut extensions = rules.documents.extensions.iter();
    let mut folders = path.rsplit('/').skip(1);
    extensions.any(|known| known == extension)
        && (rules.files.documentation.matches(path)
            || folders.any(|folder| rules.documents.folders.matches(folder)))
}

fn is_skipped(folder: &Path, siblings: &[FolderEntry], skipped: &SkippedFolders) -> bool {
    let Some(name) = folder.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    let name = name.to_ascii_lowercase();
    skipped.anywhere.matches(&name)
        || skipped.marks.iter().any(|mark| folder.join(mark).exists())
        || skipped.beside.get(&name).is_some_and(|manifests| {
            siblings.iter().any(|sibling| {
                let name = sibling.name.to_string_lossy().to_ascii_lowercase();
                manifests.matches(&name)
            })
        })
}
