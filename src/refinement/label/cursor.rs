//! A place in a line, from which words and numbers are read.

/// A place in a line. Full-width letters, digits and colons count as the plain ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
    /// Bytes before `rest`.
    at: usize,
}

/// Returns the plain form of a full-width character.
pub(super) fn plain(c: char) -> char {
    match c {
        '！'..='～' => u32::from(c)
            .checked_sub(0xFEE0)
            .and_then(char::from_u32)
            .unwrap_or(c),
        '\u{3000}' => ' ',
        c => c,
    }
}

impl<'a> Cursor<'a> {
    /// Returns the place after so many bytes of a line.
    pub(super) fn new(line: &'a str, at: usize) -> Self {
        Self {
            rest: line.get(at..).unwrap_or_default(),
            at,
        }
    }

    /// Returns the bytes of the line before this place.
    pub(super) fn at(self) -> usize {
        self.at
    }

    pub(super) fn rest(self) -> &'a str {
        self.rest
    }

    pub(super) fn peek(self) -> Option<char> {
        self.rest.chars().next().map(plain)
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        self.rest = chars.as_str();
        self.at += next.len_utf8();
        Some(plain(next))
    }

    /// Skips characters, and returns whether there were any.
    pub(super) fn skip(&mut self, is_skipped: impl Fn(char) -> bool) -> bool {
        let before = self.at;
        while self.peek().is_some_and(&is_skipped) {
            self.bump();
        }
        self.at > before
    }

    /// Reads a word in any case; nothing is read if another stands here. A Latin word ends where
    /// its letters do. Returns whether it is in capitals.
    pub(super) fn word(&mut self, word: &str) -> Option<LetterCase> {
        let mut ahead = *self;
        let mut case = LetterCase::Capitals;
        for expected in word.chars() {
            let c = ahead.bump()?;
            if c.is_lowercase() {
                case = LetterCase::Small;
            }
            if !c.to_lowercase().eq(expected.to_lowercase()) {
                return None;
            }
        }
        let is_latin = word.ends_with(|c: char| c.is_ascii_alphabetic());
        if is_latin && ahead.peek().is_some_and(char::is_alphabetic) {
            return None;
        }
        *self = ahead;
        Some(case)
    }

    /// Reads a number of up to three digits that no letter follows.
    pub(super) fn number(&mut self) -> Option<usize> {
        let mut ahead = *self;
        let mut number = 0_usize;
        let mut digits = 0_usize;
        while let Some(digit) = ahead.peek().and_then(|c| c.to_digit(10)) {
            number = number
                .checked_mul(10)?
                .checked_add(usize::try_from(digit).ok()?)?;
            digits += 1;
            ahead.bump();
        }
        let is_number = (1..=3).contains(&digits);
        let ends = !ahead.peek().is_some_and(|c| c.is_ascii_alphabetic());
        if !is_number || !ends {
            return None;
        }
        *self = ahead;
        Some(number)
    }
}

/// The case of a word's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LetterCase {
    Capitals,
    /// At least one letter is small.
    Small,
}
