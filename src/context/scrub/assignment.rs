//! Finds the secret that is assigned to the name around a keyword, in any language:
//! `name = "value"`, `"name": "value"`, `name: value`, `--name value`, `<name>value</name>`.

use super::compiled_rule::{Place, RuleMatch};
use super::name::{self, NameStrength};
use super::reader::Reader;
use super::rules::NamePolicy;
use super::value::{self, AssignedValue, ValueForm};

/// Names are no longer than this on either side of their keyword.
const LONGEST_SIDE: usize = 64;

/// Returns the secret that is assigned to the name around a keyword.
pub(super) fn find(place: Place<'_>, policy: NamePolicy) -> Option<RuleMatch> {
    let text = place.text.as_bytes();
    let name = NameSpan::around(text, place);
    if name.is_in_address(text) {
        return None;
    }
    let strength = name::judge(
        text.get(name.start..name.end)?,
        place.start - name.start,
        place.end - name.start,
    )?;
    let found = Reader::new(text, name).value()?;
    let is_beside = matches!(found.form, ValueForm::Argument | ValueForm::Sentence);
    let is_alone = name.end - name.start == place.end - place.start;
    if is_beside && is_alone && name::is_ambiguous(place.keyword()) {
        return None;
    }
    let assigned = AssignedValue {
        value: place.text.get(found.start..found.judged_end)?,
        form: found.form,
        strength,
        policy,
    };
    value::is_secret(&assigned).then(|| RuleMatch {
        start: found.start,
        end: found.end,
        is_certain: strength == NameStrength::Sure && value::is_certain(&assigned),
    })
}

/// Where a name is.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameSpan {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl NameSpan {
    fn around(text: &[u8], place: Place<'_>) -> Self {
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.$".contains(byte);
        let is_tail = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let before = text.get(..place.start).unwrap_or_default();
        let left = before.iter().rev().take(LONGEST_SIDE).take_while(is_name);
        let after = text.get(place.end..).unwrap_or_default();
        let mut right = after.iter().take(LONGEST_SIDE).take_while(is_tail).count();
        if after.get(..right).is_some_and(|tail| tail.ends_with(b"-")) {
            // `token->value`
            right -= 1;
        }
        Self {
            start: place.start - left.count(),
            end: place.end + right,
        }
    }

    /// Returns whether the name is part of an address or of a path with colons:
    /// `https://token:…@host`, `arn:aws:secretsmanager:…:secret:name`.
    fn is_in_address(self, text: &[u8]) -> bool {
        let before = text.get(..self.start).unwrap_or_default();
        let is_path = matches!(before, [.., byte, b':'] if byte.is_ascii_alphanumeric())
            && text.get(self.end) == Some(&b':')
            && text
                .get(self.end + 1)
                .is_some_and(|byte| !byte.is_ascii_whitespace());
        before.ends_with(b"://") || before.ends_with(b"checksum/") || is_path
    }
}
