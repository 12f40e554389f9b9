//! Text that models put around their answer: thinking, code fences, friendly words; and refusals.

use super::text::has_words;
use super::words::TABLES;

/// The most characters of an excerpt.
const EXCERPT: usize = 500;

/// The tags around models' thinking.
const THINKING: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
];

/// The longest text that can be a refusal: a longer one has content.
const SHORT: usize = 600;

/// Whether thinking was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    None,
    LeftOut,
    /// Its end is missing: the answer, if any, is somewhere inside.
    Unclosed,
}

pub(super) fn without_thinking(text: &str) -> (&str, Thinking) {
    let text = bare(text);
    for (open, close) in THINKING {
        // Tags inside an answer are part of its text.
        if let Some((before, after)) = text.split_once(open)
            && !before.contains('{')
        {
            let last = after.rsplit_once(close);
            let split = last
                .filter(|(_, rest)| rest.contains('{'))
                .or_else(|| after.split_once(close));
            return match split {
                Some((thoughts, rest)) if rest.trim().is_empty() => (thoughts, Thinking::LeftOut),
                Some((_, rest)) => (rest, Thinking::LeftOut),
                None => (after, Thinking::Unclosed),
            };
        }
        // Some servers send the closing tag without the opening one.
        if let Some((before, after)) = text.rsplit_once(close)
            && !before.starts_with(['{', '[', '`'])
            && after.contains('{')
        {
            return (after, Thinking::LeftOut);
        }
    }
    (text, Thinking::None)
}

/// Returns a text without byte order marks and white space around it.
pub(super) fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0')
}

/// Returns the prose around an object, joined, without fences and language names.
pub(super) fn prose(before: &str, after: &str) -> String {
    let kept = |part: &str| {
        let lines = part
            .lines()
            .map(str::trim_end)
            .filter(|line| !is_fence(line));
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    };
    let mut parts = vec![kept(before), kept(after)];
    parts.retain(|part| has_words(part));
    parts.join("\n")
}

fn is_fence(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```") || line.starts_with("~~~") || line.eq_ignore_ascii_case("json")
}

/// At most about 500 characters, cut between words.
pub(super) fn excerpt(text: &str) -> String {
    begin(text, EXCERPT)
}

/// At most `most` characters, cut between words if that costs little.
pub(super) fn begin(text: &str, most: usize) -> String {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    let cut = text.get(..end).unwrap_or_default();
    let cut = cut
        .rsplit_once(char::is_whitespace)
        .map(|(words, _)| words)
        .filter(|words| words.len() * 10 > end * 8)
        .unwrap_or(cut);
    format!("{}…", cut.trim_end())
}

/// Returns whether a short text without an object begins like a refusal.
pub(super) fn is_refusal(text: &str) -> bool {
    let text = text
        .trim()
        .trim_start_matches(['"', '*', '#', '>', ' '])
        .replace('’', "'")
        .to_lowercase();
    text.chars().nth(SHORT).is_none() && TABLES.refusals.iter().any(|words| text.starts_with(words))
}
