//! Finds the secret that is assigned to the name around a keyword, in any language:
//! `name = "value"`, `"name": "value"`, `name: value`, `--name value`, `<name>value</name>`.

mod name;
mod forms;
mod literal;
mod bare;

use super::place::KeywordPlace;
use super::rules::NamePolicy;
use super::value::ValueForm;
use super::value::dummy::{is_address, is_placeholder, is_public, is_template};
use super::value::name::is_call;
use super::value::password::{
    has_capital_and_number, is_certain_password, is_password, is_word_list,
};
use super::value::random::{PATTERNS, is_filler, is_random, is_random_behind_word, is_strong};
use super::value::reference::{is_chosen_secret, is_reference};
use crate::domain::steps;
use crate::text::byte_pattern::BytePattern;

use forms::ValueReader;
use name::{NameSpan, NameStrength};

/// What follows a value in a list: `value, value`, `"value", "value"`, and the same in lines.
static NEXT_ITEM: BytePattern = BytePattern::new(
    r#"^["'`]?(?:,\s*|\r?\n[ \t]*-[ \t]+)["'`]?([^\s"'`,;:=\[\]{}()]{8,512}=*)(?:["'`,\s\]}]|$)"#,
);

/// What a shell takes where a variable has no value: `${NAME:-value}`, `${NAME:?message}`.
static WITHOUT_VALUE: BytePattern = BytePattern::new(r"^:?(?:[?+]|[-=]([^}\n]*))");

/// Where a secret is, and whether the value is a secret wherever it stands.
type FoundSecret = ((usize, usize), bool);

/// Returns the secrets that are assigned to the name around a keyword: several if it has a list.
pub(super) fn find(place: KeywordPlace<'_>, policy: NamePolicy) -> Vec<FoundSecret> {
    let next = |((_, last), _): &FoundSecret| {
        let rest = place.text.as_bytes().get(*last..place.reach.1)?;
        let item = NEXT_ITEM.regex()?.captures(rest)?.get(1)?;
        let value = std::str::from_utf8(item.as_bytes()).ok()?;
        let is_secret = (is_random(value, 16) || is_strong(value)) && !is_placeholder(value);
        is_secret.then_some(((last + item.start(), last + item.end()), false))
    };
    // A list has no more values than this.
    let found = std::iter::successors(first(place, policy), next).take(64);
    found.collect()
}

fn first(place: KeywordPlace<'_>, policy: NamePolicy) -> Option<FoundSecret> {
    let text = place.text.as_bytes().get(..place.reach.1)?;
    let name = NameSpan::around(text, place);
    if name.is_in_address(text) {
        return None;
    }
    let name_text = text.get(name.start..name.end)?;
    let strength = name::judge(name_text, place.start - name.start, place.end - name.start)?;
    if text.get(..name.start)?.ends_with(b"${")
        && let Some(default) = WITHOUT_VALUE.regex()?.captures(text.get(name.end..)?)
    {
        let value = default.get(1)?;
        let is_secret = std::str::from_utf8(value.as_bytes()).is_ok_and(is_strong);
        let place = (name.end + value.start(), name.end + value.end());
        return is_secret.then_some((place, false));
    }
    let found = ValueReader { text, name }.value()?;
    steps::count(found.end - name.start);
    let is_alone = name_text.len() == place.keyword().len();
    if found.form.is_beside() && is_alone && name::AMBIGUOUS.contains(place.keyword()) {
        return None;
    }
    let value = place.text.get(found.start..found.judged_end)?;
    let has_word = |set| name::has_word(name_text, set);
    let is_other_key = || has_word(&name::OTHER_KEYS);
    let is_key = || is_key(value, found.form, has_word(&name::VENDORS));
    if policy == NamePolicy::Key && (is_other_key() || !is_key()) {
        return None;
    }
    let is_setting = name.is_shouted(text);
    let is_certain =
        strength == NameStrength::Sure && found.form.is_quoted() && is_random(value, 16);
    is_secret(value, found.form, strength, policy, is_setting)
        .then_some(((found.start, found.end), is_certain))
}

/// Returns whether the value of a `key` may be a secret: a long one, which is no public key, and no
/// number unless a vendor has such keys.
fn is_key(value: &str, form: ValueForm, has_vendor: bool) -> bool {
    let is_number = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    value.len() >= 24
        && !matches!(form, ValueForm::Annotation | ValueForm::Sentence)
        && !is_public(value)
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && (has_vendor || !value.bytes().all(is_number))
        && (form.is_quoted() && is_strong(value) || !value.contains(['.', ':', ',']))
}

/// Returns whether an assigned value is a secret, and not a placeholder, a reference, a type, a
/// template or a word. `is_setting` says whether the name is one of settings: `API_SECRET`.
fn is_secret(
    value: &str,
    form: ValueForm,
    strength: NameStrength,
    policy: NamePolicy,
    is_setting: bool,
) -> bool {
    if is_filler(value) || is_placeholder(value) {
        return false;
    }
    let may_be_call = !form.is_quoted() && !form.is_beside();
    if !form.is_code() && is_strong(value) && !(may_be_call && is_call(value)) {
        return true;
    }
    if form == ValueForm::Quoted && is_random_behind_word(value) {
        return true;
    }
    if is_template(value) || is_address(value) || PATTERNS.is_in(value) {
        return false;
    }
    if !form.is_quoted() && is_reference(value, form) {
        return false;
    }
    if form.is_beside() && value.contains(['[', ']', '(', ')', '<', '>', '{', '}']) {
        return false;
    }
    match (policy, strength) {
        (NamePolicy::Key, strength) => strength == NameStrength::Sure && is_random(value, 24),
        (_, NameStrength::Unsure) if form == ValueForm::Sentence => false,
        (NamePolicy::Password, NameStrength::Unsure) => is_certain_password(value),
        (NamePolicy::Random, NameStrength::Unsure) => is_random(value, 16),
        (policy, NameStrength::Sure) if form == ValueForm::Annotation => {
            let is_chosen = policy == NamePolicy::Password && has_capital_and_number(value);
            is_chosen || is_random(value, 16)
        }
        (NamePolicy::Password, NameStrength::Sure) => is_password(value, form),
        (NamePolicy::Random, NameStrength::Sure) if form.is_beside() => is_random(value, 12),
        (NamePolicy::Random, NameStrength::Sure) => {
            let is_setting = is_setting || form == ValueForm::EnvironmentLine;
            is_random(value, 8) || is_word_list(value) || is_chosen_secret(value, form, is_setting)
        }
    }
}
