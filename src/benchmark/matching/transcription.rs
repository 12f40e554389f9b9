//! Error rates of transcriptions: the edits between the answer and the expected text, by the
//! length of the expected text.
//!
//! As `jiwer` counts them: insertions, deletions and substitutions weigh the same, insertions can
//! raise the rate above 1, case and punctuation count, white space counts as one space between
//! words and as none around the text. Characters are Unicode's after composition, so that an
//! accent is no edit of its own.

use std::collections::HashMap;
use std::hash::Hash;

use crate::benchmark::case::ErrorRate;

use super::statement::{Extent, final_statement};
use super::text::{composed, joined_words};

/// Returns the text as it is compared.
pub(super) fn normalized(text: &str) -> String {
    joined_words(&composed(text))
}

/// Returns the error rate of an answer. Both texts are normalized. An empty text is expected to be
/// empty: the rate of anything else is 1, because no length could be divided by.
pub(super) fn error_rate(measure: ErrorRate, answer: &str, expected: &str) -> f64 {
    let (edits, length) = match measure {
        ErrorRate::Cer => {
            let expected: Vec<char> = expected.chars().collect();
            (edits(&expected, answer.chars()), expected.len())
        }
        ErrorRate::Wer => {
            let expected: Vec<&str> = expected.split_whitespace().collect();
            (edits(&expected, answer.split_whitespace()), expected.len())
        }
    };
    match (edits, length) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        (edits, length) => share(edits, length),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "texts are far shorter than 2^52 characters"
)]
fn share(edits: usize, length: usize) -> f64 {
    edits as f64 / length as f64
}

/// Returns the least number of insertions, deletions and substitutions between two sequences.
///
/// Myers' bit vectors (Hyyrö 2003): 64 rows of the table are one word, so that two texts of 20,000
/// characters take some six million steps. The memory grows with the expected sequence alone.
pub(super) fn edits<T: Hash + Eq + Copy>(
    expected: &[T],
    answer: impl IntoIterator<Item = T>,
) -> usize {
    if expected.is_empty() {
        return answer.into_iter().count();
    }
    let places = places(expected);
    let mut blocks = vec![Block::default(); expected.len().div_ceil(BITS)];
    let last_bit = 1_u64 << ((expected.len() - 1) % BITS);
    let last = blocks.len() - 1;
    let mut distance = expected.len();
    for symbol in answer {
        let mut places = places.get(&symbol).into_iter().flatten().peekable();
        let mut carry = Carry::Plus;
        for (at, block) in blocks.iter_mut().enumerate() {
            let equal = places
                .next_if(|(place, _)| *place == at)
                .map_or(0, |(_, bits)| *bits);
            let top = if at == last {
                last_bit
            } else {
                1 << (BITS - 1)
            };
            carry = block.step(equal, carry, top);
        }
        match carry {
            Carry::Plus => distance += 1,
            Carry::Minus => distance -= 1,
            Carry::Zero => {}
        }
    }
    distance
}

const BITS: usize = 64;

/// Returns the places of each symbol: the blocks in which it occurs, with its bits there.
fn places<T: Hash + Eq + Copy>(symbols: &[T]) -> HashMap<T, Vec<(usize, u64)>> {
    let mut places: HashMap<T, Vec<(usize, u64)>> = HashMap::new();
    for (at, symbol) in symbols.iter().enumerate() {
        let (block, bit) = (at / BITS, 1_u64 << (at % BITS));
        let blocks = places.entry(*symbol).or_default();
        match blocks.last_mut() {
            Some((last, bits)) if *last == block => *bits |= bit,
            _ => blocks.push((block, bit)),
        }
    }
    places
}

/// The difference between two neighbours in a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carry {
    Minus,
    Zero,
    Plus,
}

/// 64 vertical differences of a column of the table: each is +1, −1 or neither.
#[derive(Clone, Copy, Debug)]
struct Block {
    plus: u64,
    minus: u64,
}

impl Default for Block {
    /// The first column counts deletions.
    fn default() -> Self {
        Self {
            plus: u64::MAX,
            minus: 0,
        }
    }
}

impl Block {
    /// Moves to the next column. `above` is the difference at the upper edge; returns the one at
    /// the row of the bit `top`.
    fn step(&mut self, equal: u64, above: Carry, top: u64) -> Carry {
        let vertical = equal | self.minus;
        let equal = if above == Carry::Minus {
            equal | 1
        } else {
            equal
        };
        let diagonal = ((equal & self.plus).wrapping_add(self.plus) ^ self.plus) | equal;
        let mut plus = self.minus | !(diagonal | self.plus);
        let mut minus = self.plus & diagonal;
        let below = if plus & top != 0 {
            Carry::Plus
        } else if minus & top != 0 {
            Carry::Minus
        } else {
            Carry::Zero
        };
        plus <<= 1;
        minus <<= 1;
        match above {
            Carry::Plus => plus |= 1,
            Carry::Minus => minus |= 1,
            Carry::Zero => {}
        }
        self.plus = minus | !(vertical | plus);
        self.minus = plus & vertical;
        below
    }
}

/// Returns the transcription in a text: what stands after the marker up to the end, or the whole
/// text; of that, the only code block, without quotes around it.
pub(super) fn transcription(text: &str) -> &str {
    let stated = final_statement(text, Extent::Rest).unwrap_or(text);
    without_quotes(fenced(stated).unwrap_or(stated).trim())
}

/// Returns the content of the only code block of a text, an open one up to the end.
fn fenced(text: &str) -> Option<&str> {
    const FENCE: &str = "```";
    let (_, opened) = text.split_once(FENCE)?;
    // The rest of the line is the language, unless the block is on one line.
    let inner = match opened.split_once('\n') {
        Some((language, inner)) if !language.contains(FENCE) => inner,
        _ => opened,
    };
    match inner.split_once(FENCE) {
        Some((inner, after)) if !after.contains(FENCE) => Some(inner),
        Some(_) => None,
        None => Some(inner),
    }
}

fn without_quotes(text: &str) -> &str {
    const QUOTES: [(char, char); 6] = [
        ('"', '"'),
        ('“', '”'),
        ('„', '“'),
        ('«', '»'),
        ('‘', '’'),
        ('\'', '\''),
    ];
    let quoted = QUOTES.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains(*open) && !inner.contains(*close)).then_some(inner)
    });
    quoted.unwrap_or(text)
}
