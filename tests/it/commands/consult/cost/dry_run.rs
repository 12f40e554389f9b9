//! `--dry-run`: shows everything, sends nothing and saves nothing.

use rustix::process::Signal;
use serde_json::Value;

use crate::commands::consult::assert_contains;
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer};
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../../schemas/dry_run.schema.json");

fn json(conclave: &Conclave, arguments: &[&str]) -> Value {
    let output = conclave
        .run(
            &[
                &["consult", "Shall we?", "--dry-run", "--format", "json"],
                arguments,
            ]
            .concat(),
        )
        .ends_with(0);
    assert_eq!(output.stderr, "");
    let json = output.json();
    schema::check(SCHEMA, &json);
    json
}

#[test]
fn dry_run_sends_writes_and_executes_nothing() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave
        .run(&["consult", "Shall we?", "--dry-run"])
        .ends_with(0);
    assert!(!conclave.home().exists());

    let mark = conclave.folder().join("ran");
    let config = format!(
        r#"{{"endpoints": {{"anthropic": {{"api_key_cmd": "touch '{}'; echo key"}}}}}}"#,
        mark.display()
    );
    let conclave = conclave.without("ANTHROPIC_API_KEY").config(&config);
    let shown = json(&conclave, &["--events", "events.jsonl"]);
    assert_eq!(
        shown["by_model"].as_array().unwrap().len(),
        3,
        "the vendor with the command is included"
    );
    assert!(!mark.exists());
    assert!(!conclave.folder().join("events.jsonl").exists());
    assert_eq!(
        std::fs::read_dir(conclave.home()).unwrap().count(),
        1,
        "only the settings exist"
    );
    assert!(server.requests().is_empty());
}

#[test]
fn sums_of_the_models_equal_those_of_the_calls() {
    let server = ProviderServer::start();
    let shown = json(&Conclave::at(&server), &[]);
    let sum = |list: &Value, place: &str| -> u64 {
        list.as_array()
            .unwrap()
            .iter()
            .map(|entry| entry.pointer(place).unwrap().as_u64().unwrap())
            .sum()
    };
    for place in [
        "/input_tokens",
        "/output_tokens",
        "/low/micro_usd",
        "/cost/micro_usd",
        "/high/micro_usd",
    ] {
        let total = shown.pointer(place).unwrap().as_u64().unwrap();
        assert_eq!(sum(&shown["by_model"], place), total, "{place}");
        assert_eq!(sum(&shown["prompts"], place), total, "{place}");
    }
    assert_eq!(sum(&shown["by_model"], "/calls"), 9);
    let address = &shown["by_model"][0]["address"];
    assert!(
        address.as_str().unwrap().starts_with(&server.url()),
        "{address}"
    );
}

#[test]
fn dry_run_reports_the_consent_decision() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let decision = |arguments: &[&str]| {
        json(&conclave, arguments)["consent"]["decision"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let expensive = ["--model", "claude-fable-5-1"];
    assert_eq!(decision(&[]), "auto_approved");
    assert_eq!(decision(&expensive), "refuse");
    assert_eq!(decision(&[&expensive[..], &["--yes"]].concat()), "flag");
    assert_eq!(
        decision(&[&expensive[..], &["--max-cost", "50"]].concat()),
        "ceiling"
    );
    assert_eq!(decision(&["--max-cost", "0.01"]), "above_ceiling");
    let unpriced = json(&conclave, &["--model", "openai:gpt-unheard-of"]);
    assert_eq!(unpriced["consent"]["why"], serde_json::json!(["unpriced"]));
    assert_eq!(unpriced["low"]["lower_bound"], true);
    let output = conclave
        .run(&["consult", "--dry-run", "--model", "claude-fable-5-1", "q"])
        .ends_with(0);
    let consent = "needs --yes, because there is no terminal to ask on: it is not below \
                   always_allow_under\n";
    assert_contains(&output.stdout, consent);
}

#[test]
fn text_has_the_vendors_and_every_prompt_and_can_go_to_a_file() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let ask = ["consult", "--dry-run", "Shall we?"];
    let shown = conclave.run(&ask).ends_with(0).stdout;
    assert!(shown.starts_with("# Dry run: nothing is sent\n"), "{shown}");
    let url = server.url();
    let host = url.trim_start_matches("http://");
    for part in [
        &format!("**Sent to:** anthropic:claude-sonnet-5-5 ({host}): Security Expert; "),
        "\n| Who | Round | In | Out | Low | Expected | High |\n",
        "\n| Security Expert | 1 | ",
        "\n| Security Expert | 3 | ",
        "\n| Judge | 4 | ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(shown.matches("\nUser:\n").count(), 9);
    for (file, beginning) in [("plan.md", "# Dry run"), ("plan.html", "<!DOCTYPE html>")] {
        let written = conclave.run(&[&ask[..], &["-o", file]].concat());
        assert_eq!(written.ends_with(0).stdout, "");
        let text = std::fs::read_to_string(conclave.folder().join(file)).unwrap();
        assert!(text.starts_with(beginning), "{text}");
        assert_eq!(text.matches("User:").count(), 9);
    }
}

#[test]
fn resumption_and_rejudgement_show_what_they_would_send() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let stalled = Answer::text("never to be finished").stall();
    server.on(On::asking_for("consensus_points").nth(1), stalled);
    let running = conclave.start(&["consult", "--personas", "auto", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| requests.len() == 5);
    running.signal(Signal::INT);
    running.wait().ends_with(130);
    let answers = |arguments: &[&str]| -> Vec<String> {
        let arguments = [arguments, &["--dry-run", "--json"]].concat();
        let shown = conclave.run(&arguments).ends_with(0).json();
        schema::check(SCHEMA, &shown);
        assert_eq!(shown["persona_selection"], Value::Null, "it is done");
        let prompts = shown["prompts"].as_array().unwrap().iter();
        prompts
            .map(|prompt| prompt["answer"].as_str().unwrap().to_owned())
            .collect()
    };
    let before = server.requests().len();
    let rest = answers(&["resume"]);
    assert_eq!(rest.first().unwrap(), "synthesis", "{rest:?}");
    assert_eq!(server.requests().len(), before);
    conclave.run(&["resume"]).ends_with(0);
    let before = server.requests().len();
    let judged = answers(&["history", "rejudge"]);
    assert_eq!(judged.first().unwrap(), "synthesis", "{judged:?}");
    assert_eq!(server.requests().len(), before);
}

/// Writes files and returns the flags that make them the context.
fn files(conclave: &Conclave) -> [&'static str; 4] {
    let folder = conclave.folder();
    std::fs::write(folder.join("long.md"), "All about ferries. ".repeat(1_500)).unwrap();
    std::fs::write(folder.join("short.md"), "All about gearboxes.\n").unwrap();
    ["-f", "long.md", "-f", "short.md"]
}

#[test]
fn context_is_shown_once_with_its_sources() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let arguments = [
        &["consult", "Shall we?", "--dry-run"][..],
        &files(&conclave)[..],
    ];
    let output = conclave.run(&arguments.concat()).ends_with(0);
    let shown = output.stdout;
    assert_eq!(shown.matches("All about gearboxes.").count(), 1, "{shown}");
    assert_eq!(shown.matches("[context as above]").count(), 9, "{shown}");
    let place = |part: &str| {
        shown
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {shown}"))
    };
    let order = [
        "**Context:** long.md: ",
        "; short.md: ",
        "| In all |",
        "\n## Context, ",
        "### File: long.md\n",
        "### File: short.md\n",
        "\n## Round 1, ",
        "\nUser:\n\n```text\n[context as above]\n",
    ];
    assert!(order.map(place).is_sorted(), "{shown}");
}

#[test]
fn shown_prompts_with_context_equal_the_sent_ones() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let files = files(&conclave);
    let shown = json(&conclave, &files);
    let text = shown["context_texts"][0].as_str().unwrap();
    let arguments = [&["consult", "-n", "--yes", "Shall we?"][..], &files[..]];
    conclave.run(&arguments.concat()).ends_with(0);
    let sent: Vec<String> = server
        .requests()
        .iter()
        .map(|request| texts_of(&request.body))
        .collect();
    let calls = shown["prompts"].as_array().unwrap();
    // A schema before the context would change the cached beginning of the prompt.
    for request in server.requests() {
        let of_model = |call: &&Value| {
            let model = call["model"].as_str().unwrap();
            model.ends_with(&request.model)
        };
        let call = calls.iter().find(of_model).unwrap();
        let has_schema = request
            .body
            .to_string()
            .contains("\"additionalProperties\"");
        assert_eq!(call["schema_sent"], has_schema, "{}", request.model);
    }
    assert!(calls.iter().any(|call| call["schema_sent"] == false));
    let exact: Vec<&Value> = calls.iter().filter(|call| call["exact"] == true).collect();
    assert_eq!(exact.len(), 3);
    for call in exact {
        assert_eq!(call["context_text"], 0);
        let user = call["user"].as_str().unwrap();
        assert!(user.starts_with("[context as above]\n\n"), "{user}");
        let user = user.replace("[context as above]", text.trim());
        let whole = format!("{}\n{user}", call["system"].as_str().unwrap());
        let whole = without_breaks(&whole);
        assert!(
            sent.iter().any(|sent| without_breaks(sent) == whole),
            "{}",
            call["agent"]
        );
    }
}

/// Returns the texts of a request in the order in which a vendor reads them.
fn texts_of(body: &Value) -> String {
    let places = [
        "/system",
        "/systemInstruction/parts",
        "/messages",
        "/contents",
    ];
    let mut texts = String::new();
    for part in places.iter().filter_map(|place| body.pointer(place)) {
        collect(part, &mut texts);
    }
    texts
}

fn collect(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => *texts += text,
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, texts)),
        Value::Object(fields) => ["text", "content", "parts"]
            .iter()
            .filter_map(|key| fields.get(*key))
            .for_each(|part| collect(part, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a text without the breaks between its blocks, which are messages of their own when sent.
fn without_breaks(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}
