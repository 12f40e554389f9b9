//! Properties of scrubbing: idempotence, texts that come back untouched, secrets planted in source
//! of many languages, numbers, own keys, and time that grows with the text and no faster.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::LazyLock;

use proptest::prelude::*;
use secrecy::SecretString;

use super::rules::{ScrubRule, UserRules};
use super::{OutgoingText, Scrubbed, Scrubber};
use crate::domain::steps;

/// A file in each of ten languages. `@NAME` is a name, `@VALUE` the place of a secret.
const LANGUAGES: [&str; 10] = [
    "use std::env;\n\nconst @NAME: &str = \"@VALUE\";\n\nfn main() {\n    let port: u16 = 8080;\n}\n",
    "import os\n\n@NAME = '@VALUE'\n\ndef main(port: int = 8080) -> None:\n    print(port)\n",
    "const config = {\n  port: 8080,\n  @NAME: '@VALUE',\n};\nexport default config;\n",
    "package main\n\nvar @NAME = \"@VALUE\"\n\nfunc main() { run(8080) }\n",
    "class Config {\n  private static final String @NAME = \"@VALUE\";\n  int port = 8080;\n}\n",
    "module Config\n  @NAME = \"@VALUE\".freeze\n  PORT = 8080\nend\n",
    "<?php\n$config = ['@NAME' => '@VALUE', 'port' => 8080];\n",
    "#!/bin/sh\nset -eu\nexport @NAME=@VALUE\nexec server --port 8080\n",
    "server:\n  port: 8080\n  @NAME: @VALUE\n  host: example.com\n",
    "{\n  \"port\": 8080,\n  \"@NAME\": \"@VALUE\",\n  \"host\": \"example.com\"\n}\n",
];

fn scrubber() -> &'static Scrubber {
    static SCRUBBER: LazyLock<Scrubber> =
        LazyLock::new(|| Scrubber::new(&UserRules::default(), &[]).unwrap());
    &SCRUBBER
}

fn built_in() -> Vec<ScrubRule> {
    let rules = super::rules::built_in();
    rules.map(|rule| toml::from_str(rule).unwrap()).collect()
}

fn scrub<'a>(scrubber: &Scrubber, text: &'a str) -> Scrubbed<'a> {
    scrubber.scrub(&[OutgoingText {
        source: "text",
        text,
    }])
}

fn scrubbed(scrubber: &Scrubber, text: &str) -> String {
    scrub(scrubber, text).texts.remove(0).into_owned()
}

/// Secrets that are known by their form wherever they stand.
fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "ghp_[A-Za-z0-9]{36}",
        "sk-ant-api03-[A-Za-z0-9_]{60}[A-Za-z0-9]",
        "sk-proj-[A-Za-z0-9]{48}",
        "AKIA[A-Z2-7]{16}",
        "xoxb-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}",
        "AIza[A-Za-z0-9]{35}",
        "glpat-[A-Za-z0-9]{20}",
        "eyJ[A-Za-z0-9]{30}\\.eyJ[A-Za-z0-9]{40}\\.[A-Za-z0-9]{43}",
    ]
    .prop_filter("a filler is no secret", |secret| {
        secret.bytes().filter(u8::is_ascii_digit).count() > 1
    })
}

/// Pieces that rules look at closely: names, quotes, signs, beginnings of secrets, other text.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~]{0,12}",
        1 => "[a-zé世 \n\r\t]{0,8}",
        2 => secret(),
        3 => prop::sample::select(vec![
            "password", "PASSWORD=", "token: ", "api_key", "secret", "\"", "'", " = ", ": ", "\n",
            "\\n", "hunter2", "://", "user:", "@host", "Authorization: Bearer ", "AKIA", "sk-",
            "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "[REDACTED_TOKEN]", "ghp_",
            "[REDACTED]", "&", ";", "--password ", "cookie: sid=", "value", "{", "}", "<", ">",
        ]).prop_map(str::to_owned),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(fragment(), 0..24).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn scrubbing_twice_equals_scrubbing_once(text in any_text()) {
        let scrubber = scrubber();
        let once = scrubbed(scrubber, &text);
        let twice = scrub(scrubber, &once);
        prop_assert_eq!(&twice.texts[0], &once);
        prop_assert!(twice.findings.is_empty());
    }

    #[test]
    fn untouched_texts_are_borrowed(text in any_text()) {
        let scrubbed = scrub(scrubber(), &text);
        if scrubbed.findings.is_empty() {
            prop_assert!(matches!(scrubbed.texts[0], Cow::Borrowed(same) if same == text));
        } else {
            prop_assert_ne!(&scrubbed.texts[0], &text);
        }
    }

    #[test]
    fn planted_secrets_are_gone_from_source(
        secret in secret(),
        name in prop::sample::select(vec!["token", "api_key", "PASSWORD", "value", "x"]),
        crlf in any::<bool>(),
    ) {
        let scrubber = scrubber();
        for template in LANGUAGES {
            let mut source = template.replace("@NAME", name).replace("@VALUE", &secret);
            if crlf {
                source = source.replace('\n', "\r\n");
            }
            let got = scrubbed(scrubber, &source);
            prop_assert!(!got.contains(&secret), "{}", got);
            let (before, after) = source.split_once(&secret).unwrap();
            prop_assert!(got.starts_with(before) && got.ends_with(after), "{}", got);
        }
    }

    #[test]
    fn secrets_in_words_and_lines_of_other_scripts_are_gone(
        secret in secret(),
        before in "[ \n,;(世é]",
        after in "[ \n,;)世é]",
    ) {
        let text = format!("Grüße{before}{secret}{after}世界");
        let got = scrubbed(scrubber(), &text);
        prop_assert!(!got.contains(&secret), "{}", got);
    }

    #[test]
    fn own_keys_are_gone_wherever_they_stand(
        key in "[!-~]{8,40}",
        before in "[a-z=/ ]{0,6}",
        after in "[a-z&, ]{0,6}",
    ) {
        let own = [SecretString::from(key.clone())];
        let scrubber = Scrubber::new(&UserRules::default(), &own).unwrap();
        let escaped = serde_json::Value::from(key.as_str()).to_string();
        let text = format!("{before}{key}{after}\n{escaped}\n");
        let got = scrubbed(&scrubber, &text);
        prop_assert!(!got.contains(&key) || "[REDACTED_API_KEY]".contains(&key), "{}", got);
    }

    #[test]
    fn a_secret_has_one_number_in_all_texts(
        first in "[A-Za-z0-9]{36}",
        second in "[A-Za-z0-9]{36}",
    ) {
        prop_assume!(first != second);
        let one = format!("a ghp_{first} b");
        let two = format!("ghp_{second}\nghp_{first}\n");
        let texts = [&one, &two].map(|text| OutgoingText {
            source: "text",
            text,
        });
        let scrubbed = scrubber().scrub(&texts);
        prop_assert_eq!(&scrubbed.texts[0], "a [REDACTED_GITHUB_TOKEN_1] b");
        prop_assert_eq!(
            &scrubbed.texts[1],
            "[REDACTED_GITHUB_TOKEN_2]\n[REDACTED_GITHUB_TOKEN_1]\n"
        );
    }
}

#[test]
fn own_keys_are_found_as_json_and_urls_write_them_and_short_ones_are_not() {
    let key = "pa+s\"s/wo\\rd=9 é🔑";
    let own = [key, "short"].map(|key| SecretString::from(key.to_owned()));
    let scrubber = Scrubber::new(&UserRules::default(), &own).unwrap();
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let percent = "pa%2Bs%22s%2Fwo%5Crd%3D9%20%C3%A9%F0%9F%94%91";
    for text in [
        key,
        percent,
        &percent.to_lowercase(),
        &percent.replace('%', "%25"),
        "pa%2Bs%22s/wo%5Crd=9+%C3%A9%F0%9F%94%91",
        &json(key),
        &json(&json(key)),
        &json(&json(&json(key))),
        r"pa\u002bs\u0022s\/wo\u005Crd=9 \u00e9\ud83d\udd11",
        &json(r"pa\u002bs\u0022s\/wo\u005Crd=9 \u00e9\ud83d\udd11"),
    ] {
        let got = scrubbed(&scrubber, &format!("?k={text} short"));
        let masked = got.replace(['\\', '"'], "");
        assert_eq!(masked, "?k=[REDACTED_API_KEY] short", "{text}");
    }
}

#[test]
fn own_keys_are_found_inside_longer_words() {
    let own = [SecretString::from("0123abcd4567".to_owned())];
    let scrubber = Scrubber::new(&UserRules::default(), &own).unwrap();
    let got = scrub(&scrubber, "x0123abcd4567y");
    assert_eq!(got.texts[0], "x[REDACTED_API_KEY]y");
    assert_eq!(got.findings[0].rule, "own-key");
}

#[test]
fn strong_secrets_are_masked_where_a_text_repeats_them() {
    let secret = "q8Zr2LmX9vBn4TkW7pYs";
    let text = format!("API_KEY=\"{secret}\"\n# then {secret} is sent\n");
    let expected = "API_KEY=\"[REDACTED_API_KEY]\"\n# then [REDACTED_API_KEY] is sent\n";
    assert_eq!(scrubbed(scrubber(), &text), expected);
}

#[test]
fn literal_after_a_password_is_masked_only_if_it_continues_it() {
    // What is masked is marked; what continues a literal goes with it.
    for case in [
        "password: '«Winter2024!»'\n'name': x\n",
        "- password: \"«Winter2024!»\"\n  \"user\": \"bob\"\n",
        "PASSWORD = \"«Winter2024!»\"\n\"\"\"Docs.\"\"\"\n",
        "char *password = \"«Winter2024!\"\n    \"Q9x»\";\n",
        "password = (\n    '«Winter2024!'\n    'Q9x»'\n)\n",
        "password = '«Winter2024!' +\n'Q9x»'\n",
    ] {
        let (before, rest) = case.split_once('«').unwrap();
        let (masked, after) = rest.split_once('»').unwrap();
        let expected = format!("{before}[REDACTED_PASSWORD]{after}");
        let text = format!("{before}{masked}{after}");
        assert_eq!(scrubbed(scrubber(), &text), expected, "{text}");
    }
}

#[test]
fn findings_name_rule_source_and_line() {
    let text = format!("one\ntwo\nghp_{}\n", "aB3".repeat(12));
    let finding = scrub(scrubber(), &text).findings.remove(0);
    assert_eq!(finding.rule, "github-token");
    assert_eq!(finding.kind, "github_token");
    assert_eq!(finding.source, "text");
    assert_eq!(finding.line, 3);
}

#[test]
fn reports_count_by_type_and_source() {
    let text = format!("ghp_{}\nPASSWORD=hunter2\n", "aB3".repeat(12));
    let report = scrub(scrubber(), &text).report;
    assert!(report.sensitive_data_scrubbed);
    assert_eq!(report.patterns_matched, 2);
    assert_eq!(report.types_detected, ["github_token", "password"]);
    assert_eq!(report.by_source["text"]["password"], 1);
}

#[test]
fn user_rules_mask_and_allowed_values_stay() {
    let rules = UserRules::parse(
        "[allow]\nvalues = [\"hunter2\"]\npatterns = [\"^test-\"]\n\n[[rule]]\nid = \"badge\"\n\
         kind = \"badge\"\nkeywords = [\"BDG-\"]\nregex = 'BDG-[0-9]{6}'\n",
    );
    let scrubber = Scrubber::new(&rules.unwrap(), &[]).unwrap();
    let text = "PASSWORD=hunter2\npassword: \"test-9zX!\"\nBDG-123456 bdg-123456\n";
    let expected = "PASSWORD=hunter2\npassword: \"test-9zX!\"\n[REDACTED_BADGE] bdg-123456\n";
    assert_eq!(scrubbed(&scrubber, text), expected);
}

#[test]
fn mistakes_in_user_rules_are_errors_that_name_the_rule() {
    let rule = "[[rule]]\nid = \"a\"\nkind = \"b\"\nkeywords = [\"x\"]";
    for (rules, error) in [
        (
            format!("{rule}\nregex = 'x'").replace("[\"x\"]", "[]"),
            "rule `a` has no `keywords`, or an empty one",
        ),
        (
            rule.to_owned(),
            "rule `a` has both or none of `regex` and `names`",
        ),
        (
            format!("{rule}\nregex = 'x'").replace("\"b\"", "\"B c\""),
            "rule `a` has an invalid `kind` `B c`: use lowercase letters, digits and `_`",
        ),
        (
            format!("{rule}\nregex = '('"),
            "rule `a` has an invalid regex",
        ),
        (
            "[allow]\npatterns = ['(']".to_owned(),
            "an allowed pattern is an invalid regex",
        ),
    ] {
        let rules = UserRules::parse(&rules).unwrap();
        let got = Scrubber::new(&rules, &[]).unwrap_err();
        assert_eq!(got.to_string(), error);
    }
    assert!(UserRules::parse("[[rules]]\n").is_err());
}

#[test]
fn built_in_regexes_are_valid() {
    let rules = UserRules {
        rules: built_in(),
        ..UserRules::default()
    };
    Scrubber::new(&rules, &[]).unwrap();
}

#[test]
fn steps_grow_with_the_length_of_a_text_and_no_faster() {
    let repeated = |unit: &str, size: usize| {
        let text = unit.repeat(size / unit.len());
        steps::of(|| drop(scrubbed(scrubber(), &text)))
    };
    for unit in [
        "password=",
        "AccountKey=",
        "8Q~",
        "\"kty\"",
        "\"kty\":\"d\":\"",
        "token\":",
        "\\\"secret\\\":\\\"",
        "-----END PRIVATE KEY",
        "LS0tLS1CRUdJTiBQUklWQVRF",
    ] {
        let (small, large) = (repeated(unit, 2_000), repeated(unit, 8_000));
        assert!(large <= 5 * small, "{unit}: {small} steps, then {large}");
    }
    for keyword in built_in().iter().flat_map(|rule| &rule.keywords) {
        let long = format!("{keyword}={:a<700}", "");
        for (unit, size) in [(keyword, 8_000), (&long, 3_000)] {
            let steps = repeated(unit, size);
            assert!(steps < 40 * size, "{keyword}: {steps} steps");
        }
    }
}

#[test]
fn own_keys_beside_other_secrets_take_steps_by_their_number() {
    let own = [SecretString::from("0123abcd4567".to_owned())];
    let scrubber = Scrubber::new(&UserRules::default(), &own).unwrap();
    let line = format!("0123abcd4567 ghp_{}\n", "aB3".repeat(12));
    let work = |size| {
        let text = line.repeat(size);
        assert_eq!(scrub(&scrubber, &text).findings.len(), 2 * size);
    };
    steps::assert_linear(work, 200, "pairs");
}

#[test]
fn secret_behind_many_keywords_is_masked() {
    let text = "password=".repeat(50) + "Hunter2!x\n";
    assert!(!scrubbed(scrubber(), &text).contains("Hunter2!x"));
    let keywords = "\"kty\" ".repeat(50);
    let many = format!(r#"{keywords}{{"kty":"oct","k":"{}"}}"#, "q8Zr".repeat(9));
    assert!(!scrubbed(scrubber(), &many).contains("q8Zrq8Zr"));
}

#[test]
fn long_private_keys_and_many_keys_leave_the_text_between_them() {
    let mut text = String::new();
    for number in 0..50 {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(25);
        let _ = write!(
            text,
            "-----BEGIN PRIVATE KEY-----\n{number:04}{body}-----END PRIVATE KEY-----\nkey {number}\n"
        );
    }
    let got = scrub(scrubber(), &text);
    assert_eq!(got.findings.len(), 50);
    assert!(got.texts[0].ends_with("[REDACTED_PRIVATE_KEY_50]\nkey 49\n"));
}
