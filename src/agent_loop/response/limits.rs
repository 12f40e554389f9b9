//! How much of an output is stored. Together the limits keep what is in memory below 8 MiB, whatever
//! the output is.

/// What is held at one time, in bytes, including what a buffer has in reserve.
#[cfg(test)]
pub(super) const HELD: usize = 8 << 20;

/// A message, in bytes. No model writes one that long at once.
pub(super) const MESSAGE: usize = 512 << 10;

/// All texts of one JSON document, in bytes.
pub(super) const DOCUMENT_TEXT: usize = 1_536 << 10;
/// The room that a text of a document must have to be stored, in bytes.
pub(super) const LEAST_TEXT: usize = 1 << 10;
/// The values of one JSON document that are stored.
pub(super) const DOCUMENT_NODES: usize = 4_096;
/// The depth of a JSON document up to which it is stored. The deepest that is read has six.
pub(super) const DOCUMENT_DEPTH: usize = 12;
/// A number, `true`, `false` or `null`, in bytes.
pub(super) const LITERAL: usize = 32;

/// The errors of tools in one turn.
pub(super) const TOOL_ERRORS: usize = 64;
/// The beginning of an error, in bytes.
pub(super) const ERROR_HEAD: usize = 1 << 10;
/// The end of an error, in bytes: the message of a failed command is mostly there.
pub(super) const ERROR_TAIL: usize = 3 << 10;
/// The tool calls that were denied in one turn.
pub(super) const DENIALS: usize = 64;
/// A name, a command or an address, in bytes.
pub(super) const NAME: usize = 200;

/// The lines of text before the JSON of an agent program, such as warnings of a package manager.
/// With more it is a text that quotes JSON.
pub(super) const LINES_BEFORE_JSON: u64 = 100;
/// The beginning of a line of text that is looked at, in bytes.
pub(super) const LINE_HEAD: usize = 256;
/// A line of a log, in bytes; a longer one is taken in pieces.
pub(super) const LOG_LINE: usize = 16 << 10;
/// What is read at once, in bytes.
pub(super) const CHUNK: usize = 64 << 10;
