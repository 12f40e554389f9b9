//! Ctrl-C, SIGTERM and a closed terminal, as messages to the driver. The first asks to end; the
//! second ends the process.

use tokio::sync::mpsc;

/// Listens from now on, on the current runtime. The second interrupt ends the process with
/// `exit_code`.
pub fn listen(exit_code: u8) -> std::io::Result<mpsc::UnboundedReceiver<()>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let mut signals = Signals::new()?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the listener lives as long as the process and owns nothing"
    )]
    tokio::spawn(async move {
        signals.next().await;
        // Without a receiver the run is over, and the process is about to end by itself.
        let _ = sender.send(());
        signals.next().await;
        #[expect(
            clippy::exit,
            clippy::disallowed_methods,
            reason = "asked twice, the user wants out now, whatever is in the way"
        )]
        std::process::exit(i32::from(exit_code));
    });
    Ok(receiver)
}

#[cfg(unix)]
#[derive(Debug)]
struct Signals([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
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
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
