//! Batches: the questions of a document that one consultation works on, with claims to check.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::refinement::document::item::SpecItem;
use crate::refinement::document::{SectionKind, SpecDocument, Tag};
use crate::stopping::convergence::QuestionKey;
use crate::text::clean::one_line;

/// The questions of one consultation, in the order of their numbers from 1, and the claims that it
/// can contradict, in the order of theirs. Texts are one line.
///
/// The numbers mean nothing without the batch: reading an answer takes the batch that was
/// asked, not one of a later version of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionBatch {
    pub questions: Vec<(QuestionKey, String)>,
    pub claims: Vec<(QuestionKey, String)>,
}

impl QuestionBatch {
    /// In the order of their numbers.
    pub fn keys(&self) -> Vec<QuestionKey> {
        self.questions.iter().map(|(key, _)| key.clone()).collect()
    }
}

/// The most claims of a batch. A longer list is divided among the batches.
const MAX_CLAIMS: usize = 24;
/// The most bytes of a claim. A longer one is not numbered; the document has it. Nothing is cut:
/// what is left of a secret may no longer look like one, and would not be masked.
const CLAIM_LENGTH: usize = 400;

/// Returns the open questions of a document in batches of at most this size: blockers first, then
/// in the order of the document. Deferred questions wait for a person and are not asked; a question
/// that stands there twice is asked once.
pub fn batches(document: &SpecDocument, size: NonZeroUsize) -> Vec<QuestionBatch> {
    let questions = questions(document.items(SectionKind::Open));
    let claims = claims(document);
    questions
        .chunks(size.get())
        .enumerate()
        .map(|(number, questions)| QuestionBatch {
            questions: questions.to_vec(),
            claims: window(&claims, number),
        })
        .collect()
}

fn questions(open: &[SpecItem]) -> Vec<(QuestionKey, String)> {
    let asked = || open.iter().filter(|item| !item.has(Tag::Deferred));
    let blockers = asked().filter(|item| item.has(Tag::Blocker));
    let others = asked().filter(|item| !item.has(Tag::Blocker));
    entries(blockers.chain(others))
}

fn claims(document: &SpecDocument) -> Vec<(QuestionKey, String)> {
    let sections = [SectionKind::High, SectionKind::Medium].into_iter();
    let items = sections.flat_map(|section| document.items(section));
    let mut claims = entries(items);
    claims.retain(|(_, text)| text.len() <= CLAIM_LENGTH);
    claims
}

fn entries<'a>(items: impl Iterator<Item = &'a SpecItem>) -> Vec<(QuestionKey, String)> {
    let mut seen = BTreeSet::new();
    items
        .filter(|item| seen.insert(&item.key))
        .map(|item| (item.key.clone(), with_notes(item)))
        .collect()
}

/// The answer to a question that is now a claim, or the reason why a claim was contradicted.
fn with_notes(item: &SpecItem) -> String {
    let notes = one_line(&item.notes);
    if notes.is_empty() {
        return one_line(&item.text);
    }
    format!("{} ({notes})", one_line(&item.text))
}

/// The claims of a long document go round the batches, so that each is examined if there are enough
/// batches.
fn window(claims: &[(QuestionKey, String)], batch: usize) -> Vec<(QuestionKey, String)> {
    if claims.len() <= MAX_CLAIMS {
        return claims.to_vec();
    }
    let first = batch.wrapping_mul(MAX_CLAIMS) % claims.len();
    claims
        .iter()
        .cycle()
        .skip(first)
        .take(MAX_CLAIMS)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    fn divided(text: &str, size: usize) -> Vec<QuestionBatch> {
        let document = SpecDocument::parse(text).unwrap();
        let questions = NonZeroUsize::new(size).unwrap();
        batches(&document, questions)
    }

    fn texts(batch: &QuestionBatch) -> Vec<&str> {
        let questions = batch.questions.iter();
        questions.map(|(_, text)| text.as_str()).collect()
    }

    const DOCUMENT: &str = "# Shop

## High Confidence
- Tokens are signed.

## Medium Confidence
- Postgres is used.

## Open Questions
- How long do sessions last?
- [DEFERRED] Who is the owner?
- Which region is used
  in Europe?
- [BLOCKER] Who pays for refunds?
- [NEW] Is there a trial?
- how long do sessions last
";

    #[test]
    fn blockers_are_asked_first_and_deferred_questions_not() {
        let batches = divided(DOCUMENT, 3);
        let first = [
            "Who pays for refunds?",
            "How long do sessions last?",
            "Which region is used in Europe?",
        ];
        assert_eq!(texts(&batches[0]), first);
        assert_eq!(texts(&batches[1]), ["Is there a trial?"]);
        assert_eq!(batches.len(), 2);
    }

    #[test]
    fn each_batch_has_the_claims_of_the_document() {
        for batch in divided(DOCUMENT, 1) {
            let claims: Vec<&str> = batch.claims.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(claims, ["Tokens are signed.", "Postgres is used."]);
        }
    }

    #[test]
    fn the_claims_of_a_long_document_go_round_the_batches() {
        use std::fmt::Write;
        let mut text = "## High Confidence\n".to_owned();
        for number in 0..60 {
            writeln!(text, "- The claim with number {number} is true.").unwrap();
        }
        text.push_str("\n## Open Questions\n- One?\n- Two?\n- Three?\n");
        let batches = divided(&text, 1);
        let seen: BTreeSet<&QuestionKey> = batches
            .iter()
            .flat_map(|batch| batch.claims.iter().map(|(key, _)| key))
            .collect();
        assert!(batches.iter().all(|batch| batch.claims.len() == MAX_CLAIMS));
        assert_eq!(seen.len(), 60);
    }

    #[test]
    fn a_document_without_open_questions_has_no_batches() {
        assert_eq!(divided("", 3), []);
        assert_eq!(divided("## Open Questions\n- [DEFERRED] Who?\n", 3), []);
    }

    #[test]
    fn no_text_is_cut_so_that_no_part_of_a_secret_is_sent() {
        let long = "word ".repeat(400);
        let text = format!(
            "## High Confidence\n- Short.\n- {long}\n\n## Open Questions\n- {long}\n  to the end?\n"
        );
        let batches = divided(&text, 3);
        let (_, question) = &batches[0].questions[0];
        assert_eq!(*question, format!("{long}to the end?"));
        let claims: Vec<&str> = batches[0]
            .claims
            .iter()
            .map(|(_, text)| text.as_str())
            .collect();
        assert_eq!(claims, ["Short."]);
    }
}
