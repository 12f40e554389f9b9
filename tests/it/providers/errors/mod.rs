//! The class and message of each vendor's errors, with the bodies that the vendor documents or
//! users report.

mod details;
mod responses;
mod servers;
mod vendors;

use conclave::consultation::protocol::call::Failure;
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
    let response = ErrorResponse {
        status,
        body: body.to_owned(),
        ..ErrorResponse::default()
    };
    classify(&response, &account(), None)
}

fn assert_classified(status: &str, body: &str, class: &str, message: &str) {
    let failure = classified(status.parse().unwrap(), body);
    assert_eq!(format!("{:?}", failure.class), class, "{status} {body}");
    assert_eq!(failure.message, message, "{status} {body}");
}

/// Asserts the class and the exact message of each row: status, class, the provider's code (or a
/// dash) and its words. `body` writes the error as the vendor does.
fn check(table: &str, body: impl Fn(&str, Value, &str) -> Value) {
    for row in table.trim().lines() {
        let mut columns = row.trim().splitn(4, ' ');
        let [status, class, code, words] = [(); 4].map(|()| columns.next().expect(row));
        let code = match code {
            "-" => Value::Null,
            code => code.into(),
        };
        let hint = if class == "Auth" {
            "; check `SOME_API_KEY`"
        } else {
            ""
        };
        let message = format!("{words} (HTTP {status}){hint}");
        assert_classified(
            status,
            &body(status, code, words).to_string(),
            class,
            &message,
        );
    }
}

/// Asserts the class and the exact message of each row of two lines: status, class and body; below
/// them, the message.
fn check_bodies(table: &str) {
    let mut lines = table.trim().lines().map(str::trim);
    while let Some(row) = lines.next() {
        let mut columns = row.splitn(3, ' ');
        let [status, class] = [(); 2].map(|()| columns.next().expect(row));
        let message = lines.next().expect(row);
        assert_classified(status, columns.next().unwrap_or_default(), class, message);
    }
}
