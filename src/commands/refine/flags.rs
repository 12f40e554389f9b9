//! The flags of `refine`, in the groups of its help.

use std::path::PathBuf;

use crate::commands::flags::{JsonFlags, PagerFlag, choice, confidence};
use crate::domain::answer::confidence::Confidence;
use crate::error::Error;
use crate::session::batch::elsewhere::Elsewhere;
use crate::stopping::convergence::{Criteria, Preset, StableBy};

/// Consultations at once, unless the flag says otherwise.
const DEFAULT_JOBS: u32 = 2;

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
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(super) jobs: Option<u32>,

    /// The panel's confidence from which an answer is of high confidence [default: 0.80]
    #[arg(
        long,
        value_name = "0.0-1.0",
        default_value = "0.80",
        hide_default_value = true,
        value_parser = confidence
    )]
    pub(super) high_confidence: Confidence,
}

/// When the document has converged.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Convergence")]
pub(super) struct ConvergenceFlags {
    /// The thresholds; a flag below overrides one of them [default: balanced]
    #[arg(long, value_name = "NAME", value_parser = choice::<Preset>(PRESETS))]
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
    #[arg(long, value_name = "WHAT", value_parser = choice::<StableBy>(STABLE_BY))]
    stable_by: Option<StableBy>,

    /// Count only items that name a source as of high confidence
    #[arg(long)]
    require_evidence: bool,

    /// Decide by the rules of the criteria reference to the letter: the last iteration is never a
    /// success, an unchanged number of questions is stable, and blockers do not matter
    #[arg(long, conflicts_with_all = ["stable_by", "require_evidence"])]
    strict_seed: bool,
}

const PRESETS: &str = "\
conservative  3 to 7 iterations, 3 comparisons, 2 open questions, a share of 0.90
balanced      2 to 5 iterations, 2 comparisons, 3 open questions, a share of 0.80
aggressive    1 to 3 iterations, 2 comparisons, 5 open questions, a share of 0.70";

const STABLE_BY: &str = "\
set    The questions themselves, compared by their words
count  Their number";

/// What is printed, and in which format.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Output", mut_arg("json", |arg| arg.help("Print JSON")))]
pub(super) struct RefineOutputFlags {
    /// Print the changes of the whole loop as a unified diff, instead of the summary
    #[arg(long, conflicts_with_all = ["json", "format", "dry_run"])]
    pub(super) diff: bool,

    #[command(flatten)]
    pub(super) json: JsonFlags,

    #[command(flatten)]
    pub(super) pager: PagerFlag,

    /// Print only the result and errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Print the rules of convergence after each iteration, and a line for each consultation
    #[arg(short, long)]
    verbose: bool,
}

impl QuestionFlags {
    /// Elsewhere, as many as can be held there, unless the flag says otherwise.
    pub(super) fn jobs(&self, place: Option<&dyn Elsewhere>) -> usize {
        let jobs = self.jobs.or(Some(DEFAULT_JOBS).filter(|_| place.is_none()));
        jobs.and_then(|jobs| usize::try_from(jobs).ok())
            .unwrap_or(usize::MAX)
    }
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
        let seed = self.strict_seed.then(|| criteria.in_strict_seed());
        let criteria = seed.unwrap_or(criteria);
        criteria.validate(preset).map_err(Error::usage)?;
        Ok(criteria)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_of_each_preset_states_its_thresholds() {
        assert_eq!(PRESETS.lines().count(), Preset::ALL.len());
        for (preset, line) in Preset::ALL.into_iter().zip(PRESETS.lines()) {
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
            assert!(line.ends_with(&stated), "{line} against {stated}");
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
