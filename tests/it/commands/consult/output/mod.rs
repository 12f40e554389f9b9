//! What a consultation leaves: the answer in each format, events, and saved files.

mod formats;
mod readable_text;
mod files;
mod records;
