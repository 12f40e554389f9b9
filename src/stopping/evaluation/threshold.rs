//! Validates thresholds: one that can never be reached, or that is always met, is an error of
//! configuration and not a quiet surprise later.

use std::fmt::Display;

/// A threshold that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{setting}` is {value}: {problem}")]
pub struct ThresholdError {
    /// The setting, as in the configuration file.
    pub setting: &'static str,
    pub value: String,
    pub problem: String,
}

/// The value of a setting, to be checked.
#[derive(Clone, Copy, Debug)]
pub struct Threshold<T> {
    setting: &'static str,
    value: T,
}

impl<T: Copy + PartialOrd + Display> Threshold<T> {
    pub fn new(setting: &'static str, value: T) -> Self {
        Self { setting, value }
    }

    /// `problem` says what is wrong with a lower one.
    pub fn at_least(self, least: T, problem: &str) -> Result<Self, ThresholdError> {
        self.required(self.value >= least, problem)
    }

    /// `problem` says what is wrong with a higher one.
    pub fn at_most(self, most: T, problem: &str) -> Result<Self, ThresholdError> {
        self.required(self.value <= most, problem)
    }

    /// `problem` says what is wrong with others.
    pub fn less_than(self, limit: T, problem: &str) -> Result<Self, ThresholdError> {
        self.required(self.value < limit, problem)
    }

    /// Requires at most the value of another setting, which would always be reached first.
    pub fn no_more_than(self, other: &Self) -> Result<Self, ThresholdError> {
        self.required(self.value <= other.value, &other.comes_first())
    }

    /// Requires a value below that of another setting, which would always be reached first.
    pub fn below(self, other: &Self) -> Result<Self, ThresholdError> {
        self.required(self.value < other.value, &other.comes_first())
    }

    fn comes_first(&self) -> String {
        let Self { setting, value } = self;
        format!("it can never be reached, because `{setting}` is {value}")
    }

    pub fn required(self, is_met: bool, problem: &str) -> Result<Self, ThresholdError> {
        if is_met {
            Ok(self)
        } else {
            Err(ThresholdError {
                setting: self.setting,
                value: self.value.to_string(),
                problem: problem.to_owned(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_in_its_range_is_accepted() {
        let turns = Threshold::new("turns", 3_u64);
        assert!(turns.at_least(1, "").is_ok());
        assert!(turns.at_most(3, "").is_ok());
        assert!(turns.below(&Threshold::new("max_turns", 4)).is_ok());
    }

    #[test]
    fn an_error_names_the_setting_its_value_and_the_problem() {
        let turns = Threshold::new("turns", 3_u64);
        let error = turns.at_least(4, "too few turns to compare").unwrap_err();
        assert_eq!(error.to_string(), "`turns` is 3: too few turns to compare");
        let error = turns.below(&Threshold::new("max_turns", 3)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`turns` is 3: it can never be reached, because `max_turns` is 3"
        );
    }
}
