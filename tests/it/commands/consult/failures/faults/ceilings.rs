//! Cost ceilings: costs are exact to the micro-dollar or reported as lower bounds, and no ceiling
//! is exceeded by the server's count.

use serde_json::json;

use super::hedges::{HEDGE_AFTER, HEDGE_DELAY};
use super::stage::Stage;
use super::{arguments, assert_costs_add_up, check_concurrently};
use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::{Answer, On, ProviderServer, RecordedRequest, Vendor};

/// Input and output tokens of every request, at $2 and $10 per million.
const USAGE: (u64, u64) = (3_000, 16_000);

/// Experts whose model has the same prices as the judges.
const PANEL: [&str; 2] = ["--model", "anthropic:claude-sonnet-5-5"];

fn expensive_server() -> ProviderServer {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().usage(USAGE.0, USAGE.1));
    server
}

/// Returns the cost of the requests in micro-dollars, including those that were cut off.
fn total_bill(requests: &[RecordedRequest]) -> u64 {
    requests.len() as u64 * (2 * USAGE.0 + 10 * USAGE.1)
}

/// Returns the micro-dollars of an amount with at most six decimals.
fn micro_dollars(dollars: &str) -> u64 {
    let (whole, decimals) = dollars.split_once('.').unwrap_or((dollars, ""));
    format!("{whole}{decimals:0<6}").parse().unwrap()
}

fn with_ceiling(conclave: &Conclave, dollars: &str) -> RunOutput {
    conclave.run(&arguments(&[&PANEL, &["--max-cost", dollars]]))
}

#[test]
fn ceiling_holds_and_a_higher_one_resumes_the_run() {
    let dollars = [
        "0.01", "0.18", "0.2", "0.35", "0.5", "0.75", "1", "1.2", "1.4",
    ];
    check_concurrently(dollars.into(), |dollars| {
        let server = expensive_server();
        let conclave = Conclave::with_all_keys(&server).config(r#"{"hedge_after": "off"}"#);
        let output = with_ceiling(&conclave, dollars).ends_with(4);
        let ceiling = micro_dollars(dollars);
        assert!(
            total_bill(&server.requests()) <= ceiling,
            "{dollars}: {} was billed: {}",
            total_bill(&server.requests()),
            output.stderr
        );
        assert_eq!(output.stdout, "", "{dollars}");
        let record = conclave.record();
        assert_eq!(
            record["cost"]["micro_usd"],
            total_bill(&server.requests()),
            "{dollars}"
        );
        assert_eq!(record["abort_reason"], "cost_ceiling", "{dollars}");
        assert_eq!(record["cost"]["lower_bound"], false, "{dollars}");
        assert_costs_add_up(&record, dollars);

        let before = server.requests().len();
        if before == 0 {
            return;
        }
        assert!(
            output.stderr.contains(" --max-cost USD`\n"),
            "{dollars}: {}",
            output.stderr
        );
        conclave
            .run(&["resume", "--yes", "--max-cost", "5"])
            .ends_with(0);
        assert_eq!(
            server.requests().len(),
            9,
            "{dollars}: no call is repeated ({before} before)"
        );
        let record = conclave.record();
        assert_eq!(record["status"], "complete");
        assert_eq!(
            record["cost"]["micro_usd"],
            json!(total_bill(&server.requests()))
        );
        assert_costs_add_up(&record, dollars);
    });
}

#[test]
fn ceiling_holds_through_retries_repairs_and_fallbacks() {
    let used = |answer: Answer| answer.usage(USAGE.0, USAGE.1);
    let cases = [
        ("a repair", used(Answer::text("Small steps, I would say."))),
        (
            "more room",
            used(Answer::length("{\"position\": \"Small st")),
        ),
        (
            "a stream that is cut",
            used(Answer::valid().pieces(20)).cut(),
        ),
        (
            "a second try",
            Answer::error(529, "overloaded_error", "busy").header("retry-after-ms", "1"),
        ),
    ];
    let runs = cases
        .into_iter()
        .flat_map(|case| ["0.4", "0.8", "1.6"].map(|dollars| (case.clone(), dollars)))
        .collect();
    check_concurrently(runs, |((what, answer), dollars)| {
        let server = expensive_server();
        (1..=2).for_each(|nth| server.on(On::vendor(Vendor::Anthropic).nth(nth), answer.clone()));
        let conclave = Conclave::with_all_keys(&server).config(r#"{"hedge_after": "off"}"#);
        let panel = "security=anthropic:claude-sonnet-5-5,architect=anthropic:claude-sonnet-5-5,pragmatic=anthropic:claude-sonnet-5-5";
        let judges = "anthropic:claude-sonnet-5-5,openai:gpt-6.1-sol";
        let output = conclave.run(&arguments(&[&[
            "--panel",
            panel,
            "--judge",
            judges,
            "--max-cost",
            dollars,
        ]]));
        assert!(
            [Some(0), Some(4)].contains(&output.code),
            "{what}, {dollars}: {output:?}"
        );
        // An error costs nothing; both vendors charge the same price for all other requests.
        let free = if what == "a second try" { 2 } else { 0 };
        let bill = total_bill(&server.requests()[free..]);
        assert!(
            bill <= micro_dollars(dollars),
            "{what}, {dollars}: {bill} was billed: {}",
            output.stderr
        );
        let record = conclave.record();
        assert_costs_add_up(&record, what);
        assert!(
            record["cost"]["micro_usd"].as_u64().unwrap() <= bill,
            "{what}"
        );
    });
}

#[test]
fn ceiling_counts_hedges_and_cancelled_calls() {
    check_concurrently(vec!["0.6", "0.8", "1.2"], |dollars| {
        let server = expensive_server();
        let slow = Answer::valid()
            .usage(USAGE.0, USAGE.1)
            .delay(HEDGE_DELAY * 2);
        server.on(On::vendor(Vendor::Anthropic).nth(1), slow);
        let panel = "security=anthropic:claude-sonnet-5-5,architect=anthropic:claude-sonnet-5-5,pragmatic=anthropic:claude-sonnet-5-5";
        let judges = "anthropic:claude-sonnet-5-5,openai:gpt-6.1-sol";
        let conclave = Conclave::with_all_keys(&server);
        let flags = [
            "--panel",
            panel,
            "--judge",
            judges,
            "--hedge-after",
            HEDGE_AFTER,
            "--max-cost",
            dollars,
        ];
        let output = conclave.run(&arguments(&[&flags])).ends_with(4);
        let bill = total_bill(&server.requests());
        assert!(
            bill <= micro_dollars(dollars),
            "{dollars}: {bill} was billed: {}",
            output.stderr
        );
        let record = conclave.record();
        // Below $0.70 the ceiling does not allow a fourth call besides three answers.
        let hedges = usize::from(dollars != "0.6");
        assert_eq!(
            record["hedges"].as_array().unwrap().len(),
            hedges,
            "{dollars}"
        );
        assert_eq!(
            record["cost"]["lower_bound"],
            json!(hedges == 1),
            "{dollars}"
        );
        assert_costs_add_up(&record, dollars);
    });
}

#[test]
fn missing_usage_makes_the_total_a_lower_bound() {
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi).nth(1),
        Answer::valid().without_usage(),
    );
    let conclave = Conclave::with_all_keys(&server);
    conclave
        .run(&arguments(&[&Stage::Expert(1).panel()]))
        .ends_with(0);
    let record = conclave.record();
    assert_eq!(record["cost"]["lower_bound"], true);
    assert_eq!(
        record["cost"]["by_provider"]["anthropic"]["lower_bound"], false,
        "the usage of the others is known"
    );
    assert_costs_add_up(&record, "no usage");
}
