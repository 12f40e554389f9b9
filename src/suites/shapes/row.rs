//! A row as a case: what its shape makes of its fields.

use crate::suites::log::FileLog;
use crate::text::node::{Node, NodeMap, NodeValue};

use super::expected::answer;
use super::value::{member, value};
use super::{BLANK, CASE_FIELDS, Shape, parts};

impl Shape {
    /// Returns a row with the fields of a case. Answers that are numbers count options from `first`.
    pub(super) fn row(
        &self,
        map: &NodeMap,
        line: usize,
        first: Option<usize>,
        has_types: bool,
        log: &FileLog,
    ) -> Option<Node> {
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
        let own = |of: &str| value(map, self.field(of));
        set("id", own("id"));
        set("tags", own("tags"));
        set("context", own("context").map(joined));
        let question = self.question(map, line);
        let mut options = self.options(map);
        let given = own("expected");
        let answer = given.map(|node| match (&options, node.scalar()) {
            // Options have no types.
            (Some(_), Some(text)) => Node::text(node.line, text),
            _ => answer(&node, has_types, &self.several),
        });
        let mut right = match (&options, &answer) {
            (Some(options), None) => options.best(),
            (Some(options), Some(node)) => {
                if self.single && node.elements().len() > 1 {
                    let problem = "several options that must be chosen together cannot be compared";
                    return log.refuse(node.line, problem);
                }
                match options.positions(first, node) {
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
        let expected = self.field("expected");
        if !self.name.is_empty() && !expected.is_empty() && (is_blank || is_missing) {
            let names = expected.replace('|', "` or `");
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
        set("options", options.or_else(|| own("options")));
        Some(Node::map(line, case))
    }

    fn question(&self, map: &NodeMap, line: usize) -> Option<Node> {
        let form = self.field("question");
        if !form.contains('{') {
            return Some(joined(value(map, form)?));
        }
        let mut text = String::new();
        for part in form.split('}') {
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
    fn check_names(&self, map: &NodeMap, log: &FileLog) -> Option<()> {
        for of in ["question", "expected", "options"] {
            let mut present =
                parts(self.field(of), '|').filter_map(|name| Some((name, value(map, name)?)));
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
