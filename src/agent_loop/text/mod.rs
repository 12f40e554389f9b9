//! The text of a message, taken apart: its prose, without what it only shows or repeats.
//!
//! Prose is what is left without code, quotes, comments, tables, struck words, quoted words, the
//! targets of links, the escape sequences of terminals, front matter and the repeated prompt.
//! Tables are left out because their cells speak of parts: `| Task 1 | done |`.

mod normal;
mod echo;
mod message;
mod sentence;
pub(in crate::agent_loop) mod tables;

pub use message::{Block, BlockKind, Message};
pub use normal::{front_matter, normal};
pub use sentence::{Sentence, Token, TokenKind, has_word, sentences, tokens};
