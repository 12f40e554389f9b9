//! The settings file of a repository: where it is looked for.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const FILE: &str = ".conclave.toml";

/// Where a repository has its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct RepositoryFile {
    pub path: PathBuf,
    /// Resolved: no context of the repository leads out of it.
    pub root: PathBuf,
    /// The folder of the file, from the working folder: empty, or `..` and so on.
    pub folder: PathBuf,
}

impl RepositoryFile {
    /// Looks in the folder and those above it, up to the root of its Git repository; outside of
    /// one, there is none.
    pub fn find(folder: &Path) -> Option<Self> {
        let root = folder.ancestors().find(|at| at.join(".git").exists())?;
        let up_to_root = folder.ancestors().take_while(|at| at.starts_with(root));
        let (depth, path) = up_to_root
            .map(|at| at.join(FILE))
            .enumerate()
            .find(|(_, path)| is_trusted(path))?;
        Some(Self {
            path,
            root: root.to_owned(),
            folder: std::iter::repeat_n("..", depth).collect(),
        })
    }

    /// From the working folder.
    pub fn shown(&self) -> PathBuf {
        self.folder.join(FILE)
    }
}

/// In a folder of many users, anybody could place one for those that work below it.
fn is_trusted(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let found = path.symlink_metadata();
    found.is_ok_and(|found| [own, 0].contains(&found.uid()))
}
