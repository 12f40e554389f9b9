//! Recognises a label at a place in a line.

use super::cursor::{Cursor, LetterCase};

/// What a label is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    Question(usize),
    Claim(usize),
}

/// What a label says of a question or claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelOutcome {
    Answered,
    Open,
    Deferred,
    Dissent,
    Contradicted,
}

/// The meaning of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Finding(Matter, LabelOutcome),
    /// A question or claim is named, without an outcome: `Q1: How long?`
    Reference(Matter),
    NewQuestion,
    NewBlocker,
}

/// A label in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelMatch {
    pub label: Label,
    /// The byte after the label and its separator.
    pub end: usize,
    pub syntax: LabelSyntax,
}

/// How a label is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelSyntax {
    /// In capitals, with a colon or the like.
    Full,
    /// In capitals, without a separator.
    NoSeparator,
    /// Not in capitals, with a separator or at the end of its line.
    SmallLetters,
    /// In small letters amid other words: it can be a part of a sentence.
    Prose,
}

const QUESTION_WORDS: [&str; 7] = [
    "question", "frage", "pregunta", "domanda", "问题", "問題", "q",
];
const CLAIM_WORDS: [&str; 3] = ["claim", "aussage", "c"];

/// The outcomes of questions and claims, the longer words first.
const OUTCOMES: [(&str, LabelOutcome); 14] = [
    ("not answered", LabelOutcome::Open),
    ("still open", LabelOutcome::Open),
    ("remains open", LabelOutcome::Open),
    ("unanswered", LabelOutcome::Open),
    ("answered", LabelOutcome::Answered),
    ("answer", LabelOutcome::Answered),
    ("open", LabelOutcome::Open),
    ("deferred", LabelOutcome::Deferred),
    ("defer", LabelOutcome::Deferred),
    ("dissenting", LabelOutcome::Dissent),
    ("dissent", LabelOutcome::Dissent),
    ("contradicted", LabelOutcome::Contradicted),
    ("contradiction", LabelOutcome::Contradicted),
    ("contradicts", LabelOutcome::Contradicted),
];

/// Whether a text has what a reader could take for a label, or numbers its own questions or claims
/// like one.
pub fn has_label(text: &str) -> bool {
    text.lines().any(|line| {
        starts_of_words(line).any(|at| {
            label_at(line, at, None).is_some_and(|found| match found.label {
                Label::Finding(..) | Label::Reference(_) => true,
                Label::NewQuestion | Label::NewBlocker => found.syntax == LabelSyntax::Full,
            })
        })
    })
}

/// Returns the bytes at which words of a line begin. In scripts without spaces, each letter can.
pub(in crate::refinement) fn starts_of_words(line: &str) -> impl Iterator<Item = usize> {
    let mut before: Option<char> = None;
    line.char_indices().filter_map(move |(at, c)| {
        let previous = before.replace(c);
        let is_within = previous.is_some_and(|c| c.is_alphanumeric() && is_spaced(c));
        (c.is_alphabetic() && !(is_within && is_spaced(c))).then_some(at)
    })
}

fn is_spaced(c: char) -> bool {
    !matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Returns the label that begins at a byte of a line.
pub(in crate::refinement) fn label_at(
    line: &str,
    at: usize,
    mark: Option<&str>,
) -> Option<LabelMatch> {
    let cursor = Cursor::new(line, at);
    new_question(cursor, mark).or_else(|| about(cursor, mark))
}

/// Returns the outcome that begins at a byte of a line, without a question before it.
pub(in crate::refinement) fn outcome_at(
    line: &str,
    at: usize,
) -> Option<(LabelOutcome, LabelMatch)> {
    let mut cursor = Cursor::new(line, at);
    let (outcome, case) = outcome(&mut cursor)?;
    let matter = Matter::Question(0);
    let found = finish(cursor, Label::Finding(matter, outcome), case);
    Some((outcome, found))
}

/// Returns the questions and claims that a text names.
pub(in crate::refinement) fn matters(text: &str, mark: Option<&str>) -> Vec<Matter> {
    let lines = text.lines();
    let found = lines.flat_map(|line| {
        starts_of_words(line).filter_map(move |at| {
            let mut cursor = Cursor::new(line, at);
            matter(&mut cursor, mark).map(|(matter, _)| matter)
        })
    });
    found.collect()
}

fn new_question(mut cursor: Cursor<'_>, mark: Option<&str>) -> Option<LabelMatch> {
    let case = cursor.word("new")?;
    read_mark(&mut cursor, mark)?;
    let mut ahead = cursor;
    ahead.skip(is_gap);
    let label = if ahead.word("blocker").is_some() {
        cursor = ahead;
        Label::NewBlocker
    } else {
        Label::NewQuestion
    };
    let mut ahead = cursor;
    ahead.skip(is_gap);
    if ahead.word("question").is_some() {
        cursor = ahead;
    }
    Some(finish(cursor, label, case))
}

fn about(mut cursor: Cursor<'_>, mark: Option<&str>) -> Option<LabelMatch> {
    let (matter, case) = matter(&mut cursor, mark)?;
    let mut ahead = cursor;
    ahead.skip(|c| is_gap(c) || is_separator(c) || matches!(c, '-' | '>' | '.' | ','));
    let reference = |cursor| finish(cursor, Label::Reference(matter), case);
    let Some((outcome, case_of_outcome)) = outcome(&mut ahead) else {
        return Some(reference(cursor));
    };
    let is_about_questions = outcome != LabelOutcome::Contradicted;
    let is_question = matches!(matter, Matter::Question(_));
    if is_about_questions != is_question || offers_another(ahead) {
        return Some(reference(cursor));
    }
    let case = match (case, case_of_outcome) {
        (LetterCase::Capitals, LetterCase::Capitals) => LetterCase::Capitals,
        (LetterCase::Small, _) | (_, LetterCase::Small) => LetterCase::Small,
    };
    Some(finish(ahead, Label::Finding(matter, outcome), case))
}

/// Reads a question or claim with its number and mark.
fn matter(cursor: &mut Cursor<'_>, mark: Option<&str>) -> Option<(Matter, LetterCase)> {
    let questions = QUESTION_WORDS.iter().map(|word| (word, true));
    let claims = CLAIM_WORDS.iter().map(|word| (word, false));
    for (word, is_question) in questions.chain(claims) {
        let mut ahead = *cursor;
        let Some(case) = ahead.word(word) else {
            continue;
        };
        ahead.skip(|c| matches!(c, ' ' | '.' | '#' | '-' | '_' | '\\'));
        let Some(number) = ahead.number() else {
            continue;
        };
        read_mark(&mut ahead, mark)?;
        *cursor = ahead;
        let is_letter = word.len() == 1;
        // "Question 1 ANSWERED" is written in capitals as far as it matters.
        let case = if is_letter {
            case
        } else {
            LetterCase::Capitals
        };
        let matter = if is_question {
            Matter::Question(number)
        } else {
            Matter::Claim(number)
        };
        return Some((matter, case));
    }
    None
}

/// Reads the mark; `None` if it is missing.
fn read_mark(cursor: &mut Cursor<'_>, mark: Option<&str>) -> Option<()> {
    if let Some(mark) = mark {
        let mut ahead = *cursor;
        ahead.skip(|c| matches!(c, ' ' | '-' | '_' | '.' | '(' | '['));
        ahead.word(mark)?;
        *cursor = ahead;
    }
    Some(())
}

fn outcome(cursor: &mut Cursor<'_>) -> Option<(LabelOutcome, LetterCase)> {
    OUTCOMES.iter().find_map(|(word, outcome)| {
        let case = cursor.word(word)?;
        Some((*outcome, case))
    })
}

/// Whether another outcome follows: `ANSWERED / OPEN / DEFERRED` repeats the request.
fn offers_another(mut cursor: Cursor<'_>) -> bool {
    cursor.skip(|c| is_gap(c) || matches!(c, '/' | ',' | '|'));
    if cursor.word("or").is_some() {
        cursor.skip(is_gap);
    }
    outcome(&mut cursor).is_some_and(|(_, case)| case == LetterCase::Capitals)
}

/// Reads what separates a label from its text.
fn finish(mut cursor: Cursor<'_>, label: Label, case: LetterCase) -> LabelMatch {
    cursor.skip(is_closing);
    let has_separator = cursor.skip(is_separator) || skip_dash(&mut cursor);
    // Markup that ends right here is the label's; behind a space it is the text's.
    cursor.skip(|c| is_closing(c) && !c.is_whitespace());
    cursor.skip(|c| c.is_whitespace() || is_separator(c));
    let ends_line = cursor.rest().trim().is_empty();
    LabelMatch {
        label,
        end: cursor.at(),
        syntax: match (case, has_separator, ends_line) {
            (LetterCase::Capitals, true, _) => LabelSyntax::Full,
            (LetterCase::Capitals, false, _) => LabelSyntax::NoSeparator,
            (LetterCase::Small, true, _) | (LetterCase::Small, _, true) => {
                LabelSyntax::SmallLetters
            }
            (LetterCase::Small, false, false) => LabelSyntax::Prose,
        },
    }
}

/// Skips a dash, an arrow or a full stop. Within a word, as in `OPEN-ended`, it separates nothing.
fn skip_dash(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    let is_dash = ahead.skip(|c| matches!(c, '-' | '>' | '.' | '。'));
    let ends = ahead.peek().is_none_or(|c| is_closing(c) || c == '。');
    if is_dash && ends {
        *cursor = ahead;
    }
    is_dash && ends
}

/// Markdown, brackets and quotes between the parts of a label.
fn is_gap(c: char) -> bool {
    is_closing(c) || matches!(c, '(' | '[' | '“' | '„' | '「' | '【' | '«')
}

/// Markdown, brackets and quotes that can end a label.
fn is_closing(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '*' | '_' | '`' | '~' | ')' | ']' | '"' | '\'' | '”' | '’' | '」' | '】'
        )
}

fn is_separator(c: char) -> bool {
    matches!(c, ':' | '=' | '|' | '–' | '—' | '→' | '⇒' | '»')
}
