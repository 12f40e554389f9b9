//! The fields of a request's body that are this program's own, under any vendor's name for them, as
//! paths: `generationConfig.maxOutputTokens`. A user's parameters may not touch them, wherever
//! these are read or sent.

/// What a request is made of. The room for an answer and the number of answers are among them
/// because a spending limit relies on them.
pub const OWN: [&str; 12] = [
    "model",
    "messages",
    "contents",
    "system",
    "systemInstruction",
    "stream",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "generationConfig.maxOutputTokens",
    "generationConfig.candidateCount",
    "options.num_predict",
];

/// What says how the answer is to be structured.
pub const STRUCTURE: [&str; 6] = [
    "response_format",
    "output_config.format",
    "generationConfig.responseMimeType",
    "generationConfig.responseJsonSchema",
    "generationConfig.responseSchema",
    "format",
];

/// Whether a path in the body is this program's own, and no parameter of the user's.
pub fn is_reserved(path: &str) -> bool {
    OWN.contains(&path) || STRUCTURE.contains(&path)
}

/// Whether this program's own fields are inside the object at this path.
pub fn holds_reserved(path: &str) -> bool {
    OWN.iter().chain(&STRUCTURE).any(|reserved| {
        reserved
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// Whether a path leads into one of this program's own fields, which is left out as a whole or not
/// at all.
pub fn is_inside_reserved(path: &str) -> bool {
    OWN.iter().chain(&STRUCTURE).any(|reserved| {
        path.strip_prefix(reserved)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}
