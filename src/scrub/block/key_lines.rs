//! The lines of a private key, behind whatever each line begins with: the step of a build, a time,
//! a number, a quote. They are runs of Base64, equally long but for the last, and nothing is asked
//! of what stands between them but that it is short.

use memchr::memmem;

use crate::scrub::value::random::is_random;
use crate::text::byte_pattern::BytePattern;

/// A line is at least this long, unless it is the last.
const SHORTEST_LINE: usize = 16;

/// A body in one line that does not follow its mark at once is at least this long.
const SHORTEST_BODY: usize = 100;

/// What is at most between the last line of a key and the one before it.
const NEAR: usize = 16;

/// What is at most between two lines, headers included.
const WIDEST_GAP: usize = 400;

/// Of a key between its marks, at least one byte of so many is of its lines.
const SHARE: usize = 6;

/// How much more may stand before the last line than before the others: a number grows.
const SLACK: usize = 4;

static RUN: BytePattern = BytePattern::new("[A-Za-z0-9+/]{8,}={0,2}");

static LAST_LINE: BytePattern = BytePattern::new(
    r"^-+ ?END(?:[A-Z0-9]|[ +]|%20){1,60}PRIVATE(?:[ +]|%20)KEY(?:(?:[ +]|%20)BLOCK)?-{0,5}",
);

/// A run of Base64: its distances from the mark, and whether it looks like a line of a key.
type Run = (usize, usize, bool);

/// Returns how far a key reaches from its first line on, its last line included; `None` if no key
/// follows, as where code names the line.
pub(super) fn behind(text: &[u8]) -> Option<usize> {
    let next_mark = memmem::find(text, b"----").unwrap_or(text.len());
    let (inside, rest) = text.split_at_checked(next_mark)?;
    let runs = runs(inside);
    let lines = runs.iter().filter(|(.., is_line)| *is_line);
    let body: usize = lines.map(|(start, end, _)| end - start).sum();
    let is_short_key = || {
        let text = inside.trim_ascii();
        text.ends_with(b"=") && matches!(*runs, [(start, end, _)] if end - start == text.len())
    };
    let is_key = (body > 0 && body * SHARE >= inside.len()) || is_short_key();
    if is_key && let Some(last) = LAST_LINE.regex()?.find(rest) {
        return Some(next_mark + last.end());
    }
    // Line breaks and quotes, but no words.
    let is_word = |pair: &[u8]| pair.iter().all(u8::is_ascii_alphanumeric);
    let nearest = inside.windows(2).position(is_word).unwrap_or_default();
    reach(runs.into_iter(), nearest)
}

/// Returns how far a key reaches back from its last line, if the first one was cut off.
pub(super) fn before(text: &[u8]) -> Option<usize> {
    let mark = memmem::rfind(text, b"----").map_or(0, |at| at + 4);
    let inside = text.get(mark..)?;
    let length = inside.len();
    let runs = runs(inside).into_iter().rev();
    let from_mark = |(start, end, is_line)| (length - end, length - start, is_line);
    reach(runs.map(from_mark), NEAR)
}

fn runs(text: &[u8]) -> Vec<Run> {
    let found = RUN
        .regex()
        .into_iter()
        .flat_map(|regex| regex.find_iter(text));
    let run = |run: regex::bytes::Match<'_>| {
        let text = std::str::from_utf8(run.as_bytes()).unwrap_or_default();
        let is_hash = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        (
            run.start(),
            run.end(),
            !is_hash && is_random(text, SHORTEST_LINE),
        )
    };
    found.map(run).collect()
}

fn reach(runs: impl Iterator<Item = Run>, nearest: usize) -> Option<usize> {
    let (mut longest, mut count, mut gap, mut reached) = (0, 0, 0, 0);
    let mut is_near = false;
    for (start, end, is_line) in runs {
        let (length, distance) = (end - start, start - reached);
        if distance > WIDEST_GAP {
            break;
        }
        // Before the last line of a key, the first one that is met may be the shorter.
        let is_next = distance <= gap + SLACK && (length < longest || count == 1);
        if length == longest || is_line && (count == 0 || is_next) {
            is_near |= start <= nearest;
            longest = longest.max(length);
            (gap, reached) = (distance, end);
            count += 1;
        }
    }
    let is_key = count > 1 || (count == 1 && (is_near || longest >= SHORTEST_BODY));
    is_key.then_some(reached)
}
