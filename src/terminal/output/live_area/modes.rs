//! The modes of the controlling terminal: what typing does while something is on the screen. There
//! is one owner, so that the terminal ends as it began whatever was asked in between.
//!
//! A mode lasts as long as its guard; the newest guard decides. Ctrl-C, Ctrl-Z and Ctrl-\ send
//! their signals in every mode. A process in the background changes no modes, because the system
//! stops it for that: the mode is set when the process comes to the foreground.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What typed characters do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum InputMode {
    /// They do not appear: while nothing is asked.
    Quiet,
    /// Each can be read at once, and does not appear: for a question whose answer is a key.
    Keys,
}

/// The modes of one terminal. Clones share it.
#[derive(Clone, Debug, Default)]
pub(in crate::terminal) struct TerminalModes(Arc<Mutex<ModeStack>>);

/// Keeps a mode as long as it lives.
#[derive(Debug)]
pub(in crate::terminal) struct ModeGuard {
    modes: TerminalModes,
    id: u64,
}

#[derive(Debug, Default)]
struct ModeStack {
    device: Device,
    guards: Vec<(u64, InputMode)>,
    next_id: u64,
    is_released: bool,
}

impl TerminalModes {
    /// Returns the controlling terminal's; without one, nothing has an effect.
    pub(in crate::terminal) fn controlling() -> Self {
        let state = ModeStack {
            device: Device::controlling(),
            ..ModeStack::default()
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// The system stops a background process that reads.
    pub(in crate::terminal) fn is_in_foreground(&self) -> bool {
        self.state().device.is_in_foreground()
    }

    /// Sets the wanted mode if that has not been possible yet.
    pub(in crate::terminal) fn refresh(&self) {
        self.state().apply();
    }

    /// Leaves the terminal as it was found until [`Self::reapply`]: the process is about to stop,
    /// or to end.
    pub(in crate::terminal) fn release(&self) {
        let mut state = self.state();
        state.is_released = true;
        state.device.restore();
    }

    /// Sets the wanted mode again after another program had the terminal.
    pub(in crate::terminal) fn reapply(&self) {
        let mut state = self.state();
        state.is_released = false;
        state.device.set = None;
        state.apply();
    }

    pub(in crate::terminal) fn enter(&self, mode: InputMode) -> ModeGuard {
        let mut state = self.state();
        let id = state.next_id;
        state.next_id += 1;
        state.guards.push((id, mode));
        state.apply();
        ModeGuard {
            modes: self.clone(),
            id,
        }
    }

    fn state(&self) -> MutexGuard<'_, ModeStack> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        let mut state = self.modes.state();
        state.guards.retain(|(id, _)| *id != self.id);
        state.apply();
    }
}

impl ModeStack {
    fn apply(&mut self) {
        match self.guards.last() {
            None => self.device.restore(),
            Some((_, mode)) if !self.is_released => self.device.set(*mode),
            Some(_) => {}
        }
    }
}

/// The terminal, with the modes that it had.
#[derive(Debug, Default)]
struct Device {
    terminal: Option<std::fs::File>,
    original: Option<rustix::termios::Termios>,
    set: Option<InputMode>,
}

impl Device {
    fn controlling() -> Self {
        Self {
            terminal: std::fs::File::open("/dev/tty").ok(),
            ..Self::default()
        }
    }

    fn is_in_foreground(&self) -> bool {
        let group = self
            .terminal
            .as_ref()
            .and_then(|terminal| rustix::termios::tcgetpgrp(terminal).ok());
        // Without a controlling terminal there is no background.
        group.is_none_or(|group| group == rustix::process::getpgrp())
    }

    fn set(&mut self, mode: InputMode) {
        use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex};

        if self.set == Some(mode) || !self.is_in_foreground() {
            return;
        }
        let Some(terminal) = &self.terminal else {
            return;
        };
        let Ok(current) = rustix::termios::tcgetattr(terminal) else {
            return;
        };
        let mut wanted = self.original.get_or_insert(current).clone();
        wanted
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL);
        if mode == InputMode::Keys {
            wanted.local_modes.remove(LocalModes::ICANON);
            wanted.special_codes[SpecialCodeIndex::VMIN] = 1;
            wanted.special_codes[SpecialCodeIndex::VTIME] = 0;
        }
        if rustix::termios::tcsetattr(terminal, OptionalActions::Now, &wanted).is_ok() {
            self.set = Some(mode);
        }
    }

    fn restore(&mut self) {
        use rustix::termios::OptionalActions;

        // In the background, the terminal's modes are those of another program.
        if !self.is_in_foreground() {
            return;
        }
        self.set = None;
        if let (Some(terminal), Some(original)) = (&self.terminal, self.original.take()) {
            // A terminal that went away has no modes to restore.
            let _ = rustix::termios::tcsetattr(terminal, OptionalActions::Now, &original);
        }
    }
}
