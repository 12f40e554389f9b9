//! A dry run as text, for people.

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
            let host = self.host(provider);
            host.unwrap_or_else(|| "this machine".to_owned())
        };
        let mut lines = vec![
            "Dry run: nothing is sent.\n".to_owned(),
            format!(
                "Estimated cost: {}",
                range(estimate.low, estimate.cost, estimate.high)
            ),
            format!(
                "Tokens: {}; the question with its context has {}",
                tokens(estimate.input_tokens, estimate.output_tokens),
                thousands(estimate.context_tokens)
            ),
            format!("Consent: {}", self.decision()),
        ];
        if let Some(context) = self.plan.context.as_deref() {
            lines.extend(sources(context));
        }
        if let Some(report) = self.plan.scrubbing.as_deref() {
            lines.extend(masked(report));
        }
        if self.selects_personas() {
            let helper = self.plan.debate.helper.as_ref();
            lines.push(format!(
                "Personas: selected for the question by {}; the prompts below show the default ones",
                helper.map_or_else(|| "no model".to_owned(), model_address)
            ));
        }
        let notices = self.plan.notices.iter();
        lines.extend(notices.map(|notice| format!("Note: {}", escape::one_line(notice))));
        lines.push("\nProviders:".to_owned());
        for (provider, share) in self.shares() {
            lines.push(format!(
                "- {provider} at {}: {}, {}, {}{}",
                place(provider),
                count(share.calls, "call"),
                tokens(share.input_tokens, share.output_tokens),
                range(share.low, share.cost, share.high),
                context_share(&share)
            ));
        }
        for context in &self.contexts {
            lines.push(format!(
                "\n=== Context, {} tokens ===\n\n{}",
                thousands(context.tokens().expected),
                context.as_str().trim()
            ));
        }
        for DryRunCall {
            estimate,
            agent,
            system,
            user,
            is_cached,
            ..
        } in &self.calls
        {
            let (round, model) = (estimate.round_number, &estimate.model);
            lines.push(format!(
                "\n=== Round {round}, {}: {agent} ===",
                round_title(round)
            ));
            lines.push(format!(
                "To {} at {}",
                model_address(model),
                place(&model.provider)
            ));
            lines.push(format!(
                "{}, {}",
                tokens(estimate.input_tokens, estimate.output_tokens),
                range(estimate.low, estimate.cost, estimate.high)
            ));
            let answer = estimate.answer.name();
            lines.push(if *is_cached {
                format!(
                    "Without the JSON Schema of the answer `{answer}`, so that the provider caches \
                     the context"
                )
            } else {
                format!("With the JSON Schema of the answer `{answer}`")
            });
            let unknown = match round {
                _ if self.is_exact(estimate) => None,
                1 => Some("the persona"),
                _ => Some(
                    "the texts in <angle brackets>, the marks around them, and the letters of the \
                     experts",
                ),
            };
            lines.extend(unknown.map(|unknown| format!("Not known yet: {unknown}")));
            lines.push(format!(
                "\n--- system ---\n{system}\n\n--- user ---\n{user}"
            ));
        }
        lines.join("\n") + "\n"
    }
}

/// Returns the sources of the context with their tokens.
fn sources(context: &Context) -> Vec<String> {
    if context.sources.is_empty() {
        return Vec::new();
    }
    let tokens = thousands(context.tokens.expected);
    let mut lines = vec![format!(
        "Context: {tokens} tokens, sent to experts and judges"
    )];
    lines.extend(context.sources.iter().map(|source| {
        let (name, tokens) = source_in_words(source);
        format!("- {}: {tokens}", escape::one_line(&name))
    }));
    lines
}

/// Returns what was masked in each source; nothing if nothing was.
fn masked(report: &ScrubbingReport) -> Vec<String> {
    if !report.sensitive_data_scrubbed {
        return vec!["Masked: nothing, because of --no-scrub".to_owned()];
    }
    if report.by_source.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["Masked:".to_owned()];
    lines.extend(report.by_source.iter().map(|(source, by_type)| {
        let types = by_type.iter();
        let types = types.map(|(id, n)| format!("{} {}", thousands(*n), secret_type(id, *n)));
        let types = types.collect::<Vec<_>>().join(", ");
        format!("- {}: {types}", escape::one_line(source))
    }));
    lines
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
