//! The thread of the live area: draws frames, and answers the signals about the terminal.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use rustix::process::{Signal, getpgrp, getpid, getsid, kill_process};
use tokio::signal::unix::{self, SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use super::{AreaState, FRAME, Shared};
use crate::engine::host;

/// What shells report for a process that Ctrl-\ ended.
const QUIT: i32 = 128 + 3;

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
            let begun = host::runtime().and_then(|runtime| {
                let inside = runtime.enter();
                let signals = JobSignals::new()?;
                drop(inside);
                Ok((runtime, signals))
            });
            match begun {
                Ok((runtime, signals)) => {
                    let _ = started.send(Ok(()));
                    runtime.block_on(run(&area, signals));
                }
                Err(error) => drop(started.send(Err(error))),
            }
        })?;
    // The signals are handled before the first mode is set.
    start.recv().map_err(io::Error::other)?
}

async fn run(area: &Shared, mut signals: JobSignals) {
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
            _ = signals.stop.recv() => stop(area),
            _ = signals.proceed.recv() => come_back(area, &mut area.state()),
            _ = signals.resize.recv() => area.draw(&mut area.state()),
            _ = signals.quit.recv() => {
                leave(area, &mut area.state());
                #[expect(
                    clippy::exit,
                    clippy::disallowed_methods,
                    reason = "the user wants out at once; a handled signal does not end the process"
                )]
                std::process::exit(QUIT);
            }
        }
    }
}

fn leave(area: &Shared, state: &mut AreaState) {
    state.is_released = true;
    area.draw(state);
    area.modes.release();
}

fn come_back(area: &Shared, state: &mut AreaState) {
    state.is_released = false;
    state.lose_terminal();
    area.modes.reapply();
    if area.modes.is_in_foreground() {
        let prompt = state.paint.printable(state.last_line.prompt());
        // The stream itself fails: there is no other to report it on.
        let _ = area.print(state, &prompt);
    }
}

/// The signals about the terminal.
#[derive(Debug)]
struct JobSignals {
    /// Ctrl-Z.
    stop: unix::Signal,
    proceed: unix::Signal,
    resize: unix::Signal,
    /// Ctrl-\.
    quit: unix::Signal,
}

impl JobSignals {
    fn new() -> io::Result<Self> {
        let kind = |signal: Signal| SignalKind::from_raw(signal.as_raw());
        Ok(Self {
            stop: signal(kind(Signal::TSTP))?,
            proceed: signal(kind(Signal::CONT))?,
            resize: signal(SignalKind::window_change())?,
            quit: signal(SignalKind::quit())?,
        })
    }
}

/// Stops the process, if there can be a shell that continues it: job control gives each job a
/// process group of its own within its session.
fn stop(area: &Shared) {
    let mut state = area.state();
    if getsid(None).is_ok_and(|session| session != getpgrp()) {
        leave(area, &mut state);
        // The process stops some time later; the signal to continue says that it has been.
        let _ = kill_process(getpid(), Signal::STOP);
    } else {
        area.draw(&mut state);
    }
}
