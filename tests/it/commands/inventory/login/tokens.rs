//! The tokens of a sign-in: their use, renewal and end.

use serde_json::{Value, json};

use super::{CONSULT, Waiting, break_with, home, signed_in, stored};
use crate::support::binary::Conclave;
use crate::support::provider_server::sign_in::SignInService;
use crate::support::provider_server::{Answer, Fault, On, ProviderServer, Vendor};

const PANEL: [&str; 3] = ["consult", "Should we use OAuth?", "--yes"];

#[test]
fn a_panel_is_paid_by_the_plan() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    let output = conclave.run(&PANEL).ends_with(0);
    let shown = output.stdout + &output.stderr;
    let report = std::fs::read_to_string(conclave.log("md")).unwrap();
    for text in [&shown, &report] {
        assert!(text.contains("paid by your plan, "), "{text}");
        assert!(text.contains("chatgpt · plan (ChatGPT) · "), "{text}");
        assert!(!text.contains(" 0 tokens"), "{text}");
    }
    let requests = server.requests_to(Vendor::ChatGpt);
    assert!(requests.len() > 3);
    for request in requests {
        let body = request.body.as_object().unwrap();
        let mut fields: Vec<&str> = body.keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(
            fields,
            ["input", "instructions", "model", "store", "stream", "text"]
        );
        assert_eq!(
            (&body["store"], &body["stream"]),
            (&json!(false), &json!(true))
        );
        assert_eq!(body["input"][0]["role"], "user");
        assert_eq!(body["text"]["format"]["strict"], true);
        assert_eq!(
            request.headers["authorization"],
            "Bearer secret-access-token-1-0123456789"
        );
    }
    assert_eq!(server.sign_in(|service| service.renewals()), 0);
    let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    assert!(journal.contains(r#""cost_source":"plan""#));
    let output = conclave.run(&["doctor"]);
    assert!(
        output
            .stdout
            .contains("signed in as ada@example.org, 1 model"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_limit_of_calls_bounds_the_use_of_the_plan() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    conclave.run(&[&PANEL[..], &["--max-calls", "2"]].concat());
    assert!(server.requests_to(Vendor::ChatGpt).len() <= 2);
}

/// The first call that reaches the limit is the last one, also where a call could be tried again.
#[test]
fn a_plan_at_its_limit_is_asked_no_more() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    let code = "subscription_sharing_usage_limit_exceeded";
    server.on(On::any(), Answer::error(429, code, code));
    let settings = json!({
        "endpoints": {"chatgpt": {"base_url": server.base_url(Vendor::ChatGpt), "max_in_flight": 1}},
    });
    let conclave = conclave.config(&settings.to_string());
    let output = conclave.run(&PANEL);
    assert_ne!(output.code, Some(0));
    assert_eq!(
        server.requests_to(Vendor::ChatGpt).len(),
        1,
        "{}",
        output.stderr
    );
}

#[test]
fn the_users_parameters_that_a_plan_refuses_are_left_out() {
    let server = ProviderServer::start();
    let base_url = server.base_url(Vendor::ChatGpt);
    let settings = json!({
        "endpoints": {"chatgpt": {"base_url": base_url}},
        "parameters": {"chatgpt": {"temperature": 0.2, "reasoning": {"effort": "low"}}},
    });
    let conclave = signed_in(&server).config(&settings.to_string());
    conclave.run(&CONSULT).ends_with(0);
    for request in server.requests_to(Vendor::ChatGpt) {
        assert_eq!(request.body.get("temperature"), None);
        assert_eq!(request.body["reasoning"]["effort"], "low");
    }
}

#[test]
fn a_token_at_its_end_is_renewed_by_one_process_alone() {
    let server = ProviderServer::start();
    server.sign_in(|service| service.lifetime = 60);
    let conclave = signed_in(&server);
    server.sign_in(|service| service.lifetime = 3600);
    let runs = [0; 3].map(|_| conclave.start(&PANEL));
    for run in runs {
        run.wait().ends_with(0);
    }
    assert_eq!(server.sign_in(|service| service.renewals()), 1);
    let refresh = &stored(&conclave)["tokens"]["refresh"];
    assert_eq!(refresh, "secret-refresh-token-2-0123456789");
}

#[test]
fn a_token_that_is_refused_before_its_end_is_renewed_once() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    server.sign_in(SignInService::expire);
    conclave.run(&CONSULT).ends_with(0);
    assert_eq!(server.sign_in(|service| service.renewals()), 1);
}

#[test]
fn no_token_is_renewed_before_the_service_allows_it() {
    let server = ProviderServer::start();
    let later = jiff::Timestamp::now().as_second() + 3000;
    for earliest in [json!(later), json!(later * 1000)] {
        server.sign_in(|service| service.earliest_refresh_at = earliest);
        let conclave = signed_in(&server);
        server.sign_in(SignInService::expire);
        let output = conclave.run(&CONSULT).ends_with(1);
        output.assert_stderr_contains("refused_before_renewal");
        assert_eq!(server.sign_in(|service| service.renewals()), 0);
        assert!(stored(&conclave)["tokens"].is_object());
    }
}

/// Runs a consultation whose token has to be renewed, and returns what it says.
fn failed_renewal(server: &ProviderServer, conclave: &Conclave) -> String {
    server.sign_in(SignInService::expire);
    let output = conclave.run(&CONSULT).ends_with(1);
    assert!(!output.stderr.contains("secret-"), "{}", output.stderr);
    output.stderr
}

#[test]
fn a_refresh_token_that_was_used_ends_the_sign_in() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    let before = stored(&conclave);
    server.sign_in(SignInService::expire);
    conclave.run(&CONSULT).ends_with(0);
    // A copy of the home, or a backup, uses the old token again.
    std::fs::write(conclave.home().join("chatgpt.json"), before.to_string()).unwrap();
    break_with(&server, Fault::Echo);
    let stderr = failed_renewal(&server, &conclave);
    assert!(stderr.contains("run `conclave login chatgpt`"), "{stderr}");
    let after = stored(&conclave);
    assert_eq!(after["tokens"], Value::Null);
    assert_eq!(after["client_id"], "oaiapp_1");
    conclave.run(&["login", "status"]).ends_with(1);
}

#[test]
fn a_failure_of_the_service_keeps_the_sign_in() {
    for (fault, words) in [
        (Fault::Unavailable, "the sign-in of OpenAI does not answer"),
        (
            Fault::UnknownClient,
            "OpenAI refused the sign-in (`invalid_client`)",
        ),
    ] {
        let server = ProviderServer::start();
        let conclave = signed_in(&server);
        break_with(&server, fault);
        let stderr = failed_renewal(&server, &conclave);
        assert!(stderr.contains(words), "{stderr}");
        assert!(stored(&conclave)["tokens"].is_object());
    }
}

#[test]
fn a_token_that_still_serves_is_used_when_it_cannot_be_renewed() {
    let server = ProviderServer::start();
    server.sign_in(|service| service.lifetime = 200);
    let conclave = signed_in(&server);
    break_with(&server, Fault::Unavailable);
    conclave.run(&CONSULT).ends_with(0);
}

#[test]
fn what_a_plan_does_not_allow_is_said_as_what_it_is() {
    for (status, code, words) in [
        (
            429,
            "subscription_sharing_usage_limit_exceeded",
            "chatgpt.com/settings/usage",
        ),
        (
            403,
            "subscription_sharing_user_not_eligible",
            "subscription_sharing_user_not_eligible",
        ),
        (404, "model_not_found", "model_not_found"),
    ] {
        let server = ProviderServer::start();
        let conclave = signed_in(&server);
        server.on(On::any(), Answer::error(status, code, code));
        let output = conclave.run(&CONSULT).ends_with(1);
        output.assert_stderr_contains(words);
        assert_eq!(server.sign_in(|service| service.renewals()), 0, "{code}");
    }
}

#[test]
fn logout_revokes_the_refresh_token_and_keeps_the_registration() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    conclave
        .run(&["logout"])
        .ends_with(0)
        .assert_stderr_contains("Signed out.");
    let sent = server.sign_in(|service| service.requests.last().unwrap().clone());
    assert_eq!(sent["path"], "/api/accounts/oauth/revoke");
    assert_eq!(sent["token"], "secret-refresh-token-1-0123456789");
    assert_eq!(
        (&*sent["token_type_hint"], &*sent["client_id"]),
        ("refresh_token", "oaiapp_1")
    );
    assert_eq!(stored(&conclave)["tokens"], Value::Null);
    assert_eq!(stored(&conclave)["client_id"], "oaiapp_1");
    conclave
        .run(&CONSULT)
        .ends_with(2)
        .assert_stderr_contains("run `conclave login chatgpt`");
    conclave.run(&["logout", "chatgpt"]).ends_with(0);
    assert_eq!(server.sign_in(|service| service.requests.len()), 4);
}

#[test]
fn logout_that_is_not_confirmed_deletes_the_tokens_and_says_so() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    break_with(&server, Fault::Unavailable);
    let output = conclave.run(&["logout"]).ends_with(1);
    output.assert_stderr_contains("signed out here, but maybe not at OpenAI");
    output.assert_stderr_contains("disconnect conclave at https://chatgpt.com/settings/usage");
    assert_eq!(stored(&conclave)["tokens"], Value::Null);
}

#[test]
fn without_a_sign_in_there_is_nothing_to_leave_or_to_ask() {
    let server = ProviderServer::start();
    let conclave = home(&server);
    conclave
        .run(&["logout"])
        .ends_with(0)
        .assert_stderr_contains("No one is signed in.");
    let output = conclave.run(&["login", "status"]).ends_with(1);
    output.assert_stderr_contains("no one is signed in");
    let output = conclave.run(&CONSULT).ends_with(2);
    output.assert_stderr_contains("no one is signed in with ChatGPT");
    let shows = |command: &str, words: &str| {
        let shown = conclave.run(&[command]).stdout;
        assert!(shown.contains(words), "{shown}");
    };
    shows("models", "ChatGPT  not signed in: conclave login chatgpt");
    shows("doctor", "not signed in  ChatGPT (conclave login chatgpt)");
    Waiting::start(&conclave).browse().ends_with(0);
    shows("models", "ChatGPT  signed in");
}
