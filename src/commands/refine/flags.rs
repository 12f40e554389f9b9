//! The flags of `refine`, in the groups of its help.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::commands::flags::{
    ListFormatFlag, MAX_WAIT, PagerFlag, confidence, dollars, hedge_after, without,
};
use crate::config::hedge_after::HedgeAfter;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::confidence::Confidence;
use crate::domain::money::MicroUsd;
use crate::error::Error;
use crate::setup::request::ControlRequest;
use crate::stopping::convergence::{Criteria, Preset, StableBy};
use crate::stopping::early_termination::Policy;
use crate::terminal::output::printer::Verbosity;

/// Which document is written.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Document")]
pub(super) struct TargetFlags {
    /// Write SPEC itself [default: if git tracks it and it has no changes that are not committed]
    #[arg(long)]
    pub(super) in_place: bool,

    /// Write the refined document to this file, and leave SPEC as it is [default: SPEC.refined.md,
    /// if SPEC is not written itself]
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    pub(super) output: Option<PathBuf>,

    /// Begin a new loop, instead of resuming one that was interrupted or keeping one that has
    /// converged
    #[arg(long)]
    pub(super) restart: bool,
}

/// What is done without a call.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Without calls")]
pub(super) struct ActionFlags {
    /// Say whether SPEC has converged: exit code 0 if it has, 1 if not
    #[arg(long, conflicts_with_all = NOT_FOR_CHECK)]
    pub(super) check: bool,

    /// Show what would be asked of which vendor at what cost, and what would change in the document
    /// without a call
    #[arg(long, conflicts_with = "diff")]
    pub(super) dry_run: bool,
}

/// The flags that a check has no use for.
const NOT_FOR_CHECK: [&str; 40] = [
    "in_place",
    "output",
    "restart",
    "dry_run",
    "diff",
    "no_pager",
    "panel",
    "personas",
    "model",
    "judge",
    "context",
    "file",
    "max_context_files",
    "max_context_mb",
    "project",
    "greenfield",
    "no_scrub",
    "batch",
    "jobs",
    "high_confidence",
    "preset",
    "min_iterations",
    "max_iterations",
    "stable",
    "max_open",
    "ratio",
    "stable_by",
    "require_evidence",
    "strict_seed",
    "mode",
    "rounds",
    "quick",
    "judge_passes",
    "yes",
    "max_cost",
    "on_failure",
    "hedge_after",
    "max_wait",
    "strict",
    "early_stop",
];

/// How the open questions are worked.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Questions")]
pub(super) struct QuestionFlags {
    /// Questions of one consultation [default: 3]
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..=20)
    )]
    pub(super) batch: u32,

    /// Hold this many consultations at once [default: 2]
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = 2,
        hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(super) jobs: u32,

    /// The panel's confidence from which an answer is of high confidence [default: 0.80]
    #[arg(long, value_name = "0.0-1.0", value_parser = confidence)]
    pub(super) high_confidence: Option<Confidence>,
}

/// When the document has converged.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Convergence")]
pub(super) struct ConvergenceFlags {
    /// The thresholds; a flag below overrides one of them [default: balanced]
    #[arg(long, value_name = "NAME", value_enum)]
    preset: Option<Preset>,

    /// No success counts before this iteration [default: 2]
    #[arg(long, value_name = "N")]
    min_iterations: Option<u64>,

    /// The last iteration [default: 5]
    #[arg(long, value_name = "N")]
    max_iterations: Option<u64>,

    /// Converge when the open questions did not change in this many comparisons of one iteration
    /// with the next, in a row [default: 2]
    #[arg(long, value_name = "N")]
    stable: Option<u64>,

    /// Converge when at most this many questions are open, and none of them is a blocker [default:
    /// 3]
    #[arg(long, value_name = "N")]
    max_open: Option<u64>,

    /// Converge when a larger share of all items is of high confidence [default: 0.80]
    #[arg(long, value_name = "0.0-1.0", value_parser = confidence)]
    ratio: Option<Confidence>,

    /// What must not change for the open questions to be stable [default: set]
    #[arg(long, value_name = "WHAT", value_enum)]
    stable_by: Option<StableBy>,

    /// Count only items that name a source as of high confidence
    #[arg(long)]
    require_evidence: bool,

    /// Decide by the rules of the criteria reference to the letter: the last iteration is never a
    /// success, an unchanged number of questions is stable, and blockers do not matter
    #[arg(long, conflicts_with_all = ["stable_by", "require_evidence"])]
    strict_seed: bool,
}

/// How far the loop and each of its consultations may go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Control")]
pub(super) struct LoopControlFlags {
    /// Approve the cost of the whole loop
    #[arg(short, long)]
    pub(super) yes: bool,

    /// Make no call that could bring the cost of the whole loop above this amount, with what it has
    /// cost before it was interrupted [default: no ceiling]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(super) max_cost: Option<MicroUsd>,

    /// What to do when a model fails for good [default: substitute]
    #[arg(long, value_name = "ACTION", value_parser = without(&OnFailure::Ask))]
    on_failure: Option<OnFailure>,

    /// Ask a second model when the first shows no sign of an answer for this long; `off` for never
    /// [default: 30, or the model's own 95th percentile after 20 calls]
    #[arg(long, value_name = "SECONDS|off", value_parser = hedge_after)]
    hedge_after: Option<HedgeAfter>,

    /// End a consultation when a round takes longer than this [default: 3600]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=MAX_WAIT)
    )]
    max_wait: Option<u64>,

    /// Refuse substitutions, and end a consultation when fewer agents answer than the panel has
    #[arg(long)]
    strict: bool,

    /// Whether to end a consultation after Round 2 when the experts agree [default: auto]
    #[arg(long, value_name = "WHEN", value_parser = without(&Policy::Ask))]
    early_stop: Option<Policy>,

    /// The judge's confidence in the agreement that an early stop needs [default: 0.90]
    #[arg(long, value_name = "0.0-1.0", value_parser = confidence, conflicts_with = "check")]
    confidence_threshold: Option<Confidence>,
}

/// What is printed, and in which format.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct RefineOutputFlags {
    /// Print the changes of the whole loop as a unified diff, instead of the summary
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(super) diff: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    format: ListFormatFlag,

    #[command(flatten)]
    pub(super) pager: PagerFlag,

    /// Print only the result and errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Print the rules of convergence after each iteration, and a line for each consultation
    #[arg(short, long)]
    verbose: bool,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefineFormat {
    /// For people.
    Text,
    Json,
}

impl ConvergenceFlags {
    /// Returns the thresholds.
    ///
    /// # Errors
    ///
    /// When one of them can never be reached or never matter; the error names its flag.
    pub(super) fn criteria(&self) -> Result<Criteria, Error> {
        let preset = self.preset.unwrap_or_default();
        let usual = preset.criteria();
        let max_iterations = self.max_iterations.unwrap_or(usual.max_iterations);
        // A lower maximum needs no other flag.
        let usual_min = usual.min_iterations.min(max_iterations.max(1));
        let criteria = Criteria {
            min_iterations: self.min_iterations.unwrap_or(usual_min),
            max_iterations,
            stable_comparisons: self.stable.unwrap_or(usual.stable_comparisons),
            max_open_questions: self.max_open.unwrap_or(usual.max_open_questions),
            high_confidence_ratio: self.ratio.unwrap_or(usual.high_confidence_ratio),
            stable_by: self.stable_by.unwrap_or(usual.stable_by),
            require_evidence: self.require_evidence,
            rule_set: usual.rule_set,
        };
        let criteria = if self.strict_seed {
            criteria.in_strict_seed()
        } else {
            criteria
        };
        criteria.validate(preset).map_err(Error::usage)?;
        Ok(criteria)
    }
}

impl LoopControlFlags {
    /// Returns the limits of each consultation. You are asked once, for the whole loop.
    pub(super) fn request(&self, consent_mode: ConsentMode) -> ControlRequest {
        ControlRequest {
            consent_mode,
            max_cost: self.max_cost,
            on_failure: self.on_failure,
            hedge_after: self.hedge_after,
            max_wait: self.max_wait.map(Duration::from_secs),
            strict: self.strict,
            early_termination: self.early_stop,
            confidence_threshold: self.confidence_threshold,
        }
    }
}

impl RefineOutputFlags {
    pub(super) fn format(self) -> RefineFormat {
        if self.json || self.format.is_json() {
            RefineFormat::Json
        } else {
            RefineFormat::Text
        }
    }

    pub(super) fn verbosity(self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

impl ValueEnum for Preset {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Conservative => (
                "conservative",
                "3 to 7 iterations, 3 comparisons, 2 open questions, a share of 0.90",
            ),
            Self::Balanced => (
                "balanced",
                "2 to 5 iterations, 2 comparisons, 3 open questions, a share of 0.80",
            ),
            Self::Aggressive => (
                "aggressive",
                "1 to 3 iterations, 2 comparisons, 5 open questions, a share of 0.70",
            ),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for StableBy {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Set, Self::Count]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Set => ("set", "The questions themselves, compared by their words"),
            Self::Count => ("count", "Their number"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_of_each_preset_states_its_thresholds() {
        for preset in Preset::ALL {
            let Criteria {
                min_iterations: min,
                max_iterations: max,
                stable_comparisons: stable,
                max_open_questions: open,
                high_confidence_ratio: ratio,
                ..
            } = preset.criteria();
            let ratio = ratio.value();
            let stated = format!(
                "{min} to {max} iterations, {stable} comparisons, {open} open questions, a share \
                 of {ratio:.2}"
            );
            let value = preset.to_possible_value().unwrap();
            assert_eq!(value.get_help().unwrap().to_string(), stated);
        }
    }

    #[test]
    fn flag_overrides_a_threshold_of_the_preset() {
        let flags = ConvergenceFlags {
            preset: Some(Preset::Aggressive),
            max_open: Some(0),
            ..ConvergenceFlags::default()
        };
        let criteria = flags.criteria().unwrap();
        assert_eq!(criteria.max_open_questions, 0);
        assert_eq!(criteria.max_iterations, 3);
    }

    #[test]
    fn lower_maximum_needs_no_other_flag() {
        let flags = ConvergenceFlags {
            max_iterations: Some(1),
            ..ConvergenceFlags::default()
        };
        assert_eq!(flags.criteria().unwrap().min_iterations, 1);
    }

    #[test]
    fn error_names_the_flag_that_is_out_of_reach() {
        let flags = ConvergenceFlags {
            min_iterations: Some(9),
            ..ConvergenceFlags::default()
        };
        let error = flags.criteria().unwrap_err().to_string();
        assert!(error.contains("--min-iterations"), "{error}");
        assert!(error.contains("--max-iterations"), "{error}");
    }
}
