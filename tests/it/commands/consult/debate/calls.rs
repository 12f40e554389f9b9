//! The calls of a whole consultation: their number, their order and their prompts.

use std::collections::BTreeSet;

use crate::support::binary::Conclave;
use crate::support::model_requests::{model_requests, request_counts};
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

const QUESTION: &str = "Should a team of four rewrite its scheduler in Rust?";

#[test]
fn experts_are_asked_concurrently() {
    let server = ProviderServer::start();
    // No answer comes before all three requests have arrived, so sequential calls would time out.
    for (arrivals, requests) in [(3, 1..=2), (7, 5..=6)] {
        for nth in requests {
            let held = Answer::valid().after_arrivals(arrivals);
            server.on(On::any().nth(nth), held);
        }
    }
    Conclave::at(&server)
        .run(&["consult", QUESTION])
        .ends_with(0);
    let requests = server.requests();
    for round in [&requests[0..3], &requests[4..7]] {
        let last_begin = round.iter().map(|request| request.arrived).max();
        let first_end = round.iter().map(|request| request.finished.unwrap()).min();
        assert!(last_begin < first_end, "the calls of a round overlap");
    }
}

#[test]
fn prompts_have_the_question_the_persona_and_the_earlier_answers() {
    let server = ProviderServer::start();
    Conclave::at(&server)
        .run(&["consult", QUESTION])
        .ends_with(0);
    let requests = model_requests(&server);
    let models = ["claude-sonnet-5-5", "gpt-6.1-sol", "gemini-4-argon"];
    for request in &requests {
        let (answer, prompt) = (request.answer, request.prompt());
        assert_eq!(prompt.matches(QUESTION).count(), 1, "{answer}: {prompt}");
        let has_persona = request.system.starts_with(&request.persona());
        assert_eq!(has_persona, request.is_from_expert(), "{answer}: {prompt}");
        for model in models {
            let is_own = answer == "revision" && request.model == model;
            if is_own || ["synthesis", "verdict"].contains(&answer) {
                let position = format!("{model} says: start small");
                assert!(request.user.contains(&position), "{answer}: {prompt}");
            }
        }
    }
}

#[test]
fn one_key_makes_all_nine_calls_to_its_vendor() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server)
        .without("OPENAI_API_KEY")
        .without("GEMINI_API_KEY");
    let output = conclave.run(&["consult", "--yes", QUESTION]).ends_with(0);
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
    assert_eq!(server.requests_to(Vendor::Anthropic).len(), 9);
    let requests = server.requests();
    let models: BTreeSet<_> = requests[..3].iter().map(|request| &request.model).collect();
    assert_eq!(models.len(), 3, "the panel has three models of one vendor");
    output.assert_stderr_contains("agreement within one family is weak evidence");
    output.assert_stderr_contains("OPENAI_API_KEY");
}
