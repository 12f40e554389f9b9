//! The parts that the whole report, a part of it, the page and the summary share.

use std::time::Duration;

use crate::consultation::analysis::wording::is_same;
use crate::domain::answer::artifact::{
    ConsensusPoint, Dissent, Evidence, Independent, MenuOption, Severity, Verdict,
};
use crate::domain::answer::debate_value::PositionChange;
use crate::domain::record::stored_record::{
    Completion, ExpertChange, OpenPoint, StoredAgent, StoredRecord,
};
use crate::text::clean::clean;

use crate::domain::ids::AgentId;
use crate::domain::panel::unique_name;
use crate::terminal::document::{
    Fact, Line, Part, fact, foreign, list, list_of, paragraph, titled,
};
use crate::terminal::output::format::{
    ONE_FAMILY, calibrated_words, count, model_name, seconds, stated, thousands,
};

/// How much of a report is shown: what decides, or everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Brief,
    Full,
}

pub(super) fn name<'a>(record: &'a StoredRecord, agent: &'a str) -> &'a str {
    match agent {
        judge if judge == AgentId::Judge.as_str() => "Judge",
        helper if helper == AgentId::Helper.as_str() => "Helper",
        expert => record.name_of(expert),
    }
}

/// The seat's name; with its id where another seat has the same name.
pub(super) fn seat_name(record: &StoredRecord, seat: &StoredAgent) -> String {
    let names = record.agents.iter().map(|agent| agent.name.as_str());
    unique_name(&seat.id, &seat.name, names)
}

pub(super) fn heading(record: &StoredRecord, seat: &StoredAgent) -> Line {
    let model = record.model_of(seat).map(|model| model_name(&model));
    Line::foreign(seat_name(record, seat)).with(" ({})", &model.unwrap_or_default())
}

/// A question of several lines is quoted.
pub(super) fn question(asked: &str, mut facts: Vec<Fact>) -> Vec<Part> {
    let question = clean(asked);
    if question.trim_matches('\n').trim_end().contains('\n') {
        let label = paragraph("**Question:**", []);
        vec![label, Part::Quote(question), Part::Facts(facts)]
    } else {
        facts.insert(0, fact("Question", Line::foreign(asked)));
        vec![Part::Facts(facts)]
    }
}

pub(super) fn without_verdict(record: &StoredRecord) -> &'static str {
    match record.completion() {
        Completion::Completed => "No verdict was asked for",
        Completion::Declined => "Nothing was asked",
        Completion::Aborted | Completion::Unfinished | Completion::Running => {
            "No verdict was reached"
        }
    }
}

pub(super) fn in_short<T: AsRef<str>>(options: &[T], answer: &str) -> Vec<Part> {
    list_of(options)
        .into_iter()
        .chain(foreign(answer))
        .collect()
}

pub(super) fn verdict(verdict: &Verdict) -> Vec<Part> {
    let recommendation = verdict.recommendation.as_str();
    let mut parts = Vec::new();
    if !recommendation.trim().is_empty() || !verdict.is_menu() {
        parts.push(Part::Foreign(recommendation.to_owned()));
    }
    let options = (1..).zip(&verdict.recommendations);
    parts.extend(options.flat_map(|(number, choice)| option(number, choice)));
    let summary = foreign(&verdict.summary);
    let summary = summary.filter(|_| verdict.summary.trim() != recommendation.trim());
    parts.extend(titled(3, "Summary", summary));
    parts
}

fn option(number: usize, choice: &MenuOption) -> Vec<Part> {
    let mut facts = vec![fact("Confidence", stated(choice.confidence))];
    if !choice.best_when.trim().is_empty() {
        facts.push(fact("Best when", Line::foreign(&choice.best_when)));
    }
    let heading = Line::of("Option {}: {}", [&number.to_string(), &choice.option]);
    let mut parts = vec![Part::Heading(3, heading), Part::Facts(facts)];
    parts.extend(foreign(&choice.description));
    for (label, items) in [("**Pros:**", &choice.pros), ("**Cons:**", &choice.cons)] {
        parts.extend(labelled_list(label, items));
    }
    parts
}

pub(super) fn agreement(point: &ConsensusPoint) -> Line {
    let stated = point.confidence.map(|confidence| confidence.to_string());
    Line::foreign(&point.point).with(" ({})", &stated.unwrap_or_default())
}

/// Nothing without items.
pub(super) fn labelled_list(label: &'static str, items: &[String]) -> Vec<Part> {
    let label = paragraph(label, []);
    let items = list_of(items).map(|items| [label, items]);
    items.into_iter().flatten().collect()
}

/// The confidence of the answer, and what the figure rests on; the options of a menu have their
/// own.
pub fn confidence(record: &StoredRecord) -> String {
    let verdict = record.verdict();
    if verdict.is_some_and(Verdict::is_menu) {
        return "each option has its own".to_owned();
    }
    let mut words = vec![match record.confidence {
        None => "not stated by the judge".to_owned(),
        figure => format!("{}, stated by the judge", stated(figure)),
    }];
    let note = verdict.and_then(Verdict::confidence_note);
    words.extend(note.map(str::to_owned));
    // A verdict of the judge is not calibrated.
    let calibrated = record.calibrated();
    let provisional = record.provisional_answer();
    let calibrated = calibrated.filter(|_| provisional.is_some_and(|(round, _)| round == 2));
    words.extend(calibrated.map(|figure| {
        let figure = calibrated_words(&figure);
        format!("the strongest point: calibrated {figure}")
    }));
    words.extend(support(record));
    words.extend(record.panel.one_family.then(|| ONE_FAMILY.to_owned()));
    words.join("; ")
}

/// The points of agreement in the judge's order, without one that repeats the answer.
pub(super) fn agreements(record: &StoredRecord) -> Vec<Part> {
    let Some(synthesis) = record.synthesis() else {
        return Vec::new();
    };
    let answer = record.recommendation.as_deref().unwrap_or_default();
    let points = synthesis.consensus_points.iter();
    let points = points.filter(|point| !is_same(&point.point, answer));
    let prose = foreign(&synthesis.prose_excerpt);
    prose
        .into_iter()
        .chain(list(points.map(agreement)))
        .collect()
}

/// The title of the answer; without one, that of the points of agreement.
pub(super) fn answer_title(record: &StoredRecord) -> &'static str {
    if record.recommendation.is_some() || record.synthesis().is_none() {
        "Answer"
    } else {
        "They agree on"
    }
}

/// The provisional answer with its mark, or why there is none and what they agree on.
pub(super) fn without_verdict_parts(record: &StoredRecord) -> Vec<Part> {
    if let Some((round, given)) = record.provisional_answer() {
        let mark = match round {
            2 => "_provisional, by the judge after Round 2_",
            _ => "_provisional, by the judge after Round 3_",
        };
        return vec![paragraph(mark, []), Part::Foreign(given.answer.clone())];
    }
    let why = without_verdict(record);
    if record.synthesis().is_none() {
        let template = match record.independents().next() {
            Some(_) => "_{}: the positions stand side by side below._",
            None => "_{}, and no expert has answered._",
        };
        return vec![paragraph(template, [why])];
    }
    let mut parts = vec![paragraph(
        "_{}, and the judge gave no provisional answer._",
        [why],
    )];
    let agreements = agreements(record);
    if agreements.is_empty() {
        parts.push(paragraph("Nothing.", []));
    }
    parts.extend(agreements);
    parts
}

fn support(record: &StoredRecord) -> Option<String> {
    let leading = record.synthesis()?.leading()?;
    let answered = record.independents().count();
    let supporters = record.independents();
    let supporters = supporters.filter(|held| leading.is_supported_by(&held.agent_id));
    let (verb, supporters) = match supporters.count() {
        1 => ("supports", 1),
        many => ("support", many),
    };
    let experts = count(answered, "expert");
    (answered > 0).then(|| format!("{supporters} of {experts} {verb} the strongest point"))
}

pub(super) fn evidence<'a>(
    record: &StoredRecord,
    evidence: impl IntoIterator<Item = &'a Evidence>,
) -> Vec<Part> {
    let item = |evidence: &Evidence| {
        Line::foreign(&evidence.claim)
            .with(" — {}", name(record, &evidence.agent))
            .with(": “{}”", &evidence.quote)
    };
    let items = list(evidence.into_iter().map(item));
    titled(3, "Evidence", items)
}

/// In full with its reasoning.
pub(super) fn opinion(held: &Independent, detail: Detail) -> Vec<Part> {
    let mut parts = vec![Part::Foreign(held.position.clone())];
    parts.extend(list_of(&held.key_points));
    let confidence = Line::of("Confidence: {}", [&stated(held.confidence)]);
    parts.push(Part::Paragraph(confidence));
    if detail == Detail::Full {
        let reasoning = foreign(&held.rationale);
        parts.extend(titled(4, "Reasoning", reasoning));
        let words = held.own_words().and_then(foreign);
        parts.extend(titled(4, "In its own words", words));
    }
    parts
}

/// What Round 3 changed: the experts that changed their minds, or of which that is not known, with
/// their new positions, the others in a line each, and what the later rounds were worth. In full,
/// each expert's position.
pub(super) fn changes(record: &StoredRecord, detail: Detail) -> Vec<Part> {
    let changes = record.position_changes();
    let Some(headline) = changes.headline() else {
        return Vec::new();
    };
    let change = |expert| change(record, expert);
    let (shown, in_short): (Vec<_>, Vec<_>) = match detail {
        Detail::Brief => {
            let is_short = |expert: &&ExpertChange<'_>| {
                matches!(
                    expert.change,
                    Some(PositionChange::Held | PositionChange::Refined)
                )
            };
            changes.experts.iter().partition(|expert| !is_short(expert))
        }
        Detail::Full => (changes.experts.iter().collect(), Vec::new()),
    };
    let mut parts = vec![paragraph("{}.", [&headline])];
    if !shown.is_empty() {
        parts.push(Part::Articles(shown.into_iter().map(change).collect()));
    }
    let in_short = in_short
        .into_iter()
        .map(|expert| change_line(record, expert));
    let silent = changes.silent.iter().map(|seat| {
        Line::of(
            "**{}** gave no answer in Round 3",
            [name(record, seat.as_str())],
        )
    });
    let others: Vec<Fact> = in_short.chain(silent).map(Fact::from).collect();
    if !others.is_empty() {
        parts.push(Part::Facts(others));
    }
    if let Some(value) = &record.debate_value_analysis {
        let insights = list_of(&value.key_insights);
        parts.extend(titled(3, "Insights", insights));
        let worth = value.worth_of_later_rounds();
        parts.extend(worth.map(|worth| paragraph("{}.", [&worth])));
    }
    titled(2, "Changes", parts)
}

pub(super) fn change_line(record: &StoredRecord, expert: &ExpertChange<'_>) -> Line {
    let seat = name(record, expert.revision.agent_id.as_str());
    let confidence = expert.confidence_in_words().unwrap_or_default();
    Line::of("**{}** {}", [seat, expert.in_words()]).with(" (confidence {})", &confidence)
}

pub(super) fn change(record: &StoredRecord, expert: &ExpertChange<'_>) -> Vec<Part> {
    let mut parts = vec![
        Part::Paragraph(change_line(record, expert).and(":", [])),
        Part::Foreign(expert.revision.revised_position.clone()),
    ];
    parts.extend(list(reasons(record, expert)));
    if !expert.reasoning.trim().is_empty() {
        let compared = Line::of("_As compared:_ {}", [&expert.reasoning]);
        parts.push(Part::Paragraph(compared));
    }
    parts
}

pub(super) fn reasons(record: &StoredRecord, expert: &ExpertChange<'_>) -> Vec<Line> {
    let reasons = expert.revision.because_of.iter().map(|because| {
        let by = name(record, &because.agent);
        Line::of("because of {}: {}", [by, &because.argument])
    });
    reasons.collect()
}

pub(super) fn open_points(record: &StoredRecord) -> Vec<Vec<Line>> {
    let item = |point: &OpenPoint| {
        let severity = point.severity.map(Severity::name).unwrap_or_default();
        let views = point.views.iter();
        let views = views.map(|view| {
            Line::default()
                .with("**{}:** ", &view.agent)
                .and("{}", [&view.view])
        });
        let topic = Line::foreign(&point.topic).with(" ({})", severity);
        std::iter::once(topic).chain(views).collect()
    };
    record.points_left_open().iter().map(item).collect()
}

pub(super) fn dissent(record: &StoredRecord, is_shown: impl Fn(&str) -> bool) -> Vec<Line> {
    let objections = record.verdict().map_or(&[][..], |verdict| &verdict.dissent);
    let objections = objections.iter().filter(|dissent| is_shown(&dissent.agent));
    let line = |dissent: &Dissent| {
        let by = Line::default().with("**{}** ", name(record, &dissent.agent));
        by.and("({}): {}", [dissent.severity.name(), &dissent.concern])
    };
    objections.map(line).collect()
}

pub(super) fn spent(cost: Option<String>, duration: Option<Duration>, tokens: Option<u64>) -> Fact {
    let or_missing = |text: Option<String>| text.unwrap_or_else(|| "not recorded".to_owned());
    let cost = Line::from(or_missing(cost));
    let figures = [
        &or_missing(duration.map(seconds)),
        &or_missing(tokens.map(thousands)),
    ];
    let figures = figures.map(String::as_str);
    fact(
        "Cost",
        cost.and(" | **Duration:** {} | **Tokens:** {}", figures),
    )
}
