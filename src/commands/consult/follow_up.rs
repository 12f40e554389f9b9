//! `--follow-up QUESTION [ID]`: the words behind the question name the consultation before it,
//! which is the last one by default.

use crate::commands::App;
use crate::config::paths::Home;
use crate::domain::record::stored_record::StoredRecord;
use crate::error::{Error, whole};
use crate::records::index::Index;
use crate::session::load::{RecordForModels, load_for_models};
use crate::session::lookup;
use crate::setup::context::earlier::EarlierContext;
use crate::setup::plan::from_record::prior;
use crate::text::clean::one_line;

const EXAMPLE: &str = "`conclave consult --follow-up \"And for mobile?\" [ID]`";

/// What a follow-up takes over; nothing for a question of its own.
#[derive(Debug, Default)]
pub(crate) struct FollowUp {
    /// The earlier consultation, as loaded for models.
    pub(crate) record: Option<Box<StoredRecord>>,
    pub(crate) context: EarlierContext,
    pub(crate) notices: Vec<String>,
}

/// Loads the consultation that a follow-up names.
///
/// # Errors
///
/// When the words are no single name, there is no such consultation, or it has nothing to follow
/// up.
pub(super) fn load(words: &[String], app: App<'_>) -> Result<FollowUp, Error> {
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
    load_named(name, &app.home()?)
}

/// Loads a consultation by its name.
///
/// # Errors
///
/// When there is no such consultation, or it has nothing to follow up.
pub(crate) fn load_named(name: &str, home: &Home) -> Result<FollowUp, Error> {
    let logs = home.logs_folder();
    let index = Index::open(&home.index_file()).ok();
    let found = lookup::find(index.as_ref(), &logs, name)?;
    // Other processes can use the index while this one runs.
    drop(index);
    let RecordForModels {
        record, context, ..
    } = load_for_models(&logs, &found)?;
    if prior(&record).is_none() {
        let why = record
            .abort_message
            .as_deref()
            .map_or_else(|| "no expert answered".to_owned(), one_line);
        return Err(
            Error::usage(format!("{found} has no answer to follow up: {why}"))
                .hint("name another one, which `conclave history list` shows")
                .hint("or ask without `--follow-up`"),
        );
    }
    let mut follow_up = FollowUp::default();
    match context {
        None => {}
        Some(Ok(context)) => follow_up.context = context,
        Some(Err(why)) => follow_up.notices.push(format!(
            "the context of {found} is not sent again: {}",
            whole(&*why)
        )),
    }
    follow_up.record = Some(Box::new(record));
    Ok(follow_up)
}
