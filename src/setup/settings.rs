//! The settings and the model catalog in force, and the certificates that the environment names; the
//! errors when they cannot be used.

use std::fs::File;
use std::io::ErrorKind;

use crate::config::env::Environment;
use crate::config::load::SettingsError;
use crate::config::paths::{Home, read_optional};
use crate::config::repository::RepositoryFile;
use crate::config::settings::Settings;
use crate::error::Error;
use crate::files::write::{Access, create_private_dir, write_atomically};
use crate::files::{self, SizeLimit};
use crate::providers::catalog::ModelCatalog;

/// Defaults, then the file in the home, then that of the repository in which the user works, then
/// the environment.
pub fn load(home: &Home, environment: &Environment) -> Result<Settings, Error> {
    // A folder that is gone is in no repository.
    let folder = std::env::current_dir().ok();
    let repository = folder.as_deref().and_then(RepositoryFile::find);
    Settings::load(&home.config_file(), repository, environment).map_err(unusable)
}

/// Without those of a repository.
pub fn load_own(home: &Home, environment: &Environment) -> Result<Settings, Error> {
    Settings::load(&home.config_file(), None, environment).map_err(unusable)
}

/// Changes the settings of the home under a lock, so that each of several processes sees what the
/// one before it wrote. An edit without a new text writes nothing. Returns whether the file was
/// written, and the result of the edit.
pub fn edit<T>(
    home: &Home,
    edit: impl Fn(String) -> Result<(Option<String>, T), Error>,
) -> Result<(bool, T), Error> {
    // No folder is created for an edit that fails.
    if let (None, result) = edit(own_text(home)?)? {
        return Ok((false, result));
    }
    let unwritable = |error| {
        Error::failed(error)
            .hint("make the home writable, or set `CONCLAVE_HOME` to another folder")
    };
    create_private_dir(home.path()).map_err(unwritable)?;
    // Other processes wait until this one is done. The folder of the home itself is locked, so that
    // no lock file stays in it; one that cannot be locked is used without.
    let folder = File::open(home.path());
    let _lock = folder.and_then(|folder| folder.lock().map(|()| folder));
    let (text, result) = edit(own_text(home)?)?;
    if let Some(text) = &text {
        write_atomically(&home.config_file(), text.as_bytes(), Access::Private)
            .map_err(unwritable)?;
    }
    Ok((text.is_some(), result))
}

/// A missing file has no settings.
fn own_text(home: &Home) -> Result<String, Error> {
    let path = home.config_file();
    let text = read_optional(&path, SizeLimit::SETTINGS)
        .map_err(|source| unusable(SettingsError::unreadable(&path, source)))?;
    Ok(text.unwrap_or_else(|| "{}\n".to_owned()))
}

pub fn unusable(error: SettingsError) -> Error {
    let remedy = error.remedy.clone();
    Error::usage(error).hint(remedy)
}

/// The TLS library reads the file itself, of whatever kind and size it is. A missing file has none.
pub fn check_certificates(environment: &Environment) -> Result<(), Error> {
    const VARIABLE: &str = "SSL_CERT_FILE";
    let Some(path) = environment.path(VARIABLE) else {
        return Ok(());
    };
    match files::open(&path, SizeLimit::CERTIFICATES) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::usage(format!(
            "cannot read `{}`, which {VARIABLE} names: {error}",
            path.display()
        ))
        .hint(format!(
            "set {VARIABLE} to a file of certificates, or unset it with `unset {VARIABLE}`"
        ))),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Loads the built-in models with those of `models.json` in the home laid over them.
pub fn catalog(home: &Home) -> Result<ModelCatalog, Error> {
    let file = home.models_file();
    let json = read_optional(&file, SizeLimit::MODELS)
        .map_err(|error| Error::usage(error).hint(format!("check {}", file.display())))?;
    match json {
        None => Ok(ModelCatalog::builtin()),
        Some(json) => ModelCatalog::builtin()
            .merge(&json)
            .map_err(|error| Error::usage(error).hint(format!("fix or remove {}", file.display()))),
    }
}
