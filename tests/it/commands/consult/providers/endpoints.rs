//! Custom endpoints: requests, keys and settings.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer};

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
fn custom_endpoint_is_asked_with_its_own_key() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"work": {"base_url": "$URL/v1/chat/completions", "api_key_env": "WORK_KEY"}}"#,
    )
    .variable("WORK_KEY", " work-key\n")
    .variable("OPENAI_API_KEY", "test-key-openai");
    let models = ["--model", "work:vendor/some:8b", "--judge", "work:judge"];
    let output = conclave.run(&[&["consult", "--yes", "Shall we?"], &models[..]].concat());
    // Unpriced models are not free.
    output.ends_with(0).assert_stderr_contains("price unknown");
    let requests = model_requests(&server);
    assert_eq!(requests.len(), 9);
    for request in &requests {
        let is_judge = request.model == "judge";
        assert_eq!(request.model == "vendor/some:8b", request.is_from_expert());
        assert_ne!(is_judge, request.is_from_expert());
        // All servers accept this field.
        assert!(request.recorded.body.get("max_tokens").is_some());
    }
    let work = Some("Bearer work-key".to_owned());
    assert_eq!(authorizations(&server), [work]);
}

#[test]
fn vendor_keys_are_not_sent_to_custom_addresses() {
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY"];
    for name in ["work", "openai"] {
        let server = ProviderServer::start();
        let conclave = with_endpoints(&server, &format!(r#"{{"{name}": {{"base_url": "$URL"}}}}"#));
        let conclave = keys
            .into_iter()
            .fold(conclave, |conclave, key| conclave.variable(key, "test-key"));
        let model = format!("{name}:m");
        let models = ["--model", &model, "--judge", &model];
        conclave
            .run(&[&["consult", "--yes", "Shall we?"], &models[..]].concat())
            .ends_with(0);
        assert_eq!(server.requests().len(), 9, "{name}");
        assert_eq!(authorizations(&server), vec![None], "{name}");
    }
}

#[test]
fn unavailable_keys_are_reported_with_where_they_come_from() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(
        &server,
        r#"{"work": {"base_url": "$URL", "api_key_env": "WORK_KEY"}, "open": {"base_url": "$URL"},
            "anthropic": {"base_url": "$URL", "api_key_cmd": "echo the vault is locked >&2; exit 2"}}"#,
    )
    .variable("WORK_KEY", " ");
    let missing = "error: there is no key for work\nhint: set WORK_KEY\n";
    for (flags, expected) in [
        (&["--panel", "security=work:m"][..], missing),
        (&["--model", "open:m", "--judge", "work:m"], missing),
        (
            &["--model", "claude-sonnet-5-5"],
            "error: cannot get the key of `anthropic`\n  \
             caused by: `echo the vault is locked >&2; exit 2` failed (exit status: 2): the vault is locked\n\
             hint: try it in a shell with `eval \"$(conclave config get endpoints.anthropic.api_key_cmd)\"`\n",
        ),
    ] {
        let arguments = [&["consult", "--yes", "Shall we?"], flags].concat();
        let output = conclave.run(&arguments).ends_with(2);
        assert_eq!(output.stdout, "");
        assert_eq!(output.stderr, expected);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn endpoint_that_needs_a_key_yields_a_hint() {
    let server = ProviderServer::start();
    let refusal = Answer::error(401, "x", "no key given");
    server.on(On::any(), refusal);
    let conclave = with_endpoints(&server, r#"{"work": {"base_url": "$URL"}}"#);
    conclave
        .run(&["consult", "--yes", "--model", "work:m", "Shall we?"])
        .ends_with(1)
        .assert_stderr_contains("no key given (HTTP 401); check `endpoints.work`");
}

#[test]
fn settings_without_commands_may_be_writable_by_a_group() {
    let server = ProviderServer::start();
    let conclave = with_endpoints(&server, r#"{"work": {"base_url": "$URL"}}"#);
    let file = conclave.home().join("config.json");
    set_permissions(file, Permissions::from_mode(0o664)).unwrap();
    let arguments = ["consult", "--dry-run", "--model", "work:m", "Shall we?"];
    conclave.run(&arguments).ends_with(0);
}

#[test]
fn key_that_goes_unencrypted_beyond_the_own_network_is_announced() {
    let conclave = Conclave::new()
        .config(r#"{"endpoints": {"work": {"base_url": "http://work.example", "api_key_env": "WORK_KEY"}}}"#)
        .variable("WORK_KEY", "test-key-work")
        // A proxy that is not there: nothing leaves this machine.
        .variable("HTTP_PROXY", "http://127.0.0.1:9");
    let warning = "the key of work goes unencrypted to work.example: others on the way can read it";
    for arguments in [
        &["doctor"][..],
        &["consult", "-n", "--model", "work:m", "q"],
    ] {
        let output = conclave.run(arguments);
        output.assert_stderr_contains(warning);
        assert!(!output.stderr.contains("test-key"), "{}", output.stderr);
    }
}
