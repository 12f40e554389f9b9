//! The right answers of rows: what stands for an answer in another text, and what a number means
//! beside options.

use crate::text::node::{Node, NodeValue, json};

use super::options::RowOptions;
use super::value::typed;

/// What the numbers of a file's answers mean. One row does not show it: `1` may be an index or a
/// text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    Texts,
    /// They count options from here.
    Index(usize),
}

impl Numbers {
    /// Takes the first reading that fits all rows.
    pub(super) fn of(rows: &[(RowOptions, Node)], index: Option<usize>) -> Self {
        let mut numbers: Vec<(usize, &RowOptions)> = Vec::new();
        for (options, node) in rows.iter().filter(|(options, _)| options.labels.is_empty()) {
            let words = node.elements().iter().filter_map(Node::as_word);
            numbers.extend(words.filter_map(|word| Some((word.parse().ok()?, options))));
        }
        let fits = |reading: &Self| match reading {
            Self::Texts => {
                let mut numbers = numbers.iter();
                numbers.all(|(number, options)| options.texts.contains(&number.to_string()))
            }
            Self::Index(first) => {
                let place = |number: &usize| number.checked_sub(*first);
                let mut numbers = numbers.iter();
                numbers.all(|(number, options)| {
                    place(number).is_some_and(|at| at < options.texts.len())
                })
            }
        };
        let given = index.map(Self::Index);
        let readings = [Self::Texts, Self::Index(0), Self::Index(1)];
        let fitting = given.into_iter().chain(readings).find(fits);
        fitting.or(given).unwrap_or(Self::Texts)
    }

    /// The places of the right options; none if the answers are texts or letters.
    pub(super) fn positions(
        self,
        options: &RowOptions,
        answers: &Node,
    ) -> Result<Vec<usize>, String> {
        let mut positions = Vec::new();
        let place = |list: &[String], word: &str| {
            list.iter().position(|text| text.eq_ignore_ascii_case(word))
        };
        for answer in answers.elements() {
            let word = answer.as_word().unwrap_or_default();
            if let Some(at) = place(&options.labels, word) {
                positions.push(at);
            } else if !options.labels.is_empty() {
                let at = place(&options.texts, word);
                positions.push(at.ok_or_else(|| format!("`{word}` is no label of an option"))?);
            } else if let (Self::Index(first), Ok(number)) = (self, word.parse::<usize>()) {
                let at = number
                    .checked_sub(first)
                    .filter(|at| *at < options.texts.len());
                positions.push(at.ok_or_else(|| {
                    format!("`{number}` is the number of no option, which count from {first}")
                })?);
            }
        }
        if positions.is_empty() || positions.len() == answers.elements().len() {
            return Ok(positions);
        }
        Err("some of the answers are numbers of options, and some are not".to_owned())
    }
}

/// Without the solution around it, and apart from others. Answers with types are texts if they are
/// written as texts.
pub(super) fn answer(node: &Node, has_types: bool, several: &str) -> Node {
    let line = node.line;
    let text = |text: &str| Node::text(line, text);
    let list: Vec<Node> = match &node.value {
        NodeValue::List(list) => list.clone(),
        NodeValue::Text(answer) => {
            if let Some(number) = final_number(answer) {
                let value = NodeValue::Number(number);
                return Node { line, value };
            }
            let written = json::parse_loose(answer).ok().flatten();
            let written = written.filter(|list| answer.starts_with('[') && is_of_texts(list));
            match (boxed(answer), written) {
                _ if has_types => return node.clone(),
                (Some(inner), _) => return typed(&text(inner)),
                (None, Some(list)) => list.at_line(line).elements().to_vec(),
                (None, None) if several.is_empty() => return typed(node),
                (None, None) => answer
                    .split(several)
                    .map(|part| text(part.trim()))
                    .collect(),
            }
        }
        _ => return node.clone(),
    };
    let answers = list.iter().map(|node| answer(node, has_types, ""));
    Node::list(line, answers.collect())
}

/// A list of numbers may be an interval.
fn is_of_texts(list: &Node) -> bool {
    let mut elements = list.elements().iter();
    elements.all(|node| matches!(node.value, NodeValue::Text(_)))
}

/// The number after `####` on the last line, which is a heading elsewhere.
pub(super) fn final_number(text: &str) -> Option<String> {
    let last = text.trim_end().lines().next_back()?;
    let number = last.trim().strip_prefix("####")?.trim();
    let number: String = number.chars().filter(|c| !matches!(c, ',' | '$')).collect();
    number.parse::<f64>().is_ok().then_some(number)
}

/// What the last `\boxed{…}` encloses.
fn boxed(text: &str) -> Option<&str> {
    let (_, inner) = text.rsplit_once("\\boxed{")?;
    let mut depth = 1;
    let end = inner.find(|c| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        depth == 0
    });
    inner.get(..end?)
}
