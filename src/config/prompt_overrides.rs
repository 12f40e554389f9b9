//! The user's own versions of built-in prompts, from the home.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{self, SizeLimit};

use super::paths::Home;

/// Folders in each other that are searched: a link to a folder above has no end.
const MOST_FOLDERS: usize = 4;

/// A prompt or a folder of prompts that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`", path.display())]
pub struct PromptReadError {
    path: PathBuf,
    source: io::Error,
}

impl Home {
    /// Returns the texts under `prompts/` by their names without `.md`, such as
    /// `converge/independent`; empty when there is no such folder.
    pub fn prompt_overrides(&self) -> Result<Vec<(String, String)>, PromptReadError> {
        let mut found = Vec::new();
        collect(&self.path().join("prompts"), "", &mut found)?;
        found.sort();
        Ok(found)
    }
}

fn collect(
    folder: &Path,
    prefix: &str,
    found: &mut Vec<(String, String)>,
) -> Result<(), PromptReadError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| PromptReadError { path, source }
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed(folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(failed(folder))?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            if prefix.matches('/').count() < MOST_FOLDERS {
                collect(&path, &format!("{prefix}{name}/"), found)?;
            }
        } else if let Some(stem) = name.strip_suffix(".md") {
            let text = files::read_text(&path, SizeLimit::PROMPT).map_err(failed(&path))?;
            found.push((format!("{prefix}{stem}"), text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_the_user_are_found_by_their_paths() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(Home::at(home.path()).prompt_overrides().unwrap(), []);
        fs::create_dir_all(home.path().join("prompts/converge")).unwrap();
        fs::write(home.path().join("prompts/converge/verdict.md"), "v").unwrap();
        fs::write(home.path().join("prompts/notes.txt"), "n").unwrap();
        assert_eq!(
            Home::at(home.path()).prompt_overrides().unwrap(),
            [("converge/verdict".to_owned(), "v".to_owned())]
        );
    }
}
