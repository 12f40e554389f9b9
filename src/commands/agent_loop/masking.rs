//! Masks the secrets in the evidence: it is stored, printed, and may be pasted into reports.

use crate::config::env::Environment;
use crate::config::own_keys;
use crate::config::paths::Home;
use crate::context::scrub::rules::UserRules;
use crate::context::scrub::{OutgoingText, Scrubber};
use crate::error::Error;
use crate::setup::context::scrub_rules;
use crate::setup::settings;
use crate::stopping::exit_check::evidence::TurnEvidence;

/// Masks every text in the evidence.
///
/// # Errors
///
/// When the user's settings or rules for secrets cannot be used.
pub(crate) fn mask(evidence: &mut TurnEvidence, environment: &Environment) -> Result<(), Error> {
    let mut texts: Vec<&mut String> = Vec::new();
    let TurnEvidence {
        status,
        errors,
        tests,
        obstacle,
        ..
    } = evidence;
    let sources = status.iter_mut().map(|status| &mut status.source);
    texts.extend(sources.filter(|source| !is_plain_status(source)));
    texts.extend(errors.iter_mut().map(|error| &mut error.0));
    texts.extend(obstacle.iter_mut().map(|obstacle| &mut obstacle.message));
    if let Some(run) = tests.as_mut().and_then(|tests| tests.run.as_mut()) {
        texts.push(&mut run.command);
        texts.extend(&mut run.last_lines);
    }
    texts.retain(|text| may_hold_secret(text));
    if texts.is_empty() {
        return Ok(());
    }
    let scrubber = scrubber(environment)?;
    for text in texts {
        // One by one: the number in a mask must not depend on the other errors of the turn.
        let outgoing = OutgoingText {
            source: "evidence",
            text,
        };
        let masked = scrubber.scrub(&[outgoing]).texts.concat();
        *text = masked;
    }
    Ok(())
}

/// Returns whether a text is long enough for a secret; the rules for them take time to prepare.
fn may_hold_secret(text: &str) -> bool {
    const SHORTEST: usize = 8;
    let is_part = |c: char| !c.is_whitespace();
    text.split(|c| !is_part(c))
        .any(|word| word.len() >= SHORTEST)
}

/// Returns whether a status is only its key and a value of letters, such as `EXIT_SIGNAL: false`.
/// Most turns have one, and preparing the rules takes longer than the rest of a check.
fn is_plain_status(source: &str) -> bool {
    const LONGEST_WORD: usize = 16;
    let is_word = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_plain = |c: char| is_word(c) || matches!(c, ' ' | ':' | '*' | '<' | '>' | '/');
    source.chars().all(is_plain)
        && source
            .split(|c| !is_word(c))
            .all(|word| word.len() <= LONGEST_WORD)
}

/// Returns the scrubber of `consult`: with the user's own rules, and the keys in the environment.
fn scrubber(environment: &Environment) -> Result<Scrubber, Error> {
    let (rules, endpoints) = match Home::find(environment) {
        Ok(home) => (
            scrub_rules::load(&home)?,
            settings::load(&home, environment)?.endpoints,
        ),
        // Without a home there are no own rules.
        Err(_) => (UserRules::default(), Vec::new()),
    };
    let own_keys = own_keys::in_variables(&endpoints, environment);
    Scrubber::new(&rules, &own_keys).map_err(Error::usage)
}
