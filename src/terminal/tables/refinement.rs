//! The summary of a loop over a document: how it ended, its iterations, what was done with each
//! item, what it cost, and where everything is.

use std::collections::BTreeMap;

use super::columns::{figures_table, hanging};
use crate::domain::stored_record::spend::ConsultationSpend;
use crate::domain::text::shortened;
use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::document::SectionKind;
use crate::refinement::event::Integrated;
use crate::refinement::state::{IterationRecord, LoopPhase, RefinementLoop};
use crate::stopping::evaluation::{Class, Decision, Evaluation};
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::{amount, count};
use crate::terminal::output::style::Paint;

/// Characters of the longest item.
const LONGEST_ITEM: usize = 200;

/// What the screen says beside the loop.
#[derive(Clone, Debug, Default)]
pub struct LoopPlaces {
    /// The document that is written.
    pub document: String,
    pub changes: String,
    /// `None` if it is not there any more.
    pub original: Option<String>,
    pub log: String,
    /// What to do now, each with a command.
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

/// Returns the screen for a terminal of this width. `None` does not wrap.
pub fn screen(
    refined: &RefinementLoop,
    places: &LoopPlaces,
    width: Option<usize>,
    paint: Paint,
) -> String {
    let mut screen = LoopScreen {
        text: String::new(),
        refined,
        width: width.map(|width| width.clamp(20, 100)),
        paint,
    };
    screen.head();
    screen.iterations();
    screen.changes();
    screen.proposals();
    screen.degradations();
    screen.places(places);
    screen.text
}

/// Returns how a loop stands, in one line: `converged after iteration 3: 3 questions are open
/// (low_questions)`.
pub fn decision(refined: &RefinementLoop) -> String {
    let iterations = refined.merges().count();
    let decided = refined.evaluation().map(|evaluation| &evaluation.decision);
    match (&refined.phase, decided) {
        (LoopPhase::Stopped { message, .. }, _) => {
            format!(
                "stopped after {}: {message}",
                count(iterations, "iteration")
            )
        }
        (
            LoopPhase::Ended,
            Some(Decision::Stop {
                class,
                rule,
                message,
                ..
            }),
        ) => format!(
            "{} after {}: {message} ({rule})",
            in_words(*class),
            count(iterations, "iteration")
        ),
        (LoopPhase::Open, _) | (LoopPhase::Ended, None | Some(Decision::Continue)) => {
            format!("interrupted after {}", count(iterations, "iteration"))
        }
    }
}

fn in_words(class: Class) -> &'static str {
    match class {
        Class::NeedsHuman => "needs a person",
        class => class.name(),
    }
}

struct LoopScreen<'a> {
    text: String,
    refined: &'a RefinementLoop,
    width: Option<usize>,
    paint: Paint,
}

impl LoopScreen<'_> {
    fn head(&mut self) {
        let line = one_line(&decision(self.refined));
        let mut letters = line.chars();
        let first = letters.next().map(char::to_uppercase);
        let line: String = first.into_iter().flatten().chain(letters).collect();
        let line = hanging("", &line, 0, self.width);
        let line = line.trim_end();
        let decided = self.refined.evaluation();
        let class = decided.and_then(Evaluation::class);
        let painted = if class.is_some_and(Class::is_success) {
            self.paint.green(line)
        } else {
            self.paint.yellow(line)
        };
        self.text.extend([&painted, "\n"]);
    }

    fn iterations(&mut self) {
        let iterations = self.refined.iterations.iter();
        let mut rows: Vec<Vec<String>> = iterations
            .filter_map(|iteration| Some(row(iteration, iteration.written()?)))
            .collect();
        if rows.is_empty() {
            return;
        }
        rows.splice(..0, self.extraction());
        let heads = ["high", "medium", "open", "changes", "cost"];
        let width = self.width.unwrap_or(usize::MAX);
        self.text.push('\n');
        self.text
            .push_str(&figures_table(&heads, &rows, width, self.paint));
    }

    /// Returns the row of what the extraction cost, if there was one.
    fn extraction(&self) -> Option<Vec<String>> {
        let mut spent = ConsultationSpend::default();
        for extraction in &self.refined.extractions {
            spent.add(&extraction.spend);
        }
        let none = || "-".to_owned();
        (!self.refined.extractions.is_empty()).then(|| {
            vec![
                "Extraction".to_owned(),
                none(),
                none(),
                none(),
                none(),
                amount(spent.cost),
            ]
        })
    }

    fn treatment(&self, change: &ItemChange) -> Treatment {
        let mut extractions = self.refined.extractions.iter();
        if extractions.any(|extraction| change.source.as_ref() == Some(&extraction.consultation)) {
            return Treatment::Extracted;
        }
        treatment(change)
    }

    fn changes(&mut self) {
        let mut groups: BTreeMap<Treatment, Vec<&ItemChange>> = BTreeMap::new();
        let last = self
            .refined
            .merges()
            .next_back()
            .map(|merge| &merge.changes);
        for change in self.refined.changes() {
            let treatment = self.treatment(change);
            // A finding without an item repeats one that is listed.
            let is_now = change.before.is_some() && last.is_some_and(|last| last.contains(change));
            if treatment != Treatment::StillOpen || is_now {
                groups.entry(treatment).or_default().push(change);
            }
        }
        for (treatment, changes) in groups {
            let lines = changes.into_iter().map(change_line);
            self.list(treatment.title(), lines.collect());
        }
    }

    /// Says what the panel proposes for blockers that are still open.
    fn proposals(&mut self) {
        let lines = self.refined.blocker_proposals();
        let lines = lines.into_iter().map(|proposal| {
            let question = shortened(&one_line(&item_text(proposal.change)), LONGEST_ITEM);
            let answer = shortened(&one_line(proposal.answer), LONGEST_ITEM);
            let confidence = proposal.source.confidence_in_words();
            let consultation = &proposal.source.consultation;
            format!("{question} → {answer} ({confidence}, {consultation})")
        });
        self.list("Best proposals for open blockers", lines.collect());
    }

    /// Names the consultations that are less than the panel promised.
    fn degradations(&mut self) {
        let iterations = self.refined.iterations.iter();
        let findings = iterations.flat_map(IterationRecord::findings);
        // `changes.md` has all reasons in full.
        let lines = findings.filter_map(|findings| {
            let source = &findings.source;
            let (first, others) = source.degradations.split_first()?;
            let others = match others.len() {
                0 => String::new(),
                more => format!(" (+{more})"),
            };
            let reason = shortened(&one_line(first), LONGEST_ITEM);
            Some(format!("{}: {reason}{others}", source.consultation))
        });
        self.list("Degraded consultations", lines.collect());
    }

    fn list(&mut self, title: &str, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        let title = format!("{title} ({})", lines.len());
        self.text.extend(["\n", &self.paint.bold(&title), "\n"]);
        for line in lines {
            self.text.push_str(&hanging("- ", &line, 2, self.width));
        }
    }

    fn places(&mut self, places: &LoopPlaces) {
        let spend = self.refined.spend();
        let calls = usize::try_from(spend.calls).unwrap_or(usize::MAX);
        let cost = format!("{}, {}", amount(spend.cost), count(calls, "call"));
        self.text.push('\n');
        let places_in_order = [
            ("Cost:     ", Some(&cost)),
            ("Document: ", Some(&places.document)),
            ("Changes:  ", Some(&places.changes)),
            ("Original: ", places.original.as_ref()),
            ("Log:      ", Some(&places.log)),
        ];
        for (name, value) in places_in_order {
            if let Some(value) = value {
                // Paths are not wrapped, so that they can be copied.
                let name = self.paint.dim(name);
                self.text.extend([&name, value.as_str(), "\n"]);
            }
        }
        for (what, command) in &places.next {
            let what = hanging("", &format!("{what}:"), 0, self.width);
            self.text
                .extend(["\n", &what, "  ", &self.paint.cyan(command), "\n"]);
        }
    }
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
    let mut spent = ConsultationSpend::default();
    for batch in &iteration.batches {
        spent.add(&batch.spend);
    }
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
fn change_line(change: &ItemChange) -> String {
    let mut line = shortened(&one_line(&item_text(change)), LONGEST_ITEM);
    if let ChangeKind::Moved { to, .. } = &change.kind {
        line.extend([" → ", to.heading()]);
    }
    if let Some(source) = &change.source {
        line.extend([" (", source.as_str(), ")"]);
    }
    line
}

/// Returns the words of an item, as they stand in the document.
fn item_text(change: &ItemChange) -> String {
    let text = change.before.as_deref().or(change.after.as_deref());
    let line = text
        .and_then(|text| text.lines().next())
        .unwrap_or_default();
    let line = line.trim();
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after_number.strip_prefix(['.', ')']);
    let rest = numbered.or_else(|| line.strip_prefix(['-', '*', '+']));
    let words = rest
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .unwrap_or(line)
        .trim_start();
    if words.is_empty() {
        change.item.as_str().to_owned()
    } else {
        words.to_owned()
    }
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
