//! Fits the weights to labelled sentences, by the logistic loss with a bound on the weights.
//!
//! After a change of words or sentences, `cargo test --lib admissions` writes `weights.toml` again.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;

use super::{Feature, features, scale, weight, weights};
use crate::agent_loop::text::{Message, sentences};

/// Rarer features say nothing.
const LEAST_OFTEN: usize = 3;
/// Smaller weights are left out.
const LEAST_WEIGHT: f32 = 0.5;
/// How much large weights cost.
const BOUND: f32 = 0.06;
const ROUNDS: usize = 400;
const STEP: f32 = 0.5;
/// The rows of the tests count so often.
const TIMES: usize = 3;

#[derive(Debug, Deserialize)]
struct Labelled {
    yes: Vec<String>,
    no: Vec<String>,
}

fn prose(message: &str) -> Vec<String> {
    let message = Message::read(message, None);
    let prose = message.blocks.iter().filter(|block| block.is_prose());
    let lower = prose.map(|block| block.prose.to_lowercase().replace('’', "'"));
    let sentences = lower.map(|text| {
        let sentences = sentences(&text).into_iter();
        sentences.map(|it| it.text.to_owned()).collect::<Vec<_>>()
    });
    sentences.flatten().collect()
}

/// Sentences with whether they admit something. Of a message that does, any of several sentences may.
fn labelled() -> Vec<(String, bool)> {
    let tables: [&str; 2] = [
        include_str!("sentences.toml"),
        include_str!("../cases.toml"),
    ];
    let mut all = Vec::new();
    for (table, times) in tables.into_iter().zip([1, TIMES]) {
        let mut table: BTreeMap<String, Labelled> = toml::from_str(table).unwrap();
        let rows = table.remove("admissions").unwrap();
        for _ in 0..times {
            let yes = rows.yes.iter().map(|text| prose(text));
            let one = yes.filter(|sentences| sentences.len() == 1);
            all.extend(one.flatten().map(|text| (text, true)));
            let no = rows.no.iter().flat_map(|text| prose(text));
            all.extend(no.map(|text| (text, false)));
        }
    }
    all
}

/// Returns the weights by their names, in hundredths.
fn fitted(texts: &[(String, bool)]) -> BTreeMap<String, i16> {
    let read = texts.iter().map(|(text, label)| (features(text), *label));
    let read: Vec<_> = read.collect();
    let mut often: BTreeMap<Feature<'_>, usize> = BTreeMap::new();
    for feature in read.iter().flat_map(|(features, _)| features) {
        *often.entry(*feature).or_default() += 1;
    }
    often.retain(|_, times| *times >= LEAST_OFTEN);
    let index: HashMap<Feature<'_>, usize> = often.keys().copied().zip(1..).collect();
    // The first is of each sentence.
    let rows = read.iter().map(|(features, label)| {
        let scale = scale(features.len());
        let mut kept: Vec<_> = features
            .iter()
            .filter_map(|it| index.get(it))
            .copied()
            .collect();
        kept.sort_unstable();
        let kept = kept.into_iter().map(|it| (it, scale)).chain([(0, 1.0)]);
        (kept.collect::<Vec<_>>(), f32::from(u8::from(*label)))
    });
    let rows: Vec<_> = rows.collect();
    let mut weights = vec![0.0_f32; index.len() + 1];
    let mut squares = vec![1e-6_f32; weights.len()];
    for _ in 0..ROUNDS {
        let mut slopes: Vec<f32> = weights.iter().map(|it| it * BOUND).collect();
        for (features, label) in &rows {
            let sum: f32 = features
                .iter()
                .map(|(it, scale)| weights[*it] * scale)
                .sum();
            let miss = 1.0 / (1.0 + (-sum).exp()) - label;
            for (feature, scale) in features {
                slopes[*feature] += miss * scale;
            }
        }
        for ((weight, slope), square) in weights.iter_mut().zip(slopes).zip(&mut squares) {
            *square += slope * slope;
            *weight -= STEP * slope / square.sqrt();
        }
    }
    let names = often
        .keys()
        .map(|(first, second)| format!("{first} {second}"));
    let all = [String::new()].into_iter().chain(names).zip(weights);
    let is_plain = |name: &str| !name.contains(['"', '\\']);
    let large = all
        .filter(|(name, weight)| name.is_empty() || weight.abs() >= LEAST_WEIGHT && is_plain(name));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the bound keeps them small"
    )]
    let hundredths = |weight: f32| (weight * 100.0).round() as i16;
    large
        .map(|(name, weight)| (name.trim_end().to_owned(), hundredths(weight)))
        .collect()
}

#[test]
fn the_weights_are_those_of_the_sentences() {
    let fitted = fitted(&labelled());
    let stored: BTreeMap<String, i16> = weights().map(|(name, of)| (name.to_owned(), of)).collect();
    let of = |weights: &BTreeMap<String, i16>, name: &str| {
        weights.get(name).copied().unwrap_or_default()
    };
    // Sums of fractions differ a little between machines.
    let differs = |name: &&String| (of(&fitted, name) - of(&stored, name)).abs() > 70;
    if fitted.keys().chain(stored.keys()).any(|it| differs(&it)) {
        let rows = fitted.iter();
        let rows = rows.map(|(name, weight)| format!("{name:?} = {weight}\n"));
        let file = "src/agent_loop/signals/admissions/weights.toml";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        std::fs::write(path, rows.collect::<String>()).unwrap();
        panic!("the weights were fitted again: look at what changes, and run this once more");
    }
}

#[test]
fn sentences_weigh_what_they_say() {
    let texts = labelled();
    let wrong = |label| {
        let of_label = texts.iter().filter(|text| text.1 == label);
        let wrong = of_label
            .clone()
            .filter(|text| weight(&text.0).admits(false, 0.0) != label);
        100 * wrong.count() / of_label.count()
    };
    assert!(
        wrong(true) <= 40,
        "{} % of the admissions are missed",
        wrong(true)
    );
    assert!(
        wrong(false) <= 1,
        "{} % of the reports are held back",
        wrong(false)
    );
}
