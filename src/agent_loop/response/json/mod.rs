//! JSON as it arrives, in bounded memory: of each document the members that matter, of a long text
//! its end.
//!
//! A parser of the field wants the whole document or the whole string in memory, recurses, or fails
//! on what agent programs really print: a document cut off by a kill, half of a surrogate pair, text
//! between documents. This one takes bytes in pieces of any size, nests without recursion, repairs
//! texts, and returns what there is of a document that ends early.

mod node;
mod builder;
mod string;
mod reader;
#[cfg(test)]
mod tests;

pub(super) use node::Node;
pub(super) use reader::{JsonProgress, JsonReader};
