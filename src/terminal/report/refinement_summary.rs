//! The summary of a loop over a document: how it ended, its iterations, what was done with each
//! item, what it cost, and where everything is.

use std::collections::BTreeMap;

use crate::benchmark::statistics::number;
use crate::domain::ids::ConsultationId;
use crate::domain::names::stored_name;
use crate::domain::record::stored_record::spend::ConsultationSpend;
use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::document::{SectionKind, without_marker};
use crate::refinement::event::Integrated;
use crate::refinement::finding::BatchFindings;
use crate::refinement::state::{BlockerProposal, IterationRecord, LoopPhase, RefinementLoop};
use crate::stopping::convergence::QuestionKey;
use crate::stopping::evaluation::{Class, Decision, Evaluation};
use crate::terminal::document::plot::{Axis, Chart, Join, Plot, Point, Scale, Shape};
use crate::terminal::document::{Line, Part, Table, fact, nested_list, titled};
use crate::terminal::output::format::{amount, count, thousands};
use crate::terminal::output::style::Tone;
use crate::text::clean::{capitalised, one_line, shortened};

/// Characters of the longest item.
const LONGEST_ITEM: usize = 200;

/// What the screen says beside the loop.
#[derive(Clone, Debug, Default)]
pub struct LoopPlaces {
    /// What is in which file.
    pub files: Vec<(&'static str, String)>,
    pub next: Vec<(String, String)>,
}

/// How an item was treated, in the order in which the groups are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Treatment {
    Extracted,
    Answered,
    Contradicted,
    Deferred,
    New,
    StillOpen,
    Unused,
}

pub fn summary(refined: &RefinementLoop, places: &LoopPlaces) -> Vec<Part> {
    let class = refined.evaluation().and_then(Evaluation::class);
    let tone = if class.is_some_and(Class::is_success) {
        Tone::Good
    } else {
        Tone::Warning
    };
    let decision = capitalised(&one_line(&decision(refined)));
    let mut parts = vec![Part::Paragraph(Line::toned(tone, decision))];
    parts.extend(iterations(refined));
    for (treatment, lines) in changes(refined) {
        parts.extend(counted(treatment.title(), lines));
    }
    let proposals = refined.blocker_proposals().into_iter();
    let proposals = proposals.map(|it| vec![proposal(it)]).collect();
    parts.extend(counted("Best proposals for open blockers", proposals));
    parts.extend(counted("Degraded consultations", degradations(refined)));
    let spend = refined.spend();
    let cost = format!("{}, {}", amount(spend.cost), count(spend.calls, "call"));
    let mut facts = vec![fact("Cost", cost)];
    let files = places.files.iter();
    facts.extend(files.map(|(name, file)| fact(*name, Line::toned(Tone::Key, file))));
    parts.push(Part::Facts(facts));
    let next = places.next.iter().cloned();
    parts.push(Part::Next(
        next.map(|(what, command)| (command, what)).collect(),
    ));
    parts
}

/// `converged after iteration 3: 3 questions are open (low_questions)`.
pub fn decision(refined: &RefinementLoop) -> String {
    let after = count(refined.merges().count(), "iteration");
    let decided = refined.evaluation().map(|evaluation| &evaluation.decision);
    match (&refined.phase, decided) {
        (LoopPhase::Stopped { message, .. }, _) => format!("stopped after {after}: {message}"),
        (
            LoopPhase::Ended,
            Some(Decision::Stop {
                class,
                rule,
                message,
                ..
            }),
        ) => {
            format!("{} after {after}: {message} ({rule})", in_words(*class))
        }
        (LoopPhase::Open, _) | (LoopPhase::Ended, None | Some(Decision::Continue)) => {
            format!("interrupted after {after}")
        }
    }
}

fn in_words(class: Class) -> String {
    match class {
        Class::NeedsHuman => "needs a person".to_owned(),
        class => stored_name(&class),
    }
}

/// The items of the document after each iteration; `None` without an iteration that was written.
pub(super) fn items_by_iteration(refined: &RefinementLoop) -> Option<Part> {
    let counts = refined.iterations.iter().filter_map(|iteration| {
        let counts = iteration.written()?.measure.counts?;
        Some((iteration.number, [counts.high, counts.medium, counts.open]))
    });
    let counts: Vec<(u64, [u64; 3])> = counts.collect();
    let most = counts.iter().flat_map(|(_, items)| items).max()?;
    let scale = Scale::to(*most);
    let place = |iteration: u64| (number(iteration) - 0.5) / number(counts.len() as u64);
    let series = [
        ("met", "high confidence"),
        ("unknown", "medium confidence"),
        ("unmet", "open"),
    ];
    let points = counts.iter().flat_map(|(iteration, items)| {
        let is_last = counts.last().is_some_and(|(last, _)| last == iteration);
        series.iter().zip(items).map(move |((class, name), items)| {
            let said = format!("iteration {iteration}: {items} {name}");
            let place = (place(*iteration), scale.share(*items));
            let label = name.split(' ').take(usize::from(is_last));
            let point = Point::new(class, Shape::Circle(4.5), place, said);
            point.named(label.collect())
        })
    });
    let ticks = counts.iter();
    let ticks = ticks.map(|(iteration, _)| (place(*iteration), iteration.to_string()));
    Some(Part::Plot(Plot::Chart(Chart {
        name: "Items of the document after each iteration".to_owned(),
        size: (484.0, 200.0),
        across: Axis::new("Iteration", ticks),
        up: Axis::new("Items", scale.ticks(thousands)),
        points: points.collect(),
        join: Join::Points,
    })))
}

pub(super) fn iterations(refined: &RefinementLoop) -> Option<Part> {
    let iterations = refined.iterations.iter();
    let rows = iterations.filter_map(|iteration| Some(row(iteration, iteration.written()?)));
    let mut rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        rows.splice(..0, extraction(refined));
    }
    Table::of(1, &["", "high", "medium", "open", "changes", "cost"], rows)
}

fn extraction(refined: &RefinementLoop) -> Option<Vec<String>> {
    let spends = refined
        .extractions
        .iter()
        .map(|extraction| &extraction.spend);
    let mut row = vec!["Extraction".to_owned()];
    row.resize(5, "-".to_owned());
    row.push(amount(total(spends).cost));
    (!refined.extractions.is_empty()).then_some(row)
}

fn total<'a>(spends: impl Iterator<Item = &'a ConsultationSpend>) -> ConsultationSpend {
    let mut total = ConsultationSpend::default();
    spends.for_each(|spend| total.add(spend));
    total
}

/// Each item once, with the last that was done with it.
fn changes(refined: &RefinementLoop) -> BTreeMap<Treatment, Vec<Vec<Line>>> {
    let mut items: BTreeMap<&QuestionKey, (Treatment, &ItemChange)> = BTreeMap::new();
    let last = refined.merges().next_back().map(|merge| &merge.changes);
    for change in refined.changes() {
        let mut extractions = refined.extractions.iter();
        let is_extracted =
            extractions.any(|extraction| change.source.as_ref() == Some(&extraction.consultation));
        let treatment = if is_extracted {
            Treatment::Extracted
        } else {
            treatment(change)
        };
        // A finding without an item repeats one that is listed.
        let is_now = change.before.is_some() && last.is_some_and(|last| last.contains(change));
        let adds_nothing = match (items.get(&change.item), treatment) {
            (earlier, Treatment::StillOpen) => {
                !is_now || earlier.is_some_and(|(earlier, _)| *earlier == Treatment::New)
            }
            (earlier, Treatment::Unused) => earlier.is_some(),
            _ => false,
        };
        if !adds_nothing {
            items.insert(&change.item, (treatment, change));
        }
    }
    let mut items: Vec<_> = items.into_values().collect();
    items.sort_by_key(|(_, change)| change.number);
    let mut groups: BTreeMap<Treatment, Vec<Vec<Line>>> = BTreeMap::new();
    for (treatment, change) in items {
        let mut lines = vec![change_line(change)];
        if treatment == Treatment::Answered {
            lines.extend(answer(refined, change));
        }
        groups.entry(treatment).or_default().push(lines);
    }
    groups
}

/// The answer with its confidence, and the dissent from it.
fn answer(refined: &RefinementLoop, change: &ItemChange) -> Vec<Line> {
    let iterations = refined.iterations.iter();
    let mut findings = iterations.flat_map(IterationRecord::findings);
    let found = findings.find(|found| change.source.as_ref() == Some(&found.source.consultation));
    let confidence = found.map(|found| found.source.confidence_in_words());
    let answer =
        Line::foreign(short(&change.reason)).with(" ({})", &confidence.unwrap_or_default());
    let dissent = found.and_then(|found| found.dissent(&change.item));
    let dissent = dissent.map(|dissent| Line::of("Dissent: {}", [&short(dissent)]));
    std::iter::once(answer).chain(dissent).collect()
}

fn proposal(proposal: BlockerProposal<'_>) -> Line {
    let words = [
        &short(&item_text(proposal.change)),
        &short(proposal.answer),
        &proposal.source.confidence_in_words(),
        proposal.source.consultation.as_str(),
    ];
    Line::of("{} → {} ({}, {})", words)
}

/// `changes.md` has all reasons.
fn degradations(refined: &RefinementLoop) -> Vec<Vec<Line>> {
    let iterations = refined.iterations.iter();
    let line = |findings: &BatchFindings| {
        let source = &findings.source;
        let (first, others) = source.degradations.split_first()?;
        let more = Some(others.len()).filter(|more| *more > 0);
        let more = more.map(|more| more.to_string()).unwrap_or_default();
        let line = Line::of("{}: {}", [source.consultation.as_str(), &short(first)]);
        Some(vec![line.with(" (+{})", &more)])
    };
    iterations
        .flat_map(IterationRecord::findings)
        .filter_map(line)
        .collect()
}

fn short(text: &str) -> String {
    shortened(&one_line(text), LONGEST_ITEM)
}

/// Nothing without lines.
fn counted(title: &'static str, items: Vec<Vec<Line>>) -> Vec<Part> {
    let title = Line::from(title).and(" ({})", [&items.len().to_string()]);
    titled(3, title, nested_list(items))
}

impl Treatment {
    fn title(self) -> &'static str {
        match self {
            Self::Extracted => "Extracted from the document",
            Self::Answered => "Answered",
            Self::Contradicted => "Contradicted",
            Self::Deferred => "Deferred to you",
            Self::New => "New questions",
            Self::StillOpen => "Still open",
            Self::Unused => "Not used, because the document was edited",
        }
    }
}

fn treatment(change: &ItemChange) -> Treatment {
    match &change.kind {
        ChangeKind::Moved {
            from: SectionKind::Open,
            ..
        } => Treatment::Answered,
        ChangeKind::Moved {
            from: SectionKind::High | SectionKind::Medium,
            ..
        } => Treatment::Contradicted,
        ChangeKind::Added { .. } => Treatment::New,
        ChangeKind::Deferred => Treatment::Deferred,
        ChangeKind::Kept => Treatment::StillOpen,
        ChangeKind::Dropped => Treatment::Unused,
    }
}

fn row(iteration: &IterationRecord, merge: &Integrated) -> Vec<String> {
    let counts = merge.measure.counts.unwrap_or_default();
    let spent = total(iteration.batches.iter().map(|batch| &batch.spend));
    vec![
        format!("Iteration {}", iteration.number),
        counts.high.to_string(),
        counts.medium.to_string(),
        counts.open.to_string(),
        merge.applied_changes().to_string(),
        amount(spent.cost),
    ]
}

/// `Where are the keys kept? → High Confidence (consult-01k…)`.
fn change_line(change: &ItemChange) -> Line {
    let line = Line::foreign(short(&item_text(change)));
    let to = match &change.kind {
        ChangeKind::Moved { to, .. } => to.heading(),
        _ => "",
    };
    let source = change.source.as_ref().map(ConsultationId::as_str);
    line.with(" → {}", to)
        .with(" ({})", source.unwrap_or_default())
}

/// The first line of the item, without its bullet or number.
fn item_text(change: &ItemChange) -> String {
    let text = change.before.as_deref().or(change.after.as_deref());
    let line = text.and_then(|text| text.lines().next());
    let words = line.map(without_marker).filter(|words| !words.is_empty());
    words.unwrap_or(change.item.as_str()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopping::convergence::QuestionKey;

    fn text_of(before: Option<&str>) -> String {
        item_text(&ItemChange {
            number: 1,
            kind: ChangeKind::Kept,
            item: QuestionKey::of("Where?"),
            before: before.map(ToOwned::to_owned),
            after: None,
            reason: String::new(),
            source: None,
        })
    }

    #[test]
    fn items_are_shown_without_their_marker() {
        assert_eq!(text_of(Some("- [NEW] Where?\n  - a note")), "[NEW] Where?");
        assert_eq!(text_of(Some("12. 3 retries?")), "3 retries?");
        assert_eq!(text_of(Some("* **Where**?")), "**Where**?");
        assert_eq!(text_of(Some("- 3 retries?")), "3 retries?");
        assert_eq!(text_of(None), "where");
    }
}
