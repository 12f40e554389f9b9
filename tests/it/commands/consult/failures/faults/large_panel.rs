//! A panel of 64 experts.

use std::time::Duration;

use super::{arguments, assert_costs_add_up};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::model_requests::request_counts;
use crate::support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};

const SEATS: usize = 64;

const VENDORS: [(Vendor, &str); 3] = [
    (Vendor::Anthropic, "anthropic:claude-sonnet-5-5"),
    (Vendor::OpenAi, "openai:gpt-6.1-sol"),
    (Vendor::Google, "google:gemini-4-argon"),
];

/// Runs a panel of 64 experts at three vendors.
fn consult(server: &ProviderServer) -> (Conclave, RunOutput) {
    let panel: Vec<String> = VENDORS
        .iter()
        .cycle()
        .take(SEATS)
        .map(|(_, model)| format!("security={model}"))
        .collect();
    let conclave = Conclave::at(server);
    let output = conclave
        .run(&arguments(&[&[
            "--panel",
            &panel.join(","),
            "--judge",
            "openai:gpt-6.1-sol",
        ]]))
        .ends_with(0);
    (conclave, output)
}

fn delay_answers(server: &ProviderServer) {
    for (vendor, _) in VENDORS {
        server.on(
            On::vendor(vendor),
            Answer::valid().delay(Duration::from_millis(20)),
        );
    }
}

/// Returns the highest number of simultaneous requests.
fn most_at_once(requests: &[RecordedRequest]) -> usize {
    let under_way = |at: &RecordedRequest| {
        requests
            .iter()
            .filter(|other| {
                other.arrived <= at.arrived
                    && other.finished.is_none_or(|finished| finished > at.arrived)
            })
            .count()
    };
    requests.iter().map(under_way).max().unwrap()
}

#[test]
fn sixty_four_experts_answer_with_four_calls_per_vendor_at_once() {
    let server = ProviderServer::start();
    delay_answers(&server);
    let (conclave, output) = consult(&server);
    assert_eq!(
        request_counts(&server),
        [
            ("independent", SEATS),
            ("synthesis", 1),
            ("revision", SEATS),
            ("cross_exam", 1),
            ("verdict", 1)
        ]
    );
    for (vendor, _) in VENDORS {
        assert_eq!(
            most_at_once(&server.requests_to(vendor)),
            4,
            "{vendor:?}: the limit is used and not exceeded"
        );
    }
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    assert_eq!(record["perspectives"].as_array().unwrap().len(), SEATS);
    assert!(
        output
            .stderr
            .contains("🔍 Starting consultation with 64 experts..."),
        "{}",
        output.stderr
    );
    assert_eq!(
        output.stderr.matches("✔ Security Expert").count(),
        2 * SEATS
    );
    assert_costs_add_up(&record, "a crowd");
}

#[test]
fn fallback_takes_over_for_one_of_sixty_four_experts() {
    let server = ProviderServer::start();
    delay_answers(&server);
    server.on(
        On::vendor(Vendor::Anthropic).nth(7),
        // It comes after all other answers of the round, which have accepted the key.
        Answer::error(401, "authentication_error", "no").delay(Duration::from_millis(500)),
    );
    let (conclave, output) = consult(&server);
    let record = conclave.record();
    let substitutions = record["substitutions"].as_array().unwrap();
    assert_eq!(substitutions.len(), 1, "{}", output.stderr);
    assert_eq!(
        substitutions[0]["original"], "anthropic:claude-sonnet-5-5",
        "{}",
        output.stderr
    );
    assert_eq!(record["perspectives"].as_array().unwrap().len(), SEATS);
    assert_eq!(server.requests().len(), 2 * SEATS + 3 + 1);
    for (vendor, _) in VENDORS {
        assert!(most_at_once(&server.requests_to(vendor)) <= 4, "{vendor:?}");
    }
    assert_costs_add_up(&record, "a crowd with a gap");
}
