//! The user's own versions of built-in prompts, from the home.

use std::fs;
use std::io;
use std::path::Path;

use super::paths::Home;

impl Home {
    /// Returns the texts under `prompts/` by their names without `.md`, such as
    /// `converge/independent`; empty when there is no such folder.
    pub fn prompt_overrides(&self) -> io::Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        collect(&self.path().join("prompts"), "", &mut found)?;
        found.sort();
        Ok(found)
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), found)?;
        } else if let Some(stem) = name.strip_suffix(".md") {
            found.push((format!("{prefix}{stem}"), fs::read_to_string(&path)?));
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
