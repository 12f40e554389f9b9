//! Regular expressions over the word lists of `words.toml`, and forms of a text that compare
//! without regard to how it is typeset.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::domain::steps;
use crate::text::clean::is_unspaced;
use crate::text::pattern::Pattern;
use crate::text::word_list::{WordList, load};

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
    let shaped: String = without_emphasis(&composed(text))
        .chars()
        .map(plain_shape)
        .collect();
    let core = core(&shaped);
    // A text of marks only is compared by them.
    let core = if core.is_empty() { &shaped } else { core };
    joined_words(&core.to_lowercase())
}

pub(super) fn without_emphasis(text: &str) -> String {
    let plain = OPENING.replace_in(text, "$1$2");
    CLOSING.replace_in(&plain, "$1$2").into_owned()
}

/// With one space between words.
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

/// Marks of emphasis and code that touch a word on one side only, so that `2*3` and `snake_case`
/// stay.
static OPENING: Pattern = worded(r"(^|[^\pL\pN*_`~])[*_`~]+([^\s*_`~])");
static CLOSING: Pattern = worded(r"([^\s*_`~])[*_`~]+([^\pL\pN*_`~]|$)");

/// What LaTeX puts around an answer without changing it.
static COMMAND: Pattern = worded(
    r"(?xs) ^ (?: \\ (?: boxed | fbox | text | textbf | mathrm | mathbf | mathit ) \{ (.*) \}
    | \\\( (.*) \\\) | \\\[ (.*) \\\] | \$\$ ([^$]*) \$\$ ) $",
);

/// Marks that enclose an answer without being part of it, in pairs.
const PAIRS: &str = "\"\"''“”„“„”‘’‚‘«»»«()[]{}$$";

/// Returns the text without white space, punctuation, emphasis, quotes and brackets around it.
pub(super) fn core(text: &str) -> &str {
    /// The most layers of marks around an answer that are taken off.
    const LAYERS: usize = 16;
    let mut core = text;
    for _ in 0..LAYERS {
        let outer = core;
        steps::count(core.len());
        core = core.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '~'));
        core = core.trim_end_matches(is_end_mark);
        core = core.trim_start_matches(|c: char| is_end_mark(c) && c != '.');
        if let Some(inner) = enclosed(core) {
            core = inner;
        }
        if core == outer {
            break;
        }
    }
    core
}

fn is_end_mark(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ';' | ':' | '!' | '?' | '…' | '。' | '，' | '；' | '：' | '！' | '？'
    )
}

/// Returns the text between a pair of marks that encloses all of it.
pub(super) fn enclosed(text: &str) -> Option<&str> {
    let pairs: Vec<char> = PAIRS.chars().collect();
    let paired = pairs.chunks_exact(2).find_map(|pair| {
        let [open, close] = pair.try_into().ok()?;
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        // "(a) or (b)" is not enclosed as a whole.
        (!inner.contains([open, close])).then_some(inner)
    });
    let in_command = || {
        let found = COMMAND.all(text).next()?;
        let inner = found.iter().skip(1).flatten().next();
        inner.map(|inner| inner.as_str())
    };
    let inner = paired.or_else(in_command)?;
    (!inner.trim().is_empty()).then_some(inner)
}

/// Returns the end of a text: its last character, and so many before it.
pub(super) fn end_of(text: &str, reach: usize) -> &str {
    let first = text.char_indices().rev().nth(reach);
    let start = first.map_or(0, |(at, _)| at);
    text.get(start..).unwrap_or_default()
}

/// Returns where the words begin in a text, whole words only. Both are folded.
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

fn is_boundary(outer: Option<char>, inner: char) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    !outer.is_some_and(is_letter) || !is_letter(inner)
}

/// Returns a regular expression in which `{name}` stands for any word of the list with this name,
/// in any case, and `{marks}` for a mark that Markdown and quotes leave between the parts of a
/// statement.
pub(super) const fn worded(source: &'static str) -> Pattern {
    Pattern::prepared(source, with_words)
}

static LISTS: LazyLock<BTreeMap<String, WordList>> = LazyLock::new(|| {
    load(concat!(
        include_str!("words.toml"),
        include_str!("numbers.toml")
    ))
});

pub(super) fn words(list: &str) -> &'static [String] {
    LISTS.get(list).map_or(&[], |list| list)
}

pub(super) fn with_words(source: &str) -> String {
    const MARKS: &str = r#"[[\s--\n]*_`~"'”’»“)\]]"#;
    let mut text = source.replace("{marks}", MARKS);
    for (name, words) in &*LISTS {
        let words = words.join("|").replace(' ', "\\ ");
        text = text.replace(&format!("{{{name}}}"), &format!("(?i:{words})"));
    }
    text
}
