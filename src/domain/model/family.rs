//! The makers of models. Evidence counts by the company that made a model, whichever provider
//! serves it: two models of one maker that agree are one opinion.
//!
//! The maker is read from the model's name, else from the organisation before a slash, else it is
//! the vendor that serves the model. The name comes first because servers and gateways offer models
//! of every maker, and because organisations on model hubs also publish other makers' models.

use std::sync::LazyLock;

use serde::Deserialize;

use super::vendors::{VENDORS, Vendor};
use super::{program, vendors};
use crate::domain::ids::ModelRef;
use crate::text::word_list::{WordList, load};

/// The maker of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family<'a> {
    /// The id of a vendor or of a maker in the table, or a reseller's name for another maker.
    Maker(&'a str),
    /// Nothing names the maker. All models of unknown makers are one family: names alone do not
    /// show that two of them are independent.
    Unknown,
}

/// A maker with its names in models' ids, in lower case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Maker {
    /// The vendor's id if it is one of [`VENDORS`].
    id: String,
    /// Names of its models: whole words that digits may follow.
    models: WordList,
    /// Its names as an organisation, beside a vendor's `reseller_name`.
    #[serde(default)]
    organisations: WordList,
}

/// The rows of the file `makers.toml`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Makers {
    makers: Vec<Maker>,
}

static MAKERS: LazyLock<Makers> = LazyLock::new(|| load(include_str!("makers.toml")));

pub fn family(model: &ModelRef) -> Family<'_> {
    let (organisations, name) = match model.model.rsplit_once('/') {
        Some((organisations, name)) => (Some(organisations), name),
        None => (None, model.model.as_str()),
    };
    let vendor = vendors::find(model.provider.as_str()).filter(|vendor| vendor.is_cloud());
    let by_name = || of_name(name).map(Family::Maker);
    let by_organisation = || {
        organisations?
            .split('/')
            .find_map(of_organisation)
            .map(Family::Maker)
    };
    // A vendor's program calls its models by short names, such as `sonnet`.
    let by_program = || Some(Family::Maker(&program::of_vendor(&model.provider)?.vendor));
    let by_provider = || {
        vendor.and_then(|vendor| match (vendor.is_reseller(), organisations) {
            (false, _) => Some(Family::Maker(vendor.id)),
            // A reseller's own models, such as its routers, are other makers' models.
            (true, Some(organisation)) if organisation != vendor.id => {
                Some(Family::Maker(organisation))
            }
            (true, _) => None,
        })
    };
    by_name()
        .or_else(by_organisation)
        .or_else(by_program)
        .or_else(by_provider)
        .unwrap_or(Family::Unknown)
}

pub fn count<'a>(models: impl IntoIterator<Item = &'a ModelRef>) -> usize {
    let mut families: Vec<Family<'_>> = models.into_iter().map(family).collect();
    families.sort_unstable();
    families.dedup();
    families.len()
}

/// Returns the maker that the first known word of a model's name stands for: `dolphin-llama3:8b` is
/// made from Meta's model.
fn of_name(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.find_map(|word| {
        let means = |model: &String| {
            word.strip_prefix(model.as_str())
                .is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
        };
        let maker = MAKERS
            .makers
            .iter()
            .find(|maker| maker.models.iter().any(means));
        maker.map(|maker| maker.id.as_str())
    })
}

fn of_organisation(name: &str) -> Option<&'static str> {
    let name = name.trim_start_matches('~').to_lowercase();
    let is_vendor = |vendor: &&Vendor| vendor.reseller_name == Some(name.as_str());
    if let Some(vendor) = VENDORS.iter().find(is_vendor) {
        return Some(vendor.id);
    }
    let maker = MAKERS
        .makers
        .iter()
        .find(|maker| maker.organisations.has(&name));
    maker.map(|maker| maker.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families(models: &[&str]) -> usize {
        let models: Vec<ModelRef> = models.iter().map(|model| model.parse().unwrap()).collect();
        count(&models)
    }

    #[test]
    fn every_provider_of_a_makers_models_is_one_family() {
        for (maker, models) in [
            (
                "anthropic",
                &[
                    "claude-code:sonnet",
                    "claude-code:default",
                    "anthropic:claude-sonnet-5-5",
                    "openrouter:anthropic/claude-sonnet-5.5",
                    "openrouter:~anthropic/claude-sonnet-latest",
                    "work:us.anthropic.claude-opus-4-v1:0",
                    "anthropic:next",
                ][..],
            ),
            (
                "openai",
                &[
                    "openai:gpt-6.1-sol",
                    "openai:o3-mini",
                    "openai:ft:gpt-4o:mine",
                    "ollama:gpt-oss:20b",
                    "openrouter:openai/gpt-oss-120b:free",
                    "openai:next",
                ],
            ),
            (
                "google",
                &[
                    "google:gemini-4-argon",
                    "ollama:gemma4:31b",
                    "vllm:google/gemma-3-27b-it",
                ],
            ),
            (
                "meta",
                &[
                    "ollama:llama3.3:70b",
                    "ollama:hf.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M",
                    "vllm:meta-llama/Llama-4-Scout",
                    "llamacpp:/models/llama-3.2-3b.gguf",
                    "ollama:dolphin-llama3:8b",
                ],
            ),
            (
                "alibaba",
                &[
                    "ollama:qwen3:8b",
                    "local:qwen2.5-coder-0.5b-instruct",
                    "lmstudio:qwen/qwq-32b",
                ],
            ),
            (
                "mistral",
                &[
                    "mistral:open-mistral-nemo",
                    "ollama:mixtral:8x7b",
                    "work:codestral-latest",
                ],
            ),
            (
                "microsoft",
                &["ollama:phi4", "openrouter:microsoft/mai-ds-r1"],
            ),
            ("01-ai", &["ollama:yi:34b"]),
            ("perplexity", &["openrouter:perplexity/sonar"]),
        ] {
            for model in models {
                let model: ModelRef = model.parse().unwrap();
                assert_eq!(family(&model), Family::Maker(maker), "{model}");
            }
        }
    }

    #[test]
    fn two_models_of_unknown_makers_are_one_family() {
        assert_eq!(families(&["ollama:mine:8b", "vllm:other"]), 1);
        assert_eq!(families(&["work:a", "openrouter:openrouter/auto"]), 1);
        assert_eq!(families(&["ollama:mine", "ollama:qwen3:8b"]), 2);
        assert_eq!(families(&[]), 0);
    }

    #[test]
    fn a_name_within_another_word_names_no_maker() {
        for model in [
            "ollama:tinyllama",
            "ollama:yield",
            "ollama:phind",
            "work:commander",
        ] {
            let model: ModelRef = model.parse().unwrap();
            assert_eq!(family(&model), Family::Unknown, "{model}");
        }
    }

    #[test]
    fn a_reseller_and_a_server_have_one_family_per_maker() {
        assert_eq!(families(&["openai:a", "openai:b"]), 1);
        assert_eq!(families(&["openrouter:x/a", "openrouter:x/b"]), 1);
        assert_eq!(families(&["openai:a", "google:a"]), 2);
        assert_eq!(families(&["openrouter:x/a", "openrouter:y/a"]), 2);
        assert_eq!(families(&["ollama:llama3", "ollama:qwen3"]), 2);
    }
}
