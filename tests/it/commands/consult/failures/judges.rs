//! Failing judges: the next one takes over; without any judge the consultation ends and saves its
//! answers.

use super::{attempts, each, unauthorized};
use crate::commands::consult::{ask, assert_contains};
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

#[test]
fn next_judge_takes_over_for_the_later_rounds() {
    // A judge is replaced even where experts are skipped.
    for (answer, message) in [
        (unauthorized(), "this key was withdrawn (HTTP 401)"),
        (
            Answer::refusal("I would rather not"),
            "declined to answer: I would rather not",
        ),
    ] {
        let server = ProviderServer::start();
        server.on(On::model("gemini-3.8-flash"), answer);
        let judges = ["--judge", "gemini-3.8-flash,claude-opus-5-5"];
        let (conclave, output) = ask(&server, &[&judges[..], &["--on-failure", "skip"]].concat());
        let output = output.ends_with(0);
        output.assert_stderr_contains(&format!("is unavailable ({message}"));
        output.assert_stderr_contains("anthropic:claude-opus-5-5 takes over as Judge.\n");
        let record = conclave.record();
        let attempts = attempts(&record, "round_2", "judge");
        assert_eq!(each(attempts, "/purpose"), ["answer", "fallback"]);
        let requests = model_requests(&server).into_iter();
        let judges = requests.filter(|request| !request.is_from_expert());
        let models: Vec<_> = judges.map(|request| request.model).collect();
        let opus = "claude-opus-5-5";
        assert_eq!(models, ["gemini-3.8-flash", opus, opus, opus]);
    }
}

#[test]
fn run_without_a_judge_fails_and_resumes_in_its_round() {
    for (round, name, nth_of_openai, nth) in [(2, "Synthesis", 2, 2), (4, "Verdict", 5, 3)] {
        let server = ProviderServer::start();
        server.on(
            On::vendor(Vendor::OpenAi).nth(nth_of_openai),
            unauthorized(),
        );
        for vendor in [Vendor::Anthropic, Vendor::Google] {
            server.on(On::vendor(vendor).nth(nth), unauthorized());
        }
        let (conclave, output) = ask(&server, &[]);
        let output = output.ends_with(1);
        assert_eq!(output.stdout, "");
        output.assert_stderr_contains(&format!(
            "error: The judge failed in Round {round} ({name}): this key was withdrawn (HTTP 401)"
        ));
        let saved = conclave.log("json");
        let saved = format!("💾 Partial results saved to: {}\n", saved.display());
        output.assert_stderr_contains(&saved);
        let record = conclave.record();
        assert_eq!(record["abort_reason"], "judge_failed");
        assert_eq!(record["aborted_during"], name);
        assert_eq!(record["recommendation"].is_null(), round == 2);
        let consensus = record["partial_consensus"].as_str();
        assert_eq!(consensus.is_some(), round > 2);
        assert_contains(consensus.unwrap_or("Start small"), "Start small");
        let answers = &record["responses"]["round_1"]["artifacts"];
        assert_eq!(answers.as_array().unwrap().len(), 3, "they are saved");

        let before = server.requests().len();
        conclave.run(&["resume"]).ends_with(0);
        let left = if round == 2 { 6 } else { 1 };
        assert_eq!(server.requests().len() - before, left, "only missing ones");
    }
}
