//! Custom endpoints: requests, keys and settings.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{ProviderServer, Vendor};

/// Sets up a home with these endpoints; `$URL` stands for the server's address.
fn with_endpoints(server: &ProviderServer, endpoints: &str) -> Conclave {
    Conclave::new().config(&format!(
        r#"{{"endpoints": {}}}"#,
        endpoints.replace("$URL", &server.url())
    ))
}

fn authorizations(server: &ProviderServer) -> Vec<Option<String>> {
    let mut seen: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.headers.get("authorization").cloned())
        .collect();
    seen.dedup();
    seen
}

#[test]
fn custom_endpoint_is_asked_with_its_own_key() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"work": {"base_url": "$URL/v1/chat/completions", "api_key_env": "WORK_KEY"}}"#,
    )
    .variable("WORK_KEY", " work-key\n")
    .variable("OPENAI_API_KEY", "test-key-openai");
    let output = conclave
        .run(&[
            "consult",
            "--yes",
            "--model",
            "work:vendor/some:8b",
            "--judge",
            "work:judge",
            "Shall we?",
        ])
        .ends_with(0);
    let requests = model_requests(&server);
    assert_eq!(requests.len(), 9);
    assert!(requests.iter().all(|request| request.model
        == if request.is_from_expert() {
            "vendor/some:8b"
        } else {
            "judge"
        }));
    assert_eq!(
        authorizations(&server),
        [Some("Bearer work-key".to_owned())]
    );
    assert!(
        output.stderr.contains("≥"),
        "unpriced models are not free: {}",
        output.stderr
    );
    assert!(
        requests[0].recorded.body.get("max_tokens").is_some(),
        "all servers accept this field"
    );
}

#[test]
fn vendor_keys_are_not_sent_to_custom_addresses() {
    let keys = [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "XAI_API_KEY",
        "MISTRAL_API_KEY",
        "OPENROUTER_API_KEY",
    ];
    for name in ["work", "openai", "mistral"] {
        let server = ProviderServer::start();
        let conclave = with_endpoints(&server, &format!(r#"{{"{name}": {{"base_url": "$URL"}}}}"#));
        let conclave = keys
            .into_iter()
            .fold(conclave, |conclave, key| conclave.variable(key, "test-key"));
        let model = format!("{name}:m");
        conclave
            .run(&[
                "consult",
                "--yes",
                "--model",
                &model,
                "--judge",
                &model,
                "Shall we?",
            ])
            .ends_with(0);
        assert_eq!(server.requests().len(), 9, "{name}");
        assert_eq!(authorizations(&server), vec![None], "{name}");
    }
}

#[test]
fn endpoint_entry_sets_dialect_and_fields() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"claude": {"baseUrl": "$URL/v1/messages", "dialect": "anthropic", "api_key_env": "WORK_KEY", "free": true},
            "new": {"base_url": "$URL", "max_tokens_field": "max_completion_tokens", "free": true}}"#,
    )
    .variable("WORK_KEY", "work-key");
    let output = conclave
        .run(&[
            "consult",
            "--model",
            "claude:m",
            "--judge",
            "new:m",
            "Shall we?",
        ])
        .ends_with(0);
    for request in model_requests(&server) {
        let (vendor, field) = if request.is_from_expert() {
            (Vendor::Anthropic, "max_tokens")
        } else {
            (Vendor::OpenAi, "max_completion_tokens")
        };
        assert_eq!(request.vendor, vendor);
        assert!(request.recorded.body.get(field).is_some());
        assert_eq!(
            request
                .recorded
                .headers
                .get("x-api-key")
                .map(String::as_str),
            request.is_from_expert().then_some("work-key")
        );
    }
    assert!(
        !output.stderr.contains('≥'),
        "free models have a price: {}",
        output.stderr
    );
    let cost = &conclave.record()["cost"];
    assert_eq!(cost["micro_usd"], 0);
    assert_eq!(cost["lower_bound"], false);
}

#[test]
fn key_command_runs_once_and_only_if_needed() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"work": {"base_url": "$URL", "api_key_cmd": "echo run >> runs; echo command-key; echo more"}, "open": {"base_url": "$URL"}}"#,
    );
    let runs = conclave.folder().join("runs");
    conclave
        .run(&["consult", "-n", "--yes", "--model", "open:m", "Shall we?"])
        .ends_with(0);
    assert!(!runs.exists(), "the command does not run without need");
    let before = server.requests().len();
    let output = conclave
        .run(&[
            "consult",
            "--yes",
            "--verbose",
            "--model",
            "work:m",
            "Shall we?",
        ])
        .ends_with(0);
    assert_eq!(std::fs::read_to_string(&runs).unwrap(), "run\n");
    for request in &server.requests()[before..] {
        assert_eq!(request.headers["authorization"], "Bearer command-key");
    }
    let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    assert!(
        [output.stdout, output.stderr, journal]
            .iter()
            .all(|text| !text.contains("command-key"))
    );
}

#[test]
fn failing_key_command_ends_the_run_with_its_message() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"anthropic": {"base_url": "$URL", "api_key_cmd": "echo the vault is locked >&2; exit 2"}}"#,
    );
    let output = conclave
        .run(&[
            "consult",
            "--yes",
            "--model",
            "claude-sonnet-5-5",
            "Shall we?",
        ])
        .ends_with(2);
    assert_eq!(output.stdout, "");
    assert_eq!(
        output.stderr,
        "error: cannot get the key of `anthropic`\n  \
             caused by: `echo the vault is locked >&2; exit 2` failed (exit status: 2): the vault is locked\n\
             hint: try it in a shell with `eval \"$(conclave config get endpoints.anthropic.api_key_cmd)\"`\n"
    );
    assert!(server.requests().is_empty());
}

#[test]
fn missing_key_is_reported_with_its_variable() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"work": {"base_url": "$URL", "api_key_env": "WORK_KEY"}}"#,
    );
    for arguments in [
        ["--model", "work:m"],
        ["--judge", "work:m"],
        ["--panel", "security=work:m"],
    ] {
        let conclave = with_endpoints(
            &server,
            r#"{"work": {"base_url": "$URL", "api_key_env": "WORK_KEY"}, "open": {"base_url": "$URL"}}"#,
        );
        let others: &[&str] = if arguments[0] == "--judge" {
            &["--model", "open:m"]
        } else {
            &[]
        };
        let output = conclave
            .run(&[&["consult", "Shall we?"], &arguments[..], others].concat())
            .ends_with(2);
        assert_eq!(
            output.stderr,
            "error: there is no key for work\nhint: set WORK_KEY\n"
        );
    }
    let empty = conclave
        .variable("WORK_KEY", " ")
        .run(&["consult", "Shall we?", "--model", "work:m"])
        .ends_with(2);
    assert_eq!(
        empty.stderr,
        "error: there is no key for work\nhint: set WORK_KEY\n"
    );
    assert!(server.requests().is_empty());
}

#[test]
fn endpoints_can_be_set_in_the_environment() {
    let server = ProviderServer::start();
    let conclave = Conclave::new().variable(
        "CONCLAVE_ENDPOINTS",
        format!(r#"{{"work": {{"base_url": "{}"}}}}"#, server.url()),
    );
    conclave
        .run(&["consult", "--yes", "--model", "work:m", "Shall we?"])
        .ends_with(0);
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn key_in_the_settings_is_rejected_and_not_shown() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"work": {"base_url": "$URL", "api_key": "sk-secret"}}"#,
    );
    let output = conclave
        .run(&["consult", "Shall we?", "--model", "work:m"])
        .ends_with(2);
    assert!(
        output.stderr.contains("`endpoints.work.api_key`"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("`api_key_env`"), "{}", output.stderr);
    assert!(!output.stderr.contains("sk-secret"), "{}", output.stderr);
}

#[test]
fn endpoint_that_needs_a_key_yields_a_hint() {
    use crate::support::provider_server::{Answer, On};
    let server = ProviderServer::start();
    server.on(
        On::vendor(Vendor::OpenAi),
        Answer::http(
            401,
            "application/json",
            r#"{"error": {"message": "no key given"}}"#,
        ),
    );
    let output = with_endpoints(&server, r#"{"work": {"base_url": "$URL"}}"#)
        .run(&["consult", "--yes", "--model", "work:m", "Shall we?"])
        .ends_with(1);
    assert!(
        output
            .stderr
            .contains("no key given (HTTP 401); check `endpoints.work`"),
        "{}",
        output.stderr
    );
}

#[test]
fn key_command_sees_no_vendors_key_and_leaves_no_core_file() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"work": {"base_url": "$URL", "api_key_cmd": "echo $(ulimit -H -c):$XAI_API_KEY:$VLLM_API_KEY:$OWN"}}"#,
    );
    conclave
        .variable("XAI_API_KEY", "test-key-xai")
        .variable("VLLM_API_KEY", "test-key-vllm")
        .variable("OWN", "own")
        .run_process(&["consult", "--yes", "--model", "work:m", "Shall we?"])
        .ends_with(0);
    assert_eq!(authorizations(&server), [Some("Bearer 0:::own".to_owned())]);
}

#[test]
fn key_command_from_a_file_that_others_may_write_is_not_run() {
    let server = ProviderServer::start();
    let config = r#"{"work": {"base_url": "$URL", "api_key_cmd": "touch run; echo k"}}"#;
    for (mode_of_home, mode_of_file) in [(0o700, 0o620), (0o700, 0o602), (0o730, 0o600)] {
        let conclave = with_endpoints(&server, config);
        let file = conclave.home().join("config.json");
        set_permissions(&file, Permissions::from_mode(mode_of_file)).unwrap();
        set_permissions(conclave.home(), Permissions::from_mode(mode_of_home)).unwrap();
        let exposed = if mode_of_home == 0o700 {
            file
        } else {
            conclave.home()
        };
        let exposed = exposed.canonicalize().unwrap();
        let output = conclave
            .run(&["consult", "--yes", "--model", "work:m", "Shall we?"])
            .ends_with(2);
        assert_eq!(
            output.stderr,
            format!(
                "error: others may write `{0}`, so its `api_key_cmd` is not run\n\
                 hint: run `chmod go-w '{0}'`\n",
                exposed.display()
            )
        );
        assert!(!conclave.folder().join("run").exists());
    }
}

#[test]
fn settings_without_commands_may_be_writable_by_a_group() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(&server, r#"{"work": {"base_url": "$URL"}}"#);
    let file = conclave.home().join("config.json");
    set_permissions(file, Permissions::from_mode(0o664)).unwrap();
    conclave
        .run(&["consult", "--yes", "--model", "work:m", "Shall we?"])
        .ends_with(0);
}

#[test]
fn key_that_goes_unencrypted_beyond_the_own_network_is_announced() {
    let conclave = Conclave::new()
        .config(r#"{"endpoints": {"work": {"base_url": "http://work.example", "api_key_env": "WORK_KEY"}}}"#)
        .variable("WORK_KEY", "test-key-work")
        // A proxy that is not there: nothing leaves this machine.
        .variable("HTTP_PROXY", "http://127.0.0.1:9");
    let warning = "the key of work goes unencrypted to work.example: others on the way can read it";
    let question = ["consult", "--yes", "--model", "work:m", "Shall we?"];
    for arguments in [
        &question[..],
        &["doctor"],
        &["consult", "-n", "--model", "work:m", "q"],
    ] {
        let output = conclave.run(arguments);
        assert!(output.stderr.contains(warning), "{}", output.stderr);
        assert!(!output.stderr.contains("test-key"), "{}", output.stderr);
    }
    let findings = conclave.run(&["doctor", "--json"]);
    assert!(findings.stdout.contains(warning), "{}", findings.stdout);
}
