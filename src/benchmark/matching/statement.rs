//! Finds the statements of a final answer in a text: `ANSWER: B`, and what models write instead.
//!
//! - The requested form, in capitals, counts before all others: it is what was asked for.
//! - Then `Answer:` in any spelling and in several languages, with Markdown around it or with "is"
//!   before the colon, and what LaTeX boxes; then the sentence "the answer is B".
//! - Of several, the last one counts: models correct themselves.
//! - A statement that repeats the request (`ANSWER: <letter>`) or is empty is none: small models
//!   copy their instructions, and an answer can be cut off.
//! - "The wrong answer is B" and "my first answer: B" are about other answers.

use super::text::{end_of, worded};
use crate::domain::steps;
use crate::text::pattern::Pattern;

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
      (?: (?<colon> (?: [:：=→⇒–—] | -> | -\x20 ) (?: \*\*\s )? )
        | (?: (?: to | for ) \x20 [^.\n:]{1,100}? \x20 )?
          (?<copula> {copulas} \b | [是は] ) {marks}*
          (?<late> [:：=→⇒–—] | -> | -\x20 )? )?",
);

/// White space, Markdown, the beginning of a formula, and dots for what is left out. Other marks
/// can be an answer: "Which character ends a statement?"
static BLANK: Pattern = worded(r"^(?:{marks}|\s)*(?:…|\.\.\.|\$\$|\\\[)?(?:{marks}|\s)*$");

static REQUEST: Pattern = worded(
    r"(?x) ^ {marks}* {requests}
    | ^ [\s*`]* (?: < \s* {form_names} \s* > | \[ \s* {form_names} \s* \]
        | \{ \s* {form_names} \s* \} ) [\s*`.]* $",
);

/// The most statements that are read, the last ones: a text that repeats itself is not read again
/// and again.
const MAX_READ: usize = 100;

/// A statement.
#[derive(Clone, Copy, Debug)]
struct StatedAnswer<'t> {
    form: Form,
    at: usize,
    /// The text after its marker, or in its box.
    rest: &'t str,
    extent: Extent,
}

/// `None` without a statement.
pub(super) fn final_statement(text: &str, extent: Extent) -> Option<String> {
    let mut statements = statements(text, extent);
    statements.sort_by_key(|statement| statement.form);
    let last = statements.iter().rev().take(MAX_READ);
    let mut contents = last.map(StatedAnswer::content);
    let is_stated = |content: &&str| !BLANK.is_in(content) && !REQUEST.is_in(content);
    contents.find(is_stated).map(str::to_owned)
}

/// Returns what the statements of a text say, without sentences and without those in quotes or
/// boxes.
pub(in crate::benchmark) fn own_statements(text: &str) -> Vec<String> {
    let is_quoted = |at: usize| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        after.starts_with('\\') || before.ends_with(['"', '“', '„', '«', '‘', '\'', '`'])
    };
    let mut statements = statements(text, Extent::Line);
    statements.retain(|one| one.form != Form::Sentence && !is_quoted(one.at));
    let unread = statements.len().saturating_sub(MAX_READ);
    let own = statements.iter().skip(unread);
    own.map(|statement| statement.content().to_owned())
        .collect()
}

fn statements(text: &str, extent: Extent) -> Vec<StatedAnswer<'_>> {
    let mut statements = Vec::new();
    for found in STATEMENT.all(text) {
        let Some(whole) = found.get(0) else {
            continue;
        };
        let mut add = |form, at, rest, extent| {
            statements.push(StatedAnswer {
                form,
                at,
                rest,
                extent,
            });
        };
        if let Some(boxed) = found.name("boxed") {
            // A box has a result, but not a whole transcription.
            if extent != Extent::Rest {
                add(Form::Marked, whole.start(), boxed.as_str(), Extent::Rest);
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
        add(form, start, text.get(end..).unwrap_or_default(), extent);
    }
    statements
}

fn begins_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().chars().rev();
    let mut line = before.take_while(|c| *c != '\n');
    line.all(|c| !c.is_alphanumeric())
}

impl<'t> StatedAnswer<'t> {
    fn content(&self) -> &'t str {
        let is_fence = |line: &str| line.trim_start().starts_with("```");
        let length = |lines: &mut dyn Iterator<Item = &str>| lines.map(str::len).sum::<usize>();
        let mut blank = self.rest.split_inclusive('\n');
        let blank = length(&mut blank.by_ref().take_while(|line| BLANK.is_in(line)));
        let rest = self.rest.get(blank..).unwrap_or_default();
        let mut lines = rest.split_inclusive('\n').peekable();
        steps::count(blank + lines.peek().map_or(0, |line| line.len()));
        match self.extent {
            Extent::Rest => self.rest,
            Extent::Line => {
                let line = lines.find(|line| !is_fence(line) && !BLANK.is_in(line));
                line.unwrap_or_default().trim_end_matches('\n')
            }
            Extent::Paragraph => {
                let is_fenced = lines.peek().is_some_and(|line| is_fence(line));
                let own = |line: &&str| is_fenced || !line.trim().is_empty();
                let paragraph = rest.get(..length(&mut lines.take_while(own)));
                paragraph.unwrap_or_default().trim_end_matches('\n')
            }
        }
    }
}

/// The end of a clause, or of a denial in it: "not B but C".
static CLAUSE_END: Pattern = worded(r"[.,;:!?\n—。，；：]|\b{contrasts}\b");

/// A denial at the end of a clause, of the name that follows it.
static DENIAL: Pattern =
    worded(r"(?:\b(?:{denials}|{comparisons})\b|n['’]t\b)[^\pL\pN]+(?:[\pL\pN]+[^\pL\pN]+){0,2}$");

/// "Anything but", where "but" begins no clause.
static EXCEPTION: Pattern = worded(
    r"(?i)\b(?:all|any|anything|everything)\ (?:\pL+\ )?but\b[^\pL\pN]+(?:[\pL\pN]+[^\pL\pN]+){0,2}$",
);

/// A denial of what stands before a text: "is wrong", "cannot be".
static REFUTATION: Pattern = worded(
    r"(?ix) ^ [^\pL\pN.,;:!?\n—。，；：]*
    (?: \b (?: cannot | can['’]t ) \b | \b {verbs} n['’]t \b
      | \b {verbs} \b \s+ (?: [\pL\pN]+ \s+ ){0,2} {refutations} \b )",
);

/// The characters before a name that can deny it.
const REACH: usize = 200;

/// Whether the part of a text from `start` to `end` is denied there: before it, or by what follows.
pub(super) fn is_denied(text: &str, start: usize, end: usize) -> bool {
    let before = end_of(text.get(..start).unwrap_or_default(), REACH);
    steps::count(before.len());
    let after = text.get(end..).unwrap_or_default();
    let clause_end = CLAUSE_END.all(before).last().and_then(|found| found.get(0));
    let clause_start = clause_end.map_or(0, |mark| mark.end());
    let clause = before.get(clause_start..).unwrap_or_default();
    DENIAL.is_in(clause) || EXCEPTION.is_in(before) || REFUTATION.is_in(after)
}
