//! The offer of `conclave setup` before the first consultation of a new user.
//!
//! It is made once: a home that holds settings, or the logs of a consultation, gets none. Nor does
//! a user without a key, who is asked about the download of the demonstration model instead.

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::error::{Error, Exit};
use crate::setup::provider_access::{self, ProviderAccess};
use crate::terminal::output::printer::{Printer, Verbosity};
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError};

use crate::commands::runtime::until_interrupted;

use super::{can_run, interrupted, left, set_up};

/// Offers setup to a person who has not been asked yet, and runs it if the answer is yes. A
/// dialogue that is left goes back to the question that was asked.
pub(crate) fn offer(environment: &Environment, printer: &Printer) -> Result<(), Error> {
    if !is_due(environment, printer) {
        return Ok(());
    }
    if !until_interrupted(printer, interrupted, ask(printer))? {
        return Ok(());
    }
    match set_up(environment, printer) {
        Err(error) if error.exit == Exit::Declined => {
            printer.note("Nothing was written; `conclave setup` can be run any time.");
            Ok(())
        }
        result => result,
    }
}

fn is_due(environment: &Environment, printer: &Printer) -> bool {
    let is_new = |home: Home| !home.config_file().exists() && !home.logs_folder().exists();
    can_run(printer)
        && printer.verbosity() > Verbosity::Quiet
        && environment.text("CI").is_none()
        && Home::find(environment).is_ok_and(is_new)
        && provider_access::all(&Settings::default(), environment)
            .iter()
            .any(ProviderAccess::is_selectable)
}

async fn ask(printer: &Printer) -> Result<bool, Error> {
    let dialogue = Dialogue::open(printer);
    match dialogue
        .confirm("No settings yet: set up panel and spending first?", false)
        .await
    {
        Ok(answer) => Ok(answer),
        Err(DialogueError::Cancelled) => Ok(false),
        Err(reason) => Err(left(reason)),
    }
}
