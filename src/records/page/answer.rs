//! The first sections: what is missing, the question, the answer, and dissent.

use maud::{Markup, html};

use crate::domain::artifact::{MenuOption, Source, Verdict};
use crate::domain::stored_record::{Completion, StoredRecord};
use crate::domain::words::{amount, seconds, stated, thousands};

use super::elements::{
    block, block_unless_blank, confidence, inline, items, labelled, list, moment, said, severity,
    subsection,
};
use super::marks::marked;

/// The notice on top: the reasons why the result is incomplete or degraded.
pub(super) fn notice(record: &StoredRecord) -> Markup {
    let is_degraded =
        record.status.as_deref() == Some("degraded") || !record.degradations.is_empty();
    let rest_follows = html! { p { "The finished part follows. It is not a verdict." } };
    let abort_message = record.abort_message.as_ref();
    let abort_reason = abort_message.or(record.abort_reason.as_ref());
    let reason = match record.completion() {
        Completion::Completed if !is_degraded => return Markup::default(),
        Completion::Completed => html! {
            p { strong { "Degraded result:" } " this is less than the panel promised." }
        },
        Completion::Aborted => html! {
            p {
                strong {
                    "Aborted"
                    @if let Some(phase) = &record.aborted_during { " in " (inline(phase)) }
                    "."
                }
                @if let Some(reason) = abort_reason { " " (inline(reason)) }
            }
            (rest_follows)
        },
        Completion::Declined => html! {
            p {
                strong { "Declined." }
                " The estimated cost was not agreed to. Nothing was asked or spent."
            }
        },
        Completion::Unfinished => html! {
            p { strong { "Incomplete:" } " the consultation was interrupted or is still running." }
            (rest_follows)
        },
    };
    html! { aside.notice { (reason) (list(&items(&record.degradations))) } }
}

pub(super) fn head(record: &StoredRecord) -> Markup {
    let question = record.question.trim();
    // Long questions are set smaller.
    let is_long = question.contains('\n') || question.chars().nth(160).is_some();
    html! {
        header {
            p.label { "Consultation" }
            @if question.is_empty() {
                h1 { "(no question)" }
            } @else {
                h1.said.long[is_long] dir="auto" { (question) }
            }
            ul.facts {
                @if let Some(at) = record.at { li { (moment(at)) } }
                @if let Some(mode) = &record.mode { li { (inline(mode)) " mode" } }
                @if let Some(cost) = record.total_cost() { li { (amount(cost)) } }
                @if let Some(duration) = record.duration() { li { (seconds(duration)) } }
                @if let Some(tokens) = record.total_tokens().map(thousands) {
                    li { (tokens) " tokens" }
                }
            }
        }
    }
}

pub(super) fn answer(record: &StoredRecord) -> Markup {
    html! {
        section.answer {
            h2 { "Answer" }
            @if let Some(recommendation) = &record.recommendation {
                (verdict(record, recommendation))
            } @else {
                (without_verdict(record))
            }
        }
    }
}

fn verdict(record: &StoredRecord, recommendation: &str) -> Markup {
    let verdict = record.verdict();
    let options = verdict.map_or(&[][..], |verdict| &verdict.recommendations);
    let source = verdict.and_then(|verdict| verdict.composed_from);
    let summary = record.summary.as_deref().unwrap_or_default();
    html! {
        (figures(record, !options.is_empty()))
        (rejudged(record))
        (second_pass(record))
        @if options.is_empty() { (block(recommendation)) }
        @else { (block_unless_blank(recommendation)) }
        @for (at, choice) in options.iter().enumerate() { (option(at + 1, choice)) }
        @if let Some(source) = source { p.quiet { (source.description()) } }
        @if summary != recommendation { (subsection("Summary", &block_unless_blank(summary))) }
        @if record.early_termination {
            p.quiet {
                "Ended after Round 2"
                @if let Some(reason) = &record.early_termination_reason { ": " (inline(reason)) }
            }
        }
        (subsection("Evidence", &list(&evidence(record))))
    }
}

/// The confidence, the agreement, and the outcome that was recorded later.
fn figures(record: &StoredRecord, has_options: bool) -> Markup {
    let confidence = match record.confidence {
        _ if has_options => "each option has its own".to_owned(),
        confidence => stated(confidence),
    };
    html! {
        p.stated {
            (labelled("Confidence", &confidence))
            @if let Some(note) = record.verdict().and_then(Verdict::confidence_note) {
                " (" (note) ")"
            }
            @if let Some(calibrated) = calibrated(record) {
                " " (labelled("Calibrated", &calibrated))
            }
            @if let Some(agreement) = record.agreement {
                " " (labelled("Agreement", &format!("{:.0}%", agreement * 100.0)))
            }
            @if let Some(grade) = &record.grade {
                " " (labelled("Outcome", grade.outcome.name()))
                @if let Some(note) = &grade.note { " " (inline(note)) }
            }
        }
    }
}

/// The calibrated probability of an answer composed from the synthesis. A verdict of the judge has
/// none.
fn calibrated(record: &StoredRecord) -> Option<String> {
    record
        .verdict()
        .filter(|verdict| verdict.composed_from == Some(Source::Synthesis))?;
    let calibrated = record.calibrated()?;
    Some(format!("{:.0}%", calibrated.probability * 100.0))
}

/// Names the consultation whose answers were rejudged.
fn rejudged(record: &StoredRecord) -> Markup {
    let rejudged = record.rejudged.as_ref();
    let result = match rejudged.and_then(|rejudged| rejudged.consistent) {
        Some(true) => ": its verdict held",
        Some(false) => ": its verdict did not hold",
        None => "",
    };
    html! {
        @if let Some(from) = &record.rejudged_from {
            p.quiet { "Rejudged from the answers of " (inline(from)) (result) }
        }
    }
}

/// The result of the second pass, with the experts in reverse order; if it differs, its verdict.
fn second_pass(record: &StoredRecord) -> Markup {
    let Some(second) = record.second_pass() else {
        return Markup::default();
    };
    let description = inline(second.description(record.judge().as_ref()));
    let Some(other) = second.other_verdict() else {
        return html! { p.quiet { "Judged twice: " (description) } };
    };
    html! {
        aside.notice {
            p { strong { "Judged twice:" } " " (description) }
            p { "With the order reversed, the judge recommends:" }
            (list(&items(other.recommendations.iter().map(|choice| &choice.option))))
            (block(&other.recommendation))
        }
    }
}

/// One option of a menu.
fn option(number: usize, choice: &MenuOption) -> Markup {
    html! {
        article.option {
            h3 { "Option " (number) ": " bdi { (marked(choice.option.trim())) } }
            (confidence(choice.confidence))
            @if !choice.best_when.trim().is_empty() {
                p { span.label { "Best when" } " " bdi { (marked(choice.best_when.trim())) } }
            }
            (block_unless_blank(&choice.description))
            div.side {
                @for (heading, points) in [("Pros", &choice.pros), ("Cons", &choice.cons)] {
                    @if !points.is_empty() { div { h4 { (heading) } (list(&items(points))) } }
                }
            }
        }
    }
}

/// Shows what the panel agreed on, or points to the positions.
fn without_verdict(record: &StoredRecord) -> Markup {
    let what = match record.completion() {
        Completion::Completed => "No verdict was asked for",
        Completion::Declined => "Nothing was asked",
        Completion::Aborted | Completion::Unfinished => "No verdict was reached",
    };
    html! {
        @if let Some(consensus) = &record.partial_consensus {
            p { (what) ". Points of agreement so far:" }
            (block(consensus))
        } @else if record.independents().next().is_none() {
            p { (what) ", and no expert has answered." }
        } @else {
            p { (what) ": the positions stand side by side below." }
        }
    }
}

fn evidence(record: &StoredRecord) -> Markup {
    html! {
        @for evidence in record.verdict().into_iter().flat_map(|verdict| &verdict.evidence) {
            li {
                (said(&evidence.claim))
                @if !evidence.agent.trim().is_empty() {
                    " " span.by { (inline(record.name_of(&evidence.agent))) }
                }
                @if !evidence.quote.trim().is_empty() {
                    q.said dir="auto" { (evidence.quote.trim()) }
                }
            }
        }
    }
}

pub(super) fn dissent(record: &StoredRecord) -> Markup {
    let dissents = record.verdict().map_or(&[][..], Verdict::objections);
    html! {
        @if !dissents.is_empty() {
            section.dissent {
                h2 { "Dissent" }
                ul {
                    @for dissent in dissents {
                        li {
                            @if !dissent.agent.trim().is_empty() {
                                strong { (inline(record.name_of(&dissent.agent))) } " "
                            }
                            (severity(dissent.severity))
                            (block(&dissent.concern))
                        }
                    }
                }
            }
        }
    }
}
