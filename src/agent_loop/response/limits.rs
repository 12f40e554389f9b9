//! How much of an output is stored.

/// A message, in bytes. No model writes one that long at once.
pub(super) const MESSAGE: usize = 512 << 10;

/// The errors of tools in one turn.
pub(super) const TOOL_ERRORS: usize = 64;
/// The beginning of an error, in characters.
pub(super) const ERROR_HEAD: usize = 1 << 10;
/// The end of an error, in characters: the message of a failed command is mostly there.
pub(super) const ERROR_TAIL: usize = 3 << 10;
/// The tool calls that were denied in one turn.
pub(super) const DENIALS: usize = 64;
/// A name, a command or an address, in characters.
pub(super) const NAME: usize = 200;

/// The lines of text before the JSON of an agent program, such as warnings of a package manager.
/// With more it is a text that quotes JSON.
pub(super) const LINES_BEFORE_JSON: u64 = 100;
