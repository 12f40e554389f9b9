//! The right answers of rows: what stands for an answer in another text.

use crate::text::node::{Node, NodeValue, json};

use super::value::typed;

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
