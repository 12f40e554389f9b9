//! L3: what people see. Standard output is the result and nothing else; everything else goes to
//! standard error. Only `printer` writes; the other modules make text, or hand theirs to it.

pub mod calibration_screen;
mod choices;
pub mod consent;
pub mod dashboard;
mod debate_value;
pub mod doctor_screen;
pub mod download_bar;
pub mod escape;
mod estimate_lines;
pub mod evaluation_tree;
pub mod history_screen;
mod judge_text;
mod judged_twice;
pub mod kept_report;
mod kept_rounds;
pub mod keyboard;
mod last_line;
pub mod lines;
pub mod live;
pub mod models_screen;
pub mod paint;
pub mod person;
pub mod personas_screen;
pub mod printer;
pub mod progress;
mod questions;
pub mod rebuild_bar;
pub mod rejudge_screen;
pub mod render;
mod render_table;
pub mod report;
mod report_sections;
mod screen;
mod streamed_json;
pub mod words;
