//! The settings in force, and the error when they cannot be used.

use crate::config::env::Environment;
use crate::config::load::SettingsError;
use crate::config::paths::Home;
use crate::config::setting::Setting;
use crate::config::settings::Settings;
use crate::error::Error;

/// Loads the settings: defaults, then the file in the home, then the environment.
pub(crate) fn load(home: &Home, environment: &Environment) -> Result<Settings, Error> {
    Settings::load(&home.config_file(), environment).map_err(unusable)
}

/// Returns the error for settings that cannot be used, with a hint on how to fix them.
pub(crate) fn unusable(error: SettingsError) -> Error {
    let remedy = error.remedy();
    Error::usage(error).hint(remedy)
}

/// Returns the origin of the value of a setting, for people.
pub(crate) fn origin(settings: &Settings, setting: &Setting) -> String {
    settings
        .origins
        .get(setting.name)
        .map_or_else(|| "default".to_owned(), ToString::to_string)
}
