//! A home with everything that the pages show, from runs of the program.

use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

const QUESTION: &str = "Should a team of twelve move its services into one repository?";

/// A home, and the vendors that it asks.
#[derive(Debug)]
pub(crate) struct FilledHome {
    pub(crate) conclave: Conclave,
    pub(crate) providers: ProviderServer,
    /// Of a consultation that is complete, with dissent and a grade.
    pub(crate) first: String,
    /// A rejudgement of it, a follow-up, another run, a degraded one, and one that was aborted.
    pub(crate) others: Vec<String>,
}

impl FilledHome {
    pub(crate) fn fill() -> Self {
        let providers = ProviderServer::start();
        let conclave = Conclave::at(&providers);
        script(&providers);
        let first = consultations(&conclave);
        let mut others = ids(&conclave);
        others.retain(|id| *id != first);
        benchmarks(&conclave);
        refinement(&conclave);
        Self {
            conclave,
            providers,
            first,
            others,
        }
    }
}

/// Newest first.
fn ids(conclave: &Conclave) -> Vec<String> {
    let listed = run(conclave, &["history", "--all", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let rows = listed["consultations"].as_array().unwrap().iter();
    let id = |row: &Value| row["consultation_id"].as_str().unwrap().to_owned();
    rows.map(id).collect()
}

fn run(conclave: &Conclave, arguments: &[&str]) -> String {
    conclave.run(arguments).ends_with(0).stdout
}

fn script(providers: &ProviderServer) {
    let debate: Value = serde_json::from_str(include_str!("debate.json")).unwrap();
    let about = |field: &'static str| On::asking_for(field).and_containing("one repository");
    let said = |answer: &Value| Answer::text(answer.to_string());
    for (vendor, name) in [
        (Vendor::Anthropic, "anthropic"),
        (Vendor::OpenAi, "openai"),
        (Vendor::Google, "google"),
    ] {
        let position = said(&debate["positions"][name]);
        providers.on(about("rationale").and_vendor(vendor), position);
    }
    providers.on(about("consensus_points"), said(&debate["synthesis"]));
    providers.on(about("recommendation"), said(&debate["verdict"]));
    let opus = about("recommendation").and_model("claude-opus-5-5");
    providers.on(opus, said(&debate["second_verdict"]));
    // One seat fails, then all of them do.
    let partly = On::vendor(Vendor::Google).and_containing("Which queue");
    providers.on(partly, Answer::error(400, "invalid", "no such thing"));
    let not_at_all = On::containing("Which language");
    providers.on(not_at_all, Answer::error(400, "invalid", "no such thing"));
    for number in 1..=6 {
        let letter = |is_right: bool| if is_right { "B" } else { "A" };
        let of = |field, is_right| {
            let on = On::asking_for(field).and_containing(&format!("in q0{number}?"));
            let answer = json!({
                "position": format!("It follows.\nANSWER: {}", letter(is_right)),
                "recommendation": format!("It follows.\nANSWER: {}", letter(is_right)),
                "summary": "It follows.", "evidence": [], "dissent": [],
                "key_points": [], "rationale": "It follows.", "confidence": 0.5 + 0.07 * f64::from(number),
            });
            providers.on(on, Answer::text(answer.to_string()));
        };
        of("rationale", number % 3 > 0);
        of("recommendation", number % 4 > 0);
    }
    for (number, outcome, text) in [
        (1, "answered", "In the vault, and nowhere else."),
        (2, "open", "Figures of the load are missing."),
    ] {
        let answer = json!({
            "position": "It is so.", "key_points": [], "rationale": "It is so.", "confidence": 0.85,
            "answers": {"Q1": {"outcome": outcome, "text": text, "dissent": ""}},
        });
        let asked = On::containing(&format!("Q1: Where are the keys of k0{number}"));
        providers.on(asked, Answer::text(answer.to_string()));
    }
}

/// Returns the id of the first.
fn consultations(conclave: &Conclave) -> String {
    let quick = ["--yes", "--no-debate-analysis"];
    let ask = |words: &[&str]| {
        let words = [&["consult"], words, &quick].concat();
        conclave.run(&words)
    };
    ask(&[QUESTION]).ends_with(0);
    let first = ids(conclave).remove(0);
    run(conclave, &["history", "outcome", &first, "right"]);
    let again = [
        "history",
        "rejudge",
        &first,
        "--judge",
        "claude-opus-5-5",
        "--yes",
    ];
    run(conclave, &again);
    ask(&["--follow-up", "And at two hundred people?", &first]).ends_with(0);
    ask(&[QUESTION, "--quick"]).ends_with(0);
    ask(&["Which queue do we take?", "--mode", "explore"]).ends_with(0);
    assert_ne!(ask(&["Which language?"]).code, Some(0));
    first
}

fn benchmarks(conclave: &Conclave) {
    let case = |number: u32| {
        let tags = [if number.is_multiple_of(2) {
            "even"
        } else {
            "odd"
        }];
        let question = format!("Which is right in q0{number}?");
        json!({"id": format!("q0{number}"), "question": question, "options": ["this", "that"], "expected": "B", "tags": tags})
            .to_string()
    };
    let cases: Vec<String> = (1..=6).map(case).collect();
    std::fs::write(conclave.folder().join("suite.jsonl"), cases.join("\n")).unwrap();
    let model = "openai:gpt-6.1-sol";
    run(
        conclave,
        &["benchmark", "suite.jsonl", "--compare", "--yes"],
    );
    run(
        conclave,
        &["benchmark", "suite.jsonl", "--single", model, "--yes"],
    );
}

fn refinement(conclave: &Conclave) {
    let text = "# Spec\n\n## High Confidence\n\n- It is a service.\n\n## Open Questions\n\n\
        - Where are the keys of k01 kept?\n- Where are the keys of k02 kept?\n";
    std::fs::write(conclave.folder().join("SPEC.md"), text).unwrap();
    let panel = [
        "--panel",
        "pragmatic=openai:gpt-6.1-sol",
        "--judge",
        "openai:gpt-6.1-sol",
    ];
    let rest = [
        "--rounds",
        "1",
        "--batch",
        "1",
        "--jobs",
        "1",
        "--in-place",
        "--yes",
    ];
    let words = [&["refine", "SPEC.md"][..], &panel, &rest].concat();
    run(conclave, &words);
}
