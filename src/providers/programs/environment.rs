//! The variables that a program gets: an allow-list of this process's own, and what its entry says.
//! Pure.
//!
//! Invariant: no vendor's key is among them, unless the user's own entry names its variable. A key
//! that a vendor's program finds is billed instead of the plan that its user pays for.

use std::collections::BTreeMap;

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::model::key_detection::{hide_keys, holds_key, is_key_name};
use crate::domain::model::program::{AnswerReader, Program};
use crate::domain::model::vendors::VENDORS;

pub(super) type Variables = BTreeMap<String, String>;

/// How many programs of seats this process is inside of.
const DEPTH: &str = "CONCLAVE_DEPTH";

/// A program whose seat asks a panel may be meant; that panel's programs may not do so again.
const MAX_DEPTH: u32 = 2;

/// A conclave inside of a program finds the locks of this one by `CONCLAVE_HOME`.
const PASSED: &str = "PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR SSL_CERT_FILE SSL_CERT_DIR \
    NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy \
    all_proxy no_proxy CONCLAVE_HOME";

const PASSED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// Makes the variables of a program from `own`, those of this process. `more` are set as well.
///
/// # Errors
///
/// When this process is too deep inside of programs that answer in a seat.
pub(super) fn variables(
    program: &Program,
    own: &Variables,
    more: impl IntoIterator<Item = (String, String)>,
) -> Result<Variables, Failure> {
    // A value that is no number is not ours: it may hide how deep this is.
    let said = own.get(DEPTH);
    let depth = said.map_or(0, |depth| depth.parse().unwrap_or(MAX_DEPTH));
    if depth >= MAX_DEPTH {
        let message = format!(
            "a program in a seat, inside of another, has started this process: `{}` is not started",
            program.name
        );
        return Err(Failure::new(FailureClass::BadRequest, message));
    }
    let keys = || VENDORS.iter().flat_map(|vendor| vendor.key_variables);
    let is_key = |name: &str, value: &str| {
        holds_key(value)
            || is_key_name(name)
            || keys().any(|key| own.get(*key).is_some_and(|key| key == value))
    };
    let is_passed = |name: &str, value: &str| {
        let mut prefixes = PASSED_PREFIXES.iter();
        let is_listed = PASSED.split_whitespace().any(|passed| passed == name);
        (is_listed || prefixes.any(|prefix| name.starts_with(prefix))) && !is_key(name, value)
    };
    // A vendor's own program would use the key instead of its login.
    let is_vendors = [AnswerReader::ClaudeCode, AnswerReader::Codex].contains(&program.reader);
    let is_asked_for = |name: &String| {
        program.pass_env.contains(name) && !(is_vendors && keys().any(|key| key == name))
    };
    let mut variables = own.clone();
    variables.retain(|name, value| is_passed(name, value) || is_asked_for(name));
    variables.extend(program.set_env.clone());
    variables.insert("TERM".to_owned(), "dumb".to_owned());
    variables.extend(more);
    variables.insert(DEPTH.to_owned(), (depth + 1).to_string());
    Ok(variables)
}

/// Hides what looks like a key in the words of a program, and the secrets that it got.
pub(super) fn hide_secrets(words: &str, variables: &Variables) -> String {
    let credentials = |value: &str| {
        let (_, address) = value.split_once("://")?;
        Some(address.split_once('@')?.0.to_owned())
    };
    let secret = |(name, value): (&String, &String)| {
        credentials(value).or_else(|| is_key_name(name).then(|| value.clone()))
    };
    let secrets = variables.iter().filter_map(secret);
    let secrets = secrets.filter(|secret| !secret.is_empty());
    hide_keys(&secrets.fold(words.to_owned(), |words, it| words.replace(&it, "[key]")))
}
