//! Runs the cases of each built-in rule.

use std::collections::BTreeMap;

use regex::Regex;
use serde::Deserialize;

use super::ScrubRule;
use super::UserRules;
use super::{built_in, keywords};
use crate::scrub::OutgoingText;
use crate::scrub::Scrubber;
use crate::scrub::placeholder::{label, placeholder};

/// The cases of one rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleCases {
    masks: Vec<String>,
    keeps: Vec<String>,
}

#[test]
fn every_rule_masks_its_true_cases_and_keeps_its_false_ones() {
    let mut cases: BTreeMap<String, RuleCases> =
        toml::from_str(include_str!("cases.toml")).unwrap();
    let scrubber = Scrubber::new(&UserRules::default(), &[]).unwrap();
    let mut wrong = Vec::new();
    for rule in built_in() {
        let keywords = keywords(rule);
        let rule: ScrubRule = toml::from_str(rule).unwrap();
        assert_eq!(keywords, rule.keywords);
        let RuleCases { masks, keeps } = cases.remove(&rule.id).unwrap();
        assert!(!masks.is_empty(), "{} has no case", rule.id);
        assert!(!keeps.is_empty(), "{} has no false case", rule.id);
        for cases in [masks, keeps] {
            for (number, case) in cases.iter().enumerate() {
                for form in forms(&filled(case, number)) {
                    wrong.extend(difference(&scrubber, &rule, &form));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.is_empty(), "cases of no rule: {:?}", cases.keys());
}

fn difference(scrubber: &Scrubber, rule: &ScrubRule, case: &str) -> Option<String> {
    let text: String = case.chars().filter(|c| !matches!(c, '«' | '»')).collect();
    let masked = scrubber.scrub(&[OutgoingText {
        source: "case",
        text: &text,
    }]);
    let expected = with_marks_masked(case, &placeholder(&label(&rule.kind), None));
    let got = without_numbers(&masked.texts[0]);
    if got == expected {
        return None;
    }
    Some(format!("{}: {text:?}\n  became {got:?}", rule.id))
}

fn forms(case: &str) -> [String; 3] {
    [
        case.to_owned(),
        format!("{}\r\n", case.replace('\n', "\r\n")),
        format!("Grüße, 世界\nfn main() {{}}\n{case}\n# end\n"),
    ]
}

fn with_marks_masked(case: &str, placeholder: &str) -> String {
    let marked = Regex::new("(?s)«.*?»").unwrap();
    marked.replace_all(case, placeholder).into_owned()
}

fn without_numbers(text: &str) -> String {
    let numbered = Regex::new(r"(\[REDACTED[A-Z_]*?)_[0-9]+\]").unwrap();
    numbered.replace_all(text, "$1]").into_owned()
}

/// Fills `{alnum:36}` and its like with random characters, the same in every run.
fn filled(case: &str, number: usize) -> String {
    let mut random = fastrand::Rng::with_seed(case.len() as u64 * 31 + number as u64);
    let blank =
        Regex::new(r"\{(alnum|upper|lower|hex|HEX|digits|b64|b64url|signs|django):([0-9]+)\}")
            .unwrap();
    let fill = |found: &regex::Captures<'_>| -> String {
        let alphabet = alphabet(&found[1]).as_bytes();
        let length = found[2].parse().unwrap();
        let pick = |_| char::from(alphabet[random.usize(..alphabet.len())]);
        (0..length).map(pick).collect()
    };
    blank.replace_all(case, fill).into_owned()
}

fn alphabet(name: &str) -> &'static str {
    match name {
        "alnum" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "upper" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "lower" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "hex" => "0123456789abcdef",
        "HEX" => "0123456789ABCDEF",
        "digits" => "1234567890",
        "b64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "django" => "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)",
        "signs" => {
            "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789!$%&()*+,-./:;<=>?@[]^_{|}~"
        }
        _ => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    }
}
