//! Divides the lines of an answer into segments: a label with the text that belongs to it.

use crate::refinement::batches::QuestionBatch;
use crate::refinement::label::{
    Label, LabelMatch, LabelOutcome, LabelSyntax, Matter, label_at, outcome_at, starts_of_words,
};
use crate::stopping::convergence::QuestionKey;

use super::lines::AnswerLine;

/// A label with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) label: Label,
    /// The lines after the label; the first is the rest of its line.
    pub(super) lines: Vec<String>,
    /// Whether another label follows in the answer.
    pub(super) has_successor: bool,
}

/// Which lines can have labels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LabelScope {
    /// Those that the answer does not quote.
    Own,
    All,
}

/// Returns the segments of an answer. Labels in quotes count only if there are no others.
pub(super) fn segments(lines: &[AnswerLine], batch: &QuestionBatch) -> Vec<Segment> {
    let own = Divider::divide(lines, batch, LabelScope::Own);
    if own.iter().any(|segment| !is_reference(segment)) {
        own
    } else {
        Divider::divide(lines, batch, LabelScope::All)
    }
}

fn is_reference(segment: &Segment) -> bool {
    matches!(segment.label, Label::Reference(_))
}

/// Collects segments line by line.
struct Divider<'a> {
    batch: &'a QuestionBatch,
    scope: LabelScope,
    segments: Vec<Segment>,
    /// Whether text still belongs to the last segment.
    is_open: bool,
}

impl<'a> Divider<'a> {
    fn divide(lines: &[AnswerLine], batch: &'a QuestionBatch, scope: LabelScope) -> Vec<Segment> {
        let mut divider = Self {
            batch,
            scope,
            segments: Vec::new(),
            is_open: false,
        };
        for line in lines {
            divider.line(line);
        }
        let last = divider.segments.len().saturating_sub(1);
        for (at, segment) in divider.segments.iter_mut().enumerate() {
            segment.has_successor = at < last;
        }
        divider.segments
    }

    fn line(&mut self, line: &AnswerLine) {
        let text = line.text.as_str();
        let can_have_labels = self.scope == LabelScope::All || !line.is_quoted;
        if !can_have_labels {
            self.push_text(text);
            return;
        }
        let rest = if let Some((label, end)) = self.at_start(text) {
            self.begin(label);
            end
        } else {
            if is_division(text) {
                self.is_open = false;
                return;
            }
            0
        };
        self.amid(text, rest);
    }

    /// Returns the label at the start of a line, with the byte after it.
    fn at_start(&self, text: &str) -> Option<(Label, usize)> {
        let start = start_of_content(text)?;
        let before = text.get(..start).unwrap_or_default();
        if let Some(found) = label_at(text, start, self.mark()) {
            let is_accepted = match (found.label, found.syntax) {
                (_, LabelSyntax::Full) => true,
                (Label::Reference(_), _) => true,
                (Label::NewQuestion | Label::NewBlocker, LabelSyntax::NoSeparator) => {
                    before.ends_with('[') || text.trim_end().ends_with(['?', '？'])
                }
                (Label::Finding(..), LabelSyntax::NoSeparator) => true,
                (_, LabelSyntax::SmallLetters) => true,
                (_, LabelSyntax::Prose) => false,
            };
            let is_own = self.scope == LabelScope::All || closes_quotes(before, text, &found);
            return (is_accepted && is_own).then_some((found.label, found.end));
        }
        self.outcome_alone(text, start)
    }

    /// Returns the label of a line that only has an outcome: it is about the question that was
    /// named before, or about the only one.
    fn outcome_alone(&self, text: &str, start: usize) -> Option<(Label, usize)> {
        let (outcome, found) = outcome_at(text, after_status(text, start))?;
        let is_separate = match found.syntax {
            LabelSyntax::Full | LabelSyntax::SmallLetters => true,
            LabelSyntax::NoSeparator => text.get(found.end..).is_none_or(str::is_empty),
            LabelSyntax::Prose => false,
        };
        let (matter, named_only) = match self.segments.last().map(|segment| segment.label) {
            Some(Label::Reference(matter)) => (matter, true),
            Some(Label::Finding(matter, _)) => (matter, false),
            Some(Label::NewQuestion | Label::NewBlocker) => return None,
            None if self.batch.questions.len() == 1 && self.batch.mark.is_none() => {
                (Matter::Question(1), true)
            }
            None => return None,
        };
        // "Answer:" within an answer is its text.
        let is_stated = named_only || outcome == LabelOutcome::Dissent || is_capital(text, start);
        let is_of_matter =
            matches!(matter, Matter::Claim(_)) == (outcome == LabelOutcome::Contradicted);
        (is_separate && is_stated && is_of_matter)
            .then_some((Label::Finding(matter, outcome), found.end))
    }

    /// Finds labels in the rest of a line: models write all lines as one.
    fn amid(&mut self, text: &str, from: usize) {
        let mut begin = from;
        for at in starts_of_words(text).filter(|at| *at > 0) {
            if at < begin {
                continue;
            }
            let Some(found) = label_at(text, at, self.mark()) else {
                continue;
            };
            if found.syntax != LabelSyntax::Full
                || matches!(found.label, Label::Reference(_))
                || !is_capital(text, at)
            {
                continue;
            }
            let before = text.get(begin..at).unwrap_or_default();
            if is_within_quotes(before) || !(self.is_open || ends_sentence(before)) {
                continue;
            }
            // "Q1 and Q2 ANSWERED" names two questions with one outcome.
            let label = match (found.label, self.named_just_before(before)) {
                (Label::Finding(matter, _), true) => Label::Reference(matter),
                (label, _) => label,
            };
            self.push_text(before);
            self.begin(label);
            begin = found.end;
        }
        self.push_text(text.get(begin..).unwrap_or_default());
    }

    /// Whether only a word such as "and" stands between a label and the question named before it.
    fn named_just_before(&self, between: &str) -> bool {
        const CONNECTIONS: [&str; 6] = ["", "and", "or", "to", "und", "y"];
        let last = self.segments.last();
        last.is_some_and(|segment| is_reference(segment) && segment.lines.is_empty())
            && CONNECTIONS.contains(&QuestionKey::of(between).as_str())
    }

    fn begin(&mut self, label: Label) {
        self.segments.push(Segment {
            label,
            lines: Vec::new(),
            has_successor: false,
        });
        self.is_open = true;
    }

    fn push_text(&mut self, text: &str) {
        if let Some(segment) = self.segments.last_mut().filter(|_| self.is_open) {
            segment.lines.push(text.to_owned());
        }
    }

    fn mark(&self) -> Option<&'a str> {
        self.batch.mark.as_deref()
    }
}

/// Returns the byte at which the words of a line begin: after list markers, headings, numbers of a
/// list and Markdown.
fn start_of_content(text: &str) -> Option<usize> {
    let first = text.find(char::is_alphanumeric)?;
    let rest = text.get(first..).unwrap_or_default();
    let after_number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = after_number.len() < rest.len() && after_number.starts_with(['.', ')', ':']);
    if !is_number {
        return Some(first);
    }
    let after = text.len() - after_number.len();
    let next = after_number.find(char::is_alphanumeric)?;
    Some(after + next)
}

/// Skips "Status:" and the like before an outcome.
fn after_status(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let is_status = |head: &str| {
        let head = head
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        matches!(
            head.as_str(),
            "status" | "outcome" | "finding" | "result" | "label"
        )
    };
    match rest.split_once([':', '：']) {
        Some((head, after)) if is_status(head) => {
            let after_colon = text.len() - after.len();
            let next = after.find(char::is_alphanumeric).unwrap_or_default();
            after_colon + next
        }
        _ => start,
    }
}

/// Whether a label that begins in quotes or code also ends its quotes.
fn closes_quotes(before: &str, text: &str, found: &LabelMatch) -> bool {
    let label = text.get(before.len()..found.end).unwrap_or_default();
    let pairs = [
        ('"', '"'),
        ('`', '`'),
        ('“', '”'),
        ('„', '“'),
        ('«', '»'),
        ('「', '」'),
    ];
    pairs.into_iter().all(|(open, close)| {
        let opened = before.matches(open).count();
        opened == 0 || label.matches(close).count() >= opened
    })
}

/// Whether a text ends amid a quote or code.
fn is_within_quotes(text: &str) -> bool {
    let mut open: Option<char> = None;
    for c in text.chars() {
        open = match (open, c) {
            (None, '"' | '`' | '“' | '„' | '«' | '「') => Some(c),
            (Some('"'), '"') | (Some('`'), '`') | (Some('„'), '“' | '”') => None,
            (Some('“'), '”') | (Some('«'), '»') | (Some('「'), '」') => None,
            (open, _) => open,
        };
    }
    open.is_some() || text.ends_with(['\'', '‘'])
}

fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '*' | '_' | '(' | '[' | '-' | '•')
    });
    text.is_empty() || text.ends_with(|c: char| !c.is_alphanumeric() && c != ',')
}

fn is_capital(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let letter = rest.chars().next();
    letter.is_some_and(|c| !c.is_lowercase())
        && !rest.chars().nth(1).is_some_and(char::is_lowercase)
}

/// Whether a line is a heading or a rule, which ends what stands before it.
fn is_division(text: &str) -> bool {
    let text = text.trim();
    let is_heading = text.starts_with('#') && text.trim_start_matches('#').starts_with(' ');
    let is_rule = text.len() >= 3
        && text
            .chars()
            .all(|c| matches!(c, '-' | '*' | '_' | '=' | ' '));
    is_heading || is_rule
}
