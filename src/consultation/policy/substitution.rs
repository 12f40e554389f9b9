//! Decides how an agent continues after its model has failed for good.

use serde::{Deserialize, Serialize};

use super::consent::ConsentMode;

/// The user's setting for a model that fails for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Asks the person if possible; else another model takes over.
    #[default]
    Ask,
    /// Another model takes over.
    Substitute,
    /// The others continue without it.
    Skip,
    /// The consultation ends.
    Fail,
}

impl OnFailure {
    /// Only a person who can be asked is asked.
    #[must_use]
    pub fn decide(self, consent_mode: ConsentMode) -> Self {
        match (self, consent_mode) {
            (Self::Ask, ConsentMode::PreApproved | ConsentMode::NonInteractive) => Self::Substitute,
            (setting, _) => setting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interactive_person_without_prior_consent_is_asked() {
        use ConsentMode::{Interactive, NonInteractive, PreApproved};
        use OnFailure::{Ask, Fail, Skip, Substitute};
        assert_eq!(Ask.decide(Interactive), Ask);
        assert_eq!(Ask.decide(PreApproved), Substitute);
        assert_eq!(Ask.decide(NonInteractive), Substitute);
        assert_eq!(Skip.decide(PreApproved), Skip);
        assert_eq!(Fail.decide(Interactive), Fail);
    }
}
