//! Judges the value that a secret-named variable is given: a secret, or a placeholder, a reference,
//! a type, a template, a word.

use super::name::NameStrength;
use crate::scrub::rules::NamePolicy;
use crate::scrub::value::ValueForm;
use crate::scrub::value::dummy::{is_address, is_filler, is_placeholder, is_template};
use crate::scrub::value::password::{
    has_capital_and_number, is_certain_password, is_password, is_word_list,
};
use crate::scrub::value::random::is_random;
use crate::scrub::value::reference::is_chosen_secret;
use crate::scrub::value::reference::is_reference;

/// A value, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssignedValue<'t> {
    pub(super) value: &'t str,
    pub(super) form: ValueForm,
    pub(super) strength: NameStrength,
    pub(super) policy: NamePolicy,
    /// Whether the name is one of settings: `API_SECRET`.
    pub(super) is_setting: bool,
}

/// Returns whether an assigned value is a secret.
pub(super) fn is_secret(assigned: &AssignedValue<'_>) -> bool {
    let AssignedValue { value, form, .. } = *assigned;
    if is_filler(value) || is_placeholder(value) || is_template(value) || is_address(value) {
        return false;
    }
    if !form.is_quoted() && is_reference(value, form) {
        return false;
    }
    let is_beside = matches!(form, ValueForm::Argument | ValueForm::Sentence);
    if is_beside && value.contains(['[', ']', '(', ')', '<', '>', '{', '}']) {
        return false;
    }
    match (assigned.policy, assigned.strength) {
        (_, NameStrength::Unsure) if form == ValueForm::Sentence => false,
        (NamePolicy::Password, NameStrength::Unsure) => is_certain_password(value),
        (NamePolicy::Random, NameStrength::Unsure) => is_random(value, 16),
        (policy, NameStrength::Sure) if form == ValueForm::Annotation => {
            let is_chosen = policy == NamePolicy::Password && has_capital_and_number(value);
            is_chosen || is_random(value, 16)
        }
        (NamePolicy::Password, NameStrength::Sure) => is_password(value, form),
        (NamePolicy::Random, NameStrength::Sure) => match form {
            ValueForm::Argument | ValueForm::Sentence => is_random(value, 12),
            _ => {
                let is_setting = assigned.is_setting || form == ValueForm::EnvironmentLine;
                is_random(value, 8)
                    || is_word_list(value)
                    || is_chosen_secret(value, form, is_setting)
            }
        },
    }
}

/// Returns whether a value is a secret wherever it stands, also without its name.
pub(super) fn is_certain(assigned: &AssignedValue<'_>) -> bool {
    assigned.form.is_quoted() && is_random(assigned.value, 16)
}
