//! Merges the findings of a panel into a document. Pure: the same findings give the same text, in
//! whatever order their consultations finished.
//!
//! | finding | what is done with the item |
//! |---|---|
//! | answered | it moves to High or Medium Confidence, with the answer; a blocker whose answer is not of high confidence stays, and a contradicted claim gets no higher than Medium |
//! | still open, or nothing readable | it stays, and is no longer new |
//! | deferred | it stays with a tag and the reason, and is not asked again |
//! | answered and deferred at once | it stays |
//! | contradicted | it moves down by one section, with the reason; not if this merge has just moved it up |
//! | new question | it is added, unless it is known |
//!
//! Items with the same words are one question: what is found about it applies to all of them. What
//! fits no item is dropped and stays in the log: a person has changed or removed the item. A
//! deferral or contradiction whose note is there was written before, by a process that was killed.

mod notes;
mod planned;

use std::collections::{BTreeMap, BTreeSet};

use self::planned::{PlannedChange, changes};
use crate::domain::answer::confidence::Confidence;
use crate::domain::ids::ConsultationId;
use crate::refinement::change::{ChangeKind, ItemChange};
use crate::refinement::document::{DocumentEditor, SectionKind, SpecDocument, SpecItem, Tag};
use crate::refinement::event::Extraction;
use crate::refinement::finding::{BatchFindings, FindingSource, PanelFinding, answer_section};
use crate::refinement::front_matter::FrontMatterError;
use crate::stopping::convergence::QuestionKey;

/// The most new questions of one consultation that are added.
const MAX_NEW_QUESTIONS: usize = 5;

/// A document with findings merged into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Integration {
    pub text: String,
    pub changes: Vec<ItemChange>,
}

/// Merges findings into a document. `first_change` is the number of the first change; answers are
/// of high confidence from `high_from` on, and questions that are known are not new.
///
/// # Errors
///
/// When the new text cannot be read.
pub fn integrate(
    document: &SpecDocument,
    findings: &[BatchFindings],
    first_change: u64,
    high_from: Confidence,
    known: BTreeSet<QuestionKey>,
) -> Result<Integration, FrontMatterError> {
    let findings = in_order_of_questions(document, findings);
    let mut merge = MergeInProgress::new(document, first_change);
    for (question, outcome) in outcomes(&findings) {
        merge.question(&question, &outcome, high_from);
    }
    merge.contradictions(&findings);
    merge.new_questions(&findings, known);
    merge.finish()
}

fn in_order_of_questions<'f>(
    document: &SpecDocument,
    findings: &'f [BatchFindings],
) -> Vec<&'f BatchFindings> {
    let open = document.items(SectionKind::Open).iter().enumerate();
    let mut positions: BTreeMap<&QuestionKey, usize> = BTreeMap::new();
    for (position, item) in open {
        positions.entry(&item.key).or_insert(position);
    }
    let mut ordered: Vec<&BatchFindings> = findings.iter().collect();
    ordered.sort_by_cached_key(|batch| {
        let questions = batch.findings.iter().filter_map(PanelFinding::question);
        let all = questions.chain(&batch.unread);
        let first = all.filter_map(|question| positions.get(question)).min();
        let first = first.copied().unwrap_or(usize::MAX);
        (first, batch.source.consultation.clone())
    });
    ordered
}

struct MergeInProgress<'d> {
    document: &'d SpecDocument,
    editor: DocumentEditor<'d>,
    first_change: u64,
    planned: Vec<PlannedChange>,
}

impl<'d> MergeInProgress<'d> {
    fn new(document: &'d SpecDocument, first_change: u64) -> Self {
        Self {
            document,
            editor: DocumentEditor::new(document),
            first_change,
            planned: Vec::new(),
        }
    }

    fn finish(self) -> Result<Integration, FrontMatterError> {
        let text = self.editor.finish();
        let written = self.document.with_text(&text)?;
        let changes = changes(self.planned, &written);
        Ok(Integration { text, changes })
    }

    fn question(
        &mut self,
        question: &QuestionKey,
        outcome: &QuestionOutcome<'_>,
        high_from: Confidence,
    ) {
        let items = self.document.with_key(SectionKind::Open, question);
        let (source, finding) = outcome;
        let (reason, id) = (finding.words(), &source.consultation);
        if items.is_empty() {
            self.plan(ChangeKind::Dropped, question, None, reason, id);
        }
        for item in items {
            let kind = match finding {
                PanelFinding::Answered {
                    answer, dissent, ..
                } => {
                    let dissent = dissent.as_deref();
                    match section(item, source, dissent, high_from) {
                        Some(to) => {
                            let note = notes::answer(source, answer, dissent);
                            self.editor.move_item(item, to, &note);
                            let from = SectionKind::Open;
                            ChangeKind::Moved { from, to }
                        }
                        None => self.keep(item),
                    }
                }
                PanelFinding::Deferred { .. }
                    if !notes::has_note(item, notes::DEFERRED, &source.consultation) =>
                {
                    self.editor.clear_tag(item, Tag::New);
                    self.editor.set_tag(item, Tag::Deferred);
                    let note = notes::with_reason(notes::DEFERRED, source, reason);
                    self.editor.note(item, &note);
                    ChangeKind::Deferred
                }
                PanelFinding::Deferred { .. }
                | PanelFinding::StillOpen { .. }
                | PanelFinding::Contradicted { .. }
                | PanelFinding::NewQuestion { .. } => self.keep(item),
            };
            self.plan(kind, question, Some(item), reason, id);
        }
    }

    fn keep(&mut self, item: &SpecItem) -> ChangeKind {
        self.editor.clear_tag(item, Tag::New);
        ChangeKind::Kept
    }

    fn contradictions(&mut self, findings: &[&BatchFindings]) {
        let planned = self.planned.iter().map(|(change, _)| change);
        let moved = planned.filter(|one| matches!(one.kind, ChangeKind::Moved { .. }));
        let moved: BTreeSet<QuestionKey> = moved.map(|one| one.item.clone()).collect();
        let mut contradicted: BTreeSet<&QuestionKey> = BTreeSet::new();
        for (source, finding) in sourced(findings) {
            let PanelFinding::Contradicted { claim, reason } = finding else {
                continue;
            };
            let in_section = |section| self.document.with_key(section, claim);
            let mut items = in_section(SectionKind::High);
            if items.is_empty() {
                items = in_section(SectionKind::Medium);
            }
            let id = &source.consultation;
            if !contradicted.insert(claim) || moved.contains(claim) {
                self.plan(ChangeKind::Kept, claim, None, reason, id);
            } else if items.is_empty() {
                self.plan(ChangeKind::Dropped, claim, None, reason, id);
            } else {
                for item in items {
                    self.contradict(item, reason, source);
                }
            }
        }
    }

    fn contradict(&mut self, item: &'d SpecItem, reason: &str, source: &FindingSource) {
        let id = &source.consultation;
        if notes::has_note(item, notes::CONTRADICTED, id) {
            return self.plan(ChangeKind::Kept, &item.key, Some(item), reason, id);
        }
        let to = match item.section {
            SectionKind::High => SectionKind::Medium,
            SectionKind::Medium | SectionKind::Open => SectionKind::Open,
        };
        let note = notes::with_reason(notes::CONTRADICTED, source, reason);
        self.editor.move_item(item, to, &note);
        let from = item.section;
        let kind = ChangeKind::Moved { from, to };
        self.plan(kind, &item.key, Some(item), reason, id);
    }

    fn new_questions(&mut self, findings: &[&BatchFindings], mut known: BTreeSet<QuestionKey>) {
        for section in SectionKind::ALL {
            let items = self.document.items(section).iter();
            known.extend(items.map(|item| item.key.clone()));
        }
        let blockers = new_blockers(findings);
        for batch in findings {
            let mut added = 0;
            for finding in &batch.findings {
                let PanelFinding::NewQuestion { text, .. } = finding else {
                    continue;
                };
                let key = QuestionKey::of(text);
                let is_of_words = !key.as_str().is_empty();
                if added == MAX_NEW_QUESTIONS || !is_of_words || !known.insert(key.clone()) {
                    continue;
                }
                added += 1;
                let tags: &[Tag] = if blockers.contains(&key) {
                    &[Tag::New, Tag::Blocker]
                } else {
                    &[Tag::New]
                };
                self.editor.add_item(SectionKind::Open, text, tags);
                let to = SectionKind::Open;
                let id = &batch.source.consultation;
                self.plan(ChangeKind::Added { to }, &key, None, text, id);
            }
        }
    }

    fn plan(
        &mut self,
        kind: ChangeKind,
        key: &QuestionKey,
        item: Option<&SpecItem>,
        reason: &str,
        source: &ConsultationId,
    ) {
        let section = match kind {
            ChangeKind::Moved { to, .. } | ChangeKind::Added { to } => Some(to),
            ChangeKind::Deferred | ChangeKind::Kept => item.map(|item| item.section),
            ChangeKind::Dropped => None,
        };
        let change = ItemChange {
            number: self.first_change + self.planned.len() as u64,
            kind,
            item: key.clone(),
            before: item.map(|item| planned::source_of(self.document, item)),
            after: None,
            reason: reason.to_owned(),
            source: Some(source.clone()),
        };
        self.planned.push((change, section));
    }
}

/// `None` if it stays open.
fn section(
    item: &SpecItem,
    source: &FindingSource,
    dissent: Option<&str>,
    high_from: Confidence,
) -> Option<SectionKind> {
    let to = answer_section(source, dissent, &item.tags, high_from)?;
    // The words of a contradicted claim are no longer settled, whatever is answered to them.
    let is_doubtful = to == SectionKind::High && notes::is_contradicted(item);
    Some(if is_doubtful { SectionKind::Medium } else { to })
}

fn sourced<'f>(
    findings: &[&'f BatchFindings],
) -> impl Iterator<Item = (&'f FindingSource, &'f PanelFinding)> {
    findings.iter().flat_map(|batch| {
        let findings = batch.findings.iter();
        findings.map(|finding| (&batch.source, finding))
    })
}

fn new_blockers(findings: &[&BatchFindings]) -> BTreeSet<QuestionKey> {
    let blockers = sourced(findings).filter_map(|(_, finding)| match finding {
        PanelFinding::NewQuestion { text, blocker } => blocker.then(|| QuestionKey::of(text)),
        _ => None,
    });
    blockers.collect()
}

/// Adds extracted claims and questions to a document that lacks the sections. The items of the same
/// words are one; a question is more than a claim, and a doubtful claim more than a settled one.
///
/// # Errors
///
/// When the new text cannot be read.
pub fn add_extraction(
    document: &SpecDocument,
    extraction: &Extraction,
    first_change: u64,
) -> Result<Integration, FrontMatterError> {
    let mut merge = MergeInProgress::new(document, first_change);
    let mut known: BTreeSet<QuestionKey> = BTreeSet::new();
    let open = (SectionKind::Open, &extraction.open);
    let medium = (SectionKind::Medium, &extraction.medium);
    let high = (SectionKind::High, &extraction.high);
    for (to, texts) in [open, medium, high] {
        for text in texts {
            let key = QuestionKey::of(text);
            if key.as_str().is_empty() || !known.insert(key.clone()) {
                continue;
            }
            merge.editor.add_item(to, text, &[]);
            let (kind, reason) = (ChangeKind::Added { to }, "extracted from the document");
            merge.plan(kind, &key, None, reason, &extraction.consultation);
        }
    }
    merge.editor.adds_sections = true;
    merge.finish()
}

/// What follows for a question from all that was found about it: it is answered, deferred or still
/// open.
pub(super) type QuestionOutcome<'f> = (&'f FindingSource, PanelFinding);

fn merged<'f>(earlier: QuestionOutcome<'f>, later: QuestionOutcome<'f>) -> QuestionOutcome<'f> {
    use PanelFinding::{Answered, Deferred, StillOpen};
    match (&earlier.1, &later.1) {
        (Answered { answer, .. }, Deferred { question, reason })
        | (Deferred { question, reason }, Answered { answer, .. }) => {
            let reason = format!("one panel answers “{answer}”, another defers it: {reason}");
            let question = question.clone();
            (earlier.0, StillOpen { question, reason })
        }
        // An unknown confidence is below every known one.
        (Answered { .. }, Answered { .. }) if later.0.confidence > earlier.0.confidence => later,
        (StillOpen { .. }, Answered { .. } | Deferred { .. }) => later,
        _ => earlier,
    }
}

/// In the order in which the findings name them.
pub(super) fn outcomes<'f>(
    findings: &[&'f BatchFindings],
) -> Vec<(QuestionKey, QuestionOutcome<'f>)> {
    let mut order: Vec<QuestionKey> = Vec::new();
    let mut outcomes: BTreeMap<QuestionKey, QuestionOutcome<'f>> = BTreeMap::new();
    for batch in findings {
        let unread = batch.unread.iter().map(|question| PanelFinding::StillOpen {
            question: question.clone(),
            reason: "the answer says nothing readable about it".to_owned(),
        });
        for finding in batch.findings.iter().cloned().chain(unread) {
            let Some(question) = finding.question().cloned() else {
                continue;
            };
            let mut outcome = (&batch.source, finding);
            match outcomes.remove(&question) {
                Some(earlier) => outcome = merged(earlier, outcome),
                None => order.push(question.clone()),
            }
            outcomes.insert(question, outcome);
        }
    }
    let in_order = order.into_iter();
    in_order
        .filter_map(|question| outcomes.remove_entry(&question))
        .collect()
}

#[cfg(test)]
mod tests;
