//! The thresholds of the stop conditions, with the source of each default.

use serde::{Deserialize, Serialize};

use crate::domain::answer::confidence::Confidence;
use crate::stopping::evaluation::MILLION;
use crate::stopping::evaluation::threshold::{Threshold, ThresholdError};

/// Thresholds of the stop conditions; `None` switches one off. The first four defaults are those of
/// the story that asked for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopConditions {
    /// The most attempts until the batch ends or is resumed. A budget: it says nothing about how
    /// well the batch goes.
    #[serde(alias = "max_total_attempts")]
    pub max_attempts: Option<u64>,
    /// This many items in a row without a right answer stop the batch.
    pub max_consecutive_fails: Option<u64>,
    /// A larger share of items without a right answer stops the batch.
    pub max_reject_rate: Option<Confidence>,
    /// A larger share of items with more than one attempt stops the batch.
    pub max_retry_rate: Option<Confidence>,
    /// The number of finished items that a rate needs. Without one, a single early failure is a
    /// rate of 100%, and three of ten healthy batches stop for nothing (simulated: 40 items, 5% of
    /// them fail).
    pub min_items: u64,
    /// The number of last items that a rate looks at: over all items, a late collapse hides behind
    /// a good beginning.
    pub window: u64,
    /// This many items in a row without an answer because of their providers stop the batch.
    pub max_consecutive_outages: Option<u64>,
}

impl Default for StopConditions {
    fn default() -> Self {
        Self {
            max_attempts: Some(50),
            max_consecutive_fails: Some(3),
            max_reject_rate: Confidence::new(0.3),
            max_retry_rate: Confidence::new(0.5),
            min_items: 10,
            window: 20,
            max_consecutive_outages: Some(3),
        }
    }
}

/// A budget that ends every batch of this size before it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{items} case runs need at least {items} attempts, but `max_attempts` is {max_attempts}")]
pub struct AttemptBudgetError {
    pub items: u64,
    pub max_attempts: u64,
}

impl StopConditions {
    pub const MAX_WINDOW: u64 = 10_000;

    /// Returns conditions that never fire, for batches that must run to their end.
    pub fn off() -> Self {
        Self {
            max_attempts: None,
            max_consecutive_fails: None,
            max_reject_rate: None,
            max_retry_rate: None,
            max_consecutive_outages: None,
            ..Self::default()
        }
    }

    /// Refuses thresholds that can never be reached or that contradict each other.
    ///
    /// A default may lie beyond a low threshold of another setting: a batch with a budget of five
    /// attempts needs no other `min_items`.
    pub fn validate(&self) -> Result<(), ThresholdError> {
        let usual = Self::default();
        let counts = [
            ("max_attempts", self.max_attempts),
            ("max_consecutive_fails", self.max_consecutive_fails),
            ("max_consecutive_outages", self.max_consecutive_outages),
        ];
        for (setting, count) in counts {
            let problem = "every batch reaches it; the least is 1, or switch it off";
            Threshold::new(setting, count.unwrap_or(1)).at_least(1, problem)?;
        }
        Threshold::new("min_items", self.min_items)
            .at_least(1, "a rate needs an item; the least is 1")?;
        Threshold::new("window", self.window)
            .at_least(
                self.min_items,
                &format!(
                    "the rates never have their {} items (`min_items`)",
                    self.min_items
                ),
            )?
            .at_most(Self::MAX_WINDOW, "the most is 10000")?;
        let rates = [
            ("max_reject_rate", self.max_reject_rate),
            ("max_retry_rate", self.max_retry_rate),
        ];
        for (setting, rate) in rates {
            Threshold::new(setting, rate.map_or(0.0, Confidence::value))
                .less_than(1.0, "no rate exceeds it; switch it off instead")?;
        }
        if let Some(attempts) = self.max_attempts {
            let budget = Threshold::new("max_attempts", attempts);
            if self.min_items != usual.min_items {
                Threshold::new("min_items", self.min_items).no_more_than(&budget)?;
            }
            if let Some(fails) = self.max_consecutive_fails
                && self.max_consecutive_fails != usual.max_consecutive_fails
            {
                Threshold::new("max_consecutive_fails", fails).no_more_than(&budget)?;
            }
        }
        self.validate_reject_rate()
    }

    /// Refuses a reject rate that only a batch exceeds that was stopped before, by failures in a
    /// row: with three, at most two of three items fail.
    fn validate_reject_rate(&self) -> Result<(), ThresholdError> {
        let (Some(rate), Some(streak)) = (self.max_reject_rate, self.max_consecutive_fails) else {
            return Ok(());
        };
        if self.max_reject_rate == Self::default().max_reject_rate {
            return Ok(());
        }
        let is_reachable = (self.min_items..=self.window).any(|items| {
            let most = items - items.checked_div(streak).unwrap_or(items);
            let share = u128::from(most) * u128::from(MILLION);
            share > u128::from(rate.millionths()) * u128::from(items)
        });
        let problem =
            format!("it can never be exceeded, because `max_consecutive_fails` is {streak}");
        Threshold::new("max_reject_rate", rate.value()).required(is_reachable, &problem)?;
        Ok(())
    }

    /// Refuses a budget that ends every batch of this size.
    pub fn check_budget(&self, items: u64) -> Result<(), AttemptBudgetError> {
        match self.max_attempts {
            Some(max_attempts) if max_attempts < items => Err(AttemptBudgetError {
                items,
                max_attempts,
            }),
            Some(_) | None => Ok(()),
        }
    }
}
