//! The settings and the model catalog in force, and the certificates that the environment names; the
//! errors when they cannot be used.

use std::io::ErrorKind;

use crate::config::env::Environment;
use crate::config::load::SettingsError;
use crate::config::paths::{Home, read_optional};
use crate::config::repository::RepositoryFile;
use crate::config::settings::Settings;
use crate::error::Error;
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
