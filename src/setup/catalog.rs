//! The model catalog in force.

use crate::config::paths::{Home, read_optional};
use crate::error::Error;
use crate::files::SizeLimit;
use crate::providers::catalog::ModelCatalog;

/// Loads the built-in models with those of `models.json` in the home laid over them.
pub fn load(home: &Home) -> Result<ModelCatalog, Error> {
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
