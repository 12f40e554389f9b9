//! The document that is being read, as far as it is stored.

use super::node::{Node, stored_key};
use crate::agent_loop::response::limits;
use crate::agent_loop::response::tail::Excerpt;

/// Builds a document from its values, in their order.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// The containers that are open.
    open: Vec<OpenNode>,
    nodes: usize,
    /// The bytes of finished texts.
    text_bytes: usize,
}

#[derive(Debug)]
enum OpenNode {
    List(Vec<Node>),
    Object {
        members: Vec<(&'static str, Node)>,
        /// The key of the value that comes; `None` when it is not stored.
        key: Option<&'static str>,
    },
}

impl Builder {
    /// Returns whether no container is open.
    pub(super) fn is_at_top(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn is_in_object(&self) -> bool {
        matches!(self.open.last(), Some(OpenNode::Object { .. }))
    }

    /// Returns whether the value that comes is stored.
    pub(super) fn stores_value(&self) -> bool {
        match self.open.last() {
            Some(OpenNode::Object { key: None, .. }) => false,
            Some(_) => self.nodes < limits::DOCUMENT_NODES,
            None => true,
        }
    }

    /// Returns whether the container that comes is stored, with what is in it.
    pub(super) fn stores_container(&self) -> bool {
        self.stores_value() && self.open.len() < limits::DOCUMENT_DEPTH
    }

    /// Returns the limit of the text that comes, in bytes: at most half of what is left, so that a
    /// few long texts leave room for others. `None` if it is not stored.
    pub(super) fn text_limit(&self) -> Option<usize> {
        let left = limits::DOCUMENT_TEXT.saturating_sub(self.text_bytes);
        let limit = (left / 2).min(limits::MESSAGE);
        (self.stores_value() && limit >= limits::LEAST_TEXT).then_some(limit)
    }

    pub(super) fn held(&self) -> usize {
        self.text_bytes + self.nodes * size_of::<(&str, Node)>()
    }

    pub(super) fn open_list(&mut self) {
        self.nodes += 1;
        self.open.push(OpenNode::List(Vec::new()));
    }

    pub(super) fn open_object(&mut self) {
        self.nodes += 1;
        self.open.push(OpenNode::Object {
            members: Vec::new(),
            key: None,
        });
    }

    /// Sets the key of the value that comes.
    pub(super) fn set_key(&mut self, name: &Excerpt) {
        if let Some(OpenNode::Object { key, .. }) = self.open.last_mut() {
            *key = stored_key(name.text.as_bytes()).filter(|_| !name.is_cut);
        }
    }

    /// Closes the open list; returns `None` when an object is open, or nothing.
    pub(super) fn close_list(&mut self) -> Option<Node> {
        match self.open.pop()? {
            OpenNode::List(elements) => Some(Node::List(elements)),
            OpenNode::Object { .. } => None,
        }
    }

    /// Closes the open object; returns `None` when a list is open, or nothing.
    pub(super) fn close_object(&mut self) -> Option<Node> {
        match self.open.pop()? {
            OpenNode::Object { members, .. } => Some(Node::Object(members)),
            OpenNode::List(_) => None,
        }
    }

    /// Stores a value in the open container; returns the document when none is open. A value that
    /// is not stored is `None`.
    pub(super) fn store(&mut self, value: Option<Node>) -> Option<Node> {
        if self.open.is_empty() {
            *self = Self::default();
            return Some(value.unwrap_or(Node::Skipped));
        }
        let value = value?;
        self.nodes += 1;
        if let Node::Text(excerpt) = &value {
            self.text_bytes += excerpt.text.len();
        }
        match self.open.last_mut()? {
            OpenNode::List(elements) => elements.push(value),
            OpenNode::Object { members, key } => {
                members.extend(key.take().map(|key| (key, value)));
            }
        }
        None
    }

    /// Closes all that is open, and returns the document.
    pub(super) fn finish(mut self) -> Option<Node> {
        loop {
            let node = match self.open.pop()? {
                OpenNode::List(elements) => Node::List(elements),
                OpenNode::Object { members, .. } => Node::Object(members),
            };
            if let Some(document) = self.store(Some(node)) {
                return Some(document);
            }
        }
    }
}
