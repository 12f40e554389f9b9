//! The lines of a text.

/// The ends of the lines of a text.
pub(super) struct Lines {
    ends: Vec<usize>,
    first: usize,
}

impl Lines {
    /// Takes the number of the first line.
    pub(super) fn new(text: &str, first: usize) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        Self { ends, first }
    }

    /// Returns the line of a position in bytes.
    pub(super) fn at(&self, position: usize) -> usize {
        self.first + self.ends.partition_point(|end| *end < position)
    }
}
