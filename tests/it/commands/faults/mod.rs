//! Everything that can go wrong at a vendor, at every stage of a consultation, through the whole
//! binary: what the user reads, what the record says, how the command ends, and what the server was
//! asked.
//!
//! The tests are tables. Cases run side by side, few enough at once that a busy machine does not
//! make a vendor look slow.

mod answers;
mod breaker;
mod corners;
mod crowd;
mod hedges;
mod matrix;
mod money;
mod unattended;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::provider_server::{
    Answer, Damage, On, ProviderServer, RecordedRequest, Vendor,
};

/// What every fault's vendor says.
const WORDS: &str = "such are our words";

/// The model that fails.
const FAILING: &str = "anthropic:claude-sonnet-5-5";

/// The model that stands in for it, as expert and as judge.
const STAND_IN: &str = "mistral:mistral-large-4";

/// Something that a vendor does in place of answering.
#[derive(Clone)]
struct Fault {
    what: &'static str,
    answer: Answer,
    class: &'static str,
    /// What the user reads of it.
    words: &'static str,
    /// How often the same is asked for in all, as long as it is answered so.
    requests: usize,
    /// Whether anybody knows what it cost.
    bill: Bill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bill {
    Known,
    Unknown,
}

fn fault(
    what: &'static str,
    answer: Answer,
    class: &'static str,
    words: &'static str,
    requests: usize,
    bill: Bill,
) -> Fault {
    Fault {
        what,
        answer,
        class,
        words,
        requests,
        bill,
    }
}

/// Longer than any silence that a run bears.
const EVER: Duration = Duration::from_secs(60);

/// What is told of a vendor that says nothing.
const SILENT: &str = "sent nothing for 1 s";

/// The faults that show at once: silence and what is waited for between two tries take seconds.
fn quick() -> Vec<Fault> {
    let slow = |fault: &Fault| {
        ["timeout", "transport"].contains(&fault.class) || fault.what == "an error inside a stream"
    };
    faults().into_iter().filter(|fault| !slow(fault)).collect()
}

fn faults() -> Vec<Fault> {
    use Bill::{Known, Unknown};
    let error = |status, code: &str| Answer::error(status, code, WORDS);
    let soon = |status, code: &str| error(status, code).header("retry-after-ms", "1");
    let in_stream = || {
        Answer::error_in_stream(
            "",
            serde_json::json!({"type": "overloaded_error", "message": WORDS}),
        )
    };
    let torn = Damage::Between(b"data: {\"half\": \n\n".to_vec());
    vec![
        // The slow ones first, so that nobody waits for them at the end.
        fault(
            "silence before the head",
            Answer::valid().delay(EVER),
            "timeout",
            SILENT,
            3,
            Unknown,
        ),
        fault(
            "silence before the first byte",
            Answer::valid().silence(EVER),
            "timeout",
            SILENT,
            3,
            Unknown,
        ),
        fault(
            "a reset",
            Answer::valid().cut_after(0),
            "transport",
            "broke",
            3,
            Unknown,
        ),
        fault(
            "silence half way",
            Answer::valid().pieces(20).stall(),
            "interrupted",
            SILENT,
            1,
            Unknown,
        ),
        fault(
            "a refused key",
            error(401, "authentication_error"),
            "auth",
            WORDS,
            1,
            Known,
        ),
        fault(
            "no credit",
            error(402, "billing_error"),
            "billing",
            WORDS,
            1,
            Known,
        ),
        fault(
            "an unknown model",
            error(404, "not_found_error"),
            "model_missing",
            WORDS,
            1,
            Known,
        ),
        fault(
            "a bad request",
            error(400, "invalid_request_error"),
            "bad_request",
            WORDS,
            1,
            Known,
        ),
        fault(
            "a prompt that is too long",
            error(413, "request_too_large"),
            "context",
            WORDS,
            1,
            Known,
        ),
        fault(
            "a prompt against the policy",
            Answer::error(
                400,
                "invalid_request_error",
                "such are our words, violating our usage policy",
            ),
            "policy",
            WORDS,
            1,
            Known,
        ),
        fault(
            "a limit with a short hint",
            soon(429, "rate_limit_error"),
            "rate_limit",
            WORDS,
            3,
            Known,
        ),
        fault(
            "a limit with a long hint",
            error(429, "rate_limit_error").header("retry-after", "3600"),
            "rate_limit",
            WORDS,
            1,
            Known,
        ),
        fault(
            "an error of its own",
            soon(500, "api_error"),
            "overload",
            WORDS,
            3,
            Known,
        ),
        fault(
            "a gateway without a vendor",
            soon(503, "api_error"),
            "overload",
            WORDS,
            3,
            Known,
        ),
        fault(
            "an overload",
            soon(529, "overloaded_error"),
            "overload",
            WORDS,
            3,
            Known,
        ),
        fault(
            "a stream that is cut",
            Answer::valid().pieces(20).cut(),
            "interrupted",
            "broke",
            1,
            Unknown,
        ),
        fault(
            "a stream that ends early",
            Answer::valid().pieces(20).short(),
            "interrupted",
            "the stream ended before",
            1,
            Unknown,
        ),
        // What it had thought until then is counted by us.
        fault(
            "an error inside a stream",
            in_stream(),
            "overload",
            WORDS,
            3,
            Unknown,
        ),
        fault(
            "an event that is torn",
            Answer::valid().pieces(1).damaged(torn),
            "malformed",
            "not JSON",
            1,
            Unknown,
        ),
        fault(
            "an empty answer",
            Answer::text(""),
            "empty",
            "without any text",
            1,
            Known,
        ),
        fault(
            "a page",
            Answer::http(200, "text/html", "<html>welcome</html>"),
            "malformed",
            "text/html instead of",
            1,
            Unknown,
        ),
    ]
}

/// Where in a consultation the failing model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Expert(u8),
    Judge(u8),
}

const STAGES: [Stage; 5] = [
    Stage::Expert(1),
    Stage::Judge(2),
    Stage::Expert(3),
    Stage::Judge(3),
    Stage::Judge(4),
];

impl Stage {
    fn round(self) -> u8 {
        match self {
            Self::Expert(round) | Self::Judge(round) => round,
        }
    }

    fn agent(self) -> (&'static str, &'static str) {
        match self {
            Self::Expert(_) => ("security", "Security Expert"),
            Self::Judge(_) => ("judge", "Judge"),
        }
    }

    /// How many sit on its panel.
    fn experts(self) -> usize {
        match self {
            Self::Expert(_) => 3,
            Self::Judge(_) => 2,
        }
    }

    /// Which of the failing model's requests is the first of this stage.
    fn first(self) -> usize {
        match self {
            Self::Expert(1) | Self::Judge(2) => 1,
            Self::Expert(_) | Self::Judge(3) => 2,
            Self::Judge(_) => 3,
        }
    }

    /// A panel on which the failing model has this part and no other.
    fn panel(self) -> [&'static str; 4] {
        const OTHERS: &str = "architect=openai:gpt-6.1-sol,pragmatic=google:gemini-4-argon";
        match self {
            Self::Expert(_) => {
                let panel = "security=anthropic:claude-sonnet-5-5,architect=openai:gpt-6.1-sol,pragmatic=google:gemini-4-argon";
                [
                    "--panel",
                    panel,
                    "--judge",
                    "openai:gpt-6.1-sol,mistral:mistral-large-4",
                ]
            }
            Self::Judge(_) => [
                "--panel",
                OTHERS,
                "--judge",
                "anthropic:claude-sonnet-5-5,mistral:mistral-large-4",
            ],
        }
    }

    /// The calls that the record has of the agent at this stage.
    fn attempts(self, record: &Value) -> Vec<Value> {
        let agents = record["responses"][format!("round_{}", self.round())]["agents"]
            .as_array()
            .unwrap();
        let found = agents
            .iter()
            .find(|agent| agent["agent_id"] == self.agent().0);
        found.unwrap_or_else(|| panic!("{self:?} is not in {agents:#?}"))["attempts"]
            .as_array()
            .unwrap()
            .clone()
    }
}

/// A server at which the failing model answers so to these of its requests, and a home in which all
/// vendors have keys.
fn failing(
    answer: &Answer,
    requests: impl IntoIterator<Item = usize>,
) -> (ProviderServer, Conclave) {
    let server = ProviderServer::start();
    for nth in requests {
        server.on(On::vendor(Vendor::Anthropic).nth(nth), answer.clone());
    }
    let conclave = at_all(&server);
    (server, conclave)
}

fn failing_by(
    fault: &Fault,
    requests: impl IntoIterator<Item = usize>,
) -> (ProviderServer, Conclave) {
    let (server, conclave) = failing(&fault.answer, requests);
    (server, impatient(conclave, fault))
}

/// Bears no long silence when the fault is one, and only then: a busy machine is silent now and
/// then.
fn impatient(conclave: Conclave, fault: &Fault) -> Conclave {
    if fault.words == SILENT {
        conclave.variable("CONCLAVE_IDLE_TIMEOUT_SECONDS", "1")
    } else {
        conclave
    }
}

fn at_all(server: &ProviderServer) -> Conclave {
    server
        .all_variables()
        .into_iter()
        .fold(Conclave::new(), |conclave, (name, value)| {
            conclave.variable(name, value)
        })
}

fn requests_to(server: &ProviderServer, vendor: Vendor) -> Vec<RecordedRequest> {
    server
        .requests()
        .into_iter()
        .filter(|request| request.vendor == Some(vendor))
        .collect()
}

fn arguments<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    let question = ["consult", "--yes", "Shall we?"];
    question.into_iter().chain(parts.concat()).collect()
}

/// Checks every case, a few at once; a failure in one is the test's.
fn side_by_side<T: Send>(cases: Vec<T>, check: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                loop {
                    let next = cases.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(case) = next else { return };
                    check(case);
                }
            });
        }
    });
}

/// The total is what all calls of the record cost together, and what the parts of every grouping
/// do, to the micro-dollar and the token.
fn assert_adds_up(record: &Value, what: &str) {
    let counts = |spend: &Value| {
        ["/micro_usd", "/tokens/input", "/tokens/output", "/calls"]
            .map(|at| spend.pointer(at).unwrap().as_u64().unwrap())
    };
    let cost = &record["cost"];
    let rounds = record["responses"].as_object().unwrap().values();
    let agents: Vec<&Value> = rounds
        .flat_map(|round| round["agents"].as_array().unwrap())
        .collect();
    let attempts: Vec<&Value> = agents
        .iter()
        .flat_map(|agent| agent["attempts"].as_array().unwrap())
        .collect();
    let micro = |spends: &[&Value]| {
        spends
            .iter()
            .map(|spend| spend["cost"]["micro_usd"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(micro(&attempts), counts(cost)[0], "{what}: {cost}");
    assert_eq!(micro(&agents), counts(cost)[0], "{what}: {cost}");
    assert_eq!(attempts.len() as u64, counts(cost)[3], "{what}");
    let is_open = |spend: &Value| spend["lower_bound"] == true;
    for group in ["by_provider", "by_model", "by_agent", "by_round"] {
        let parts: Vec<&Value> = cost[group].as_object().unwrap().values().collect();
        let sum = |at: usize| parts.iter().map(|part| counts(part)[at]).sum::<u64>();
        assert_eq!(
            [0, 1, 2, 3].map(sum),
            counts(cost),
            "{what}: {group}: {cost}"
        );
        assert_eq!(
            parts.iter().any(|part| is_open(part)),
            is_open(cost),
            "{what}: {group}: {cost}"
        );
    }
    let unknown =
        attempts.iter().any(|attempt| is_open(&attempt["cost"])) || cost["lost_calls"] != 0;
    assert_eq!(
        is_open(cost),
        unknown,
        "{what}: it is a lower bound exactly when something is not known: {cost}"
    );
}
