//! Ctrl-C, SIGTERM and a closed terminal, as messages to the driver. The first asks to end; the
//! second ends the process.
//!
//! The listener has a thread and a runtime of its own: the second interrupt must end the process
//! also while the thread of the run waits for a file, a full pipe or a stopped terminal.

use std::io;
use std::sync::mpsc::sync_channel;

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::host;

/// Listens from now on. The second interrupt calls `before_exit` and ends the process with
/// `exit_code`.
///
/// # Errors
///
/// When the thread or its runtime cannot be created, or the signals cannot be handled.
pub fn listen(
    exit_code: u8,
    before_exit: impl FnOnce() + Send + 'static,
) -> io::Result<mpsc::UnboundedReceiver<()>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let (started, start) = sync_channel(1);
    // The thread lives as long as the process, and holds nothing that must be closed.
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || match runtime_and_signals() {
            Ok((runtime, signals)) => {
                let _ = started.send(Ok(()));
                runtime.block_on(forward_first(signals, &sender));
                before_exit();
                #[expect(
                    clippy::exit,
                    clippy::disallowed_methods,
                    reason = "asked twice, the user wants out now, whatever is in the way"
                )]
                std::process::exit(i32::from(exit_code));
            }
            Err(error) => {
                let _ = started.send(Err(error));
            }
        })?;
    start.recv().map_err(io::Error::other)??;
    Ok(receiver)
}

fn runtime_and_signals() -> io::Result<(Runtime, Signals)> {
    let runtime = host::runtime()?;
    let signals = {
        let _inside = runtime.enter();
        Signals::new()?
    };
    Ok((runtime, signals))
}

/// Forwards the first interrupt and returns at the second.
async fn forward_first(mut signals: Signals, sender: &mpsc::UnboundedSender<()>) {
    signals.next().await;
    // Without a receiver the run is over, and the process is about to end by itself.
    let _ = sender.send(());
    signals.next().await;
}

#[cfg(unix)]
#[derive(Debug)]
struct Signals([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self([
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
