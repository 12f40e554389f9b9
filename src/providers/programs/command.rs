//! From a call to a command line: arguments, variables, standard input and files. Pure.
//!
//! Invariant: no word of a prompt is an argument or a variable.

use std::path::{Path, PathBuf};

use crate::consultation::protocol::call::{Ask, Failure};
use crate::domain::model::program::Program;

/// The folder of one call, which is empty but for these.
#[derive(Clone, Debug)]
pub struct CallFolder {
    /// The working directory, which stays empty.
    pub working: PathBuf,
    pub system_file: PathBuf,
    pub schema_file: PathBuf,
}

impl CallFolder {
    pub fn at(root: &Path) -> Self {
        Self {
            working: root.join("work"),
            system_file: root.join("system.md"),
            schema_file: root.join("schema.json"),
        }
    }
}

/// What is started, besides the program itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub arguments: Vec<String>,
    /// Beside those that every program gets and those that the program's entry passes on.
    pub variables: Vec<(String, String)>,
    pub standard_input: String,
    /// To be written before the start.
    pub files: Vec<(PathBuf, String)>,
}

/// Makes the command line of a call.
///
/// # Errors
///
/// A bad request when the prompt cannot be given to a program.
pub fn launch(program: &Program, ask: &Ask, folder: &CallFolder) -> Result<Launch, Failure> {
    let _ = folder;
    Ok(Launch {
        arguments: program.argv.iter().skip(1).cloned().collect(),
        variables: Vec::new(),
        standard_input: ask.prompt.text(),
        files: Vec::new(),
    })
}
