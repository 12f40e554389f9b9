//! Masks the secrets in the evidence: it is stored, printed, and may be pasted into reports.

use crate::agent_loop::signals::ErrorText;
use crate::agent_loop::test_command::last_lines;
use crate::config::env::Environment;
use crate::error::Error;
use crate::setup::context::scrubber;
use crate::stopping::exit_check::evidence::TurnEvidence;
use crate::text::clean::shortened;

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
    let TurnEvidence {
        status,
        errors,
        tests,
        obstacle,
        ..
    } = evidence;
    let UnmaskedTexts {
        errors: found,
        mut test_output,
    } = unmasked;
    let mut lines: Vec<String> = found.iter().map(|error| error.line.clone()).collect();
    let mut run = tests.as_mut().and_then(|tests| tests.run.as_mut());
    let mut texts = vec![&mut test_output];
    let sources = status.iter_mut().map(|status| &mut status.source);
    texts.extend(sources.filter(|source| !is_plain_status(source)));
    texts.extend(errors.iter_mut().map(|error| &mut error.0));
    texts.extend(obstacle.iter_mut().map(|obstacle| &mut obstacle.message));
    texts.extend(run.iter_mut().map(|run| &mut run.command));
    texts.extend(&mut lines);
    texts.retain(|text| may_hold_secret(text));
    if !texts.is_empty() {
        scrubber::load(environment)?.mask(texts);
    }
    let status = status.iter_mut().map(|status| &mut status.source);
    let obstacle = obstacle.iter_mut().map(|obstacle| &mut obstacle.message);
    for text in status.chain(obstacle) {
        *text = shortened(text, TurnEvidence::LONGEST_TEXT);
    }
    if let Some(run) = run {
        run.last_lines = last_lines(&test_output);
    }
    let found = found.into_iter().zip(&lines);
    errors.extend(found.map(|(error, line)| error.with_line(line)));
    errors.sort();
    errors.dedup();
    Ok(())
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
