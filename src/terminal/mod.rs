//! L3: what people see. Standard output is the result and nothing else; everything else goes to standard error.
//! Only `printer` writes; the other modules make text, or hand theirs to it.

pub mod consent;
pub mod doctor_screen;
pub mod download_bar;
pub mod escape;
pub mod lines;
pub mod live;
pub mod models_screen;
pub mod paint;
pub mod printer;
pub mod progress;
pub mod render;
mod render_table;
pub mod report;
pub mod words;
