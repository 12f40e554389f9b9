//! The user's ignore file for all repositories, where Git looks for it.

use std::path::{Path, PathBuf};

use crate::files::{self, SizeLimit};

use super::env::Environment;

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

/// Returns the last value of `excludesFile` in settings of Git. No other section has such a key.
fn excludes_file(settings: &Path) -> Option<PathBuf> {
    let text = files::read(settings, SizeLimit::SMALL).ok()?;
    let text = String::from_utf8_lossy(&text);
    let entries = text.lines().filter_map(|line| line.split_once('='));
    let mut entries = entries.filter(|(key, _)| key.trim().eq_ignore_ascii_case("excludesfile"));
    let (_, value) = entries.next_back()?;
    Some(value.trim().trim_matches('"').into())
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

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
}
