//! How much an English sentence weighs as an admission: that the work beside a signal of completion
//! is not done, fails, or was not tried.
//!
//! Free wording has no phrases. What tells `the build breaks` from `the form rejects empty names` is
//! of what kinds its words are, in which order, and how a clause begins. `classes.toml` has the kinds
//! of words, `weights.toml` a weight for each feature of a sentence. The weights are fitted to the
//! labelled sentences of `sentences.toml` and of the tests by the test `fit`, and to nothing else.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::agent_loop::text::{Token, TokenKind, tokens};
use crate::text::word_list::{WordList, WordLists, load};

/// Above this weight a sentence admits something of which its phrases say nothing.
const ADMITS: f32 = 1.25;
/// Above this weight it admits what its phrases say.
const AGREES: f32 = -0.5;
/// The least share of known words of an English sentence, and that of one that is surely English.
const KNOWN: f32 = 0.12;
const WELL_KNOWN: f32 = 0.4;

/// The words within which a kind of word belongs to the one before.
const NEAR: usize = 6;

/// A feature of a sentence:
///
/// | first | second | what the sentence has |
/// |---|---|---|
/// | a kind | | a word of the kind |
/// | a kind | a kind | the second closely behind the first, in one clause |
/// | a divider or `^` | | a clause behind it, or at the beginning |
/// | a divider or `^` | a kind | a word of the kind in such a clause |
/// | `1st`, `2nd` | a kind | a word of the kind at this place |
/// | `=` | a word | the word |
/// | `starts` | a word | the word at its beginning |
/// | `not` | a word | the word behind one that denies |
type Feature<'a> = (&'a str, &'a str);

const PLACES: [&str; 2] = ["1st", "2nd"];

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tables {
    /// Words and marks that begin clauses.
    dividers: WordList,
    classes: WordLists,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| load(include_str!("classes.toml")));

/// The words behind the first of a phrase, and the kind of the phrase.
type Rest = (Vec<&'static str>, &'static str);

/// By their first words.
static PHRASES: LazyLock<HashMap<&str, Vec<Rest>>> = LazyLock::new(|| {
    let mut phrases: HashMap<_, Vec<_>> = HashMap::with_capacity(2048);
    let classes = TABLES.classes.0.iter();
    for (class, phrase) in
        classes.flat_map(|(class, words)| words.iter().map(move |it| (class, it)))
    {
        let mut words = names(phrase).into_iter();
        if let Some(first) = words.next() {
            phrases
                .entry(first)
                .or_default()
                .push((words.collect(), class.as_str()));
        }
    }
    phrases
});

/// In hundredths, by the names of a feature; that without a name is of each sentence.
static WEIGHTS: LazyLock<BTreeMap<String, i16>> =
    LazyLock::new(|| load(include_str!("weights.toml")));
static BY_FEATURE: LazyLock<HashMap<Feature<'_>, f32>> = LazyLock::new(|| {
    let weights = WEIGHTS.iter();
    let named = weights.map(|(name, weight)| (name.split_once(' ').unwrap_or((name, "")), *weight));
    named
        .map(|(name, weight)| (name, f32::from(weight) / 100.0))
        .collect()
});

/// `sentence` is in lower case, with straight apostrophes; `by_phrases` is what its phrases say, which
/// decide alone in other languages.
pub(super) fn admits(sentence: &str, by_phrases: bool) -> bool {
    let (weight, known) = weight(sentence);
    if by_phrases {
        known < WELL_KNOWN || weight > AGREES
    } else {
        known >= KNOWN && weight > ADMITS
    }
}

/// Returns the weight of a sentence, and the share of its words that are known.
fn weight(sentence: &str) -> (f32, f32) {
    let (features, known) = features(sentence);
    let weight = |feature: &Feature<'_>| BY_FEATURE.get(feature).copied().unwrap_or_default();
    let sum: f32 = features.iter().map(weight).sum();
    (weight(&("", "")) + sum * scale(features.len()), known)
}

/// A long sentence has many features, and weighs no more for it.
#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn scale(features: usize) -> f32 {
    1.0 / (features.max(1) as f32).sqrt()
}

/// The words and marks of a sentence.
fn names(sentence: &str) -> Vec<&str> {
    tokens(sentence).iter().map(name).collect()
}

fn name<'a>(token: &Token<'a>) -> &'a str {
    match token.kind {
        TokenKind::Number if token.text != "0" => "#",
        _ => token.text,
    }
}

fn is_word(name: &str) -> bool {
    name.starts_with(char::is_alphanumeric)
}

/// Returns the features of a sentence, and the share of its words that are known.
#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn features(sentence: &str) -> (HashSet<Feature<'_>>, f32) {
    let names = names(sentence);
    let mut features: HashSet<Feature<'_>> = HashSet::with_capacity(64);
    let first = names.first().filter(|name| is_word(name));
    features.extend(first.map(|first| ("starts", *first)));
    let words = names.iter().filter(|name| is_word(name));
    features.extend(words.clone().map(|word| ("=", *word)));
    let (mut known, mut start, mut opening) = (0, 0, "^");
    for (end, name) in names.iter().enumerate().chain([(names.len(), &"")]) {
        if !name.is_empty() && !TABLES.dividers.has(name) {
            continue;
        }
        let clause = names.get(start..end).unwrap_or_default();
        if !clause.is_empty() {
            known += add_clause(&mut features, clause, opening);
        }
        known += usize::from(is_word(name));
        (start, opening) = (end + 1, name);
    }
    (features, known as f32 / words.count().max(1) as f32)
}

/// Returns how many of the words are known.
fn add_clause<'a>(
    features: &mut HashSet<Feature<'a>>,
    clause: &[&'a str],
    opening: &'a str,
) -> usize {
    let mut spans: Vec<(usize, usize, &str)> = Vec::new();
    let mut known = 0;
    let mut is_denied = false;
    for (start, first) in clause.iter().enumerate() {
        let before = spans.len();
        for (rest, class) in PHRASES.get(first).into_iter().flatten() {
            let end = start + 1 + rest.len();
            if clause.get(start + 1..end) == Some(rest.as_slice()) {
                spans.push((start, end, class));
            }
        }
        let here = spans.get(before..).unwrap_or_default();
        known += usize::from(!here.is_empty());
        if here
            .iter()
            .any(|span| span.1 == start + 1 && span.2 == "denial")
        {
            is_denied = true;
        } else if is_denied {
            features.insert(("not", first));
        }
    }
    features.insert((opening, ""));
    for (at, (start, end, class)) in spans.iter().enumerate() {
        features.insert((class, ""));
        features.insert((opening, class));
        if let Some(place) = PLACES.get(*start).filter(|_| opening == "^") {
            features.insert((place, class));
        }
        let near = spans.iter().skip(at).take_while(|it| it.0 <= end + NEAR);
        let behind = near.filter(|it| it.0 >= *end);
        features.extend(behind.map(|other| (*class, other.2)));
    }
    known
}

#[cfg(test)]
mod fit;
