//! Reads an answer without labels to a batch of one question, as small models write it. What is no
//! plain statement is not read: negations, hedges and words about the question itself.

use crate::domain::text::clean;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::finding::PanelFinding;
use crate::refinement::label::has_label;
use crate::stopping::convergence::QuestionKey;

use super::content;

/// The most characters of an answer.
const LENGTH: usize = 600;

/// Words that say that there is no answer.
const REFUSALS: [&str; 32] = [
    "don t know",
    "do not know",
    "cannot answer",
    "can t answer",
    "cannot be answered",
    "cannot be determined",
    "cannot determine",
    "cannot say",
    "does not say",
    "doesn t say",
    "does not state",
    "does not specify",
    "doesn t specify",
    "does not mention",
    "doesn t mention",
    "does not answer",
    "doesn t answer",
    "does not provide",
    "doesn t provide",
    "does not contain",
    "not specified",
    "not stated",
    "not mentioned",
    "not provided",
    "not known",
    "not clear",
    "not enough information",
    "no information",
    "unclear",
    "unspecified",
    "remains open",
    "is still open",
];

/// Words of texts that may be no answers: they deny, hedge, or are about the question.
const UNSURE: [&str; 36] = [
    "not",
    "no",
    "none",
    "never",
    "nothing",
    "cannot",
    "t",
    "without",
    "unknown",
    "undecided",
    "undefined",
    "depends",
    "depending",
    "unless",
    "either",
    "may",
    "might",
    "maybe",
    "perhaps",
    "possibly",
    "probably",
    "likely",
    "could",
    "would",
    "assume",
    "assuming",
    "clarify",
    "clarification",
    "question",
    "questions",
    "answer",
    "answers",
    "panel",
    "expert",
    "experts",
    "label",
];

/// Words that English sentences have and those of its neighbours lack. In other languages, a refusal
/// would not be recognised.
const ENGLISH: [&str; 8] = ["the", "are", "this", "these", "and", "they", "with", "it"];

/// Returns what an answer says of the only question of a batch; `None` if that is not sure.
pub(super) fn read_unlabelled(text: &str, batch: &QuestionBatch) -> Option<PanelFinding> {
    let [(question, _)] = batch.questions.as_slice() else {
        return None;
    };
    let text = clean(text);
    let is_plain = !text.contains(['\n', '|', '{', '`', '>']) && !text.contains("\\n");
    let words = content::bare(&text);
    let key = QuestionKey::of(&words);
    let repeats_question = key.as_str().contains(question.as_str());
    let is_statement = words.chars().count() <= LENGTH && !words.ends_with(['?', '？', ':']);
    if !is_plain || !is_statement || repeats_question || has_label(&text) {
        return None;
    }
    if content::is_echo(&words) || content::is_no_answer(&words) {
        return None;
    }
    let spaced = format!(" {} ", key.as_str());
    let has = |words: &[&str]| {
        words
            .iter()
            .any(|word| spaced.contains(&format!(" {word} ")))
    };
    let question = question.clone();
    if !has(&ENGLISH) {
        None
    } else if has(&REFUSALS) {
        let reason = words;
        Some(PanelFinding::StillOpen { question, reason })
    } else if has(&UNSURE) {
        None
    } else {
        Some(PanelFinding::Answered {
            question,
            answer: words,
            dissent: None,
        })
    }
}
