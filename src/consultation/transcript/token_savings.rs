//! Tokens saved by filtering earlier rounds, counted from the prompts that were sent.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::ids::CallId;

use super::Transcript;
use crate::consultation::event::{CallEvent, Event};
use crate::consultation::prompt::filter::PromptMaterial;

/// Tokens saved in the prompts of finished calls. A prompt that was never processed, as in a
/// refused call, saves nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    under_way: BTreeMap<CallId, u64>,
    tokens: u64,
}

/// The token efficiency of a consultation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TokenEfficiency {
    pub tokens_used: u64,
    pub tokens_saved_via_filtering: u64,
    /// The saved share of the tokens that would have been used without filtering, in percent with
    /// one decimal; `None` without any tokens.
    pub efficiency_percentage: Option<f64>,
    pub filtering_method: FilteringMethod,
}

/// The method of saving tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FilteringMethod {
    StructuredArtifactArrayTruncation,
    None,
}

impl Savings {
    pub(in crate::consultation) fn take(&mut self, event: &Event) {
        if let Event::Call(CallEvent::Started {
            call, tokens_saved, ..
        }) = event
        {
            self.under_way.insert(*call, *tokens_saved);
        }
        if let Event::Call(CallEvent::Finished(finished)) = event {
            let saved = self
                .under_way
                .remove(&finished.call)
                .filter(|_| finished.tokens.prompt() > 0);
            self.tokens = self.tokens.saturating_add(saved.unwrap_or_default());
        }
    }
}

impl Transcript {
    pub fn token_efficiency(&self) -> TokenEfficiency {
        let (used, saved) = (self.total().tokens.total(), self.savings.tokens);
        // Logs of versions without filtering have no figures.
        let material = self
            .terms
            .plan
            .as_ref()
            .map_or(PromptMaterial::Whole, |plan| plan.material);
        TokenEfficiency {
            tokens_used: used,
            tokens_saved_via_filtering: saved,
            efficiency_percentage: percentage(saved, used.saturating_add(saved)),
            filtering_method: match material {
                PromptMaterial::Filtered => FilteringMethod::StructuredArtifactArrayTruncation,
                PromptMaterial::Whole => FilteringMethod::None,
            },
        }
    }
}

/// Returns a percentage rounded to one decimal.
#[expect(
    clippy::cast_precision_loss,
    reason = "a number of tenths of percents, at most 1000"
)]
fn percentage(part: u64, whole: u64) -> Option<f64> {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let tenths = (part * 2_000 + whole).checked_div(whole * 2)?;
    Some(tenths as f64 / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentage_relates_to_tokens_without_filtering() {
        assert_eq!(percentage(3_200, 12_450 + 3_200), Some(20.4));
        assert_eq!(
            (percentage(0, 5), percentage(5, 5), percentage(1, 3)),
            (Some(0.0), Some(100.0), Some(33.3))
        );
        assert_eq!(
            (percentage(0, 0), percentage(u64::MAX, u64::MAX)),
            (None, Some(100.0))
        );
    }
}
