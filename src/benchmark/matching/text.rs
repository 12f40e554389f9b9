//! Forms of a text that compare without regard to how it is typeset.

use icu_normalizer::ComposingNormalizerBorrowed;

/// Returns the text with composed characters: `e` and an accent become `é`.
pub(super) fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc()
        .normalize(text)
        .into_owned()
}

/// Returns the text for a comparison that ignores case, white space, emphasis, the shapes of quotes
/// and dashes, and punctuation around it. Articles and punctuation within it count: "The Who" is
/// not "Who", and "1.5" is not "15".
pub(super) fn folded(text: &str) -> String {
    let plain = without_emphasis(&composed(text));
    let shaped: String = plain.chars().map(plain_shape).collect();
    let core = core(&shaped);
    // A text of marks only is compared by them.
    let core = if core.is_empty() { &shaped } else { core };
    joined_words(&core.to_lowercase())
}

/// Returns the text with one space between words.
pub(super) fn joined_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Models typeset quotes and dashes as they like.
fn plain_shape(c: char) -> char {
    match c {
        '‘' | '’' | '‚' | '‛' | 'ʼ' | '´' => '\'',
        '“' | '”' | '„' | '‟' | '«' | '»' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        c => c,
    }
}

/// Removes Markdown's marks of emphasis and code: runs that touch a word on one side only, so that
/// `2*3` and `snake_case` stay.
pub(super) fn without_emphasis(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(is_emphasis).len();
        if run == 0 {
            plain.push(first);
            before = first;
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        let (marks, after) = rest.split_at_checked(run).unwrap_or((rest, ""));
        let next = after.chars().next().unwrap_or(' ');
        let is_between_words = before.is_alphanumeric() && next.is_alphanumeric();
        if is_between_words || before.is_whitespace() && next.is_whitespace() {
            plain.push_str(marks);
            before = marks.chars().next_back().unwrap_or(before);
        }
        rest = after;
    }
    plain
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '~')
}

/// Commands of LaTeX around an answer that do not change it.
const WRAPPERS: [&str; 7] = [
    "\\boxed{",
    "\\fbox{",
    "\\text{",
    "\\textbf{",
    "\\mathrm{",
    "\\mathbf{",
    "\\mathit{",
];

/// Marks that enclose an answer without being part of it.
const PAIRS: [(&str, &str); 16] = [
    ("\"", "\""),
    ("'", "'"),
    ("“", "”"),
    ("„", "“"),
    ("„", "”"),
    ("‘", "’"),
    ("‚", "‘"),
    ("«", "»"),
    ("»", "«"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("$$", "$$"),
    ("$", "$"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
];

/// Returns the text without white space, punctuation, emphasis, quotes and brackets around it.
pub(super) fn core(text: &str) -> &str {
    let mut core = text;
    loop {
        let outer = core;
        core = core.trim_matches(|c: char| c.is_whitespace() || is_emphasis(c));
        core = core.trim_end_matches(is_end_mark);
        core = core.trim_start_matches(|c: char| is_end_mark(c) && c != '.');
        if let Some(inner) = enclosed(core) {
            core = inner;
        }
        if core == outer {
            return core;
        }
    }
}

fn is_end_mark(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ';' | ':' | '!' | '?' | '…' | '。' | '，' | '；' | '：' | '！' | '？'
    )
}

/// Returns the text between a pair of marks that encloses all of it.
fn enclosed(text: &str) -> Option<&str> {
    let wrapped = WRAPPERS.iter().map(|open| (*open, "}"));
    wrapped
        .chain(PAIRS)
        .find_map(|(open, close)| {
            let inner = text.strip_prefix(open)?.strip_suffix(close)?;
            // "(a) or (b)" is not enclosed as a whole.
            (!inner.contains(close) && !inner.contains(open)).then_some(inner)
        })
        .filter(|inner| !inner.trim().is_empty())
}

/// Whether a text has another one as whole words. Both are folded.
pub(super) fn has_words(text: &str, words: &str) -> bool {
    !positions_of_words(text, words).is_empty()
}

/// Returns where the words begin in a text, whole words only.
pub(super) fn positions_of_words(text: &str, words: &str) -> Vec<usize> {
    let mut positions = Vec::new();
    let (Some(first), Some(last)) = (words.chars().next(), words.chars().next_back()) else {
        return positions;
    };
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(words)) {
        let start = from + found;
        let end = start + words.len();
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text.get(end..).and_then(|text| text.chars().next());
        if is_boundary(before, first) && is_boundary(after, last) {
            positions.push(start);
        }
        from = start + first.len_utf8();
    }
    positions
}

/// Whether a word ends between two characters.
fn is_boundary(outer: Option<char>, inner: char) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    !outer.is_some_and(is_letter) || !is_letter(inner)
}

/// Whether the character belongs to a script without spaces between words: Chinese, Japanese, Thai,
/// Lao, Khmer and Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(
        u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x9FFF
            | 0xF900..=0xFAFF | 0x20000..=0x3FFFF
    )
}
