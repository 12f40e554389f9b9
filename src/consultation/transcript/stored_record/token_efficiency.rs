//! The token efficiency: tokens saved by filtering earlier rounds, counted from the prompts that
//! were sent.

use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::transcript::Transcript;
use crate::domain::stored_record::TokenEfficiencyStats;

impl Transcript {
    pub(super) fn token_efficiency_stats(&self) -> TokenEfficiencyStats {
        let (used, saved) = (self.total().tokens.total(), self.tokens_saved);
        // Logs of versions without filtering have no figures.
        let plan = self.terms.plan.as_ref();
        let method = match plan.map_or(PromptMaterial::Whole, |plan| plan.material) {
            PromptMaterial::Filtered => "structured_artifact_array_truncation",
            PromptMaterial::Whole => "none",
        };
        TokenEfficiencyStats {
            tokens_used: Some(used),
            tokens_saved_via_filtering: Some(saved),
            efficiency_percentage: percentage(saved, used.saturating_add(saved)),
            filtering_method: Some(method.to_owned()),
        }
    }
}

/// Returns a percentage rounded to one decimal; `None` without any tokens.
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
