//! How far a run may go without asking.

use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::config::hedge_after::HedgeAfter;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::error::Error;
use crate::setup::request::ControlRequest;
use crate::stopping::early_termination::Policy;

use super::values::{confidence, dollars, possible};

/// The longest `--max-wait` in seconds, as in the settings.
pub(crate) const MAX_WAIT: u64 = 1_000_000;

/// How far a run may go without asking.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Control")]
pub(crate) struct ControlFlags {
    /// Approve the cost, and answer yes to every other question
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Make no call that could bring the cost above this amount [default: no ceiling]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<MicroUsd>,

    /// What to do when a model fails for good [default: ask]
    #[arg(long, value_name = "ACTION", value_enum)]
    pub(crate) on_failure: Option<OnFailure>,

    /// Ask a second model when the first shows no sign of an answer for this long; `off` for never
    /// [default: 30, or the model's own 95th percentile after 20 calls]
    #[arg(long, value_name = "SECONDS|off")]
    pub(crate) hedge_after: Option<String>,

    /// End the run when a round takes longer than this [default: 3600 if you cannot be asked]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=MAX_WAIT)
    )]
    pub(crate) max_wait: Option<u64>,

    /// Refuse substitutions, and end the run when fewer agents answer than the panel has
    #[arg(long)]
    pub(crate) strict: bool,

    /// Whether to end after Round 2 when the experts agree [default: ask]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub(crate) early_stop: Option<Policy>,

    /// The judge's confidence in the agreement that an early stop needs [default: 0.90]
    #[arg(long, value_name = "0.0-1.0", value_parser = confidence)]
    pub(crate) confidence_threshold: Option<Confidence>,
}

impl ControlFlags {
    /// Returns the flags as setup takes them.
    pub(crate) fn request(&self, consent_mode: ConsentMode) -> Result<ControlRequest, Error> {
        Ok(ControlRequest {
            consent_mode,
            max_cost: self.max_cost,
            on_failure: self.on_failure,
            hedge_after: self.hedge_after.as_deref().map(hedge_after).transpose()?,
            max_wait: self.max_wait.map(Duration::from_secs),
            strict: self.strict,
            early_termination: self.early_stop,
            confidence_threshold: self.confidence_threshold,
        })
    }
}

fn hedge_after(text: &str) -> Result<HedgeAfter, Error> {
    HedgeAfter::of_text(text).ok_or_else(|| {
        Error::usage(format!(
            "`--hedge-after` is `{text}`, but must be {}",
            HedgeAfter::EXPECTED
        ))
        .hint("for example: `--hedge-after 15`")
    })
}

impl ValueEnum for Policy {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Ask, Self::Auto, Self::Never]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Ask => possible("ask", "Ask you, on a terminal; otherwise like `auto`"),
            Self::Auto => possible("auto", "End if no guard objects"),
            Self::Never => possible("never", "Hold all rounds"),
        })
    }
}

impl ValueEnum for OnFailure {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Ask, Self::Substitute, Self::Skip, Self::Fail]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Ask => possible(
                "ask",
                "Ask you, on a terminal; otherwise let another model take over",
            ),
            Self::Substitute => possible("substitute", "Let another model take over"),
            Self::Skip => possible("skip", "Continue without it"),
            Self::Fail => possible("fail", "End the consultation"),
        })
    }
}

/// Returns the parser of an enum without one of its values: while many consultations run at once,
/// you cannot be asked.
pub(crate) fn without<T>(left_out: &T) -> impl TypedValueParser<Value = T>
where
    T: ValueEnum + PartialEq + Send + Sync + 'static,
{
    let values = T::value_variants()
        .iter()
        .filter(|value| *value != left_out);
    let values: Vec<_> = values.filter_map(ValueEnum::to_possible_value).collect();
    PossibleValuesParser::new(values).try_map(|name| T::from_str(&name, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_that_is_no_number_is_refused_with_an_example() {
        assert_eq!(hedge_after("off").unwrap(), HedgeAfter::Off);
        let error = hedge_after("soon").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`--hedge-after` is `soon`, but must be a number of seconds up to 1000000, or `off`"
        );
        assert_eq!(error.hints(), ["for example: `--hedge-after 15`"]);
    }
}
