//! Finds labels inside sentences: `Expert A`, `expert_C's`, `Experts A, B and C`.

use std::ops::Range;

use super::labels::Labels;
use crate::domain::ids::SeatId;

/// The word before a label.
const TITLE: &str = "expert";

const BEFORE_A_LABEL: [&str; 4] = [" ", "\u{a0}", "_", "-"];

/// Separators between labels, as in `Experts A, B and C`.
const BETWEEN_LABELS: [&str; 8] = [", and ", ", or ", ", ", " and ", " or ", " & ", "/", " / "];

/// The labels that share one title.
#[derive(Debug)]
pub(super) struct Mention<'a> {
    /// The first byte of the title.
    pub(super) start: usize,
    /// The letters of each label, in order, and the seat that it stands for. Never empty.
    pub(super) labels: Vec<(Range<usize>, &'a SeatId)>,
}

/// Labels that were not given are no mentions.
pub(super) fn mentions<'a>(text: &str, labels: &'a Labels) -> Vec<Mention<'a>> {
    let mut mentions = Vec::new();
    for start in titles(text) {
        let mut end = start + TITLE.len();
        if text
            .get(end..)
            .is_some_and(|rest| rest.starts_with(['s', 'S']))
        {
            end += 1;
        }
        let mut mention = Mention {
            start,
            labels: Vec::new(),
        };
        let mut separators = BEFORE_A_LABEL.as_slice();
        while let Some((letters, seat)) = label(text, end, separators, labels) {
            (end, separators) = (letters.end, BETWEEN_LABELS.as_slice());
            mention.labels.push((letters, seat));
        }
        if !mention.labels.is_empty() {
            mentions.push(mention);
        }
    }
    mentions
}

pub(super) fn titles(text: &str) -> Vec<usize> {
    let begins_a_word = |at: usize| {
        let mut before = text.get(..at).unwrap_or_default().chars();
        !before.next_back().is_some_and(char::is_alphanumeric)
    };
    let lower = text.to_ascii_lowercase();
    let places = lower.match_indices(TITLE).map(|(at, _)| at);
    places.filter(|at| begins_a_word(*at)).collect()
}

pub(super) fn begins_title(text: &str) -> bool {
    let beginning = TITLE.get(..text.len());
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(text))
}

fn label<'a>(
    text: &str,
    start: usize,
    separators: &[&str],
    labels: &'a Labels,
) -> Option<(Range<usize>, &'a SeatId)> {
    let rest = text.get(start..)?;
    let separator = separators.iter().find(|mark| rest.starts_with(**mark))?;
    let rest = rest.get(separator.len()..)?;
    let length = rest
        .find(|c: char| !c.is_ascii_uppercase())
        .unwrap_or(rest.len());
    let (letters, after) = rest.split_at_checked(length)?;
    let is_whole = !after.starts_with(char::is_alphanumeric);
    let seat = labels.lettered(letters).filter(|_| is_whole)?;
    let start = start + separator.len();
    Some((start..start + length, seat))
}
