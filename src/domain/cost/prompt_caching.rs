//! The table of prompt caches: the models whose vendor caches the beginning of a prompt, and from
//! which length.
//!
//! The figures are those of the vendors' own guides to prompt caching, read in November 2026. Where
//! a guide names no least length, that of most vendors applies: below it there is little to save. A
//! shorter beginning is not an error anywhere; it is not cached.

use crate::domain::ids::ModelRef;
use crate::domain::model::dialect::PromptCaching;

/// The least length where the vendor states none: that of most vendors that do.
const UNSTATED: u64 = 1_024;

const AUTOMATIC: PromptCaching = PromptCaching::Automatic {
    min_tokens: UNSTATED,
};

/// Hosts of vendors that are reached through an address in the settings, and the caching there.
///
/// `DeepSeek` caches by itself in units of 64 tokens. Groq does so for some models, from 128 to
/// 1,024 tokens on.
const HOSTS: [(&str, PromptCaching); 2] =
    [("api.deepseek.com", AUTOMATIC), ("api.groq.com", AUTOMATIC)];

pub fn of(model: &ModelRef) -> PromptCaching {
    by_vendor(model.provider.as_str(), &model.model)
}

/// Returns how the server at this host caches prompts, for servers from the settings.
pub fn at_host(host: &str) -> PromptCaching {
    HOSTS
        .into_iter()
        .find(|(known, _)| host.eq_ignore_ascii_case(known))
        .map(|(_, caching)| caching)
        .unwrap_or_default()
}

/// Returns whether a model is one of Anthropic's, there or at a reseller.
pub fn is_anthropics(model: &ModelRef) -> bool {
    let of_resold = upstream(&model.model).is_some_and(|(vendor, _)| vendor == "anthropic");
    model.provider.as_str() == "anthropic" || of_resold
}

fn by_vendor(vendor: &str, model: &str) -> PromptCaching {
    match vendor {
        "anthropic" => PromptCaching::Breakpoints {
            min_tokens: anthropic(model),
        },
        "openai" => openai(model),
        "google" => google(model),
        // xAI and Mistral cache every prompt by themselves and name no least length. A reply shows
        // whether it was.
        "xai" | "mistral" => AUTOMATIC,
        "openrouter" => {
            upstream(model).map_or(PromptCaching::None, |(vendor, model)| resold(vendor, model))
        }
        _ => PromptCaching::None,
    }
}

/// Returns how `OpenRouter` has a model cached: as its maker does. It names these makers as caching
/// by themselves; of the others some need marks of their own.
fn resold(vendor: &str, model: &str) -> PromptCaching {
    match vendor {
        "anthropic" | "openai" | "google" => by_vendor(vendor, model),
        "x-ai" | "deepseek" | "moonshotai" | "z-ai" => AUTOMATIC,
        _ => PromptCaching::None,
    }
}

/// Splits a reseller's name for a model: `anthropic/claude-sonnet-5.5`, `~openai/gpt-latest:free`.
fn upstream(model: &str) -> Option<(&str, &str)> {
    let (vendor, model) = model.split_once('/')?;
    let model = model.split_once(':').map_or(model, |(model, _)| model);
    Some((vendor.trim_start_matches('~'), model))
}

/// Returns the least length of a beginning at Anthropic, which differs by model and does not only
/// fall from one generation to the next. Sonnet 4.6 is documented with 1,024 and measured with
/// 2,048. An unknown model is taken to have the highest.
fn anthropic(model: &str) -> u64 {
    let name = model.replace('.', "-");
    let mut parts = name.split('-').skip(1);
    let tier = parts.next().unwrap_or_default();
    // A date may stand in place of the second number.
    let mut numbers = parts.map_while(|part| part.parse::<u64>().ok().filter(|n| *n < 100));
    match (tier, numbers.next(), numbers.next()) {
        ("sonnet", Some(5), None) => 1_024,
        (_, Some(5..), _) => 512,
        ("sonnet", Some(4), Some(6)) => 2_048,
        ("sonnet", Some(4), _) | ("opus", Some(4), Some(8..)) => 1_024,
        ("opus", Some(4), Some(7)) => 2_048,
        _ => 4_096,
    }
}

/// Since the 5.6 generation, `OpenAI` looks a beginning up only where it was marked: requests with
/// different ends share nothing without a mark, and each end is written at 1.25 times the input
/// price unless the request asks for explicit marks only. Earlier models, back to gpt-4o, find the
/// longest common beginning by themselves.
fn openai(model: &str) -> PromptCaching {
    let version = model.strip_prefix("gpt-").and_then(number);
    let is_older = model == "gpt-4" || model.starts_with("gpt-4-") || model.starts_with("gpt-3.5");
    match version {
        Some(version) if version >= (5, 6) => PromptCaching::Breakpoints { min_tokens: 1_024 },
        _ if is_older => PromptCaching::None,
        _ => PromptCaching::Automatic { min_tokens: 1_024 },
    }
}

/// Gemini caches by itself since version 2.5.
fn google(model: &str) -> PromptCaching {
    let name = model.trim_start_matches("models/");
    match name.strip_prefix("gemini-").and_then(number) {
        Some((2, 5..)) => PromptCaching::Automatic { min_tokens: 2_048 },
        Some((3.., _)) => PromptCaching::Automatic { min_tokens: 4_096 },
        _ => PromptCaching::None,
    }
}

/// Reads a version at the beginning of a text: `6.1-sol`, `4o`.
fn number(text: &str) -> Option<(u64, u64)> {
    let (major, rest) = digits(text)?;
    let minor = rest.strip_prefix('.').and_then(digits);
    Some((major, minor.map_or(0, |(minor, _)| minor)))
}

fn digits(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(min_tokens: u64) -> PromptCaching {
        PromptCaching::Breakpoints { min_tokens }
    }

    fn automatic(min_tokens: u64) -> PromptCaching {
        PromptCaching::Automatic { min_tokens }
    }

    #[test]
    fn caching_differs_by_vendor_and_model() {
        let cases = [
            ("anthropic", "claude-opus-5-5", marks(512)),
            ("anthropic", "claude-haiku-5-5", marks(512)),
            ("anthropic", "claude-fable-5-1", marks(512)),
            ("anthropic", "claude-opus-5-20260701", marks(512)),
            ("anthropic", "claude-sonnet-5", marks(1_024)),
            ("anthropic", "claude-sonnet-5-20260901", marks(1_024)),
            ("anthropic", "claude-sonnet-5-5", marks(512)),
            ("anthropic", "claude-opus-4-8", marks(1_024)),
            ("anthropic", "claude-opus-4-7", marks(2_048)),
            ("anthropic", "claude-opus-4-6", marks(4_096)),
            ("anthropic", "claude-sonnet-4-6", marks(2_048)),
            ("anthropic", "claude-sonnet-4-5-20250929", marks(1_024)),
            ("anthropic", "claude-haiku-4-5-20251001", marks(4_096)),
            ("anthropic", "claude-unheard-of", marks(4_096)),
            ("openai", "gpt-6.1-sol", marks(1_024)),
            ("openai", "gpt-6-luna", marks(1_024)),
            ("openai", "gpt-5.6-terra", marks(1_024)),
            ("openai", "gpt-5.5", automatic(1_024)),
            ("openai", "gpt-5-mini", automatic(1_024)),
            ("openai", "gpt-4o", automatic(1_024)),
            ("openai", "gpt-4.1-mini", automatic(1_024)),
            ("openai", "o3", automatic(1_024)),
            ("openai", "gpt-4", PromptCaching::None),
            ("openai", "gpt-4-turbo", PromptCaching::None),
            ("openai", "gpt-3.5-turbo", PromptCaching::None),
            ("google", "gemini-4-argon", automatic(4_096)),
            ("google", "models/gemini-3.8-flash", automatic(4_096)),
            ("google", "gemini-2.5-pro", automatic(2_048)),
            ("google", "gemini-2.0-flash", PromptCaching::None),
            ("google", "gemma-4", PromptCaching::None),
            ("xai", "grok-4.7", automatic(1_024)),
            ("mistral", "mistral-large-4", automatic(1_024)),
            ("openrouter", "anthropic/claude-sonnet-5.5", marks(512)),
            ("openrouter", "openai/gpt-6.1-sol:floor", marks(1_024)),
            ("openrouter", "google/gemini-4-argon", automatic(4_096)),
            ("openrouter", "~x-ai/grok-latest", automatic(1_024)),
            ("openrouter", "deepseek/deepseek-v4", automatic(1_024)),
            ("openrouter", "qwen/qwen3-max", PromptCaching::None),
            ("openrouter", "auto", PromptCaching::None),
            ("ollama", "qwen3:8b", PromptCaching::None),
            ("work", "gpt-6.1-sol", PromptCaching::None),
        ];
        for (provider, model, caching) in cases {
            assert_eq!(of(&ModelRef::new(provider, model)), caching, "{model}");
        }
        assert_eq!(at_host("API.deepseek.com"), automatic(1_024));
        assert_eq!(at_host("deepseek.com.example"), PromptCaching::None);
    }
}
