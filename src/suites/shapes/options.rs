//! The options of a row, in the forms that data sets have for them.

use std::collections::BTreeSet;

use crate::domain::hash::sha256;
use crate::text::node::{Node, NodeMap, NodeValue, json};

use super::parts;
use super::value::{at, value, word};

/// The options of a row, with a label each or none. Labels are scores where no answer is given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RowOptions {
    pub(super) texts: Vec<String>,
    pub(super) labels: Vec<String>,
}

pub(super) fn options(map: &NodeMap, alternatives: &str) -> Option<RowOptions> {
    let of_texts = |texts| RowOptions {
        texts,
        labels: Vec::new(),
    };
    parts(alternatives, '|').find_map(|names| {
        if !names.contains(',') {
            return of_node(&at(map, names)?);
        }
        let fields = parts(names, ',').map_while(|name| at(map, name));
        let fields = fields.flat_map(|node| node.elements().to_vec());
        let texts: Option<Vec<String>> = fields.map(|node| word(&node)).collect();
        texts.filter(|texts| texts.len() > 1).map(of_texts)
    })
}

/// `None` if these are none that are understood.
fn of_node(node: &Node) -> Option<RowOptions> {
    const TEXTS: &str = "text|value|choices|option|content|answer";
    const LABELS: &str = "label|labels|key|letter|id";
    let text = |text: &str| Node::text(node.line, text);
    let (texts, marks): (Vec<Node>, Vec<Node>) = match &node.value {
        NodeValue::List(list) => {
            let inner = |entry: &Node| match entry.as_map() {
                Some(map) => value(map, TEXTS),
                None => Some(entry.clone()),
            };
            let texts: Option<Vec<Node>> = list.iter().map(inner).collect();
            let mark = |entry: &Node| value(entry.as_map()?, LABELS);
            (texts?, list.iter().filter_map(mark).collect())
        }
        NodeValue::Map(map) => {
            let lists = value(map, TEXTS).filter(|node| node.as_word().is_none());
            if let Some(texts) = lists {
                let marks = value(map, LABELS)?;
                (texts.elements().to_vec(), marks.elements().to_vec())
            } else {
                let keys = map.keys().map(|key| text(key)).collect();
                let values: Vec<Node> = map.values().cloned().collect();
                let are_numbers = values.iter().all(|node| node.as_number().is_some());
                let are_labels = map
                    .keys()
                    .all(|key| matches!(key.as_bytes(), [b'A'..=b'Z' | b'a'..=b'z']));
                // Numbers beside texts are scores.
                if are_numbers && !are_labels {
                    (keys, values)
                } else {
                    (values, keys)
                }
            }
        }
        // Other programs write lists into tables as their language does.
        NodeValue::Text(list) if list.starts_with(['[', '{']) => {
            let mut list = list.clone();
            if list.contains("array([") {
                // As pandas writes them.
                list = list.split_whitespace().collect::<Vec<_>>().join(" ");
                for (other, own) in [("array([", "["), ("], dtype=object)", "]"), ("])", "]")] {
                    list = list.replace(other, own);
                }
            }
            return of_node(&json::parse_loose(&list).ok().flatten()?);
        }
        NodeValue::Text(list) if list.contains(['|', '\n']) => {
            let mark = if list.contains('|') { '|' } else { '\n' };
            (parts(list, mark).map(text).collect(), Vec::new())
        }
        _ => return None,
    };
    let words = |nodes: &[Node]| nodes.iter().map(word).collect::<Option<Vec<String>>>();
    let (texts, labels) = (words(&texts)?, words(&marks)?);
    (labels.is_empty() || labels.len() == texts.len()).then_some(RowOptions { texts, labels })
}

/// Returns from which number answers count options; `None` if numbers are texts. One row does not
/// show it, so that the first reading that fits all rows holds; `usual` comes before all others.
pub(super) fn first_number(rows: &[(RowOptions, Node)], usual: Option<usize>) -> Option<usize> {
    let mut numbers: Vec<(usize, &RowOptions)> = Vec::new();
    for (options, node) in rows.iter().filter(|(options, _)| options.labels.is_empty()) {
        let words = node.elements().iter().filter_map(Node::as_word);
        numbers.extend(words.filter_map(|word| Some((word.parse().ok()?, options))));
    }
    let fits = |reading: &Option<usize>| {
        numbers.iter().all(|(number, options)| match reading {
            Some(first) => options.numbered(*number, *first).is_some(),
            None => options.texts.contains(&number.to_string()),
        })
    };
    let usual = usual.map(Some);
    let readings = [None, Some(0), Some(1)];
    let fitting = usual.into_iter().chain(readings).find(fits);
    fitting.or(usual).flatten()
}

impl RowOptions {
    fn numbered(&self, number: usize, first: usize) -> Option<usize> {
        let at = number.checked_sub(first);
        at.filter(|at| *at < self.texts.len())
    }

    /// The places of the right options; none if the answers are texts or letters.
    pub(super) fn positions(
        &self,
        first: Option<usize>,
        answers: &Node,
    ) -> Result<Vec<usize>, String> {
        let place = |list: &[String], word: &str| {
            list.iter().position(|text| text.eq_ignore_ascii_case(word))
        };
        let mut positions = Vec::new();
        for answer in answers.elements() {
            let word = answer.as_word().unwrap_or_default();
            let at = if !self.labels.is_empty() {
                let at = place(&self.labels, word).or_else(|| place(&self.texts, word));
                at.ok_or_else(|| format!("`{word}` is no label of an option"))?
            } else if let (Some(first), Ok(number)) = (first, word.parse()) {
                self.numbered(number, first).ok_or_else(|| {
                    format!("`{number}` is the number of no option, which count from {first}")
                })?
            } else {
                continue;
            };
            positions.push(at);
        }
        if positions.is_empty() || positions.len() == answers.elements().len() {
            return Ok(positions);
        }
        Err("some of the answers are numbers of options, and some are not".to_owned())
    }

    /// Returns whether an answer could mean two of them.
    pub(super) fn has_twins(&self) -> bool {
        let texts = self.texts.iter().map(|text| text.trim().to_lowercase());
        let letters = ('a'..='z').map(String::from);
        let names = texts.zip(letters);
        let names: Vec<_> = names.map(|(a, b)| BTreeSet::from([a, b])).collect();
        let unique: BTreeSet<&String> = names.iter().flatten().collect();
        unique.len() < names.iter().map(BTreeSet::len).sum()
    }

    /// The places of those with the highest score.
    pub(super) fn best(&self) -> Vec<usize> {
        let scores = self.labels.iter().map(|label| label.parse().unwrap_or(0.0));
        let scores: Vec<f64> = scores.collect();
        let best = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let is_best = |at: &usize| scores.get(*at) == Some(&best);
        (0..scores.len()).filter(is_best).collect()
    }

    /// Puts the options of a question into another order, always the same: the right one would
    /// stand in the same place of all.
    pub(super) fn shuffle(&mut self, right: &mut Vec<usize>, question: &str) {
        let mut places: Vec<(usize, String)> = self.texts.drain(..).enumerate().collect();
        places.sort_by_cached_key(|(_, option)| sha256(&format!("{question}{option}")));
        let is_right = |(at, _): &(usize, String)| right.contains(at);
        *right = (0..)
            .zip(&places)
            .filter(|(_, place)| is_right(place))
            .map(|(at, _)| at)
            .collect();
        self.texts = places.into_iter().map(|(_, text)| text).collect();
    }
}
