//! A dry run as text, for people.

use super::{CostRange, DryRun, DryRunCall, ProviderShare, ShownContext};
use crate::domain::context::ScrubbingReport;
use crate::domain::ids::ModelRef;
use crate::domain::stored_record::source_in_words;
use crate::domain::words::secret_type;
use crate::terminal::output::format::{amount, count, model_address, round_title, thousands};
use crate::text::clean::one_line;

impl DryRun<'_> {
    pub(super) fn to_text(&self) -> String {
        let mut lines = vec![
            "Dry run: nothing is sent.\n".to_owned(),
            format!("Estimated cost: {}", range(self.cost)),
            format!(
                "Tokens: {}; the question with its context has {}",
                tokens(self.input_tokens, self.output_tokens),
                thousands(self.context_tokens)
            ),
            format!("Consent: {}", self.consent.message),
        ];
        if let Some(context) = &self.context {
            lines.extend(sources(context));
        }
        if let Some(report) = self.scrubbing_report {
            lines.extend(masked(report));
        }
        if let Some(selection) = &self.persona_selection {
            let model = selection.chosen_by;
            lines.push(format!(
                "Personas: selected for the question by {}; the prompts below show the default ones",
                model.map_or_else(|| "no model".to_owned(), model_address)
            ));
        }
        let notices = self.notices.iter();
        lines.extend(notices.map(|notice| format!("Note: {}", one_line(notice))));
        lines.push("\nProviders:".to_owned());
        for share in &self.providers {
            lines.push(format!(
                "- {} at {}: {}, {}, {}{}",
                share.provider,
                place(share.host.as_deref()),
                count(share.calls, "call"),
                tokens(share.input_tokens, share.output_tokens),
                range(share.cost),
                context_share(share)
            ));
        }
        for context in self.context.iter().flat_map(|context| &context.texts) {
            lines.push(format!(
                "\n=== Context, {} tokens ===\n\n{}",
                thousands(context.tokens().expected),
                context.as_str().trim()
            ));
        }
        lines.extend(self.calls.iter().map(DryRunCall::to_text));
        lines.join("\n") + "\n"
    }
}

impl DryRunCall {
    fn to_text(&self) -> String {
        let round = self.round_number;
        let mut lines = vec![
            format!(
                "\n=== Round {round}, {}: {} ===",
                round_title(round),
                self.agent
            ),
            format!(
                "To {} at {}",
                model_address(&ModelRef::new(self.provider.as_str(), &self.model)),
                place(self.host.as_deref())
            ),
            format!(
                "{}, {}",
                tokens(self.input_tokens, self.output_tokens),
                range(self.cost)
            ),
        ];
        let answer = self.answer.name();
        lines.push(if self.schema_sent {
            format!("With the JSON Schema of the answer `{answer}`")
        } else {
            format!(
                "Without the JSON Schema of the answer `{answer}`, so that the provider caches the \
                 context"
            )
        });
        let unknown = match round {
            _ if self.exact => None,
            1 => Some("the persona"),
            _ => Some(
                "the texts in <angle brackets>, the marks around them, and the letters of the \
                 experts",
            ),
        };
        lines.extend(unknown.map(|unknown| format!("Not known yet: {unknown}")));
        lines.push(format!(
            "\n--- system ---\n{}\n\n--- user ---\n{}",
            self.system, self.user
        ));
        lines.join("\n")
    }
}

fn place(host: Option<&str>) -> &str {
    host.unwrap_or("this machine")
}

/// Returns the sources of the context with their tokens.
fn sources(context: &ShownContext<'_>) -> Vec<String> {
    if context.sources.is_empty() {
        return Vec::new();
    }
    let tokens = thousands(context.tokens);
    let mut lines = vec![format!(
        "Context: {tokens} tokens, sent to experts and judges"
    )];
    lines.extend(context.sources.iter().map(|source| {
        let (name, tokens) = source_in_words(source);
        format!("- {}: {tokens}", one_line(&name))
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
        format!("- {}: {types}", one_line(source))
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
fn range(cost: CostRange) -> String {
    let CostRange {
        low,
        expected,
        high,
    } = cost;
    if low == high {
        amount(expected)
    } else {
        format!("{} – {} – {}", amount(low), amount(expected), amount(high))
    }
}

fn tokens(input: u64, output: u64) -> String {
    format!("{} in, ~{} out", thousands(input), thousands(output))
}
