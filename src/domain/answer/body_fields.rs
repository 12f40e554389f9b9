//! Paths of the request fields that only this program may set, under every vendor's name for them:
//! `generationConfig.maxOutputTokens`. The user's parameters are checked against these paths both
//! when they are read and when they are sent.

/// Fields that make up a request. The token limit and the number of answers are included because a
/// spending limit relies on them.
pub const OWN: [&str; 15] = [
    "model",
    "messages",
    "contents",
    "system",
    "systemInstruction",
    "stream",
    "max_tokens",
    "max_completion_tokens",
    "input",
    "instructions",
    "max_output_tokens",
    "n",
    "generationConfig.maxOutputTokens",
    "generationConfig.candidateCount",
    "options.num_predict",
];

/// Fields that define the structure of the answer.
pub const STRUCTURE: [&str; 7] = [
    "response_format",
    "text.format",
    "output_config.format",
    "generationConfig.responseMimeType",
    "generationConfig.responseJsonSchema",
    "generationConfig.responseSchema",
    "format",
];

pub fn is_reserved(path: &str) -> bool {
    OWN.contains(&path) || STRUCTURE.contains(&path)
}

pub fn holds_reserved(path: &str) -> bool {
    OWN.iter().chain(&STRUCTURE).any(|reserved| {
        reserved
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// Returns whether a path leads into a reserved field, which can only be left out as a whole.
pub fn is_inside_reserved(path: &str) -> bool {
    OWN.iter().chain(&STRUCTURE).any(|reserved| {
        path.strip_prefix(reserved)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}
