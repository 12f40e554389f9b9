//! The class and message of each vendor's errors, with the bodies that the vendor documents or
//! users report.

mod details;
mod openrouter;
mod servers;
mod vendors;

use conclave::consultation::protocol::call::{Failure, FailureClass};
use conclave::providers::errors::{ErrorResponse, classify};
use conclave::providers::wire::{Account, Scheme};
use serde_json::Value;

use super::KEY;

fn account() -> Account {
    Account {
        key: Some(KEY.into()),
        origin: "`SOME_API_KEY`".into(),
        scheme: Scheme::Usual,
        is_word: false,
    }
}

fn classified(status: u16, body: &str) -> Failure {
    classify(
        &ErrorResponse {
            status,
            body: body.to_owned(),
            ..ErrorResponse::default()
        },
        &account(),
        None,
    )
}

/// Asserts the class and the exact message of each case.
fn check(cases: &[(u16, Value, FailureClass, &str)]) {
    for (status, body, class, message) in cases {
        let body = match body {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let failure = classified(*status, &body);
        assert_eq!(failure.class, *class, "{status} {body}");
        assert_eq!(failure.message, *message, "{status} {body}");
    }
}
