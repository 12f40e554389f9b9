//! Questions that are written as messages of a chat.

use crate::suites::log::FileLog;
use crate::text::node::{Node, NodeValue};

use super::tidy;

/// Several messages of both sides are labelled with who speaks; a single one, with or without
/// instructions before it, is asked as it is.
pub(super) fn question(messages: &[Node], log: &FileLog) -> Option<String> {
    let before = log.problems();
    let parts = messages.iter().filter_map(|message| read(message, log));
    let parts: Vec<(&str, String)> = parts.collect();
    if log.problems() > before {
        return None;
    }
    let is_dialogue = parts.iter().filter(|(role, _)| *role != "system").count() > 1;
    let texts = parts.into_iter().map(|(role, text)| match role {
        "user" if is_dialogue => format!("User: {text}"),
        "assistant" => format!("Assistant: {text}"),
        _ => text,
    });
    let question = texts.collect::<Vec<_>>().join("\n\n");
    if question.is_empty() {
        let line = messages.first().map_or(1, |message| message.line);
        return log.refuse(line, "the messages of the question are empty");
    }
    Some(question)
}

fn read<'a>(message: &'a Node, log: &FileLog) -> Option<(&'a str, String)> {
    let Some(map) = message.as_map() else {
        return log.wrong("a message", message, "a map with `role` and `content`");
    };
    let role = map.get("role").and_then(Node::as_word);
    let role = role.map(|role| if role == "developer" { "system" } else { role });
    let Some(role @ ("system" | "user" | "assistant")) = role else {
        let problem = "the `role` of a message must be `system`, `user` or `assistant`";
        return log.refuse(message.line, problem);
    };
    let text = map.get("content").and_then(text);
    match text {
        Some(text) => Some((role, text)),
        None => log.refuse(message.line, "the `content` of a message must be text"),
    }
}

/// A text, or parts that are all texts.
fn text(content: &Node) -> Option<String> {
    match &content.value {
        NodeValue::Text(text) => Some(tidy(text)),
        NodeValue::List(parts) => {
            let texts: Option<Vec<String>> = parts.iter().map(part).collect();
            texts.map(|texts| texts.join("\n\n"))
        }
        _ => None,
    }
}

fn part(part: &Node) -> Option<String> {
    let map = part.as_map()?;
    let kind = map.get("type")?.as_word()?;
    match (kind, &map.get("text")?.value) {
        ("text", NodeValue::Text(text)) => Some(tidy(text)),
        _ => None,
    }
}
