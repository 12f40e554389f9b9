//! Where a keyword is in a text, and what a rule finds there.

/// Where a text has a keyword.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeywordPlace<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
    /// How far the rule looks around the keyword at most: where many of its keywords stand close
    /// together, each looks at a few of its neighbours, so that no byte is read again and again.
    pub(super) reach: (usize, usize),
}

/// A secret that a rule has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleMatch {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether the value is a secret wherever it stands.
    pub(super) is_certain: bool,
}

impl<'t> KeywordPlace<'t> {
    pub(super) fn keyword(&self) -> &'t [u8] {
        let bytes = self.text.as_bytes();
        bytes.get(self.start..self.end).unwrap_or_default()
    }
}
