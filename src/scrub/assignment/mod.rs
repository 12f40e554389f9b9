//! Finds the secret that is assigned to the name around a keyword, in any language:
//! `name = "value"`, `"name": "value"`, `name: value`, `--name value`, `<name>value</name>`.

mod name;
mod reader;
mod literal;
mod bare;
mod declaration;
mod cursor;
mod secret;

use super::place::{KeywordPlace, RuleMatch};
use super::rules::NamePolicy;
use super::value::ValueForm;
use crate::domain::steps;

use cursor::ValueReader;
use name::NameSpan;
use name::NameStrength;
use secret::AssignedValue;

/// Returns the secret that is assigned to the name around a keyword.
pub(super) fn find(place: KeywordPlace<'_>, policy: NamePolicy) -> Option<RuleMatch> {
    let text = place.text.as_bytes().get(..place.reach.1)?;
    let name = NameSpan::around(text, place);
    if name.is_in_address(text) {
        return None;
    }
    let strength = name::judge(
        text.get(name.start..name.end)?,
        place.start - name.start,
        place.end - name.start,
    )?;
    let found = ValueReader::new(text, name).value()?;
    steps::count(found.end - name.start);
    let is_beside = matches!(found.form, ValueForm::Argument | ValueForm::Sentence);
    let is_alone = name.end - name.start == place.end - place.start;
    if is_beside && is_alone && name::AMBIGUOUS.contains(place.keyword()) {
        return None;
    }
    let assigned = AssignedValue {
        value: place.text.get(found.start..found.judged_end)?,
        form: found.form,
        strength,
        policy,
        is_setting: name.is_shouted(text),
    };
    secret::is_secret(&assigned).then(|| RuleMatch {
        start: found.start,
        end: found.end,
        is_certain: strength == NameStrength::Sure && secret::is_certain(&assigned),
    })
}
