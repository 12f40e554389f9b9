//! `--follow-up QUESTION [ID]`: the words behind the question name the consultation before it, which
//! is the last one by default.

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::domain::stored_record::StoredRecord;
use crate::error::Error;
use crate::records::index::Index;
use crate::session::load::load_for_models;
use crate::session::lookup;
use crate::setup::plan::follow_up::prior;
use crate::terminal::markdown::escape::one_line;

const EXAMPLE: &str = "`conclave consult --follow-up \"And for mobile?\" [ID]`";

/// Loads the consultation that a follow-up names.
///
/// # Errors
///
/// When the words are no single name, there is no such consultation, or it has nothing to follow up.
pub(super) fn load(words: &[String], environment: &Environment) -> Result<StoredRecord, Error> {
    let name = match words {
        [] => "last",
        [name] if !name.contains(char::is_whitespace) && !name.contains('?') => name,
        words => {
            let text = one_line(&words.join(" "));
            return Err(
                Error::usage(format!("`{text}` does not name one consultation")).hint(format!(
                    "quote the question right after `--follow-up`: {EXAMPLE}"
                )),
            );
        }
    };
    let home = Home::find(environment).map_err(Error::usage)?;
    let logs = home.logs_folder();
    let index = Index::open(&home.index_file()).ok();
    let found = lookup::find(index.as_ref(), &logs, name)?;
    // Other processes can use the index while this one runs.
    drop(index);
    let record = load_for_models(&logs, &found)?.record;
    if prior(&record).is_none() {
        let why = record
            .abort_message
            .as_deref()
            .map_or_else(|| "no expert answered".to_owned(), one_line);
        return Err(
            Error::usage(format!("{} has no answer to follow up: {why}", found.id))
                .hint("name another one, which `conclave history list` shows")
                .hint("or ask without `--follow-up`"),
        );
    }
    Ok(record)
}
