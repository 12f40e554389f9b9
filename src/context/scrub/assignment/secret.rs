//! Judges the value that a secret-named variable is given: a secret, or a placeholder, a reference,
//! a type, a template, a word.

use super::name::NameStrength;
use crate::context::scrub::rules::NamePolicy;
use crate::context::scrub::value::ValueForm;
use crate::context::scrub::value::dummy::{is_address, is_filler, is_placeholder, is_template};
use crate::context::scrub::value::password::{is_certain_password, is_password, is_word_list};
use crate::context::scrub::value::random::is_random;
use crate::context::scrub::value::reference::is_reference;

/// A value, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssignedValue<'t> {
    pub(super) value: &'t str,
    pub(super) form: ValueForm,
    pub(super) strength: NameStrength,
    pub(super) policy: NamePolicy,
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
        (_, NameStrength::Sure) if form == ValueForm::Annotation => is_random(value, 16),
        (NamePolicy::Password, NameStrength::Sure) => is_password(value, form),
        (NamePolicy::Random, NameStrength::Sure) => match form {
            ValueForm::Argument | ValueForm::Sentence => is_random(value, 12),
            _ => is_random(value, 8) || is_word_list(value),
        },
    }
}

/// Returns whether a value is a secret wherever it stands, also without its name.
pub(super) fn is_certain(assigned: &AssignedValue<'_>) -> bool {
    assigned.form.is_quoted() && is_random(assigned.value, 16)
}
