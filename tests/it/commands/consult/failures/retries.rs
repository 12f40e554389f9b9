//! Retries for every failure class: their number and their times, measured at the server.

use std::collections::BTreeMap;
use std::time::Duration;

use conclave::domain::ids::ProviderId;
use conclave::domain::vendors;
use serde_json::{Value, json};

use super::failure_table::{Row, body, table};
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor, listed_model};

fn model(vendor: Vendor) -> String {
    format!("{}:{}", vendor.id(), listed_model(vendor))
}

/// Returns a panel with one seat for each vendor.
fn panel(vendors: &[Vendor]) -> String {
    vendors
        .iter()
        .map(|vendor| format!("security={}", model(*vendor)))
        .collect::<Vec<_>>()
        .join(",")
}

/// Returns the attempts of Round 1 by vendor.
fn attempts(record: &Value) -> BTreeMap<String, Vec<Value>> {
    let agents = record["responses"]["round_1"]["agents"].as_array().unwrap();
    let attempts = agents
        .iter()
        .map(|agent| agent["attempts"].as_array().unwrap().clone());
    attempts
        .map(|all| {
            (
                all[0]["model"]
                    .as_str()
                    .unwrap()
                    .split(':')
                    .next()
                    .unwrap()
                    .to_owned(),
                all,
            )
        })
        .collect()
}

/// Runs a consultation in which every seat fails at its own vendor in its own way.
fn assert_all_fail(rows: &[Row]) {
    let server = ProviderServer::start();
    for row in rows {
        server.on(On::vendor(row.vendor), row.answer.clone());
    }
    let conclave = Conclave::with_all_keys(&server);
    let vendors: Vec<Vendor> = rows.iter().map(|row| row.vendor).collect();
    let arguments = [
        "consult",
        "--yes",
        "--on-failure",
        "skip",
        "--panel",
        &panel(&vendors),
        "Shall we?",
    ];
    let output = conclave.run(&arguments).ends_with(1);
    let record = conclave.record();
    let attempts = attempts(&record);
    for (row, name) in rows.iter().zip(["", " 2", " 3", " 4", " 5", " 6"]) {
        let what = format!("{} {:?}: {}", row.vendor.id(), row.class, row.message);
        let failed = format!("⚠️ Agent Security Expert{name} failed: ");
        // Without any answer, the error names each vendor once.
        let provider = ProviderId::new(row.vendor.id());
        let refused = format!("  {}: ", vendors::name(&provider));
        let is_named = |line: &&str| line.starts_with(&failed) || line.starts_with(&refused);
        let line = output.stderr.lines().find(is_named);
        assert!(
            line.is_some_and(|line| line.contains(row.message)),
            "{what}: {}",
            output.stderr
        );
        assert_eq!(server.requests_to(row.vendor).len(), row.requests, "{what}");
        let attempts = &attempts[row.vendor.id()];
        assert_eq!(
            attempts.len(),
            row.requests,
            "{what}: every request is in the record"
        );
        for attempt in attempts {
            if let Some(class) = row.class {
                assert_eq!(attempt["error"]["class"], class, "{what}: {attempt}");
            } else {
                assert_eq!(attempt["error"], Value::Null, "{what}: {attempt}");
                assert!(!attempt["stop"].is_null(), "{what}: {attempt}");
            }
        }
    }
}

#[test]
fn a_broken_event_is_asked_again() {
    let server = ProviderServer::start();
    let broken = Answer::stream("data: {\"choi\n\n");
    server.on(On::vendor(Vendor::OpenAi).nth(1), broken);
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--yes", "Shall we?"])
        .ends_with(0);
    assert!(!output.stderr.contains("failed"), "{}", output.stderr);
    assert_eq!(conclave.record()["status"], "complete");
}

#[test]
fn every_failure_class_is_reported_recorded_and_retried_correctly() {
    let mut runs: Vec<Vec<Row>> = Vec::new();
    for row in table() {
        match runs
            .iter_mut()
            .find(|run| run.iter().all(|other| other.vendor != row.vendor))
        {
            Some(run) => run.push(row),
            None => runs.push(vec![row]),
        }
    }
    std::thread::scope(|scope| {
        for rows in &runs {
            scope.spawn(|| assert_all_fail(rows));
        }
    });
}

#[test]
fn repairable_failures_succeed_on_the_second_attempt() {
    let server = ProviderServer::start();
    let unsupported = json!({
        "error": {
            "message": "response_format is not supported by this model",
            "type": "invalid_request_error",
            "param": "response_format",
            "code": "unsupported_parameter",
        },
    });
    server.on(On::vendor(Vendor::Mistral).nth(1), body(400, &unsupported));
    server.on(
        On::vendor(Vendor::Xai).nth(1),
        Answer::length(r#"{"position": "Start sma"#),
    );
    server.on(
        On::vendor(Vendor::Google).nth(1),
        Answer::error(503, "UNAVAILABLE", "busy").header("retry-after-ms", "1"),
    );
    let conclave = Conclave::with_all_keys(&server);
    let vendors = [Vendor::Mistral, Vendor::Xai, Vendor::Google];
    let (panel, judge) = (panel(&vendors), model(Vendor::OpenAi));
    conclave
        .run(&[
            "consult",
            "--yes",
            "--panel",
            &panel,
            "--judge",
            &judge,
            "Shall we?",
        ])
        .ends_with(0);
    let record = conclave.record();
    assert_eq!(record["status"], "complete");
    let attempts = attempts(&record);
    for (vendor, purpose, class) in [
        (Vendor::Mistral, "reformed", json!("unsupported")),
        (Vendor::Xai, "more_room", Value::Null),
        (Vendor::Google, "retry", json!("overload")),
    ] {
        let attempts = &attempts[vendor.id()];
        let purposes: Vec<&Value> = attempts.iter().map(|attempt| &attempt["purpose"]).collect();
        assert_eq!(purposes, ["answer", purpose], "{vendor:?}");
        assert_eq!(attempts[0]["error"]["class"], class, "{vendor:?}");
        assert_eq!(attempts[1]["error"], Value::Null, "{vendor:?}");
        // Twice in Round 1 and once in Round 3.
        assert_eq!(server.requests_to(vendor).len(), 3, "{vendor:?}");
    }
    let bodies = |vendor| {
        server
            .requests_to(vendor)
            .into_iter()
            .map(|request| request.body)
            .collect::<Vec<_>>()
    };
    let [mistral, xai, google] = vendors.map(bodies);
    assert_ne!(
        mistral[0]["response_format"], mistral[1]["response_format"],
        "the rejected field is omitted"
    );
    let limit = |body: &Value| {
        ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|field| body[field].as_u64())
            .unwrap()
    };
    assert_eq!(limit(&xai[1]), limit(&xai[0]) * 2);
    assert_eq!(google[0], google[1], "the retry sends the same request");
}

/// Returns the times between the first three requests to a vendor that rejects two with this
/// answer.
fn retry_gaps(refusal: Answer) -> Vec<Duration> {
    let server = ProviderServer::start();
    let vendor = Vendor::Google;
    server.on(On::vendor(vendor).nth(1), refusal.clone());
    server.on(On::vendor(vendor).nth(2), refusal);
    let panel = panel(&[vendor]);
    Conclave::with_all_keys(&server)
        .run(&[
            "consult",
            "-n",
            "--yes",
            "--panel",
            &panel,
            "--judge",
            &model(Vendor::OpenAi),
            "Shall we?",
        ])
        .ends_with(0);
    let requests = server.requests_to(vendor);
    requests[..3]
        .windows(2)
        .map(|pair| pair[1].arrived - pair[0].arrived)
        .collect()
}

#[test]
fn retries_never_arrive_before_the_vendors_hint() {
    let busy = || Answer::error(503, "UNAVAILABLE", "busy");
    let info = |delay: &str| {
        let details =
            json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
        body(
            429,
            &json!({
                "error": {
                    "code": 429,
                    "message": "slowly",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": details,
                },
            }),
        )
    };
    let dated = |date: &str, until: &str| busy().header("date", date).header("retry-after", until);
    let (now, next) = (
        "Sat, 21 Nov 2026 09:00:00 GMT",
        "Sat, 21 Nov 2026 09:00:01 GMT",
    );
    let cases = [
        ("milliseconds", busy().header("retry-after-ms", "120"), 120),
        (
            "milliseconds outweigh seconds",
            busy()
                .header("retry-after-ms", "150")
                .header("retry-after", "20"),
            150,
        ),
        (
            "seconds with a fraction",
            busy().header("retry-after", "0.2"),
            200,
        ),
        ("a date by the server's clock", dated(now, next), 1_000),
        ("a date that has passed", dated(next, now), 0),
        ("a detail of the body", info("0.123456789s"), 124),
        (
            "a header outweighs the body",
            info("20s").header("retry-after", "0.05"),
            50,
        ),
    ];
    std::thread::scope(|scope| {
        for (what, refusal, ms) in cases {
            scope.spawn(move || {
                let hint = Duration::from_millis(ms);
                for gap in retry_gaps(refusal) {
                    assert!(gap >= hint, "{what}: {gap:?}");
                    assert!(
                        gap < hint + Duration::from_secs(5),
                        "{what}: {gap:?} is too long"
                    );
                }
            });
        }
    });
}
