//! What the tests of the formats share.

use super::{AgentResponse, ResponseFormat, read};

/// Reads an output whose format its content decides.
pub(super) fn response_of(output: &str) -> AgentResponse {
    read(output.as_bytes(), None).unwrap()
}

/// Reads an output that must be of a format.
pub(super) fn response_in(format: ResponseFormat, output: &str) -> AgentResponse {
    let response = response_of(output);
    let required = read(output.as_bytes(), Some(format)).unwrap();
    // A format that is given needs no warning.
    let given = AgentResponse {
        is_unknown_json: false,
        ..response.clone()
    };
    assert_eq!(given, required, "{output}");
    response
}

pub(super) fn before<'a>(output: &'a str, text: &str) -> &'a str {
    output.split_once(text).unwrap().0
}
