//! The parts that the whole report and a part of it share. Markdown; pure. Model text goes through
//! `escape`.

use std::fmt::Write as _;
use std::time::Duration;

use crate::domain::artifact::{Dissent, Evidence, Independent, MenuOption, Severity, Verdict};
use crate::domain::confidence::Confidence;
use crate::domain::debate_value::DebateValue;
use crate::domain::money::Cost;
use crate::domain::stored_record::{
    ExpertChange, OpenPoint, PositionChanges, StoredPersonaSelection,
};

use crate::terminal::markdown::escape::{block, inline};
use crate::terminal::output::format::{amount, seconds, stated, thousands};

/// Names an agent for a line of Markdown.
pub(in crate::terminal) type Names<'a> = &'a dyn Fn(&str) -> String;

/// The question in a line; one of several lines is quoted.
pub(in crate::terminal) fn question(asked: &str) -> String {
    let question = block(asked);
    if question.contains('\n') {
        format!("**Question:**\n\n{}\n", quoted(&question))
    } else {
        format!("**Question:** {}  ", inline(asked))
    }
}

/// The line of a report's head about the selection of the personas.
pub(in crate::terminal) fn personas(selection: &StoredPersonaSelection) -> String {
    let StoredPersonaSelection {
        task_type,
        reason,
        chosen_by,
        notes,
    } = selection;
    let notes = around(" (", &inline(&notes.join("; ")), ")");
    let chosen = match chosen_by {
        None => "the default ones".to_owned(),
        Some(helper) => {
            let task = if task_type.is_empty() {
                "this question".to_owned()
            } else {
                inline(task_type)
            };
            let reason = around(": ", &inline(reason), "");
            format!(
                "selected by the helper model, {}, for {task}{reason}",
                inline(&helper.to_string())
            )
        }
    };
    format!("**Personas:** {chosen}{notes}")
}

/// The answer, and its summary if that differs.
pub(in crate::terminal) fn answer(recommendation: &str, summary: &str) -> String {
    or_nothing(block(recommendation)) + &summed_up(recommendation, summary)
}

fn summed_up(recommendation: &str, summary: &str) -> String {
    let (recommendation, summary) = (block(recommendation), block(summary));
    if summary.is_empty() || summary == recommendation {
        String::new()
    } else {
        format!("\n\n### Summary\n\n{summary}")
    }
}

/// A verdict under its heading: one answer, or a menu of options and how to choose.
pub(in crate::terminal) fn verdict(verdict: &Verdict) -> String {
    let heading = if verdict.is_menu() {
        "Options"
    } else {
        "Answer"
    };
    format!("## {heading}\n\n{}", verdict_alone(verdict))
}

/// The same without the heading.
pub(in crate::terminal) fn verdict_alone(verdict: &Verdict) -> String {
    let lead = Some(block(&verdict.recommendation))
        .filter(|lead| !lead.is_empty() || !verdict.is_menu())
        .map(or_nothing);
    let options = verdict
        .recommendations
        .iter()
        .enumerate()
        .map(|(at, choice)| option(at + 1, choice));
    let origin = verdict
        .composed_from
        .map(|source| format!("_{}_", source.description()));
    let text = lead
        .into_iter()
        .chain(options)
        .chain(origin)
        .collect::<Vec<_>>()
        .join("\n\n");
    text + &summed_up(&verdict.recommendation, &verdict.summary)
}

fn option(number: usize, choice: &MenuOption) -> String {
    let mut text = format!(
        "### Option {number}: {}\n\n**Confidence:** {}",
        inline(&choice.option),
        stated(choice.confidence)
    );
    let best_when = inline(&choice.best_when);
    if !best_when.is_empty() {
        let _ = write!(text, "  \n**Best when:** {best_when}");
    }
    let description = block(&choice.description);
    if !description.is_empty() {
        let _ = write!(text, "\n\n{description}");
    }
    for (heading, items) in [("Pros", &choice.pros), ("Cons", &choice.cons)] {
        if !items.is_empty() {
            let _ = write!(text, "\n\n**{heading}:**\n\n{}", list(items));
        }
    }
    text
}

/// The confidence of a verdict; the options of a menu have their own.
pub(in crate::terminal) fn confidence_of(
    verdict: Option<&Verdict>,
    confidence: Option<Confidence>,
) -> String {
    if verdict.is_some_and(Verdict::is_menu) {
        return "each option has its own".to_owned();
    }
    let stated = stated(confidence);
    match verdict.and_then(Verdict::confidence_note) {
        Some(note) => format!("{stated} ({note})"),
        None => stated,
    }
}

pub(in crate::terminal) fn evidence(evidence: &[Evidence], name: Names<'_>) -> Option<String> {
    let item = |evidence: &Evidence| {
        let by = around(" — ", &name(&evidence.agent), "");
        let quote = around(": “", &inline(&evidence.quote), "”");
        format!("- {}{by}{quote}", inline(&evidence.claim))
    };
    titled("### Evidence", "\n", evidence.iter().map(item))
}

/// The position of an expert, with its points and confidence.
pub(in crate::terminal) fn opinion(held: &Independent) -> String {
    let mut text = or_nothing(block(&held.position));
    if !held.key_points.is_empty() {
        let _ = write!(text, "\n\n{}", list(&held.key_points));
    }
    let _ = write!(text, "\n\nConfidence: {}", stated(held.confidence));
    text
}

/// What Round 3 changed: the experts that changed their minds with their new positions, the others
/// in a line each, and what the later rounds were worth.
pub(in crate::terminal) fn changes(
    changes: &PositionChanges<'_>,
    value: Option<&DebateValue>,
    name: Names<'_>,
) -> Option<String> {
    let mut parts = vec![format!("{}.", inline(&changes.headline()?))];
    parts.extend(changes.changed().map(|expert| change(expert, name)));
    let unchanged = changes.unchanged().map(|expert| change_line(expert, name));
    let silent = changes
        .silent
        .iter()
        .map(|seat| format!("**{}** gave no answer in Round 3", name(seat.as_str())));
    let others: Vec<String> = unchanged.chain(silent).collect();
    if !others.is_empty() {
        parts.push(others.join("  \n"));
    }
    if let Some(value) = value {
        if !value.key_insights.is_empty() {
            parts.push(format!("### Insights\n\n{}", list(&value.key_insights)));
        }
        parts.extend(
            value
                .worth_of_later_rounds()
                .map(|sentence| format!("{sentence}.")),
        );
    }
    titled("## Changes", "\n\n", parts)
}

/// What happened to an expert's position, in a line.
fn change_line(expert: &ExpertChange<'_>, name: Names<'_>) -> String {
    let confidence = expert.confidence_in_words().unwrap_or_default();
    format!(
        "**{}** {}{}",
        name(expert.revision.agent_id.as_str()),
        expert.in_words(),
        around(" (confidence ", &confidence, ")")
    )
}

/// The position of one expert after the cross-examination.
pub(in crate::terminal) fn change(expert: &ExpertChange<'_>, name: Names<'_>) -> String {
    let revision = expert.revision;
    let mut text = format!(
        "{}:\n\n{}",
        change_line(expert, name),
        or_nothing(block(&revision.revised_position))
    );
    let reasons: Vec<String> = revision
        .because_of
        .iter()
        .map(|because| {
            format!(
                "- because of {}: {}",
                name(&because.agent),
                inline(&because.argument)
            )
        })
        .collect();
    if !reasons.is_empty() {
        let _ = write!(text, "\n\n{}", reasons.join("\n"));
    }
    let reasoning = inline(&expert.reasoning);
    if !reasoning.is_empty() {
        let _ = write!(text, "\n\n_As compared:_ {reasoning}");
    }
    text
}

/// Points that the debate left open, each with its sides.
pub(in crate::terminal) fn open_points(points: &[OpenPoint]) -> Option<String> {
    let item = |point: &OpenPoint| {
        let severity = point.severity.map(Severity::name).unwrap_or_default();
        let severity = around(" (", severity, ")");
        let views = point.views.iter().map(|view| {
            let by = around("**", &inline(&view.agent), ":** ");
            format!("  - {by}{}", inline(&view.view))
        });
        std::iter::once(format!("- {}{severity}", inline(&point.topic)))
            .chain(views)
            .collect::<Vec<_>>()
            .join("\n")
    };
    titled("## Open Points", "\n", points.iter().map(item))
}

pub(in crate::terminal) fn dissent(dissent: &[Dissent], name: Names<'_>) -> Option<String> {
    let item = |dissent: &Dissent| {
        let by = around("**", &name(&dissent.agent), "** ");
        format!(
            "- {by}({}): {}",
            dissent.severity.name(),
            inline(&dissent.concern)
        )
    };
    titled("## Dissent", "\n", dissent.iter().map(item))
}

/// Returns parts below a heading, with `separator` between them; `None` without parts.
pub(in crate::terminal) fn titled(
    heading: &str,
    separator: &str,
    parts: impl IntoIterator<Item = String>,
) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().collect();
    (!parts.is_empty()).then(|| format!("{heading}\n\n{}", parts.join(separator)))
}

/// Returns a text with what belongs before and behind it; nothing for an empty text.
pub(in crate::terminal) fn around(before: &str, text: &str, behind: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{before}{text}{behind}")
    }
}

/// Returns a block as a quotation.
pub(in crate::terminal) fn quoted(block: &str) -> String {
    let lines = block
        .lines()
        .map(|line| format!("> {line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// Texts as the items of a list.
pub(in crate::terminal) fn list<T: AsRef<str>>(items: &[T]) -> String {
    items
        .iter()
        .map(|item| format!("- {}", inline(item.as_ref())))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Marks an empty answer as empty.
pub(in crate::terminal) fn or_nothing(text: String) -> String {
    if text.is_empty() {
        "_(empty answer)_".to_owned()
    } else {
        text
    }
}

/// The cost, duration and tokens, as far as they are recorded.
pub(in crate::terminal) fn foot(
    cost: Option<Cost>,
    duration: Option<Duration>,
    tokens: Option<u64>,
) -> String {
    let or_missing = |text: Option<String>| text.unwrap_or_else(|| "not recorded".to_owned());
    let (cost, duration, tokens) = (
        or_missing(cost.map(amount)),
        or_missing(duration.map(seconds)),
        or_missing(tokens.map(thousands)),
    );
    format!("**Cost:** {cost} | **Duration:** {duration} | **Tokens:** {tokens}")
}
