//! Finds the statements of a final answer in a text: `ANSWER: B`, and what models write instead.
//!
//! - The requested form, in capitals, counts before all others: it is what was asked for.
//! - Then `Answer:` in any spelling and in several languages, with Markdown around it or with "is"
//!   before the colon, and what LaTeX boxes; then the sentence "the answer is B".
//! - Of several, the last one counts: models correct themselves.
//! - A statement that repeats the request (`ANSWER: <letter>`) or is empty is none: small models
//!   copy their instructions, and an answer can be cut off.
//! - "The wrong answer is B" and "my first answer: B" are about other answers.

use super::pattern::worded;
use crate::domain::pattern::Pattern;

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
    /// "Answer: B", `\boxed{B}`
    Marked,
    /// "ANSWER: B"
    Requested,
}

static STATEMENT: Pattern = worded(
    r"(?x)
    \\boxed\{ (?<boxed> (?: [^\{\}] | \{ [^\{\}]* \} )* ) \}
    | (?: (?: ^ | [^\pL\pN] )
          (?: (?<other> {other_answers} ) [^\pL\pN]+ )?
          (?<word> {answer} )
        | {unspaced_answer} )
      {marks}*
      (?: (?<colon> [:：=→⇒–—] | -> | -\x20 )
        | (?: (?: to | for ) \x20 [^.\n:]{1,100}? \x20 )?
          (?<copula> {copulas} \b | [是は] ) {marks}*
          (?<late> [:：=→⇒–—] | -> | -\x20 )? )?",
);

/// White space, Markdown and dots for what is left out. Other marks can be an answer: "Which
/// character ends a statement?"
static BLANK: Pattern = worded(r"^(?:{marks}|\s)*(?:…|\.\.\.)?(?:{marks}|\s)*$");

/// A copy of the request.
static REQUEST: Pattern = worded(
    r"(?x) ^ {marks}* {requests}
    | ^ [\s*`]* (?: < \s* {form_names} \s* > | \[ \s* {form_names} \s* \]
        | \{ \s* {form_names} \s* \} ) [\s*`.]* $",
);

/// Returns what the final statement of a text says; `None` without a statement.
pub(super) fn final_statement(text: &str, extent: Extent) -> Option<String> {
    let mut last: Option<(Form, String)> = None;
    for (form, _, content) in statements(text, extent) {
        let is_stated = !BLANK.is_in(&content) && !REQUEST.is_in(&content);
        if is_stated && last.as_ref().is_none_or(|(best, _)| *best <= form) {
            last = Some((form, content));
        }
    }
    last.map(|(_, content)| content)
}

/// Returns what the statements of a text say, without sentences and without those in quotes or
/// boxes.
pub(in crate::benchmark) fn own_statements(text: &str) -> Vec<String> {
    let is_quoted = |at: usize| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        after.starts_with('\\') || before.ends_with(['"', '“', '„', '«', '‘', '\'', '`'])
    };
    let statements = statements(text, Extent::Line).into_iter();
    statements
        .filter(|(form, at, _)| *form != Form::Sentence && !is_quoted(*at))
        .map(|(_, _, content)| content)
        .collect()
}

/// Returns the statements with their positions and contents.
fn statements(text: &str, extent: Extent) -> Vec<(Form, usize, String)> {
    let mut statements = Vec::new();
    for found in STATEMENT.all(text) {
        let Some(whole) = found.get(0) else {
            continue;
        };
        if let Some(boxed) = found.name("boxed") {
            // A box has a result, but not a whole transcription.
            if extent != Extent::Rest {
                statements.push((Form::Marked, whole.start(), boxed.as_str().to_owned()));
            }
            continue;
        }
        let has = |name| found.name(name).is_some();
        let word = found.name("word");
        let start = word.map_or(whole.start(), |word| word.start());
        let is_requested = word.is_some_and(|word| word.as_str() == "ANSWER");
        let form = match (is_requested, has("colon") || has("late")) {
            (true, true) => Form::Requested,
            (false, _) if has("other") => continue,
            (false, true) => Form::Marked,
            (_, false) if has("copula") => Form::Sentence,
            // The colon was forgotten.
            (true, false) if begins_line(text, start) => Form::Requested,
            (_, false) => continue,
        };
        let is_marked = has("colon") || has("copula");
        let end = word.filter(|_| !is_marked).unwrap_or(whole).end();
        let rest = text.get(end..).unwrap_or_default();
        statements.push((form, start, content(rest, extent)));
    }
    statements
}

/// Whether nothing but marks stands before a position in its line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    !line.contains(char::is_alphanumeric)
}

/// Returns the part of the text after a marker that belongs to the statement.
fn content(rest: &str, extent: Extent) -> String {
    let is_fence = |line: &str| line.trim_start().starts_with("```");
    let mut lines = rest
        .split('\n')
        .skip_while(|line| BLANK.is_in(line))
        .peekable();
    match extent {
        Extent::Rest => rest.to_owned(),
        Extent::Line => {
            let line = lines.find(|line| !is_fence(line) && !BLANK.is_in(line));
            line.unwrap_or_default().to_owned()
        }
        Extent::Paragraph => {
            let is_fenced = lines.peek().is_some_and(|line| is_fence(line));
            let lines = lines.take_while(|line| is_fenced || !line.trim().is_empty());
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}
