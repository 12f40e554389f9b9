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
                let keys: Vec<Node> = map.keys().map(|key| text(key)).collect();
                let values: Vec<Node> = map.values().cloned().collect();
                let are_numbers = values.iter().all(|node| node.as_number().is_some());
                let is_letter = |key: &String| matches!(key.as_bytes(), [letter] if letter.is_ascii_alphabetic());
                let are_labels = map.keys().all(is_letter);
                let are_scores = are_numbers && !are_labels;
                if are_scores {
                    (keys, values)
                } else {
                    (values, keys)
                }
            }
        }
        // Other programs write lists into tables as their language does.
        NodeValue::Text(list) if list.starts_with(['[', '{']) => {
            let list = json::parse_loose(list).ok().flatten()?;
            return of_node(&list);
        }
        NodeValue::Text(list) if list.contains('|') => {
            (parts(list, '|').map(text).collect(), Vec::new())
        }
        _ => return None,
    };
    let words = |nodes: &[Node]| nodes.iter().map(word).collect::<Option<Vec<String>>>();
    let (texts, labels) = (words(&texts)?, words(&marks)?);
    (labels.is_empty() || labels.len() == texts.len()).then_some(RowOptions { texts, labels })
}

impl RowOptions {
    pub(super) fn has_twins(&self) -> bool {
        let texts = self.texts.iter().map(|text| text.trim().to_lowercase());
        texts.collect::<BTreeSet<_>>().len() < self.texts.len()
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
