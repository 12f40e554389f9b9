//! The thread of the live area: draws frames, and answers the signals about the terminal.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use tokio::time::{MissedTickBehavior, interval};

use super::{AreaState, FRAME, Shared};
use crate::engine::host;

/// Starts the thread, which lives as long as the process.
///
/// # Errors
///
/// When the thread or its runtime cannot be created, or the signals cannot be handled.
pub(super) fn start(area: &Arc<Shared>) -> io::Result<()> {
    let area = Arc::clone(area);
    let (started, start) = sync_channel(1);
    std::thread::Builder::new()
        .name("live area".to_owned())
        .spawn(move || {
            let runtime = host::runtime();
            let signals = runtime.as_ref().map(|runtime| {
                let _inside = runtime.enter();
                signals::Signals::new()
            });
            match (&runtime, signals) {
                (Ok(runtime), Ok(Ok(signals))) => {
                    let _ = started.send(Ok(()));
                    runtime.block_on(run(&area, signals));
                }
                (_, Ok(Err(error))) => drop(started.send(Err(error))),
                (Err(_), _) | (Ok(_), Err(_)) => {
                    drop(started.send(Err(io::Error::other("no runtime"))));
                }
            }
        })?;
    // The signals are handled before the first mode is set.
    start.recv().map_err(io::Error::other)?
}

async fn run(area: &Shared, mut signals: signals::Signals) {
    let mut frames = interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_live = {
            let state = area.state();
            state.rows.is_some() || !state.footers.is_empty()
        };
        tokio::select! {
            _ = frames.tick(), if is_live => area.draw(&mut area.state()),
            () = area.changed.notified() => area.draw(&mut area.state()),
            signal = signals.next() => signals::handle(area, signal),
        }
    }
}

/// Removes the rows and restores the modes before another program gets the terminal.
fn leave(area: &Shared, state: &mut AreaState) {
    state.is_released = true;
    area.draw(state);
    area.modes.release();
}

/// Draws everything again after another program had the terminal.
fn come_back(area: &Shared, state: &mut AreaState) {
    state.is_released = false;
    state.lose_terminal();
    area.modes.set_again();
    if area.modes.is_in_foreground() {
        let prompt = state.paint.printable(state.last_line.prompt());
        // The stream itself fails: there is no other to report it on.
        let _ = area.print(state, &prompt);
    }
}

mod signals {
    use std::io;

    use rustix::process::{Signal, getpgrp, getpid, getsid, kill_process};
    use tokio::signal::unix::{SignalKind, signal};

    use super::{Shared, come_back, leave};

    /// What shells report for a process that Ctrl-\ ended.
    const QUIT: i32 = 128 + 3;

    /// A signal about the terminal.
    #[derive(Clone, Copy, Debug)]
    pub(super) enum TerminalSignal {
        /// Ctrl-Z.
        Stop,
        Continue,
        Resize,
        /// Ctrl-\.
        Quit,
    }

    #[derive(Debug)]
    pub(super) struct Signals {
        stop: tokio::signal::unix::Signal,
        proceed: tokio::signal::unix::Signal,
        resize: tokio::signal::unix::Signal,
        quit: tokio::signal::unix::Signal,
    }

    impl Signals {
        pub(super) fn new() -> io::Result<Self> {
            let kind = |signal: Signal| SignalKind::from_raw(signal.as_raw());
            Ok(Self {
                stop: signal(kind(Signal::TSTP))?,
                proceed: signal(kind(Signal::CONT))?,
                resize: signal(SignalKind::window_change())?,
                quit: signal(SignalKind::quit())?,
            })
        }

        pub(super) async fn next(&mut self) -> TerminalSignal {
            tokio::select! {
                _ = self.stop.recv() => TerminalSignal::Stop,
                _ = self.proceed.recv() => TerminalSignal::Continue,
                _ = self.resize.recv() => TerminalSignal::Resize,
                _ = self.quit.recv() => TerminalSignal::Quit,
            }
        }
    }

    pub(super) fn handle(area: &Shared, signal: TerminalSignal) {
        let mut state = area.state();
        match signal {
            TerminalSignal::Stop if can_be_continued() => {
                leave(area, &mut state);
                // The process stops some time later; `Continue` says that it has been.
                let _ = kill_process(getpid(), Signal::STOP);
            }
            TerminalSignal::Continue => come_back(area, &mut state),
            TerminalSignal::Stop | TerminalSignal::Resize => area.draw(&mut state),
            TerminalSignal::Quit => {
                leave(area, &mut state);
                #[expect(
                    clippy::exit,
                    clippy::disallowed_methods,
                    reason = "the user wants out at once; a handled signal does not end the process"
                )]
                std::process::exit(QUIT);
            }
        }
    }

    /// Returns whether there can be a shell that continues this process: job control gives each job
    /// a process group of its own within its session.
    fn can_be_continued() -> bool {
        getsid(None).is_ok_and(|session| session != getpgrp())
    }
}
