//! What stands before the content of a line.

/// Passes over a few blanks, and over control sequences of terminals: some are printed to files too.
/// A line that is indented further is code in Markdown; no program indents the beginning of its JSON.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineStart {
    blanks: u8,
    sequence: ControlSequence,
}

#[derive(Clone, Copy, Debug, Default)]
enum ControlSequence {
    #[default]
    None,
    Escape,
    /// `ESC [`, which ends with a letter.
    Csi,
    /// `ESC ]`, which ends with BEL or with `ESC \`.
    Osc,
}

impl LineStart {
    /// Passes over a byte; returns `None` at the content or the end of the line.
    pub(super) fn after(self, byte: u8) -> Option<Self> {
        let mut blanks = self.blanks;
        let sequence = match (self.sequence, byte) {
            (ControlSequence::None, b' ' | b'\r') if blanks < 3 => {
                blanks += 1;
                ControlSequence::None
            }
            (ControlSequence::None, b'\x1b') => ControlSequence::Escape,
            (ControlSequence::None, _) | (_, b'\n') => return None,
            (ControlSequence::Escape, b'[') => ControlSequence::Csi,
            (ControlSequence::Escape, b']') => ControlSequence::Osc,
            (ControlSequence::Csi, byte) if !byte.is_ascii_alphabetic() => ControlSequence::Csi,
            (ControlSequence::Osc, byte) if !matches!(byte, b'\x07' | b'\\') => {
                ControlSequence::Osc
            }
            _ => ControlSequence::None,
        };
        Some(Self { blanks, sequence })
    }
}
