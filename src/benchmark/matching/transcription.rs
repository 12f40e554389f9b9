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
use super::text::{composed, enclosed, joined_words};
use crate::stopping::share;

pub(super) fn normalized(text: &str) -> String {
    joined_words(&composed(text))
}

/// Both texts are normalized. An empty text is expected to be empty: the rate of anything else is
/// 1, because no length could be divided by.
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
    match edits {
        0 => 0.0,
        edits => share(edits as u64, length as u64).unwrap_or(1.0),
    }
}

/// Returns the least number of insertions, deletions and substitutions between two sequences.
///
/// Myers' bit vectors (Hyyrö 2003): a column of the table is kept as its differences from row to
/// row, 64 rows in two words, so that two texts of 20,000 characters take some six million steps.
pub(super) fn edits<T: Hash + Eq + Copy>(
    expected: &[T],
    answer: impl IntoIterator<Item = T>,
) -> usize {
    let blocks = expected.chunks(64);
    let mut equal_rows: HashMap<T, Vec<u64>> = HashMap::new();
    for (block, symbols) in blocks.clone().enumerate() {
        for (row, symbol) in symbols.iter().enumerate() {
            let rows = equal_rows
                .entry(*symbol)
                .or_insert_with(|| vec![0; blocks.len()]);
            if let Some(rows) = rows.get_mut(block) {
                *rows |= 1 << row;
            }
        }
    }
    // The first column counts deletions: each row is one above the row before.
    let mut column = vec![(u64::MAX, 0_u64); blocks.len()];
    let mut distance = 0;
    let none = vec![0; blocks.len()];
    for symbol in answer {
        // So does the first row.
        distance += 1;
        let (mut above_plus, mut above_minus) = (1, 0);
        let equal = equal_rows.get(&symbol).unwrap_or(&none);
        for ((plus, minus), equal) in column.iter_mut().zip(equal) {
            let vertical = equal | *minus;
            let equal = equal | above_minus;
            let diagonal = ((equal & *plus).wrapping_add(*plus) ^ *plus) | equal;
            let (below_plus, below_minus) = (*minus | !(diagonal | *plus), *plus & diagonal);
            let left_plus = below_plus << 1 | above_plus;
            let left_minus = below_minus << 1 | above_minus;
            (*plus, *minus) = (left_minus | !(vertical | left_plus), left_plus & vertical);
            (above_plus, above_minus) = (below_plus >> 63, below_minus >> 63);
        }
    }
    // The last row is the first one with all differences.
    for ((plus, minus), symbols) in column.iter().zip(blocks) {
        let rows = u64::MAX >> (64 - symbols.len());
        distance += (plus & rows).count_ones() as usize;
        distance -= (minus & rows).count_ones() as usize;
    }
    distance
}

/// The text after the marker, or the whole text; of that, the only code block, without quotes
/// around it.
pub(super) fn transcription(text: &str) -> String {
    let stated = final_statement(text, Extent::Rest);
    let stated = stated.as_deref().unwrap_or(text);
    let text = fenced(stated).unwrap_or(stated).trim();
    let is_quoted = text.starts_with(['"', '“', '„', '«', '‘', '\'']);
    let quoted = enclosed(text).filter(|_| is_quoted);
    quoted.unwrap_or(text).to_owned()
}

/// An open block ends with the text.
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
