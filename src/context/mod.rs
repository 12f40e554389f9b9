//! L3: the context of a question. [`sources`] reads files, folders and standard input; [`project`]
//! describes the project in a folder; [`count`] counts tokens. Setup puts them together.

mod ignores;
mod walk;
pub mod sources;
pub mod project;
pub mod count;
