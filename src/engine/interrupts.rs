//! Ctrl-C, SIGTERM and a closed terminal, as messages to the newest listener. The first asks it to
//! end; the second ends the process, or the third where many consultations run.
//!
//! The process has one listener, with a thread and a runtime of its own: the last interrupt must
//! end the process even while the thread of the run waits for a file, a full pipe or a stopped
//! terminal.

use std::io;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::host;

static LISTENER: Mutex<Listener> = Mutex::new(Listener {
    is_running: false,
    listening: None,
    foreground_programs: 0,
});

struct Listener {
    is_running: bool,
    /// What listened last.
    listening: Option<Listening>,
    /// Programs that have the terminal, such as a pager.
    foreground_programs: usize,
}

/// A dialogue or a run that can be interrupted.
struct Listening {
    sender: mpsc::UnboundedSender<()>,
    exit_code: u8,
    before_exit: Box<dyn FnOnce() + Send>,
    /// The number of interrupts that are still sent as messages.
    messages_left: u32,
    /// An interrupt came when the receiver had ended.
    is_missed: bool,
}

/// Leaves Ctrl-C to another program as long as it lives.
#[derive(Debug)]
pub struct ForegroundProgram(());

/// Listens from now on. The first `messages` interrupts are messages; the next one calls
/// `before_exit` and ends the process with `exit_code`. An interrupt that came after the end of the
/// last receiver is the first one.
///
/// # Errors
///
/// When the thread or its runtime cannot be created, or the signals cannot be handled.
pub fn listen(
    messages: u32,
    exit_code: u8,
    before_exit: impl FnOnce() + Send + 'static,
) -> io::Result<mpsc::UnboundedReceiver<()>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let mut listener = listener();
    if !listener.is_running {
        start()?;
        listener.is_running = true;
    }
    let mut next = Listening {
        sender,
        exit_code,
        before_exit: Box::new(before_exit),
        messages_left: messages,
        is_missed: false,
    };
    let last = listener.listening.take();
    if last.is_some_and(|last| last.is_missed) {
        next.interrupt();
    }
    listener.listening = Some(next);
    Ok(receiver)
}

/// Runs a future on a runtime of its own to its end, or to the first interrupt: then there is no
/// result. The second one ends the process as with [`listen`].
///
/// # Errors
///
/// When the system refuses what a runtime or the listener needs.
pub fn to_end<T>(
    exit_code: u8,
    before_exit: impl FnOnce() + Send + 'static,
    future: impl Future<Output = T>,
) -> io::Result<Option<T>> {
    let mut interrupts = listen(1, exit_code, before_exit)?;
    let runtime = host::runtime()?;
    let result = runtime.block_on(async {
        tokio::select! {
            biased;
            // Another listener in this process ends the messages, and interrupts nothing.
            Some(()) = interrupts.recv() => None,
            result = future => Some(result),
        }
    });
    runtime.shutdown_background();
    Ok(result)
}

impl ForegroundProgram {
    pub fn begin() -> Self {
        listener().foreground_programs += 1;
        Self(())
    }
}

impl Drop for ForegroundProgram {
    fn drop(&mut self) {
        listener().foreground_programs -= 1;
    }
}

impl Listening {
    fn interrupt(&mut self) {
        self.messages_left = self.messages_left.saturating_sub(1);
        if self.sender.send(()).is_err() {
            // Without a receiver the run is over, and the process is about to end by itself.
            self.messages_left = 0;
            self.is_missed = true;
        }
    }
}

impl Listener {
    /// Returns what is to be ended with the process.
    fn take(&mut self, signal: Interrupt) -> Option<Listening> {
        if signal == Interrupt::CtrlC && self.foreground_programs > 0 {
            return None;
        }
        match &mut self.listening {
            Some(listening) if listening.messages_left > 0 => {
                listening.interrupt();
                None
            }
            _ => self.listening.take(),
        }
    }
}

/// Starts the thread, which lives as long as the process and holds nothing that must be closed.
fn start() -> io::Result<()> {
    let (started, start) = sync_channel(1);
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || match runtime_and_signals() {
            Ok((runtime, signals)) => {
                let _ = started.send(Ok(()));
                let last = runtime.block_on(last_interrupt(signals));
                (last.before_exit)();
                #[expect(
                    clippy::exit,
                    clippy::disallowed_methods,
                    reason = "asked twice, the user wants out now, whatever is in the way"
                )]
                std::process::exit(i32::from(last.exit_code));
            }
            Err(error) => {
                let _ = started.send(Err(error));
            }
        })?;
    start.recv().map_err(io::Error::other)?
}

fn runtime_and_signals() -> io::Result<(Runtime, Signals)> {
    let runtime = host::runtime()?;
    let signals = {
        let _inside = runtime.enter();
        Signals::new()?
    };
    Ok((runtime, signals))
}

/// Returns what listens when it is interrupted for the last time.
async fn last_interrupt(mut signals: Signals) -> Listening {
    loop {
        let signal = signals.next().await;
        if let Some(last) = listener().take(signal) {
            return last;
        }
    }
}

fn listener() -> MutexGuard<'static, Listener> {
    LISTENER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A signal that asks to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interrupt {
    /// The terminal sends it to every program in the foreground.
    CtrlC,
    Other,
}

#[derive(Debug)]
struct Signals([tokio::signal::unix::Signal; 3]);

impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self([
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    async fn next(&mut self) -> Interrupt {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => Interrupt::CtrlC,
            _ = terminate.recv() => Interrupt::Other,
            _ = hangup.recv() => Interrupt::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening(messages_left: u32) -> (Listening, mpsc::UnboundedReceiver<()>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let listening = Listening {
            sender,
            exit_code: 130,
            before_exit: Box::new(|| {}),
            messages_left,
            is_missed: false,
        };
        (listening, receiver)
    }

    fn listener_of(listening: Listening) -> Listener {
        Listener {
            is_running: true,
            listening: Some(listening),
            foreground_programs: 0,
        }
    }

    #[test]
    fn second_interrupt_ends_the_process() {
        let (listening, mut receiver) = listening(1);
        let mut listener = listener_of(listening);
        assert!(listener.take(Interrupt::CtrlC).is_none());
        assert_eq!(receiver.try_recv(), Ok(()));
        assert!(listener.take(Interrupt::Other).is_some());
    }

    #[test]
    fn interrupt_after_the_end_of_the_receiver_is_remembered() {
        let (listening, receiver) = listening(1);
        drop(receiver);
        let mut listener = listener_of(listening);
        assert!(listener.take(Interrupt::CtrlC).is_none());
        let last = listener.listening.unwrap();
        assert!(last.is_missed);
    }

    #[test]
    fn third_interrupt_ends_a_process_that_listens_to_two() {
        let (listening, mut receiver) = listening(2);
        let mut listener = listener_of(listening);
        for _ in 0..2 {
            assert!(listener.take(Interrupt::CtrlC).is_none());
            assert_eq!(receiver.try_recv(), Ok(()));
        }
        assert!(listener.take(Interrupt::CtrlC).is_some());
    }

    #[test]
    fn next_interrupt_after_a_missed_one_ends_the_process() {
        let (listening, receiver) = listening(2);
        drop(receiver);
        let mut listener = listener_of(listening);
        assert!(listener.take(Interrupt::CtrlC).is_none());
        assert!(listener.take(Interrupt::CtrlC).is_some());
    }

    #[test]
    fn ctrl_c_belongs_to_the_program_that_has_the_terminal() {
        let (listening, mut receiver) = listening(1);
        let mut listener = listener_of(listening);
        listener.foreground_programs = 1;
        for _ in 0..2 {
            assert!(listener.take(Interrupt::CtrlC).is_none());
        }
        assert!(receiver.try_recv().is_err());
        assert!(listener.take(Interrupt::Other).is_none());
        assert_eq!(receiver.try_recv(), Ok(()));
    }
}
