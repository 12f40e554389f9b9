//! The rows of the table.

use std::sync::LazyLock;

use crate::config::endpoints;
use crate::config::panels;
use crate::config::parameters::Parameters;
use crate::config::personas;

use super::kinds::{
    choice, correlation, count, default_personas, dollars, dollars_above_zero, endpoint_entries,
    hedge_after, judge_passes, local_servers, on_or_off, optional, placed, seats, share,
    small_count, switch, text, time, time_or_zero, truth,
};
use super::{Parts, Setting, setting};

pub const ALWAYS_ALLOW_UNDER: &str = "always_allow_under";
pub const ENDPOINTS: &str = "endpoints";
pub const HEDGE_AFTER: &str = "hedge_after";
pub const PERSONAS: &str = "personas";
pub const PERSONA_SETS: &str = "persona_sets";

/// All settings, in the order in which they are shown.
pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
    vec![
        setting(ALWAYS_ALLOW_UNDER, dollars(), |s| &mut s.always_allow_under)
            .help("Estimates below this amount are approved without asking; 0 means always ask"),
        setting("max_output_tokens", count(), |s| &mut s.max_output_tokens)
            .help("Maximum tokens of an answer, including thinking"),
        setting("connect_timeout_seconds", time(), |s| {
            &mut s.connect_timeout
        })
        .help("How long opening a connection may take"),
        setting("first_byte_timeout_seconds", time(), |s| {
            &mut s.first_byte_timeout
        })
        .help("How long a model may reason before the first byte of its answer"),
        setting("idle_timeout_seconds", time(), |s| &mut s.idle_timeout)
            .help("How long an answer may pause once it has begun"),
        setting("local_threads", optional(small_count()), |s| {
            &mut s.local_threads
        })
        .help("Threads of the embedded model; chosen automatically if unset"),
        setting("local_context", count(), |s| &mut s.local_context)
            .help("Maximum tokens of prompt and answer together, for the embedded model"),
        setting("local_model", optional(text()), |s| &mut s.local_model)
            .help("The embedded model, by its name in `conclave model list`"),
        setting("panel", optional(seats()), |s| &mut s.panel).help("The experts, as for `--panel`"),
        setting("judge", optional(text()), |s| &mut s.judge).help("The judge, as for `--judge`"),
        setting(
            "panels",
            placed("an object of panels by name", panels::read),
            |s| &mut s.panels,
        )
        .help("Your own panels")
        .parts(Parts::Entries {
            fields: &panels::FIELDS,
            short: Some("seats"),
        }),
        setting(
            PERSONAS,
            placed("an object of personas by id", personas::read),
            |s| &mut s.personas,
        )
        .help("Your own personas")
        .parts(Parts::Entries {
            fields: &personas::FIELDS,
            short: Some("prompt"),
        }),
        setting(
            PERSONA_SETS,
            placed(
                "an object of lists of personas by name",
                personas::read_sets,
            ),
            |s| &mut s.persona_sets,
        )
        .help("Sets of personas, used as `@name`")
        .parts(Parts::Lists),
        setting("default_personas", optional(default_personas()), |s| {
            &mut s.default_personas
        })
        .help("The personas of a panel that names none, as for `--personas`"),
        setting(ENDPOINTS, endpoint_entries(), |s| &mut s.endpoints)
            .help("Your own servers, and changes to known providers")
            .parts(Parts::Entries {
                fields: &endpoints::FIELDS,
                short: None,
            }),
        setting(
            "parameters",
            placed(
                "an object of body fields by `provider` or `provider:model`",
                Parameters::read,
            ),
            |s| &mut s.parameters,
        )
        .help("Fields added to request bodies")
        .parts(Parts::BodyFields),
        setting("local_servers", local_servers(), |s| &mut s.local_servers)
            .help("Where to look for servers on your own machine"),
        setting("max_in_flight", small_count(), |s| &mut s.max_in_flight)
            .help("Maximum concurrent calls to one provider, unless its endpoint sets its own"),
        setting("max_cost", optional(dollars()), |s| &mut s.max_cost)
            .help("Cost ceiling of a consultation; no call is made that could exceed it"),
        setting("monthly_budget", optional(dollars()), |s| {
            &mut s.monthly_budget
        })
        .help("Budget for all consultations of a calendar month"),
        setting(
            "on_failure",
            choice("`ask`, `substitute`, `skip` or `fail`"),
            |s| &mut s.on_failure,
        )
        .help("What to do when a model fails for good"),
        setting(HEDGE_AFTER, hedge_after(), |s| &mut s.hedge_after)
            .help("How long a call may show no sign of an answer before a second model is asked"),
        setting(
            "pulse_seconds",
            time_or_zero("a number of seconds from 0.1 to 1000000, or 0 for never"),
            |s| &mut s.pulse,
        )
        .help("How often you are asked whether to continue waiting for a round"),
        setting("max_wait_seconds", optional(time()), |s| &mut s.max_wait)
            .help("How long a round may take; if unset, an hour, or unlimited if you can be asked"),
        setting("mode", choice("`converge` or `explore`"), |s| &mut s.mode)
            .help("How the panel argues"),
        setting("rounds", choice("1, 2, 3 or 4"), |s| &mut s.rounds)
            .help("How many rounds to hold"),
        setting("early_stop", choice("`ask`, `auto` or `never`"), |s| {
            &mut s.early_stop
        })
        .help("Whether to end after Round 2 when the experts agree"),
        setting("confidence_threshold", share(), |s| {
            &mut s.confidence_threshold
        })
        .help("The judge's confidence in the agreement that an early stop needs"),
        setting("error_correlation", correlation(), |s| {
            &mut s.error_correlation
        })
        .help("Assumed correlation of the experts' errors"),
        setting("debate_analysis", on_or_off(), |s| &mut s.debate_analysis)
            .help("Whether a cheap model compares positions before and after the debate"),
        setting("judge_passes", judge_passes(), |s| &mut s.judge_passes)
            .help("How often the judge decides in a consultation of four rounds"),
        setting("log_context", truth(), |s| &mut s.log_context).help(
            "Whether the context of a question is stored, with secrets masked, to resume from",
        ),
        setting("notify", switch(), |s| &mut s.notify)
            .help("Whether the terminal rings its bell at the end"),
        setting(
            "stdin_wait_seconds",
            time_or_zero("a number of seconds from 0.1 to 1000000, or 0 for no time"),
            |s| &mut s.stdin_wait,
        )
        .help("How long `consult` waits for the first byte of a pipe on standard input"),
        setting("target_runs", count(), |s| &mut s.target_runs)
            .help("Target of `consult-stats`: consultations in thirty days"),
        setting("target_median_seconds", time(), |s| &mut s.target_median)
            .help("Target of `consult-stats`: the median duration"),
        setting("target_monthly_cost", dollars_above_zero(), |s| {
            &mut s.target_monthly_cost
        })
        .help("Target of `consult-stats`: the cost of a calendar month"),
    ]
});
