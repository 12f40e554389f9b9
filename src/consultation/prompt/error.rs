//! Errors of prompts and templates.

/// A template is missing, incomplete or cannot be filled.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("there is no prompt template `{0}`")]
    Unknown(String),
    #[error("prompt template `{name}` lacks {what}")]
    Lacks { name: String, what: &'static str },
    #[error("the text of the context is not loaded")]
    ContextNotLoaded,
    #[error(
        "prompt template `{name}` cannot be filled{}",
        line.map(|line| format!(": line {line}")).unwrap_or_default()
    )]
    Fill {
        name: String,
        /// The line, counted from the first line of the part, not of the file.
        line: Option<usize>,
        #[source]
        source: minijinja::Error,
    },
}
