//! The paths of this program's files, and reading of optional ones.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::env::Environment;
use crate::files::{self, SizeLimit};

/// The home directory of this program. It is created with the first file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

/// Neither a home of this program nor one of the user is known.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home directory: set `CONCLAVE_HOME`")]
pub struct HomePathError;

impl Home {
    /// `$CONCLAVE_HOME`, else `$LLM_CONCLAVE_HOME`, else `~/.llm-conclave`.
    pub fn find(environment: &Environment) -> Result<Self, HomePathError> {
        let first = |names: [&str; 2]| names.into_iter().find_map(|name| environment.path(name));
        first(["CONCLAVE_HOME", "LLM_CONCLAVE_HOME"])
            .or_else(|| Some(first(["HOME", "USERPROFILE"])?.join(".llm-conclave")))
            .map(Self)
            .ok_or(HomePathError)
    }

    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn config_file(&self) -> PathBuf {
        self.0.join("config.json")
    }

    pub fn models_file(&self) -> PathBuf {
        self.0.join("models.json")
    }

    /// The tokens of a sign-in, for this user alone.
    pub fn sign_in_file(&self) -> PathBuf {
        self.0.join("chatgpt.json")
    }

    pub fn scrub_file(&self) -> PathBuf {
        self.0.join("scrub.toml")
    }

    /// Returns what is in a folder `personas` of the home, where files look as if they were read.
    pub fn unread_personas(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.join("personas")).into_iter().flatten();
        let paths = entries.flatten().map(|entry| entry.path());
        paths.map(|path| path.display().to_string()).collect()
    }

    pub fn logs_folder(&self) -> PathBuf {
        self.0.join("consult-logs")
    }

    /// The locks of programs that answer in a seat.
    pub fn programs_folder(&self) -> PathBuf {
        self.0.join("programs")
    }

    pub fn runs_folder(&self) -> PathBuf {
        self.0.join("runs")
    }

    pub fn index_file(&self) -> PathBuf {
        self.0.join("consult-analytics.db")
    }
}

/// `None` when it does not exist.
pub fn read_optional(path: &Path, limit: SizeLimit) -> io::Result<Option<String>> {
    match files::read_text(path, limit) {
        Ok(text) => Ok(Some(
            text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned(),
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns who can change the file or its folder besides this user and the system's, and the fix;
/// `None` if no one can. Where a link leads counts as well as where it is.
pub fn changeable_by_others(file: &Path) -> Option<[String; 2]> {
    use std::os::unix::fs::MetadataExt;

    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let target = file.canonicalize().ok()?;
    let places = [Some(target.as_path()), target.parent(), file.parent()];
    for path in places.into_iter().flatten() {
        let Ok(found) = path.metadata() else { continue };
        // In a sticky folder, only their owners can replace files.
        let is_sticky = found.is_dir() && found.mode() & STICKY != 0;
        if found.mode() & OTHERS_WRITE != 0 && !is_sticky {
            let path = path.display();
            let remedy = format!("run `chmod go-w '{path}'`");
            return Some([format!("others may write `{path}`"), remedy]);
        }
        let own = rustix::process::geteuid().as_raw();
        if found.uid() != own && found.uid() != 0 {
            let path = path.display();
            let remedy = format!(
                "check what is in it, and make it yours with `sudo chown \"$USER\" '{path}'`"
            );
            return Some([format!("`{path}` belongs to another user"), remedy]);
        }
    }
    None
}

/// Returns `core.excludesFile` of the user's or the system's settings of Git, else `git/ignore`
/// among the user's settings. The file need not exist.
pub fn git_excludes(environment: &Environment) -> Option<PathBuf> {
    let home = environment.path("HOME")?;
    let folder = environment.path("XDG_CONFIG_HOME");
    let folder = folder.unwrap_or_else(|| home.join(".config")).join("git");
    let mut settings = match environment.path("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file],
        None => vec![home.join(".gitconfig"), folder.join("config")],
    };
    let system = environment.path("GIT_CONFIG_SYSTEM");
    settings.push(system.unwrap_or_else(|| "/etc/gitconfig".into()));
    let file = match settings.iter().find_map(|file| excludes_file(file)) {
        Some(file) => file,
        None => folder.join("ignore"),
    };
    Some(match file.strip_prefix("~") {
        Ok(rest) => home.join(rest),
        Err(_) => file,
    })
}

/// No other section has such a key.
fn excludes_file(settings: &Path) -> Option<PathBuf> {
    let text = files::read(settings, SizeLimit::SMALL).ok()?;
    let text = String::from_utf8_lossy(&text);
    let entries = text.lines().filter_map(|line| line.split_once('='));
    let mut entries = entries.filter(|(key, _)| key.trim().eq_ignore_ascii_case("excludesfile"));
    let (_, value) = entries.next_back()?;
    Some(value.trim().trim_matches('"').into())
}

/// Folders in each other that are searched: a link to a folder above has no end.
const MAX_FOLDERS: usize = 4;

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
            if prefix.matches('/').count() < MAX_FOLDERS {
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
    use std::fs;
    use std::slice::from_ref;

    use super::*;

    #[test]
    fn the_home_is_where_the_variables_say_in_their_order() {
        let home = |own: &str, former: &str, users: &str| {
            let names = ["CONCLAVE_HOME", "LLM_CONCLAVE_HOME", "HOME"];
            let variables = names.into_iter().zip([own, former, users]);
            Home::find(&Environment::of(variables)).map(|home| home.0.display().to_string())
        };
        assert_eq!(home("/a", "/b", "/c").unwrap(), "/a");
        assert_eq!(home("", "/b", "/c").unwrap(), "/b");
        assert_eq!(home("", "", "/c").unwrap(), "/c/.llm-conclave");
        assert_eq!(home("", "", "").unwrap_err(), HomePathError);
    }

    #[test]
    fn a_file_that_is_not_there_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config.json");
        assert_eq!(read_optional(&file, SizeLimit::SETTINGS).unwrap(), None);
        fs::write(&file, "{ }").unwrap();
        assert_eq!(
            read_optional(&file, SizeLimit::SETTINGS)
                .unwrap()
                .as_deref(),
            Some("{ }")
        );
        fs::write(&file, "\u{feff}{ }").unwrap();
        assert_eq!(
            read_optional(&file, SizeLimit::SETTINGS)
                .unwrap()
                .as_deref(),
            Some("{ }")
        );
        assert!(read_optional(directory.path(), SizeLimit::SETTINGS).is_err());
    }

    #[test]
    fn file_is_where_git_looks_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, value: &str| {
            std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), format!("[core]\n\tExcludesFile = {value}\n")).unwrap();
        };
        let home = |others: &[(&str, PathBuf)]| {
            let system = ("GIT_CONFIG_SYSTEM", path("system"));
            let all = [("HOME", path("")), system].into_iter();
            git_excludes(&Environment::of(all.chain(others.iter().cloned()))).unwrap()
        };
        assert_eq!(home(&[]), path(".config/git/ignore"));
        let elsewhere = ("XDG_CONFIG_HOME", path("xdg"));
        assert_eq!(home(from_ref(&elsewhere)), path("xdg/git/ignore"));
        write("system", "/of/system");
        assert_eq!(home(&[]), Path::new("/of/system"));
        write("xdg/git/config", "\"/of/xdg user\"");
        assert_eq!(home(from_ref(&elsewhere)), Path::new("/of/xdg user"));
        write(".gitconfig", "~/ignores");
        assert_eq!(home(&[elsewhere]), path("ignores"));
        write("global", "/of/global");
        let global = ("GIT_CONFIG_GLOBAL", path("global"));
        assert_eq!(home(&[global]), Path::new("/of/global"));
    }

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
