//! What a program sees of this process's environment.

use crate::consultation::protocol::call::FailureClass;
use crate::providers::programs::environment::{hide_secrets, variables};

use super::*;

const CANARIES: [(&str, &str); 21] = [
    ("ANTHROPIC_API_KEY", "canary"),
    ("ANTHROPIC_BASE_URL", "http://canary"),
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_USE_BEDROCK", "1"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "canary"),
    ("OPENAI_API_KEY", "canary"),
    ("OPENAI_BASE_URL", "http://canary"),
    ("CODEX_HOME", "/canary"),
    ("CODEX_ACCESS_TOKEN", "canary"),
    ("GEMINI_API_KEY", "canary"),
    ("MISTRAL_API_KEY", "of-no-known-form"),
    ("GH_TOKEN", "canary"),
    ("GITHUB_TOKEN", "canary"),
    ("AWS_SECRET_ACCESS_KEY", "canary"),
    ("NODE_OPTIONS", "--require /canary"),
    ("MCP_SERVERS", "canary"),
    ("LD_PRELOAD", "/canary"),
    // Keys under the names of others.
    ("LC_MINE", "sk-ant-api03-0123456789abcdef"),
    ("LC_OTHER", "of-no-known-form"),
    ("XDG_API_KEY", "canary"),
    ("LC_CANARY_TOKEN_SECRET", "canary"),
];

const PASSED: [(&str, &str); 7] = [
    ("CONCLAVE_HOME", "/home/a/other"),
    ("HOME", "/home/a"),
    ("LC_ALL", "C.UTF-8"),
    ("XDG_CONFIG_HOME", "/home/a/.config"),
    ("https_proxy", "http://proxy:3128"),
    ("NO_PROXY", "localhost"),
    ("SSL_CERT_FILE", "/etc/certs.pem"),
];

fn environment() -> Vec<(&'static str, &'static str)> {
    PASSED.into_iter().chain(CANARIES).collect()
}

fn expected(more: &[(&str, &str)]) -> BTreeMap<String, String> {
    let always = [("TERM", "dumb"), ("CONCLAVE_DEPTH", "1")];
    own(&[&PASSED[..], &always, more].concat())
}

#[test]
fn only_what_is_listed_is_passed_on() {
    let mut program = shell("");
    let own = own(&environment());
    assert_eq!(variables(&program, &own, []).unwrap(), expected(&[]));
    program.pass_env = vec![
        "MISTRAL_API_KEY".to_owned(),
        "GH_TOKEN".to_owned(),
        "NONE".to_owned(),
    ];
    program.set_env.insert("MODE".to_owned(), "raw".to_owned());
    program.set_env.insert("LC_ALL".to_owned(), "C".to_owned());
    let more = [
        ("MODE".to_owned(), "1".to_owned()),
        ("CONCLAVE_DEPTH".to_owned(), "0".to_owned()),
    ];
    let asked_for = [
        ("MISTRAL_API_KEY", "of-no-known-form"),
        ("GH_TOKEN", "canary"),
        ("MODE", "1"),
        ("LC_ALL", "C"),
    ];
    assert_eq!(
        variables(&program, &own, more).unwrap(),
        expected(&asked_for)
    );
}

#[test]
fn vendors_programs_never_get_a_key() {
    let own = own(&environment());
    for reader in [AnswerReader::ClaudeCode, AnswerReader::Codex] {
        let mut program = program(reader, &["claude"]);
        let asked_for = [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ];
        program.pass_env = asked_for.map(ToOwned::to_owned).to_vec();
        let passed = variables(&program, &own, []).unwrap();
        assert_eq!(passed, expected(&[("CLAUDE_CODE_OAUTH_TOKEN", "canary")]));
    }
}

#[test]
fn depth_is_counted_and_limited() {
    let program = shell("");
    for (depth, inside) in [
        ("0", Some("1")),
        ("1", Some("2")),
        ("2", None),
        ("x", None),
        ("-1", None),
    ] {
        let variables = variables(&program, &own(&[("CONCLAVE_DEPTH", depth)]), []);
        match inside {
            Some(inside) => assert_eq!(variables.unwrap()["CONCLAVE_DEPTH"], inside),
            None => assert_eq!(variables.unwrap_err().class, FailureClass::BadRequest),
        }
    }
}

#[test]
fn secrets_of_a_program_are_hidden() {
    let variables = own(&[
        ("MY_API_KEY", "quite-short"),
        ("EMPTY_TOKEN", ""),
        ("HTTPS_PROXY", "http://me:pass@proxy:3128"),
        ("HOME", "/home/me"),
    ]);
    let words =
        "quite-short via http://me:pass@proxy:3128 in /home/me: sk-ant-api03-0123456789abcdef";
    let hidden = "[key] via http://[key]@proxy:3128 in /home/me: [key]";
    assert_eq!(hide_secrets(words, &variables), hidden);
}
