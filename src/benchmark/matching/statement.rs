//! Finds the statements of a final answer in a text: `ANSWER: B`, and what models write instead.
//!
//! - The requested form, in capitals, counts before all others: it is what was asked for.
//! - Then `Answer:` in any spelling and in several languages, with Markdown around it or with "is"
//!   before the colon; then the sentence "the answer is B".
//! - Of several, the last one counts: models correct themselves.
//! - A statement that repeats the request (`ANSWER: <letter>`) or is empty is none: small models
//!   copy their instructions, and an answer can be cut off.
//! - "The wrong answer is B" and "my first answer: B" are about other answers.

use super::question::REQUESTS;
use super::words::tables;

/// How much of a text belongs to a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The rest of its line, or the next line with words.
    Line,
    /// Its lines up to a blank one.
    Paragraph,
    /// Everything up to the end.
    Rest,
}

/// The forms of a statement, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// "the answer is B"
    Sentence,
    /// "Answer: B"
    Marked,
    /// "ANSWER: B"
    Requested,
}

/// Returns what the final statement of a text says; `None` without a statement.
pub(super) fn final_statement(text: &str, extent: Extent) -> Option<&str> {
    let mut last: Option<(Form, &str)> = None;
    for (form, content) in statements(text, extent) {
        let is_stated = !is_blank(content) && !is_request(content);
        if is_stated && last.is_none_or(|(best, _)| best <= form) {
            last = Some((form, content));
        }
    }
    last.map(|(_, content)| content)
}

/// Returns what the statements of a text say, without sentences and without those in quotes.
pub(in crate::benchmark) fn own_statements(text: &str) -> Vec<&str> {
    let is_quoted = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        before.ends_with(['"', '“', '„', '«', '‘', '\'', '`'])
    };
    let statements = marked(text).into_iter();
    statements
        .filter(|(at, form, _)| *form != Form::Sentence && !is_quoted(*at))
        .map(|(_, _, rest)| content(rest, Extent::Line))
        .collect()
}

/// Returns the statements with their contents, in the order of the text.
fn statements(text: &str, extent: Extent) -> Vec<(Form, &str)> {
    let mut statements = marked(text);
    for (_, _, rest) in &mut statements {
        *rest = content(rest, extent);
    }
    // What LaTeX boxes is a result, but not a whole transcription.
    if extent != Extent::Rest {
        statements.extend(boxed(text));
        statements.sort_by_key(|(at, _, _)| *at);
    }
    let statements = statements.into_iter();
    statements
        .map(|(_, form, content)| (form, content))
        .collect()
}

/// Returns what stands in `\boxed{…}`, with its position.
fn boxed(text: &str) -> Vec<(usize, Form, &str)> {
    const BOX: &str = "\\boxed{";
    let mut found = Vec::new();
    for (at, _) in text.match_indices(BOX) {
        let inner = text.get(at + BOX.len()..).unwrap_or_default();
        let mut depth = 1_usize;
        let end = inner.find(|c: char| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        found.extend(
            end.and_then(|end| inner.get(..end))
                .map(|inner| (at, Form::Marked, inner)),
        );
    }
    found
}

/// Returns the statements with their positions, each with the text after its marker.
fn marked(text: &str) -> Vec<(usize, Form, &str)> {
    let mut statements = Vec::new();
    let mut before = "";
    for (start, word) in words(text) {
        let rest = text.get(start + word.len()..).unwrap_or_default();
        let is_requested = word == "ANSWER";
        if is_requested || is_answer(word) && !is_one_of(&tables().other_answers, before) {
            let preceding = text.get(..start).unwrap_or_default();
            let statement = match connection(rest) {
                Some((Form::Marked, left)) if is_requested => Some((Form::Requested, left)),
                // The colon was forgotten.
                None if is_requested && ends_line(preceding) => Some((Form::Requested, rest)),
                connection => connection,
            };
            statements.extend(statement.map(|(form, left)| (start, form, left)));
        }
        before = word;
    }
    statements
}

/// Returns the words of a text with their positions.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let start = text.len() - word.len();
        let end = word.find(|c: char| !c.is_alphanumeric());
        let (word, after) = word.split_at_checked(end.unwrap_or(word.len()))?;
        rest = after;
        (!word.is_empty()).then_some((start, word))
    })
}

fn is_answer(word: &str) -> bool {
    let is_unspaced = |answer: &String| word.ends_with(answer.as_str());
    is_one_of(&tables().answer, word) || tables().unspaced_answer.iter().any(is_unspaced)
}

pub(super) fn is_one_of(list: &[impl AsRef<str>], word: &str) -> bool {
    let lower = word.to_lowercase();
    list.iter().any(|one| one.as_ref() == lower)
}

/// Whether a text ends with the beginning of a line.
fn ends_line(text: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or_default();
    line.chars().all(|c| is_mark(c) || matches!(c, '#' | '>'))
}

/// Returns the form of the statement that "answer" begins, and the text after its marker; `None` if
/// nothing is stated.
fn connection(rest: &str) -> Option<(Form, &str)> {
    let left = rest.trim_start_matches(is_mark);
    if let Some(left) = after_colon(left) {
        return Some((Form::Marked, left));
    }
    let left = after_topic(left);
    let left = after_copula(left)?.trim_start_matches(is_mark);
    match after_colon(left) {
        Some(left) => Some((Form::Marked, left)),
        None => Some((Form::Sentence, left)),
    }
}

/// Marks that Markdown and quotes leave between the parts of a statement.
fn is_mark(c: char) -> bool {
    c.is_whitespace() && c != '\n'
        || matches!(
            c,
            '*' | '_' | '`' | '~' | '"' | '\'' | '”' | '’' | '»' | '“' | ')' | ']'
        )
}

fn after_colon(text: &str) -> Option<&str> {
    const COLONS: [&str; 8] = [":", "：", "=", "->", "→", "⇒", "–", "—"];
    let spaced = || text.strip_prefix("- ");
    COLONS
        .iter()
        .find_map(|colon| text.strip_prefix(colon))
        .or_else(spaced)
}

/// Skips the topic of "answer to the question is …".
fn after_topic(text: &str) -> &str {
    const LONGEST: usize = 100;
    if !text.starts_with("to ") && !text.starts_with("for ") {
        return text;
    }
    let verb = text.find(" is ").filter(|at| {
        let topic = text.get(..*at).unwrap_or_default();
        topic.len() <= LONGEST && !topic.contains(['.', '\n', ':'])
    });
    verb.and_then(|at| text.get(at + 1..)).unwrap_or(text)
}

fn after_copula(text: &str) -> Option<&str> {
    tables().copulas.iter().find_map(|copula| {
        let (start, after) = text.split_at_checked(copula.len())?;
        let is_whole =
            !after.starts_with(char::is_alphabetic) || matches!(copula.as_str(), "是" | "は");
        (start.to_lowercase() == *copula && is_whole).then_some(after)
    })
}

/// Returns the part of the text after a marker that belongs to the statement.
fn content(rest: &str, extent: Extent) -> &str {
    let is_skipped = |line: &&str| is_blank(line) || line.trim_start().starts_with("```");
    match extent {
        Extent::Rest => rest,
        Extent::Line => rest
            .split('\n')
            .find(|line| !is_skipped(line))
            .unwrap_or_default(),
        Extent::Paragraph => {
            let skipped: usize = rest
                .split_inclusive('\n')
                .take_while(|line| is_blank(line))
                .map(str::len)
                .sum();
            let paragraph = rest.get(skipped..).unwrap_or_default();
            if paragraph.trim_start().starts_with("```") {
                return paragraph;
            }
            let length: usize = paragraph
                .split_inclusive('\n')
                .take_while(|line| !line.trim().is_empty())
                .map(str::len)
                .sum();
            paragraph.get(..length).unwrap_or_default()
        }
    }
}

/// Whether a text has nothing but white space, Markdown and dots for what is left out. Other marks
/// can be an answer: "Which character ends a statement?"
fn is_blank(text: &str) -> bool {
    let text = text.trim_matches(|c: char| is_mark(c) || c.is_whitespace());
    text.is_empty() || text == "…" || text == "..."
}

/// Whether a text after the marker repeats what was asked for.
fn is_request(content: &str) -> bool {
    let text = content.trim_matches(is_mark).to_lowercase();
    let is_form = REQUESTS.iter().any(|request| text.starts_with(request));
    let named = [('<', '>'), ('[', ']'), ('{', '}')]
        .iter()
        .find_map(|(open, close)| {
            let inner = content.trim().trim_matches(['*', '`', '.']);
            inner.strip_prefix(*open)?.strip_suffix(*close)
        });
    is_form || named.is_some_and(|name| is_one_of(&tables().form_names, name.trim()))
}
