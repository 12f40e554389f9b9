//! The report of a consultation, finished or not: what is printed when it is answered, and whenever
//! its record is shown.

use crate::domain::artifact::{Severity, Verdict};
use crate::domain::stored_record::{ContextWords, StoredConcern, StoredRecord};

use super::sections::Detail;
use super::{head, rounds, sections};
use crate::terminal::document;
use crate::terminal::document::{Line, Part, foreign, list, paragraph, titled};
use crate::terminal::output::format::{amount, thousands};

/// Writes the report.
pub fn report(record: &StoredRecord) -> String {
    let mut parts: Vec<Part> = head::status_notice(record).into_iter().collect();
    parts.push(Part::Heading(1, Line::of("Consultation", [])));
    let mut facts: Vec<Line> = head::follows_up(record).into_iter().collect();
    facts.extend(head::standing(record));
    facts.extend(head::panel(record));
    facts.extend(head::followed_up_by(record));
    parts.extend(sections::question(&record.question, facts));
    parts.extend(head::doubt(record));
    let is_menu = record.verdict().is_some_and(Verdict::is_menu);
    let title = if is_menu { "Options" } else { "Answer" };
    parts.extend(titled(2, title, answer(record)));
    parts.extend(dissent(record));
    parts.extend(sections::open_points(record));
    let positions = rounds::positions(record, None, Detail::Brief);
    parts.extend(titled(2, "Positions", positions));
    parts.extend(sections::changes(record, Detail::Brief));
    parts.extend(challenges(record));
    parts.extend(context(record));
    parts.extend(titled(2, "Cost", vec![cost(record)]));
    document::markdown(&parts)
}

/// The answer with its evidence, or what there is instead.
pub(super) fn answer(record: &StoredRecord) -> Vec<Part> {
    let Some(verdict) = record.verdict() else {
        return without_verdict(record);
    };
    let mut parts = sections::verdict(verdict);
    parts.extend(sections::evidence(record, &verdict.evidence));
    parts
}

/// Returns what is shown without a verdict: the points of agreement, or a pointer to the positions.
fn without_verdict(record: &StoredRecord) -> Vec<Part> {
    let line = |template| paragraph(template, [sections::without_verdict(record)]);
    let Some(synthesis) = record.synthesis() else {
        return match &record.partial_consensus {
            Some(points) => vec![
                line("_{}. Points of agreement so far:_"),
                Part::Foreign(points.clone()),
            ],
            None if record.independents().next().is_some() => {
                vec![line("_{}: the positions stand side by side below._")]
            }
            None => vec![line("_{}, and no expert has answered._")],
        };
    };
    let mut parts = vec![line("_{}. The judge's points of agreement from Round 2:_")];
    parts.extend(foreign(&synthesis.prose_excerpt));
    parts.extend(list(
        synthesis.consensus_points.iter().map(sections::agreement),
    ));
    parts
}

pub(super) fn dissent(record: &StoredRecord) -> Vec<Part> {
    let objections = record.verdict().map(Verdict::objections);
    sections::dissent(record, 2, objections.into_iter().flatten())
}

/// The objections of Round 3. What the judge itself left unresolved is an open point.
fn challenges(record: &StoredRecord) -> Vec<Part> {
    let raised = record.concerns_detail.iter();
    let raised = raised.filter(|concern| concern.raised_by.is_some());
    titled(2, "Challenges", list(raised.map(concern)))
}

fn concern(concern: &StoredConcern) -> Line {
    Line::default()
        .with("**{}** ", concern.raised_by.as_deref().unwrap_or_default())
        .with(
            "({}): ",
            concern.severity.map(Severity::name).unwrap_or_default(),
        )
        .and("{}", [&concern.text])
}

/// The sources of the context with their tokens, the project, and what was masked.
pub(super) fn context(record: &StoredRecord) -> Vec<Part> {
    let Some(words) = record.context_in_words() else {
        return Vec::new();
    };
    let ContextWords {
        sources,
        others,
        facts,
    } = words;
    let sources = sources
        .iter()
        .map(|(name, tokens)| Line::of("{} ({})", [name, tokens]));
    let others = others.iter().map(Line::foreign);
    let mut parts: Vec<Part> = list(sources.chain(others)).into_iter().collect();
    if !facts.is_empty() {
        let facts = facts
            .iter()
            .map(|(label, value)| Line::of("**{}:** {}", [label, value]));
        parts.push(Part::Facts(facts.collect()));
    }
    titled(2, "Context", parts)
}

/// The totals, the savings and the id.
pub(super) fn cost(record: &StoredRecord) -> Part {
    let calls = record
        .cost
        .as_ref()
        .and_then(|cost| cost.total.calls)
        .map(thousands);
    let spent = sections::spent(
        record.total_cost(),
        record.duration(),
        record.total_tokens(),
    )
    .with(" ({})", &saved_by_filtering(record).unwrap_or_default())
    .with(" | **Calls:** {}", &calls.unwrap_or_default());
    let mut lines = vec![spent];
    let caching = record.caching();
    lines.extend(caching.map(|caching| Line::of("**Prompt caching:** {}", [&caching.in_words()])));
    let saved = record.cost_saved().map(amount);
    lines.extend(
        saved.map(|saved| Line::of("**Saved by ending after Round 2:** about {}", [&saved])),
    );
    lines.push(Line::of("**Consultation:** {}", [&record.id]));
    Part::Facts(lines)
}

fn saved_by_filtering(record: &StoredRecord) -> Option<String> {
    let stats = record.token_efficiency_stats.as_ref()?;
    let saved = stats
        .tokens_saved_via_filtering
        .filter(|saved| *saved > 0)?;
    let (saved, share) = (thousands(saved), stats.efficiency_percentage?);
    Some(format!("about {saved} more, {share}%, saved by filtering"))
}
