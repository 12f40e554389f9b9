//! Reads the default of a missing variable: `env.KEY || "value"`.

use super::cursor::{ValueReader, ValueSpan, contains, position};

impl ValueReader<'_> {
    /// Reads the default of a missing variable: `env.KEY || "value"`.
    pub(super) fn fallback(self) -> Option<ValueSpan> {
        const MARKS: &[&str] = &[
            "||",
            "??",
            " or ",
            "unwrap_or(",
            "unwrap_or_else(|_|",
            "\", ",
            "', ",
        ];
        let rest = self.rest();
        let line = rest.get(..rest.len().min(160)).unwrap_or_default();
        let line = line.split(|byte| *byte == b'\n').next()?;
        let name = self.name.start.saturating_sub(20)..self.position;
        let before = self.text.get(name)?.to_ascii_lowercase();
        let lookup = line.get(..line.len().min(40))?.to_ascii_lowercase();
        if line.starts_with(b")") && !contains(&before, b"env") {
            return None;
        }
        if !line.starts_with(b")") && !contains(&lookup, b"env") && !contains(&lookup, b"config") {
            return None;
        }
        for mark in MARKS {
            if let Some(at) = position(line, mark.as_bytes()) {
                let mut reader = self;
                reader.position += at + mark.len();
                if let Some(literal) = reader.argument() {
                    return Some(literal);
                }
            }
        }
        None
    }
}
