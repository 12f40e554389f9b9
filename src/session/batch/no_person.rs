//! The person of a consultation that was approved in advance: none.

use crate::consultation::event::Answer;
use crate::consultation::protocol::Question;
use crate::engine::ports::{BoxFuture, Person};

/// A person who is never there. A consultation that was approved in advance asks no question; if
/// one did, this is the answer of an empty terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoPerson;

impl Person for NoPerson {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::Gone })
    }
}
