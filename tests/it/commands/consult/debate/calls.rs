//! The calls of a whole consultation: their number, their order and their prompts.

use crate::support::binary::Conclave;
use crate::support::model_requests::{ModelRequest, model_requests, request_counts};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

const QUESTION: &str = "Should a team of four rewrite its scheduler in Rust?";

/// The models of the default panel with three keys.
const PANEL: [&str; 3] = ["claude-sonnet-5-5", "gpt-6.1-sol", "gemini-4-argon"];

fn run_consultation() -> (ProviderServer, Vec<ModelRequest>) {
    let server = ProviderServer::start();
    Conclave::at(&server)
        .run(&["consult", QUESTION])
        .ends_with(0);
    let requests = model_requests(&server);
    (server, requests)
}

#[test]
fn three_keys_make_exactly_nine_calls() {
    let (server, requests) = run_consultation();
    assert_eq!(
        request_counts(&server),
        [
            ("independent", 3),
            ("synthesis", 1),
            ("revision", 3),
            ("cross_exam", 1),
            ("verdict", 1)
        ]
    );
    let order: Vec<&str> = requests.iter().map(|request| request.answer).collect();
    assert!(order[..3].iter().all(|answer| *answer == "independent"));
    assert!(order[4..7].iter().all(|answer| *answer == "revision"));
    assert_eq!(order[3], "synthesis");
    assert_eq!(order[7], "cross_exam");
    assert_eq!(order[8], "verdict");
    for answer in ["independent", "revision"] {
        let mut models: Vec<_> = requests
            .iter()
            .filter(|request| request.answer == answer)
            .map(|request| request.model.as_str())
            .collect();
        models.sort_unstable();
        assert_eq!(
            models,
            ["claude-sonnet-5-5", "gemini-4-argon", "gpt-6.1-sol"]
        );
    }
    for request in requests.iter().filter(|request| !request.is_from_expert()) {
        assert_eq!(request.vendor, Vendor::OpenAi);
        assert_eq!(request.model.as_str(), "gpt-6.1-sol");
    }
}

#[test]
fn experts_are_asked_concurrently() {
    let server = ProviderServer::start();
    // No answer comes before all three requests have arrived, so sequential calls would time out.
    server.on(On::any().nth(1), Answer::valid().after_arrivals(3));
    server.on(On::any().nth(2), Answer::valid().after_arrivals(3));
    server.on(On::any().nth(5), Answer::valid().after_arrivals(7));
    server.on(On::any().nth(6), Answer::valid().after_arrivals(7));
    Conclave::at(&server)
        .run(&["consult", QUESTION])
        .ends_with(0);

    let requests = server.requests();
    let ends = |range: std::ops::Range<usize>| {
        requests[range]
            .iter()
            .map(|request| request.finished.unwrap())
            .collect::<Vec<_>>()
    };
    let begins = |range: std::ops::Range<usize>| {
        requests[range]
            .iter()
            .map(|request| request.arrived)
            .collect::<Vec<_>>()
    };
    for round in [0..3, 4..7] {
        assert!(
            begins(round.clone()).into_iter().max() < ends(round).into_iter().min(),
            "the calls of a round overlap"
        );
    }
}

#[test]
fn every_prompt_contains_the_question_and_the_persona() {
    let (_server, requests) = run_consultation();
    for request in &requests {
        assert_eq!(
            request.prompt().matches(QUESTION).count(),
            1,
            "{}",
            request.answer
        );
    }
    for request in &requests {
        assert_eq!(
            request.system.starts_with(&request.persona()),
            request.is_from_expert(),
            "{}: {}",
            request.answer,
            request.system
        );
    }
}

#[test]
fn experts_see_their_own_answer_and_judges_see_all_answers() {
    let (_server, requests) = run_consultation();
    let says = |model: &str| format!("{model} says: start small");
    for model in PANEL {
        let revision = requests
            .iter()
            .find(|request| request.answer == "revision" && request.model == model)
            .unwrap();
        assert!(revision.user.contains(&says(model)), "{}", revision.user);
        for request in requests
            .iter()
            .filter(|request| ["synthesis", "verdict"].contains(&request.answer))
        {
            assert!(
                request.user.contains(&says(model)),
                "{}: {}",
                request.answer,
                request.user
            );
        }
    }
}

#[test]
fn one_key_makes_all_nine_calls_to_its_vendor() {
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
    for (key, vendor) in keys
        .into_iter()
        .zip([Vendor::Anthropic, Vendor::OpenAi, Vendor::Google])
    {
        let server = ProviderServer::start();
        let conclave = keys
            .into_iter()
            .filter(|other| *other != key)
            .fold(Conclave::at(&server), Conclave::without);
        let output = conclave.run(&["consult", "--yes", QUESTION]).ends_with(0);
        assert_eq!(
            request_counts(&server),
            [
                ("independent", 3),
                ("synthesis", 1),
                ("revision", 3),
                ("cross_exam", 1),
                ("verdict", 1)
            ],
            "{key}"
        );
        let requests = model_requests(&server);
        assert!(
            requests.iter().all(|request| request.vendor == vendor),
            "{key}"
        );
        let models: std::collections::BTreeSet<_> = requests[..3]
            .iter()
            .map(|request| request.model.clone())
            .collect();
        assert_eq!(models.len(), 3, "the panel has three models of one vendor");
        assert!(
            output
                .stderr
                .contains("agreement within one family is weak evidence"),
            "{}",
            output.stderr
        );
        let others = keys.into_iter().filter(|other| *other != key);
        assert!(
            others
                .into_iter()
                .any(|other| output.stderr.contains(other)),
            "no hint to further keys: {}",
            output.stderr
        );
    }
}
