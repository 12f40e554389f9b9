//! Early termination: the question whether to end after Round 2, and the line of a decision that
//! was made without asking.

use crate::consultation::event::{DecidedBy, EarlyTermination, EarlyTerminationDecision};
use crate::domain::money::Cost;
use crate::stopping::evaluation::Rule;

use crate::terminal::output::format::{calibrated_words, dollars, stated};
use crate::terminal::prompt::choices::PromptChoices;

/// Asks whether to end here. What speaks against it stands above the question.
pub(in crate::terminal) fn question(findings: &EarlyTermination) -> String {
    let mut text = format!(
        "✨ Strong consensus reached (confidence: {})\n",
        stated(findings.confidence)
    );
    for line in grounds(findings) {
        text.extend(["   ", &line, "\n"]);
    }
    format!(
        "{text}Terminate early and skip {}? {} ",
        skipped(findings),
        PromptChoices::YES_NO.prompt()
    )
}

/// Describes a decision made without asking; `None` where the threshold was not reached.
pub(in crate::terminal) fn decision(decision: &EarlyTerminationDecision) -> Option<String> {
    let EarlyTerminationDecision {
        ended,
        by,
        findings,
    } = decision;
    let confidence = stated(findings.confidence);
    let saved = match findings.estimated_cost_saved {
        Cost::FREE => String::new(),
        saved => format!(", about {} saved", dollars(saved)),
    };
    match (by, ended) {
        (DecidedBy::Threshold | DecidedBy::Person, _) => None,
        (DecidedBy::Guards | DecidedBy::NobodyThere, true) => Some(format!(
            "✨ Strong consensus reached (confidence: {confidence}): {} skipped{saved}",
            skipped(findings)
        )),
        (DecidedBy::Guards | DecidedBy::NobodyThere, false) => {
            let against: Vec<String> = findings
                .evaluation
                .unmet_guards()
                .map(Rule::in_words)
                .collect();
            Some(format!(
                "   Strong consensus (confidence: {confidence}), but the debate continues: {}",
                against.join("; ")
            ))
        }
    }
}

/// Returns what is known beside the stated confidence: the calibrated probability, the unmet
/// guards, and the saving.
pub(in crate::terminal) fn grounds(findings: &EarlyTermination) -> Vec<String> {
    let calibrated = findings
        .calibrated
        .as_ref()
        .map(|calibrated| format!("Calibrated probability: {}", calibrated_words(calibrated)));
    let against = findings
        .evaluation
        .unmet_guards()
        .map(|rule| format!("Against it: {}", rule.in_words()));
    let saved = findings.estimated_cost_saved;
    let saved = (saved != Cost::FREE)
        .then(|| format!("{} would save about {}", skipped(findings), dollars(saved)));
    calibrated.into_iter().chain(against).chain(saved).collect()
}

/// `Rounds 3-4`, or the one round that would be skipped.
fn skipped(findings: &EarlyTermination) -> &'static str {
    if findings.rounds_skipped > 1 {
        "Rounds 3-4"
    } else {
        "Round 3"
    }
}
