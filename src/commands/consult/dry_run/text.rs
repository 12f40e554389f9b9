//! A dry run as text, for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{DryRun, DryRunCall, ProviderShare};
use crate::domain::context::{Context, ScrubbingReport};
use crate::domain::ids::ProviderId;
use crate::domain::money::Cost;
use crate::domain::stored_record::source_in_words;
use crate::domain::words::secret_type;
use crate::terminal::markdown::escape;
use crate::terminal::output::format::{amount, count, model_address, round_title, thousands};

impl DryRun<'_> {
    pub(super) fn to_text(&self) -> String {
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
        if let Some(context) = self.plan.context.as_deref() {
            text.push_str(&sources(context));
        }
        if let Some(report) = self.plan.scrubbing.as_deref() {
            text.push_str(&masked(report));
        }
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
                "- {provider} at {}: {}, {tokens}, {cost}{}",
                place(provider),
                count(share.calls, "call"),
                context_share(&share)
            );
        }
        for context in &self.contexts {
            let _ = writeln!(
                text,
                "\n=== Context, {} tokens ===\n\n{}",
                thousands(context.tokens().expected),
                context.as_str().trim()
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
            let answer = estimate.answer.name();
            let _ = if call.is_cached {
                writeln!(
                    text,
                    "Without the JSON Schema of the answer `{answer}`, so that the provider caches \
                     the context"
                )
            } else {
                writeln!(text, "With the JSON Schema of the answer `{answer}`")
            };
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
}

/// Returns the sources of the context with their tokens.
fn sources(context: &Context) -> String {
    if context.sources.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "Context: {} tokens, sent to experts and judges\n",
        thousands(context.tokens.expected)
    );
    for source in &context.sources {
        let (name, tokens) = source_in_words(source);
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "- {}: {tokens}", escape::one_line(&name));
    }
    text
}

/// Returns what was masked in each source; nothing if nothing was.
fn masked(report: &ScrubbingReport) -> String {
    if !report.sensitive_data_scrubbed {
        return "Masked: nothing, because of --no-scrub\n".to_owned();
    }
    if report.by_source.is_empty() {
        return String::new();
    }
    let mut text = "Masked:\n".to_owned();
    for (source, by_type) in &report.by_source {
        let _ = writeln!(text, "- {}: {}", escape::one_line(source), types(by_type));
    }
    text
}

fn types(by_type: &BTreeMap<String, u64>) -> String {
    let types = by_type
        .iter()
        .map(|(id, number)| format!("{} {}", thousands(*number), secret_type(id, *number)));
    types.collect::<Vec<_>>().join(", ")
}

/// Returns how many calls to a provider carry the context, and whether it is cached.
fn context_share(share: &ProviderShare) -> String {
    if share.calls_with_context == 0 {
        return String::new();
    }
    let caching = match share.calls_with_cache {
        0 => "not cached",
        cached if cached < share.calls_with_context => "cached in some",
        _ => "cached",
    };
    format!(
        "; the context in {}, {} tokens, {caching}",
        count(share.calls_with_context, "call"),
        thousands(share.context_tokens)
    )
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
