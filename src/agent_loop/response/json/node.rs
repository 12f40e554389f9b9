//! What is stored of a JSON document.

use crate::agent_loop::response::tail::Excerpt;

/// The names of the members that are stored, in any object of any format. The values of all others
/// are passed over.
const STORED_KEYS: [&str; 45] = [
    "aggregated_output",
    "api_error_status",
    "code",
    "command",
    "content",
    "delta",
    "error",
    "errors",
    "event",
    "exit_code",
    "file_path",
    "formatted_output",
    "id",
    "isApiErrorMessage",
    "is_error",
    "item",
    "item_type",
    "last_agent_message",
    "message",
    "model",
    "msg",
    "output",
    "parent_tool_use_id",
    "path",
    "permission_denials",
    "rate_limit_info",
    "reason",
    "response",
    "result",
    "role",
    "session_id",
    "severity",
    "stats",
    "status",
    "stderr",
    "stdout",
    "subtype",
    "success",
    "text",
    "tool_id",
    "tool_input",
    "tool_name",
    "tool_use_id",
    "type",
    "url",
];

/// The greatest length of a stored key, in bytes.
pub(super) const LONGEST_KEY: usize = 18;

/// Returns the name of a member that is stored.
pub(super) fn stored_key(name: &[u8]) -> Option<&'static str> {
    let mut keys = STORED_KEYS.iter().copied();
    keys.find(|stored| stored.as_bytes() == name)
}

/// A value of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// `None` for what is not a whole number of 64 bits.
    Number(Option<i64>),
    Text(Excerpt),
    List(Vec<Node>),
    /// The members that are stored, in their order.
    Object(Vec<(&'static str, Node)>),
    /// A list or an object beyond the depth or the number that is stored.
    Skipped,
}

impl Node {
    /// Returns a member of an object; of several with the same name the last.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else {
            return None;
        };
        let found = members.iter().rev().find(|(name, _)| *name == key);
        found.map(|(_, value)| value)
    }

    pub(crate) fn excerpt(&self) -> Option<&Excerpt> {
        match self {
            Self::Text(excerpt) => Some(excerpt),
            _ => None,
        }
    }

    /// Returns the text of a member.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        let excerpt = self.get(key)?.excerpt()?;
        Some(&excerpt.text)
    }

    /// Returns whether a member is there and is not `null`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| *value != Self::Null)
    }

    /// Returns whether a member is `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some(&Self::Bool(true))
    }

    pub(crate) fn number(&self, key: &str) -> Option<i64> {
        match self.get(key)? {
            Self::Number(number) => *number,
            _ => None,
        }
    }

    /// Returns the elements of a list; none of anything else.
    pub(crate) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// Returns the number of bytes that are stored in texts.
    #[cfg(test)]
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Text(excerpt) => excerpt.text.len(),
            Self::List(elements) => elements.iter().map(Self::text_bytes).sum(),
            Self::Object(members) => members.iter().map(|(_, value)| value.text_bytes()).sum(),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Skipped => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_key_is_stored() {
        let longest = STORED_KEYS.into_iter().map(str::len).max();
        assert_eq!(longest, Some(LONGEST_KEY));
    }

    #[test]
    fn stored_keys_are_found() {
        for key in STORED_KEYS {
            assert_eq!(stored_key(key.as_bytes()), Some(key));
        }
        assert_eq!(stored_key(b"usage"), None);
    }

    #[test]
    fn the_last_of_equal_members_counts() {
        let node = Node::Object(vec![("text", Node::Null), ("text", Node::Number(Some(3)))]);
        assert_eq!(node.number("text"), Some(3));
        assert!(node.has("text"));
        assert!(!node.has("id"));
    }
}
