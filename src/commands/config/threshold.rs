//! The threshold that the user chose when asked for consent, written to the settings' file.

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::setting::ALWAYS_ALLOW_UNDER;
use crate::domain::money::MicroUsd;
use crate::error::Error;
use crate::terminal::output::printer::Printer;

use super::change;

/// Saves it as `conclave config set` would. Returns the file's path, or why it could not be
/// written.
pub(crate) fn save(
    amount: MicroUsd,
    home: &Home,
    environment: &Environment,
    printer: &Printer,
) -> Result<String, String> {
    let setting = change::write(ALWAYS_ALLOW_UNDER, &amount.usd().to_string(), home)
        .map_err(|error| with_causes(&error))?;
    change::warn_of_variable(setting, environment, printer);
    Ok(home.config_file().display().to_string())
}

fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source().source();
    while let Some(source) = cause {
        text.extend([": ", &source.to_string()]);
        cause = source.source();
    }
    text
}
