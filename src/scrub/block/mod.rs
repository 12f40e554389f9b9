//! Secrets of several lines, read from a mark that a regex finds: private keys and manifests.

mod key_lines;
mod manifest;

use super::place::KeywordPlace;
use super::rules::SecretBlock;
use crate::domain::steps;

/// Nothing is looked for further away from the mark.
const WINDOW: usize = 24_000;

/// Returns the secrets that belong to a mark.
pub(super) fn find(
    block: SecretBlock,
    place: KeywordPlace<'_>,
    mark: (usize, usize),
) -> Vec<(usize, usize)> {
    let start = place.reach.0.max(mark.0.saturating_sub(WINDOW));
    let end = place.reach.1.min(mark.1.saturating_add(WINDOW));
    let text = |range| place.text.as_bytes().get(range).unwrap_or_default();
    steps::count(end - start);
    let (from, spans) = match block {
        SecretBlock::KeyBehind => {
            let length = key_lines::behind(text(mark.1..end));
            (
                mark.0,
                length
                    .map(|length| (0, mark.1 - mark.0 + length))
                    .into_iter()
                    .collect(),
            )
        }
        SecretBlock::KeyBefore => {
            let length = key_lines::before(text(start..mark.0)).unwrap_or_default();
            (mark.0 - length, vec![(0, length)])
        }
        SecretBlock::ManifestLines => (start, manifest::in_lines(text(start..end), mark.0 - start)),
        SecretBlock::ManifestObject => (mark.0, manifest::in_braces(text(mark.0..mark.1))),
    };
    let place = |(start, end)| (from + start, from + end);
    spans.into_iter().map(place).collect()
}
