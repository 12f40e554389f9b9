//! Backslashes before signs of Markdown, which make them text.

use std::ops::Range;

/// Returns the places of live characters that no backslash precedes and that are not in code, whose
/// ranges are in order and apart from each other. With each, the next character is given.
pub fn live_places(
    text: &str,
    code: &[Range<usize>],
    is_live: impl Fn(char, Option<char>) -> bool,
) -> Vec<usize> {
    let is_in_code = |at: usize| {
        let next = code.partition_point(|range| range.end <= at);
        code.get(next).is_some_and(|range| range.contains(&at))
    };
    let mut places = Vec::new();
    let mut is_escaped = false;
    let mut letters = text.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        let is_live = is_live(c, letters.peek().map(|(_, next)| *next));
        if is_live && !is_escaped && !is_in_code(at) {
            places.push(at);
        }
        is_escaped = c == '\\' && !is_escaped && !is_live;
    }
    places
}

/// Puts a backslash at each of these places, which are in order.
pub fn with_backslashes(text: &str, places: &[usize]) -> String {
    let mut escaped = String::with_capacity(text.len() + places.len());
    let mut start = 0;
    for at in places {
        escaped.extend([text.get(start..*at).unwrap_or_default(), "\\"]);
        start = *at;
    }
    escaped + text.get(start..).unwrap_or_default()
}
