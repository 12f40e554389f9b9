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
        setting(ALWAYS_ALLOW_UNDER, dollars(), |s| &mut s.always_allow_under),
        setting("max_output_tokens", count(), |s| &mut s.max_output_tokens),
        setting("connect_timeout_seconds", time(), |s| {
            &mut s.connect_timeout
        }),
        setting("first_byte_timeout_seconds", time(), |s| {
            &mut s.first_byte_timeout
        }),
        setting("idle_timeout_seconds", time(), |s| &mut s.idle_timeout),
        setting("local_threads", optional(small_count()), |s| {
            &mut s.local_threads
        }),
        setting("local_context", count(), |s| &mut s.local_context),
        setting("local_model", optional(text()), |s| &mut s.local_model),
        setting("panel", optional(seats()), |s| &mut s.panel),
        setting("judge", optional(text()), |s| &mut s.judge),
        setting(
            "panels",
            placed("an object of panels by name", panels::read),
            |s| &mut s.panels,
        )
        .parts(Parts::Entries {
            fields: &panels::FIELDS,
            short: Some("seats"),
        }),
        setting(
            PERSONAS,
            placed("an object of personas by id", personas::read),
            |s| &mut s.personas,
        )
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
        .parts(Parts::Lists),
        setting("default_personas", optional(default_personas()), |s| {
            &mut s.default_personas
        }),
        setting(ENDPOINTS, endpoint_entries(), |s| &mut s.endpoints).parts(Parts::Entries {
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
        .parts(Parts::BodyFields),
        setting("local_servers", local_servers(), |s| &mut s.local_servers),
        setting("max_in_flight", small_count(), |s| &mut s.max_in_flight),
        setting("max_cost", optional(dollars()), |s| &mut s.max_cost),
        setting("monthly_budget", optional(dollars()), |s| {
            &mut s.monthly_budget
        }),
        setting(
            "on_failure",
            choice("`ask`, `substitute`, `skip` or `fail`"),
            |s| &mut s.on_failure,
        ),
        setting(HEDGE_AFTER, hedge_after(), |s| &mut s.hedge_after),
        setting(
            "pulse_seconds",
            time_or_zero("a number of seconds from 0.1 to 1000000, or 0 for never"),
            |s| &mut s.pulse,
        ),
        setting("max_wait_seconds", optional(time()), |s| &mut s.max_wait),
        setting("mode", choice("`converge` or `explore`"), |s| &mut s.mode),
        setting("rounds", choice("1, 2, 3 or 4"), |s| &mut s.rounds),
        setting("early_stop", choice("`ask`, `auto` or `never`"), |s| {
            &mut s.early_stop
        }),
        setting("confidence_threshold", share(), |s| {
            &mut s.confidence_threshold
        }),
        setting("error_correlation", correlation(), |s| {
            &mut s.error_correlation
        }),
        setting("debate_analysis", on_or_off(), |s| &mut s.debate_analysis),
        setting("judge_passes", judge_passes(), |s| &mut s.judge_passes),
        setting("log_context", truth(), |s| &mut s.log_context),
        setting("notify", switch(), |s| &mut s.notify),
        setting(
            "stdin_wait_seconds",
            time_or_zero("a number of seconds from 0.1 to 1000000, or 0 for no time"),
            |s| &mut s.stdin_wait,
        ),
        setting("target_runs", count(), |s| &mut s.target_runs),
        setting("target_median_seconds", time(), |s| &mut s.target_median),
        setting("target_monthly_cost", dollars_above_zero(), |s| {
            &mut s.target_monthly_cost
        }),
    ]
});
