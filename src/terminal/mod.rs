//! L5: what people see. Standard output carries the result and nothing else; everything else goes
//! to standard error. Only `output::printer` writes; the other modules build text or hand it to the
//! printer.

pub mod browser;
pub mod charset;
pub mod output;
pub mod markdown;
pub mod document;
pub mod prompt;
pub mod progress;
pub mod report;
pub mod tables;
mod face;
