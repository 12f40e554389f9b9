//! A row as a case: what its shape makes of its fields.

use crate::suites::log::FileLog;
use crate::text::node::{Node, NodeMap, NodeValue};

use super::expected::{Numbers, answer};
use super::options::options;
use super::value::{member, value};
use super::{BLANK, CASE_FIELDS, Shape, parts};

impl Shape {
    /// Returns a row with the fields of a case.
    pub(super) fn row(
        &self,
        map: &NodeMap,
        line: usize,
        numbers: Numbers,
        has_types: bool,
        log: &mut FileLog<'_>,
    ) -> Option<NodeMap> {
        let mut case = NodeMap::new();
        let mut set = |name: &str, node: Option<Node>| {
            case.extend(node.map(|node| (name.to_owned(), node)));
        };
        if self.is_case {
            self.check_names(map, log)?;
            for name in CASE_FIELDS {
                set(name, member(map, name).cloned());
            }
        }
        let own = |path: &str| value(map, path);
        set("id", own(&self.id));
        set("tags", own(&self.tags));
        set("context", own(&self.context).map(joined));
        let question = self.question(map, line);
        let mut options = options(map, &self.options);
        let given = value(map, &self.expected);
        let answer = given.map(|node| answer(&node, has_types, &self.several));
        let mut right = match (&options, &answer) {
            (Some(options), None) => options.best(),
            (Some(options), Some(node)) => {
                if self.single && node.elements().len() > 1 {
                    let problem = "several options that must be chosen together cannot be compared";
                    return log.refuse(node.line, problem);
                }
                match numbers.positions(options, node) {
                    Ok(right) => right,
                    Err(problem) => return log.refuse(node.line, problem),
                }
            }
            _ => Vec::new(),
        };
        if let (true, Some(options)) = (self.shuffled, &mut options) {
            let text = question.as_ref().and_then(Node::as_word);
            options.shuffle(&mut right, text.unwrap_or_default());
        }
        let is_blank = answer.as_ref().is_some_and(|node| node.kind() == BLANK);
        let is_missing = !self.is_case && answer.is_none() && right.is_empty();
        if !self.name.is_empty() && !self.expected.is_empty() && (is_blank || is_missing) {
            let names = self.expected.replace('|', "` or `");
            return log.refuse(line, format!("`{names}` has no answer"));
        }
        let list = |texts: Vec<String>| {
            let texts = texts.into_iter().map(|text| Node::text(line, text));
            Node::list(line, texts.collect())
        };
        let letter = |at: &usize| Some(('A'..='Z').nth(*at)?.to_string());
        let letters: Vec<String> = right.iter().filter_map(letter).collect();
        let right = (!letters.is_empty()).then(|| list(letters));
        set("question", question);
        set("expected", right.or(answer));
        // What is wrong with options shows when they are read.
        let options = options.map(|options| list(options.texts));
        set("options", options.or_else(|| own(&self.options)));
        Some(case)
    }

    fn question(&self, map: &NodeMap, line: usize) -> Option<Node> {
        if !self.question.contains('{') {
            return Some(joined(value(map, &self.question)?));
        }
        let mut text = String::new();
        for part in self.question.split('}') {
            let (words, field) = part.split_once('{').unwrap_or((part, ""));
            text.push_str(words);
            let name = field.trim_end_matches('?');
            match value(map, name).map(|node| node.value) {
                Some(NodeValue::Text(value) | NodeValue::Number(value)) => text.push_str(&value),
                None if name != field || field.is_empty() => {}
                _ => return None,
            }
        }
        Some(Node::text(line, text))
    }

    /// Two names of one field in one row leave it open which is meant.
    fn check_names(&self, map: &NodeMap, log: &mut FileLog<'_>) -> Option<()> {
        for names in [&self.question, &self.expected, &self.options] {
            let mut present = parts(names, '|').filter_map(|name| Some((name, value(map, name)?)));
            if let (Some((first, _)), Some((other, node))) = (present.next(), present.next()) {
                let problem = format!("`{first}` and `{other}` mean the same field");
                return log.refuse(node.line, problem);
            }
        }
        Some(())
    }
}

/// Several texts are one, if they are not messages.
fn joined(node: Node) -> Node {
    let texts: Option<Vec<&str>> = node.elements().iter().map(Node::as_word).collect();
    match (texts, &node.value) {
        (Some(texts), NodeValue::List(_)) => Node::text(node.line, texts.join("\n\n")),
        _ => node,
    }
}
