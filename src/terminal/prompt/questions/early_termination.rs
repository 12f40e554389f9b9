//! Early termination: the question whether to end after Round 2, and the line of a decision that
//! was made without asking.

use crate::consultation::event::{Answer, DecidedBy, EarlyTermination, EarlyTerminationDecision};
use crate::domain::answer::artifact::{Severity, Synthesis};
use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::stopping::evaluation::{Rule, Value};
use crate::text::clean::{one_line, shortened};

use crate::terminal::output::format::{calibrated_words, count, dollars, stated};
use crate::terminal::prompt::question::{KeyChoice, KeyQuestion, QuestionTrace};

/// Points of agreement and tensions that are shown; the rest is counted.
const MAX_SHOWN: usize = 3;

/// Most characters of one of them.
const LONGEST: usize = 200;

/// Asks whether to end here: what the experts agree on, what is open, and what speaks against it.
/// The default follows the guards.
pub(in crate::terminal) fn question(
    findings: &EarlyTermination,
    synthesis: &Synthesis,
) -> KeyQuestion<Answer> {
    let mut lines = vec![format!(
        "✨ Strong consensus reached (confidence: {})",
        stated(findings.confidence)
    )];
    lines.extend(points(synthesis));
    lines.extend(tensions(synthesis));
    lines.extend(
        findings
            .evaluation
            .unmet_guards()
            .map(|rule| format!("   Against stopping: {}", objection(rule))),
    );
    if let Some(calibrated) = &findings.calibrated {
        lines.push(format!(
            "   Calibrated probability: {}",
            calibrated_words(calibrated)
        ));
    }
    let saved = match findings.estimated_cost_saved {
        Cost {
            known: MicroUsd::ZERO,
            ..
        } => format!("without {}", skipped(findings)),
        saved if saved.lower_bound => {
            format!("and save at least {}", dollars(Cost::exactly(saved.known)))
        }
        saved => format!("and save about {}", dollars(saved)),
    };
    KeyQuestion {
        lines,
        question: format!("Stop here {saved}?"),
        choices: vec![
            KeyChoice::plain("yes", Answer::Yes),
            KeyChoice::plain("no", Answer::No),
        ],
        default: if findings.evaluation.stops() {
            'y'
        } else {
            'n'
        },
        safe: 'n',
        trace: QuestionTrace::Whole,
    }
}

/// `None` where the threshold was not reached.
pub(in crate::terminal) fn decision(decision: &EarlyTerminationDecision) -> Option<String> {
    let EarlyTerminationDecision {
        ended,
        by,
        findings,
    } = decision;
    let confidence = stated(findings.confidence);
    let saved = match findings.estimated_cost_saved {
        saved if saved.known.is_zero() => String::new(),
        saved => format!(", about {} saved", dollars(saved)),
    };
    match (by, ended) {
        (DecidedBy::Threshold | DecidedBy::Person, _) => None,
        (DecidedBy::Guards | DecidedBy::NobodyThere, true) => Some(format!(
            "✨ Strong consensus reached (confidence: {confidence}): {} skipped{saved}",
            skipped(findings)
        )),
        (DecidedBy::Guards | DecidedBy::NobodyThere, false) => {
            let against: Vec<String> = findings.evaluation.unmet_guards().map(objection).collect();
            Some(format!(
                "   Strong consensus (confidence: {confidence}), but the debate continues: {}",
                against.join("; ")
            ))
        }
    }
}

/// Strongest first, each with the number of its supporters.
fn points(synthesis: &Synthesis) -> Vec<String> {
    let mut points: Vec<_> = synthesis.consensus_points.iter().collect();
    // A stable sort keeps the judge's order among equals.
    points.sort_by_key(|point| std::cmp::Reverse(point.confidence.map(Confidence::millionths)));
    let words = points.iter().map(|point| {
        let supporters = count(point.supporting_agents.len(), "expert");
        format!(
            "• {} ({supporters})",
            shortened(&one_line(&point.point), LONGEST)
        )
    });
    listed(words, "point")
}

fn tensions(synthesis: &Synthesis) -> Vec<String> {
    let words = synthesis.tensions.iter().map(|tension| {
        let severity = match tension.severity {
            Severity::High => " (of high severity)",
            Severity::Medium | Severity::Low => "",
        };
        format!(
            "Open: {}{severity}",
            shortened(&one_line(&tension.topic), LONGEST)
        )
    });
    listed(words, "open tension")
}

/// Indents the first lines and counts the rest.
fn listed(lines: impl ExactSizeIterator<Item = String>, thing: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(MAX_SHOWN);
    let mut listed: Vec<String> = lines
        .take(MAX_SHOWN)
        .map(|line| format!("   {line}"))
        .collect();
    if more > 0 {
        listed.push(format!("   and {}", count(more, &format!("more {thing}"))));
    }
    listed
}

fn objection(rule: &Rule) -> String {
    let counted = match rule.value {
        Some(Value::Count(number)) => usize::try_from(number).ok(),
        _ => None,
    };
    match (rule.name.as_str(), &rule.value, counted) {
        ("answers", _, Some(number)) => format!("only {} answered", count(number, "expert")),
        ("families", _, Some(1)) => "all answers come from one family of models".to_owned(),
        ("troubled_seats", _, Some(number)) => format!(
            "{} failed, answered badly or used the local model",
            count(number, "seat")
        ),
        ("support", Some(Value::Share { part, of }), _) => {
            format!("only {part} of {of} experts support the strongest point")
        }
        ("high_tensions", _, Some(number)) => {
            format!("{} of high severity", count(number, "tension"))
        }
        ("rubber_stamp", Some(_), _) => {
            "the answers look copied: all sure, hardly different, and without a tension".to_owned()
        }
        _ => rule.in_words(),
    }
}

/// `Rounds 3-4`, or the one round that would be skipped.
fn skipped(findings: &EarlyTermination) -> &'static str {
    if findings.rounds_skipped > 1 {
        "Rounds 3-4"
    } else {
        "Round 3"
    }
}
