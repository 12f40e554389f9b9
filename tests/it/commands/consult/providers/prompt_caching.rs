//! A long context is sent in every call and paid once: what the vendors' caches hold of it, what
//! the run is billed, and what the record and the reports say of it.

use serde_json::{Value, json};

use crate::commands::consult::assert_contains;
use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{Answer, MeasuredPrompt, On, ProviderServer, Vendor};

/// The words of the context; the server counts a word as a token, and so do most tokenizers with
/// these.
const CONTEXT_TOKENS: usize = 50_000;

const QUESTION: &str = "Should a team of four rewrite its scheduler in Rust?";

/// Returns a text of common words, in lines of twelve.
fn context() -> String {
    const WORDS: [&str; 24] = [
        "the", "system", "reads", "each", "line", "and", "writes", "a", "result", "to", "one",
        "file", "when", "it", "is", "done", "with", "work", "from", "other", "parts", "of", "that",
        "day",
    ];
    let mut text = String::new();
    for at in 0..CONTEXT_TOKENS {
        // Steps of a prime keep long repetitions out.
        text.push_str(WORDS[(at * 7 + at / 24 + at / 601) % WORDS.len()]);
        text.push(if at % 12 == 11 { '\n' } else { ' ' });
    }
    text
}

/// Runs a whole consultation with the context; every answer has the usual length.
fn consult(server: &ProviderServer, flags: &[&str]) -> (Conclave, RunOutput) {
    server.on(On::any(), Answer::valid().usage(0, 2_000));
    let conclave = Conclave::at(server);
    std::fs::write(conclave.folder().join("notes.md"), context()).unwrap();
    let fixed = ["consult", QUESTION, "--context", "notes.md", "--yes"];
    let arguments: Vec<&str> = fixed.iter().chain(flags).copied().collect();
    let output = conclave.run(&arguments).ends_with(0);
    (conclave, output)
}

/// Returns the consultation's record, with the caches of the vendors or without.
fn record(caches: fn(&ProviderServer)) -> Value {
    let server = ProviderServer::start();
    caches(&server);
    consult(&server, &[]).0.record()
}

fn usd(value: &Value) -> f64 {
    value["usd"].as_f64().unwrap()
}

fn sum<'a>(
    prompts: impl IntoIterator<Item = &'a MeasuredPrompt>,
    tokens: impl Fn(&MeasuredPrompt) -> u64,
) -> u64 {
    prompts.into_iter().map(tokens).sum()
}

#[test]
fn context_is_written_once_and_then_read_from_every_vendors_cache() {
    let server = ProviderServer::start();
    server.cache_prompts();
    let (conclave, output) = consult(&server, &["--verbose"]);
    assert_cached(&conclave.record(), &server.measured_prompts());
    assert_savings_are_shown(&conclave, &output);
}

fn assert_cached(record: &Value, prompts: &[MeasuredPrompt]) {
    assert_eq!(prompts.len(), 9, "all four rounds ran");
    assert_eq!(record["cost"]["calls"], 9);
    let context = u64::try_from(CONTEXT_TOKENS).unwrap();
    let (first, later): (Vec<_>, Vec<_>) = prompts.iter().partition(|prompt| prompt.is_first);
    assert_eq!(first.len(), 3, "one at each vendor");
    let context_tokens = context * u64::try_from(later.len()).unwrap();
    let seen = sum(later.iter().copied(), |prompt| prompt.seen.min(context));
    let read = sum(later.iter().copied(), |prompt| prompt.read.min(context));
    assert!(
        seen * 100 >= context_tokens * 80,
        "{seen} of {context_tokens}"
    );
    assert!(
        read * 100 >= context_tokens * 80,
        "{read} of {context_tokens}"
    );
    // Gemini writes at no charge and does not report it; no vendor writes the context twice.
    let written = |vendor| {
        let writes = prompts.iter().filter(|prompt| prompt.vendor == vendor);
        writes.map(|prompt| prompt.written).collect::<Vec<_>>()
    };
    for vendor in [Vendor::Anthropic, Vendor::OpenAi] {
        let written = written(vendor);
        assert!(written[0] >= context, "{vendor:?} {written:?}");
        assert!(
            written[1..].iter().all(|tokens| *tokens == 0),
            "{vendor:?} {written:?}"
        );
    }
    assert_eq!(
        record["cost"]["tokens"]["cached"],
        sum(prompts, |prompt| prompt.read)
    );
    assert_eq!(
        record["cost"]["tokens"]["cache_write"],
        sum(prompts, |prompt| prompt.written)
    );
}

fn assert_savings_are_shown(conclave: &Conclave, output: &RunOutput) {
    output.assert_stderr_contains("read from the cache and 0 written to it");
    let printed = |arguments: &[&str]| conclave.run(arguments).ends_with(0).stdout;
    let report = std::fs::read_to_string(conclave.log("md")).unwrap();
    assert_contains(&report, "**Prompt caching:** saved $0.");
    let page = printed(&["history", "export", "last", "--format", "html"]);
    assert_contains(&page, "Prompt caching");
    let dashboard = printed(&["consult-stats"]);
    assert_contains(&dashboard, "Saved by Prompt Caching");
    let statistics: Value = serde_json::from_str(&printed(&["consult-stats", "--json"])).unwrap();
    let caching = &conclave.record()["cost"]["caching"];
    assert_eq!(
        statistics["cost"]["caching"],
        json!({
            "saved": caching["saved_usd"],
            "saved_micro_usd": caching["saved_micro_usd"],
            "incomplete": false,
        })
    );
}

#[test]
fn estimate_and_bill_agree_by_the_vendors_cache_prices() {
    let cached = record(ProviderServer::cache_prompts);
    let uncached = record(ProviderServer::count_prompts_without_caches);
    let estimate = &cached["estimated_cost"];
    let bill = usd(&cached["cost"]);
    assert!((usd(&estimate["low"])..=usd(&estimate["high"])).contains(&bill));
    // The answers here report 2,000 tokens and have fewer: prompts of later rounds carry less.
    let expected = usd(estimate);
    assert!(
        (bill - expected).abs() <= expected * 0.2,
        "{bill} is not about {expected}"
    );

    let caching = &cached["cost"]["caching"];
    let saved = caching["saved_usd"].as_f64().unwrap();
    assert!((usd(&uncached["cost"]) - bill - saved).abs() < 1e-9);
    assert_eq!(caching["incomplete"], json!(false));
    assert!(saved > 0.3);
    assert_eq!(
        uncached["cost"].get("caching"),
        None,
        "no vendor reported a use of its cache"
    );
}

#[test]
fn short_context_is_sent_with_the_schema_and_uncached() {
    let server = ProviderServer::start();
    server.cache_prompts();
    let conclave = Conclave::at(&server);
    std::fs::write(conclave.folder().join("notes.md"), "We have four people.").unwrap();
    conclave
        .run(&["consult", QUESTION, "--context", "notes.md", "--yes"])
        .ends_with(0);
    for request in server.requests() {
        let body = request.body.to_string();
        assert!(body.contains("We have four people."), "{body}");
        assert!(!body.contains("cache"), "{body}");
        let schemas = ["json_schema", "responseJsonSchema"];
        assert!(schemas.iter().any(|field| body.contains(field)), "{body}");
    }
    assert_eq!(conclave.record()["cost"].get("caching"), None);
}
