//! How much an English sentence weighs as an admission: that the work beside a signal of completion
//! is not done, fails, or was not tried.
//!
//! Free wording has no phrases. What tells `the build breaks` from `the form rejects empty names` is
//! of what kinds its words are, in which order, and how a clause begins. `classes.toml` has the kinds
//! of words, `weights.toml` a weight for each feature of a sentence. The weights are fitted to the
//! labelled sentences of `sentences.toml` and of the tests by the test `fit`, and to nothing else.
//! Bare claims that all is done are few among them: they stand beside reports and admissions alike.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::agent_loop::text::{Token, TokenKind, tokens};
use crate::text::word_list::{WordList, WordLists, load};

/// Above this weight a sentence admits something of which its phrases say nothing.
const ADMITS: f32 = 0.4;
/// Above this weight it admits what its phrases say.
const AGREES: f32 = -0.5;
/// How much of the mean weight of a response each of its sentences has: beside a careful report an
/// odd sentence admits less than beside a bare claim.
const SHARE: f32 = 0.5;
/// The least mean weight that counts: many careful sentences do not outweigh an odd one.
const LEAST_TONE: f32 = -2.0;
/// The least share of words with a weight in an English sentence, and the words of which a shorter
/// one is taken to lack some: `… gets …` says too little.
const KNOWN: f32 = 0.5;
const FEWEST: usize = 4;

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
/// | a word or mark | the next | both in this order |
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

static BY_FEATURE: LazyLock<HashMap<Feature<'_>, f32>> = LazyLock::new(|| {
    let named =
        weights().map(|(name, weight)| (name.split_once(' ').unwrap_or((name, "")), weight));
    named
        .map(|(name, weight)| (name, f32::from(weight) / 100.0))
        .collect()
});

/// Returns the weights in hundredths, by the names of a feature; that without a name is of each
/// sentence. Each line is one, and no name needs an escape: a reader of any TOML takes a tenth of a
/// check for them.
fn weights() -> impl Iterator<Item = (&'static str, i16)> {
    let lines = include_str!("weights.toml").lines();
    lines.filter_map(|line| {
        let (name, weight) = line.strip_prefix('"')?.split_once("\" = ")?;
        Some((name, weight.parse().ok()?))
    })
}

/// What a sentence weighs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    weight: f32,
    /// The share of its words that have a weight.
    known: f32,
}

impl Weight {
    /// `by_phrases` is what the phrases of the sentence say, which decide alone in other languages;
    /// `tone` is that of the response.
    pub(super) fn admits(self, by_phrases: bool, tone: f32) -> bool {
        if by_phrases {
            self.known < KNOWN || self.weight > AGREES
        } else {
            self.known >= KNOWN && self.weight + SHARE * tone.max(LEAST_TONE) > ADMITS
        }
    }
}

/// Returns the mean weight of the sentences of a response, without the claim that it begins with.
#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
pub(super) fn tone(sentences: impl Iterator<Item = Weight>) -> f32 {
    let (count, sum) = sentences
        .skip(1)
        .fold((0, 0.0), |(count, sum), it| (count + 1, sum + it.weight));
    sum / count.max(1) as f32
}

/// `sentence` is in lower case, with straight apostrophes.
#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
pub(super) fn weight(sentence: &str) -> Weight {
    let features = features(sentence);
    let weight = |feature: &Feature<'_>| BY_FEATURE.get(feature).copied();
    let sum: f32 = features.iter().filter_map(weight).sum();
    let words = features.iter().filter(|feature| feature.0 == "=");
    let known = words.clone().filter(|word| weight(word).is_some()).count();
    let base = weight(&("", "")).unwrap_or_default();
    Weight {
        weight: base + sum * scale(features.len()),
        known: known as f32 / words.count().max(FEWEST) as f32,
    }
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

fn features(sentence: &str) -> HashSet<Feature<'_>> {
    let names = names(sentence);
    let mut features: HashSet<Feature<'_>> = HashSet::with_capacity(64);
    let first = names.first().filter(|name| is_word(name));
    features.extend(first.map(|first| ("starts", *first)));
    let words = names.iter().filter(|name| is_word(name));
    features.extend(words.map(|word| ("=", *word)));
    features.extend(names.iter().copied().zip(names.iter().copied().skip(1)));
    let (mut start, mut opening) = (0, "^");
    for (end, name) in names.iter().enumerate().chain([(names.len(), &"")]) {
        if !name.is_empty() && !TABLES.dividers.has(name) {
            continue;
        }
        let clause = names.get(start..end).unwrap_or_default();
        if !clause.is_empty() {
            add_clause(&mut features, clause, opening);
        }
        (start, opening) = (end + 1, name);
    }
    features
}

fn add_clause<'a>(features: &mut HashSet<Feature<'a>>, clause: &[&'a str], opening: &'a str) {
    let mut spans: Vec<(usize, usize, &str)> = Vec::new();
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
}

#[cfg(test)]
mod fit;
