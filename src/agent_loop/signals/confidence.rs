//! Confidence that the agent states as a number.

use crate::agent_loop::text::tables::tables;
use crate::agent_loop::text::{Block, Sentence, Token, TokenKind, sentences, tokens};
use crate::domain::word_list::WordList;

/// Returns the last confidence that the prose states, in percent.
pub(super) fn read(blocks: &[&Block]) -> Option<u8> {
    let mut last = None;
    for block in blocks {
        if !block.prose.contains(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let lower = block.prose.to_lowercase().replace('’', "'");
        for sentence in sentences(&lower) {
            last = of_sentence(sentence).or(last);
        }
    }
    last
}

fn of_sentence(sentence: Sentence<'_>) -> Option<u8> {
    if sentence.is_question {
        return None;
    }
    let mut list = Vec::new();
    tokens(sentence.text, &mut list);
    let names = |words: &WordList| list.iter().any(|token| words.has(token.text));
    if !names(&tables().confidence_nouns) && !names(&tables().confidence_adjectives)
        || names(&tables().confidence_of_others)
    {
        return None;
    }
    let mut found = None;
    for (at, token) in list.iter().enumerate() {
        let before = list.get(..at).unwrap_or_default();
        let after = list.get(at + 1..).unwrap_or_default();
        if tables().confidence_nouns.has(token.text) {
            let own = before.last().is_none_or(|word| {
                matches!(word.kind, TokenKind::Mark(_)) || tables().confidence_own.has(word.text)
            });
            let stated = own.then(|| number_after(after)).flatten();
            let speaks = list
                .iter()
                .any(|word| matches!(word.text, "i" | "i'm" | "we" | "i'd"));
            found = stated
                .or_else(|| speaks.then(|| number_before(before)).flatten())
                .or(found);
        } else if tables().confidence_adjectives.has(token.text) {
            let stated = number_before(before).or_else(|| number_in_brackets(after));
            found = stated.or(found);
        }
    }
    found
}

/// Reads `: 85%`, `level is about 0.6`.
fn number_after(tokens: &[Token<'_>]) -> Option<u8> {
    let at = tokens
        .iter()
        .position(|token| token.kind == TokenKind::Number)?;
    let between = tokens.get(..at).unwrap_or_default();
    let is_connected = at <= 8
        && between.iter().all(|token| match token.kind {
            TokenKind::Word => tables().confidence_between.has(token.text),
            TokenKind::Number => false,
            TokenKind::Placeholder => true,
            TokenKind::Mark(mark) => matches!(
                mark,
                ':' | '：' | '=' | '(' | '~' | '≈' | '-' | '–' | '—' | '*' | '|'
            ),
        });
    is_connected.then(|| number(tokens.get(at..)?, true))?
}

/// Reads `60%`, `7/10` and `about 80%` before a word, unless it is denied.
fn number_before(tokens: &[Token<'_>]) -> Option<u8> {
    let start = tokens.len().saturating_sub(4);
    let last = tokens.get(start..)?;
    let first = last
        .iter()
        .position(|token| token.kind == TokenKind::Number)?;
    let before = tokens.get(..start + first).unwrap_or_default();
    let is_denied = before.iter().rev().take(3).any(|token| {
        matches!(token.text, "not" | "never" | "nicht" | "pas" | "no")
            || token.text.ends_with("n't")
    });
    if is_denied {
        return None;
    }
    let rest = last.get(first..)?;
    let width = if rest
        .get(1)
        .is_some_and(|token| matches!(token.text, "/" | "out"))
    {
        4
    } else {
        2
    };
    if rest.len() > width {
        return None;
    }
    number(rest, false)
}

fn number_in_brackets(tokens: &[Token<'_>]) -> Option<u8> {
    let (mark, rest) = tokens.split_first()?;
    matches!(mark.kind, TokenKind::Mark('(' | ':' | '~')).then(|| number(rest, false))?
}

/// Reads the number that begins here. Without a sign of its scale, a whole number counts only after
/// a label.
fn number(tokens: &[Token<'_>], after_label: bool) -> Option<u8> {
    let (first, rest) = tokens.split_first()?;
    if first.kind != TokenKind::Number {
        return None;
    }
    let scale = match rest {
        [slash, scale, ..] if slash.text == "/" => Some(scale.text),
        [out, of, scale, ..] if out.text == "out" && of.text == "of" => Some(scale.text),
        _ => None,
    };
    if let Some(scale) = scale {
        return share(first.text, scale);
    }
    // `85 %`
    let has_sign = first.text.ends_with('%') || rest.first().is_some_and(|token| token.text == "%");
    if has_sign {
        return hundredths(first.text.trim_end_matches('%'), 1);
    }
    plain(first.text, after_label)
}

/// Reads a value of a field: `85`, `85%`, `0.85`, `8/10`.
pub(super) fn percent(value: &str) -> Option<u8> {
    let lower = value.to_lowercase();
    let mut list = Vec::new();
    tokens(&lower, &mut list);
    number(&list, true)
}

fn plain(text: &str, after_label: bool) -> Option<u8> {
    if text.contains(['.', ',']) {
        return hundredths(text, 100);
    }
    // Up to 10 the scale is unknown.
    let number: u8 = text.parse().ok()?;
    (after_label && (11..=100).contains(&number)).then_some(number)
}

/// Reads a decimal number times `factor`, which is 1 or 100, if that is at most 100.
fn hundredths(text: &str, factor: u32) -> Option<u8> {
    let text = text.replace(',', ".");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole: u32 = whole.parse().ok()?;
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    let thousandths = whole.checked_mul(1000)?.checked_add(digits.parse().ok()?)?;
    let rounded = (thousandths.checked_mul(factor)? + 500) / 1000;
    if factor == 100 && whole > 1 {
        return None;
    }
    u8::try_from(rounded).ok().filter(|percent| *percent <= 100)
}

fn share(part: &str, whole: &str) -> Option<u8> {
    let whole: u32 = whole.parse().ok()?;
    if !matches!(whole, 5 | 10 | 100) {
        return None;
    }
    let part = part.replace(',', ".");
    let (units, fraction) = part.split_once('.').unwrap_or((&part, "0"));
    let tenth: u32 = fraction.chars().next()?.to_digit(10)?;
    let tenths = units.parse::<u32>().ok()?.checked_mul(10)? + tenth;
    u8::try_from((tenths * 10) / whole)
        .ok()
        .filter(|percent| *percent <= 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_loop::text::Message;

    #[test]
    fn stated_confidence_is_the_last_number_of_the_agent_itself() {
        for (message, expected) in [
            ("Confidence: 85%", Some(85)),
            ("**Confidence:** 85%", Some(85)),
            ("- Confidence: ~85 %", Some(85)),
            ("Confidence level: 85/100", Some(85)),
            ("confidence 0.6", Some(60)),
            ("Confidence: 0.855", Some(86)),
            ("Confidence = 0,6", Some(60)),
            ("Confidence: 60", Some(60)),
            ("Confidence: 8/10", Some(80)),
            ("Confidence in the fix: 70%", Some(70)),
            ("My confidence is about 65%.", Some(65)),
            ("My overall confidence in this change is 40%.", Some(40)),
            ("I'm 60% sure.", Some(60)),
            ("I'm 60% confident that it works.", Some(60)),
            ("I am about 90% certain.", Some(90)),
            ("7/10 confident", Some(70)),
            ("I'd say 7 out of 10 confident.", Some(70)),
            ("I'm confident (95%).", Some(95)),
            ("I can say with 60% confidence that it works.", Some(60)),
            ("Confidence: 40%\n\nLater: confidence: 90%", Some(90)),
            ("Confidence: 100%", Some(100)),
            ("Confidence: 0%", Some(0)),
            ("Meine Zuversicht: 70%", Some(70)),
            ("Ich bin zu 80% sicher.", Some(80)),
            ("Confiance : 75 %", Some(75)),
            // Not the agent's confidence, or not a number of it.
            ("", None),
            ("The 95% confidence interval is wide.", None),
            ("A confidence threshold of 70% is used.", None),
            ("The minimum confidence is 70%.", None),
            ("The classifier's prediction has confidence 0.93.", None),
            ("If confidence is below 70%, stop.", None),
            ("Test coverage is 85%.", None),
            ("Confidence: high", None),
            ("Confidence: 5", None),
            ("Confidence: 150%", None),
            ("Confidence: 3.5", None),
            ("I'm not 100% sure.", None),
            ("How sure are you, 60%?", None),
            ("`Confidence: 85%`", None),
            ("> Confidence: 85%", None),
            ("```\nConfidence: 85%\n```", None),
            ("I am confident. All 42 tests pass.", None),
            ("I made sure that 42 tests pass.", None),
        ] {
            let message_read = Message::read(message, None);
            let blocks: Vec<&Block> = message_read.blocks.iter().collect();
            assert_eq!(read(&blocks), expected, "{message}");
        }
    }
}
