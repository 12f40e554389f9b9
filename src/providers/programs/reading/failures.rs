//! What programs say of their failures: a class for each text, from a table.

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::model::key_detection::hide_keys;
use crate::domain::model::program::Program;
use crate::providers::errors::{self, shortened};
use crate::text::clean;
use crate::text::pattern::Pattern;

/// A program's words on its failure, with what it says as data.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    pub text: String,
    /// The status of the server behind it.
    pub status: Option<u16>,
    pub codes: Vec<String>,
}

impl Trouble {
    pub(super) fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn failure(self, program: &Program) -> Failure {
        let status = self.status.or_else(|| status_in(&self.text));
        // No secret is cut in two before it is masked.
        let said = hide_keys(&clean::shortened_unmasked(&self.text, MAX_READ_CHARS));
        let (class, words) = errors::of_program(&said, status, self.codes);
        let said = [&words, &said, "no explanation"].map(shortened);
        let mut said = said.into_iter().filter(|words| !words.is_empty());
        let words = said.next().unwrap_or_default();
        let beginning = clean::shortened(&words, MAX_UNKNOWN_CHARS);
        match (class, status, &program.login) {
            (Some(class @ FailureClass::Auth), _, Some(login)) => {
                let words = words.trim_end_matches('.');
                Failure::new(class, format!("{words}; log in with `{login}`"))
            }
            (Some(class), ..) => Failure::new(class, words),
            // A request that is refused would be refused again.
            (None, Some(400..500), _) => Failure::new(FailureClass::BadRequest, beginning),
            (None, ..) => Failure::new(FailureClass::Transport, beginning),
        }
    }
}

/// The most characters that are looked at.
const MAX_READ_CHARS: usize = 4000;
/// Of a text of no known meaning, no more is shown.
const MAX_UNKNOWN_CHARS: usize = 200;

fn status_in(text: &str) -> Option<u16> {
    static STATUS: Pattern =
        Pattern::new(r"(?i)(?:status:? (?:code )?|http |api error:? |\()([45]\d\d)\b");
    STATUS.all(text).next()?.get(1)?.as_str().parse().ok()
}
