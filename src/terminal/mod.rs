//! L3: what people see. Standard output is the result and nothing else; everything else goes to
//! standard error. Only `output::printer` writes; the other modules make text, or hand theirs to
//! it.

pub mod output;
pub mod prompt;
pub mod progress;
pub mod report;
pub mod markdown;
pub mod tables;
