//! `--dry-run`: every prompt, its provider and its cost, without sending any of it.
//!
//! The JSON has a published schema: `schemas/dry_run.schema.json`.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::consultation::plan::Plan;
use crate::consultation::plan::preview::{Places, planned_calls};
use crate::consultation::policy::consent::Gate;
use crate::consultation::policy::estimate::{CallEstimate, Consent, Estimate, GateReason};
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::protocol::call::{Prompt, join};
use crate::domain::address::authority;
use crate::domain::ids::ProviderId;
use crate::domain::money::Cost;
use crate::domain::stored_record::Amount;
use crate::domain::text::{clean, pretty_json};
use crate::error::Error;
use crate::records::files::{Access, write_atomically};
use crate::terminal::markdown::escape;
use crate::terminal::output::format::{amount, count, model_address, round_title, thousands};
use crate::terminal::output::printer::Printer;

use crate::commands::flags::{AnswerFormat, OutputFlags};
use crate::setup::plan::PreparedPlan;

const SCHEMA_VERSION: &str = "1.0";

/// Shows what a run of this plan would send.
pub(super) fn show(
    prepared: &PreparedPlan,
    flags: &OutputFlags,
    printer: &Printer,
) -> Result<(), Error> {
    let format = flags.format();
    if format == AnswerFormat::Html {
        return Err(Error::usage("a dry run has no HTML")
            .hint("choose another format, such as `--format markdown`"));
    }
    let dry_run = DryRun::of(prepared)?;
    let as_json = || pretty_json(&dry_run.to_json()).map_err(Error::failed);
    // Prompts may hold control characters; the JSON has the exact text.
    let as_text = || clean(&dry_run.to_text());
    let shown = match format {
        AnswerFormat::Markdown | AnswerFormat::Html => as_text(),
        AnswerFormat::Json => as_json()? + "\n",
        AnswerFormat::Both => format!("{}\n---\n{}\n", as_text(), as_json()?),
    };
    match &flags.output {
        Some(output) => {
            write_atomically(output, shown.as_bytes(), Access::Normal).map_err(Error::failed)
        }
        None => printer.result(&shown).map_err(Error::failed),
    }
}

struct DryRun<'a> {
    plan: &'a Plan,
    addresses: &'a BTreeMap<ProviderId, String>,
    estimate: Estimate,
    calls: Vec<DryRunCall>,
    gate: Gate,
}

/// A call that would be made.
struct DryRunCall {
    estimate: CallEstimate,
    agent: String,
    system: String,
    user: String,
}

/// The total that would be sent to one provider.
#[derive(Default)]
struct ProviderShare {
    calls: usize,
    input_tokens: u64,
    output_tokens: u64,
    low: Cost,
    cost: Cost,
    high: Cost,
}

impl<'a> DryRun<'a> {
    fn of(prepared: &'a PreparedPlan) -> Result<Self, Error> {
        let plan = &prepared.plan;
        let no_prompt = |error| {
            Error::usage(error).hint("check the templates in the `prompts` folder of the home")
        };
        let estimate = plan.estimate().map_err(no_prompt)?;
        let planned = planned_calls(plan, Places::Marked).map_err(no_prompt)?;
        let calls = estimate
            .calls
            .iter()
            .zip(planned)
            .map(|(estimate, planned)| {
                let (system, user) = as_sent(&planned.model.provider, &planned.prompt);
                DryRunCall {
                    estimate: estimate.clone(),
                    agent: plan.agent_name(&planned.agent_id),
                    system,
                    user,
                }
            });
        let gate = plan
            .control
            .consent
            .decide(&estimate, plan.control.max_cost);
        Ok(Self {
            plan,
            addresses: &prepared.addresses,
            calls: calls.collect(),
            gate,
            estimate,
        })
    }

    /// Returns the host of a provider; `None` for the embedded model.
    fn host(&self, provider: &ProviderId) -> Option<String> {
        self.addresses
            .get(provider)
            .map(|base_url| authority(base_url))
    }

    /// Returns whether the personas are still to be selected.
    fn selects_personas(&self) -> bool {
        self.plan.debate.asks_for(AnswerKind::PersonaSelection)
    }

    /// Returns whether a prompt would be sent as shown: those of later rounds hold answers, and
    /// selected personas are not known yet.
    fn is_exact(&self, call: &CallEstimate) -> bool {
        call.round_number == 1
            && (call.answer == AnswerKind::PersonaSelection || !self.selects_personas())
    }

    fn shares(&self) -> BTreeMap<&ProviderId, ProviderShare> {
        let mut shares: BTreeMap<&ProviderId, ProviderShare> = BTreeMap::new();
        for call in self.calls.iter().map(|call| &call.estimate) {
            let share = shares.entry(&call.model.provider).or_default();
            share.calls += 1;
            share.input_tokens += call.input_tokens;
            share.output_tokens += call.output_tokens;
            share.low += call.low;
            share.cost += call.cost;
            share.high += call.high;
        }
        shares
    }

    fn to_text(&self) -> String {
        let estimate = &self.estimate;
        let place = |provider: &ProviderId| {
            self.host(provider)
                .unwrap_or_else(|| "this machine".to_owned())
        };
        let mut text = "Dry run: nothing is sent.\n\n".to_owned();
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "Estimated cost: {}",
            range(estimate.low, estimate.cost, estimate.high)
        );
        let all = tokens(estimate.input_tokens, estimate.output_tokens);
        let _ = writeln!(
            text,
            "Tokens: {all}; the question with its context has {}",
            thousands(estimate.context_tokens)
        );
        let _ = writeln!(text, "Consent: {}", self.decision());
        if self.selects_personas() {
            let helper = self
                .plan
                .debate
                .helper
                .as_ref()
                .map_or_else(|| "no model".to_owned(), model_address);
            let _ = writeln!(
                text,
                "Personas: selected for the question by {helper}; the prompts below show the \
                 default ones"
            );
        }
        for notice in &self.plan.notices {
            let _ = writeln!(text, "Note: {}", escape::one_line(notice));
        }
        text.push_str("\nProviders:\n");
        for (provider, share) in self.shares() {
            let (tokens, cost) = (
                tokens(share.input_tokens, share.output_tokens),
                range(share.low, share.cost, share.high),
            );
            let _ = writeln!(
                text,
                "- {provider} at {}: {}, {tokens}, {cost}",
                place(provider),
                count(share.calls, "call")
            );
        }
        for call in &self.calls {
            let DryRunCall {
                estimate, agent, ..
            } = call;
            let (round, title) = (estimate.round_number, round_title(estimate.round_number));
            let _ = writeln!(text, "\n=== Round {round}, {title}: {agent} ===");
            let _ = writeln!(
                text,
                "To {} at {}",
                model_address(&estimate.model),
                place(&estimate.model.provider)
            );
            let cost = range(estimate.low, estimate.cost, estimate.high);
            let _ = writeln!(
                text,
                "{}, {cost}",
                tokens(estimate.input_tokens, estimate.output_tokens)
            );
            let _ = writeln!(
                text,
                "With the JSON Schema of the answer `{}`",
                estimate.answer.name()
            );
            if call.estimate.round_number == 1 && !self.is_exact(estimate) {
                text.push_str("Not known yet: the persona\n");
            } else if !self.is_exact(estimate) {
                text.push_str(
                    "Not known yet: the texts in <angle brackets>, the marks around them, and the \
                     letters of the experts\n",
                );
            }
            let _ = writeln!(
                text,
                "\n--- system ---\n{}\n\n--- user ---\n{}",
                call.system, call.user
            );
        }
        text
    }

    fn to_json(&self) -> Value {
        let estimate = &self.estimate;
        let shares = self.shares();
        let providers = shares.iter().map(|(provider, share)| {
            json!({
                "provider": provider,
                "host": self.host(provider),
                "calls": share.calls,
                "input_tokens": share.input_tokens,
                "output_tokens": share.output_tokens,
                "cost": costs(share.low, share.cost, share.high),
            })
        });
        let calls = self.calls.iter().map(
            |DryRunCall {
                 estimate,
                 agent,
                 system,
                 user,
             }| {
                json!({
                    "round_number": estimate.round_number,
                    "agent_id": estimate.agent_id,
                    "agent": agent,
                    "answer": estimate.answer,
                    "provider": estimate.model.provider,
                    "model": estimate.model.model,
                    "host": self.host(&estimate.model.provider),
                    "input_tokens": estimate.input_tokens,
                    "output_tokens": estimate.output_tokens,
                    "max_output_tokens": self.plan.terms(&estimate.model).max_output_tokens,
                    "cost": costs(estimate.low, estimate.cost, estimate.high),
                    "exact": self.is_exact(estimate),
                    "system": system,
                    "user": user,
                })
            },
        );
        let (decision, why) = match &self.gate {
            Gate::Pass(consent) => (json!(consent), Vec::new()),
            Gate::Ask(why) => (json!("ask"), why.clone()),
            Gate::Refuse(why) => (json!("refuse"), why.clone()),
            Gate::AboveCeiling => (json!("above_ceiling"), Vec::new()),
        };
        json!({
            "schema_version": SCHEMA_VERSION,
            "question": self.plan.question,
            "context_tokens": estimate.context_tokens,
            "input_tokens": estimate.input_tokens,
            "output_tokens": estimate.output_tokens,
            "cost": costs(estimate.low, estimate.cost, estimate.high),
            "consent": { "decision": decision, "why": why, "message": self.decision() },
            "casting": self.selects_personas().then(|| json!({
                "chosen_by": self.plan.debate.helper,
            })),
            "notices": self.plan.notices,
            "providers": providers.collect::<Vec<_>>(),
            "calls": calls.collect::<Vec<_>>(),
        })
    }

    /// Returns what the cost gate would do, for people.
    fn decision(&self) -> String {
        let threshold = self.plan.control.consent.always_allow_under;
        let ceiling = self.plan.control.max_cost.unwrap_or_default();
        match &self.gate {
            Gate::Pass(Consent::AutoApproved) if self.estimate.high == Cost::FREE => {
                "goes ahead: the models are free".to_owned()
            }
            Gate::Pass(Consent::AutoApproved) => {
                format!("goes ahead without asking: below always_allow_under, {threshold:.2}")
            }
            Gate::Pass(Consent::Ceiling) => format!(
                "goes ahead without asking: the high estimate is within the ceiling of {ceiling:.2}"
            ),
            Gate::Pass(Consent::Flag | Consent::Asked | Consent::NobodyToAsk) => {
                "goes ahead: approved by --yes".to_owned()
            }
            Gate::Ask(why) => format!("asks first: {}", reasons(why)),
            Gate::Refuse(why) => format!(
                "needs --yes, because there is no terminal to ask on: {}",
                reasons(why)
            ),
            Gate::AboveCeiling => format!(
                "ends before anything is sent: even the low estimate is above the ceiling of \
                 {ceiling:.2}"
            ),
        }
    }
}

/// Returns system prompt and user message as a provider sends them.
fn as_sent(provider: &ProviderId, prompt: &Prompt) -> (String, String) {
    if provider.is_local() {
        return (
            prompt.shared_prefix(),
            join([&prompt.protocol, &prompt.persona, &prompt.task]),
        );
    }
    (prompt.system(), prompt.user())
}

fn reasons(why: &[GateReason]) -> String {
    let words = |reason: &GateReason| match reason {
        GateReason::Cost => "it is not below always_allow_under",
        GateReason::Unpriced => "a model has no price",
        GateReason::MonthlyBudget => "it would exceed the monthly budget",
        GateReason::LargeContext => "the context is large",
        GateReason::FirstCost => "nothing has been spent here so far",
    };
    why.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Returns `$0.0100 – $0.0200 – $0.0400`; one figure if all three are the same.
fn range(low: Cost, expected: Cost, high: Cost) -> String {
    if low == high {
        amount(expected)
    } else {
        format!("{} – {} – {}", amount(low), amount(expected), amount(high))
    }
}

fn tokens(input: u64, output: u64) -> String {
    format!("{} in, ~{} out", thousands(input), thousands(output))
}

fn costs(low: Cost, expected: Cost, high: Cost) -> Value {
    let [low, expected, high] = [low, expected, high].map(Amount::from);
    json!({ "low": low, "expected": expected, "high": high })
}
