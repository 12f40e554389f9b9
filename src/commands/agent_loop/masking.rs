//! Masks the secrets in the evidence: it is stored, printed, and may be pasted into reports.

use crate::agent_loop::signals::ErrorText;
use crate::agent_loop::test_command::last_lines;
use crate::config::env::Environment;
use crate::config::own_keys;
use crate::config::paths::Home;
use crate::context::scrub::rules::UserRules;
use crate::context::scrub::{OutgoingText, Scrubber};
use crate::domain::text::shortened;
use crate::error::Error;
use crate::setup::context::scrub_rules;
use crate::setup::settings;
use crate::stopping::exit_check::evidence::TurnEvidence;

/// Texts that are not in the evidence before their secrets are masked.
#[derive(Debug, Default)]
pub(crate) struct UnmaskedTexts {
    pub(crate) errors: Vec<ErrorText>,
    pub(crate) test_output: String,
}

/// Adds the errors of the turn and the last lines of its tests to the evidence, and masks every text
/// in it.
///
/// Texts are cut after they are masked, and what the tests printed is masked as a whole: a piece of a
/// secret is not recognised.
///
/// # Errors
///
/// When the user's settings or rules for secrets cannot be used.
pub(crate) fn mask(
    evidence: &mut TurnEvidence,
    unmasked: UnmaskedTexts,
    environment: &Environment,
) -> Result<(), Error> {
    let mut mask = Mask {
        environment,
        scrubber: None,
    };
    let TurnEvidence {
        status,
        errors,
        tests,
        obstacle,
        ..
    } = evidence;
    let sources = status.iter_mut().map(|status| &mut status.source);
    let mut texts: Vec<&mut String> = sources.filter(|source| !is_plain_status(source)).collect();
    texts.extend(errors.iter_mut().map(|error| &mut error.0));
    texts.extend(obstacle.iter_mut().map(|obstacle| &mut obstacle.message));
    let run = tests.as_mut().and_then(|tests| tests.run.as_mut());
    if let Some(run) = run {
        run.last_lines = last_lines(&mask.text(&unmasked.test_output)?);
        texts.push(&mut run.command);
    }
    for text in texts {
        *text = mask.text(text)?;
    }
    let status = status.iter_mut().map(|status| &mut status.source);
    let obstacle = obstacle.iter_mut().map(|obstacle| &mut obstacle.message);
    for text in status.chain(obstacle) {
        *text = shortened(text, TurnEvidence::LONGEST_TEXT);
    }
    for error in unmasked.errors {
        let line = mask.text(&error.line)?;
        errors.push(error.with_line(&line));
    }
    errors.sort();
    errors.dedup();
    Ok(())
}

/// Masks texts one by one: the number in a mask must not depend on the other errors of the turn.
struct Mask<'a> {
    environment: &'a Environment,
    /// Prepared when the first text needs it.
    scrubber: Option<Scrubber>,
}

impl Mask<'_> {
    fn text(&mut self, text: &str) -> Result<String, Error> {
        if !may_hold_secret(text) {
            return Ok(text.to_owned());
        }
        let scrubber = match &self.scrubber {
            Some(scrubber) => scrubber,
            None => self.scrubber.insert(scrubber(self.environment)?),
        };
        let outgoing = OutgoingText {
            source: "evidence",
            text,
        };
        Ok(scrubber.scrub(&[outgoing]).texts.concat())
    }
}

/// Returns whether a text is long enough for a secret; the rules for them take time to prepare.
fn may_hold_secret(text: &str) -> bool {
    const SHORTEST: usize = 8;
    text.split_whitespace().any(|word| word.len() >= SHORTEST)
}

/// Returns whether a status is only its key and a value of letters, such as `EXIT_SIGNAL: false`.
/// Most turns have one, and preparing the rules takes longer than the rest of a check.
fn is_plain_status(source: &str) -> bool {
    const LONGEST_WORD: usize = 16;
    let is_word = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_plain = |c: char| is_word(c) || matches!(c, ' ' | ':' | '*' | '<' | '>' | '/');
    let mut words = source.split(|c| !is_word(c));
    source.chars().all(is_plain) && words.all(|word| word.len() <= LONGEST_WORD)
}

/// Returns the scrubber of `consult`: with the user's own rules, and the keys in the environment.
fn scrubber(environment: &Environment) -> Result<Scrubber, Error> {
    let (mut rules, mut endpoints) = (UserRules::default(), Vec::new());
    // Without a home there are no own rules.
    if let Ok(home) = Home::find(environment) {
        rules = scrub_rules::load(&home)?;
        endpoints = settings::load(&home, environment)?.endpoints;
    }
    let own_keys = own_keys::in_variables(&endpoints, environment);
    Scrubber::new(&rules, &own_keys).map_err(Error::usage)
}
