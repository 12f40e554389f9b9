//! Standard input, whose end is told at once: the protocol's crate finishes what is under way
//! first, for seconds in which a panel would go on asking.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::oneshot;

/// Input, and who waits for its end.
pub(super) struct WatchedInput<R>(R, Option<oneshot::Sender<()>>);

impl<R> WatchedInput<R> {
    pub(super) fn new(input: R) -> (Self, oneshot::Receiver<()>) {
        let (end, ended) = oneshot::channel();
        (Self(input, Some(end)), ended)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for WatchedInput<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        if read.is_ready() && buffer.filled().len() == before {
            // Its drop tells it.
            self.1 = None;
        }
        read
    }
}
