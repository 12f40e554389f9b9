//! What a consultation may cost: consent, ceilings, budgets.

use serde_json::{Value, json};

use super::client::{Client, cheap, text};
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer};

#[test]
fn cost_above_the_threshold_is_asked_about_or_refused_with_what_allows_it() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 0}"#);
    let question = json!({"question": "Why?"});
    let mut client = Client::legacy(&conclave, &[]);
    let refused = client.call("consult", question.clone());
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("`max_cost`") && text(&refused).contains("no person"));
    let agreed = client.call(
        "consult",
        json!({"question": "Why?", "max_cost": 20, "quick": true}),
    );
    assert_eq!(
        agreed["structuredContent"]["status"], "complete",
        "{agreed}"
    );
    // The era of `initialize`: the server asks while the call is open.
    let elicits = json!({"elicitation": {}});
    for (action, is_error) in [("accept", false), ("decline", true), ("cancel", true)] {
        let mut client = Client::start(&conclave, &[], false, elicits.clone());
        let id = client.begin(
            "tools/call",
            json!({"name": "consult", "arguments": question}),
        );
        let asked = client.receive();
        assert_eq!(asked["method"], "elicitation/create");
        assert!(asked["params"]["message"].as_str().unwrap().contains('$'));
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": action, "content": {}}});
        client.send(&answer);
        let result = client.answer_to(id)["result"].clone();
        assert_eq!(
            result["isError"].as_bool().unwrap_or_default(),
            is_error,
            "{action}: {result}"
        );
        assert!(
            !is_error || text(&result).contains("`max_cost`"),
            "{result}"
        );
    }
    // The other era: the call is made again with the answer.
    let mut client = Client::start(&conclave, &[], true, json!({"elicitation": {"form": {}}}));
    let asked = client.call("consult", question.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let retry = |action: &str| {
        json!({"name": "consult", "arguments": question, "requestState": asked["requestState"],
            "inputResponses": {"consent": {"action": action, "content": {}}}})
    };
    let result = client.ask("tools/call", retry("accept"))["result"].clone();
    assert_eq!(
        result["structuredContent"]["status"], "complete",
        "{result}"
    );
    // An answer counts once.
    let again = client.ask("tools/call", retry("accept"))["result"].clone();
    assert_eq!(again["resultType"], "input_required");
}

#[test]
fn ceiling_of_the_server_holds_for_all_its_consultations() {
    let server = ProviderServer::start();
    let conclave = cheap(&server);
    let mut client = Client::legacy(&conclave, &["--max-cost", "0.000001"]);
    let refused = client.call("consult", json!({"question": "Why?"}));
    assert!(text(&refused).contains("ceiling"), "{refused}");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn consents_that_wait_are_bounded() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 0}"#);
    let mut client = Client::start(&conclave, &[], true, json!({"elicitation": {"form": {}}}));
    let question = json!({"question": "Why?", "rounds": 1});
    let states: Vec<Value> = (0..17)
        .map(|_| client.call("consult", question.clone())["requestState"].clone())
        .collect();
    let mut retry = |state: &Value| {
        client.ask(
            "tools/call",
            json!({"name": "consult", "arguments": question, "requestState": state,
            "inputResponses": {"consent": {"action": "accept", "content": {}}}}),
        )["result"]
            .clone()
    };
    let oldest = retry(&states[0]);
    assert_eq!(oldest["resultType"], "input_required", "{oldest}");
    let newest = retry(&states[16]);
    assert_eq!(
        newest["structuredContent"]["status"], "complete",
        "{newest}"
    );
}

#[test]
fn ceiling_of_the_server_is_no_consent() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 0}"#);
    let mut client = Client::legacy(&conclave, &["--max-cost", "50"]);
    let refused = client.call("consult", json!({"question": "Why?"}));
    assert!(text(&refused).contains("needs consent"), "{refused}");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn budget_of_the_month_is_named_and_no_ceiling_is_consent_to_exceed_it() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"monthly_budget": 0.01}"#);
    let question = json!({"question": "Why?", "max_cost": 20});
    let mut client = Client::legacy(&conclave, &[]);
    let refused = client.call("consult", question.clone());
    assert!(
        text(&refused).contains("no `max_cost` is consent"),
        "{refused}"
    );
    assert!(
        text(&refused).contains("of $0.01 has been spent"),
        "{refused}"
    );
    let mut client = Client::start(&conclave, &[], true, json!({"elicitation": {"form": {}}}));
    let asked = client.call("consult", question);
    let form = &asked["inputRequests"]["consent"]["params"]["message"];
    assert!(
        form.as_str().unwrap().contains("above its budget of $0.01"),
        "{asked}"
    );
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn ceiling_of_the_server_that_is_reached_on_the_way_keeps_what_is_answered() {
    let server = ProviderServer::start();
    server.on(On::any(), Answer::valid().usage(2_000, 4_000));
    let mut client = Client::legacy(&cheap(&server), &["--max-cost", "0.3"]);
    let mut consult = || client.call("consult", json!({"question": "Why?"}));
    let first = consult();
    let view = &first["structuredContent"];
    assert_eq!(view["status"], "aborted", "{first}");
    let problem = view["problems"][0].as_str().unwrap();
    let words = "The ceiling of the server of $0.30 does not pay for the next call";
    assert!(problem.contains(words), "{problem}");
    let cost = view["cost_usd"].as_f64().unwrap();
    assert!(cost > 0.0 && cost <= 0.3, "{first}");
    let asked = server.requests().len();
    assert!(text(&consult()).contains("does not pay"));
    assert_eq!(server.requests().len(), asked);
}
