//! Tells the end of standard input at once: the protocol's crate finishes what is under way first,
//! for seconds in which a panel would go on asking.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::oneshot::Sender;

/// What is read after the input: nothing. The sender is dropped when that is read.
pub(super) struct InputEnd(pub(super) Option<Sender<()>>);

impl AsyncRead for InputEnd {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}
