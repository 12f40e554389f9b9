//! Saves the threshold that the user enters in the question for consent.

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::setting::ALWAYS_ALLOW_UNDER;
use crate::domain::money::MicroUsd;
use crate::error::whole;
use crate::terminal::output::printer::Printer;

use super::edit;

/// Saves it as `conclave config set` does. Returns the path of the file, or why it could not be
/// written.
pub(crate) fn save(
    amount: MicroUsd,
    home: &Home,
    environment: &Environment,
    printer: &Printer,
) -> Result<String, String> {
    let setting = edit::write(ALWAYS_ALLOW_UNDER, &amount.usd().to_string(), home)
        .map_err(|error| whole(error.source()))?;
    edit::warn_of_variable(setting, environment, printer);
    Ok(home.config_file().display().to_string())
}
