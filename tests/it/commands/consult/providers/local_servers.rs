//! Local model servers: which one a run uses, how it is asked, and when they are probed.

use crate::support::binary::Conclave;
use crate::support::local_server::LocalServer;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::ProviderServer;

fn with_servers(servers: &[&LocalServer]) -> Conclave {
    let addresses: Vec<String> = servers.iter().map(|server| server.authority()).collect();
    Conclave::new().variable("CONCLAVE_LOCAL_SERVERS", addresses.join(","))
}

#[test]
fn run_without_keys_uses_a_local_server_and_names_it() {
    let behind = ProviderServer::start();
    let server = LocalServer::llama_cpp("m-7b", 7_615_616_512, 8_192).before(&behind);
    let conclave = with_servers(&[&server]);
    let output = conclave
        .run(&["consult", "Shall we?", "--format", "json"])
        .ends_with(0);
    output.assert_stderr_contains(&format!(
        "Using m-7b on llama.cpp server at {}\n",
        server.authority()
    ));
    assert_eq!(output.json()["status"], "complete", "{}", output.stdout);
    assert_eq!(output.json()["cost"]["usd"], 0.0, "{}", output.stdout);
    let requests = model_requests(&behind);
    assert_eq!(requests.len(), 9);
    // The prompt gets half of the server's context.
    assert!(
        requests
            .iter()
            .all(|request| request.model == "m-7b" && request.recorded.body["max_tokens"] == 4_096),
        "{requests:?}"
    );
    assert!(
        requests
            .iter()
            .all(|request| !request.recorded.headers.contains_key("authorization"))
    );
}

#[test]
fn record_has_the_versions_of_short_prompts_if_they_were_used() {
    let behind = ProviderServer::start();
    let server = LocalServer::llama_cpp("m", 1_500_000_000, 131_072).before(&behind);
    let conclave = with_servers(&[&server]);
    let folder = conclave.home().join("prompts/converge/small");
    std::fs::create_dir_all(&folder).unwrap();
    let builtin = include_str!("../../../../../prompts/converge/small/independent.md");
    let edited = builtin.replace("version: v1.0", "version: v1.0-mine");
    std::fs::write(folder.join("independent.md"), edited).unwrap();
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let versions = conclave.record()["prompt_versions"].clone();
    assert_eq!(versions["converge_independent_v"], "v1.0-mine");
    assert_eq!(versions["independent_prompt_version"], "v1.0-mine");
    assert_eq!(versions["converge_synthesis_v"], "v1.1");
}

#[test]
fn local_servers_are_not_probed_without_need() {
    let (vendors, server) = (
        ProviderServer::start(),
        LocalServer::llama_cpp("m", 8_000_000_000, 32_768),
    );
    let conclave = Conclave::at(&vendors).variable("CONCLAVE_LOCAL_SERVERS", server.authority());
    conclave.run(&["consult", "-n", "Shall we?"]).ends_with(0);
    conclave
        .run(&["consult", "-n", "--model", "gpt-6.1-sol", "Shall we?"])
        .ends_with(0);
    with_servers(&[&server])
        .run(&["consult", "--model", "gpt-6.1-sol", "Shall we?"])
        .ends_with(2);
    assert_eq!(server.get_requests().len(), 0);
}

#[test]
fn loading_server_is_reported_with_its_address() {
    let server = LocalServer::start().calls_itself("llama.cpp").get(
        "/health",
        503,
        r#"{"error":{"message":"Loading model"}}"#,
    );
    let output = with_servers(&[&server])
        .run(&["consult", "--model", "llamacpp:m", "Shall we?"])
        .ends_with(2);
    let at = server.authority();
    assert_eq!(
        output.stderr,
        format!(
            "error: the llama.cpp server at {at} is still loading its model\nhint: try again in a moment\n"
        )
    );
}

#[test]
fn missing_server_is_reported_with_the_probed_addresses() {
    let output = Conclave::new()
        .variable("CONCLAVE_LOCAL_SERVERS", "127.0.0.1:9")
        .run(&["consult", "--model", "vllm:m", "q"])
        .ends_with(2);
    assert!(
        output.stderr.starts_with(
            "error: no vLLM answers at 127.0.0.1:9\nhint: start it, or give its address with `conclave config set endpoints.vllm.base_url URL"
        ),
        "{}",
        output.stderr
    );
    let output = Conclave::new()
        .variable("CONCLAVE_LOCAL_SERVERS", "ftp://x")
        .run(&["consult", "q"])
        .ends_with(2);
    output.assert_stderr_contains(
        "`local_servers` in `CONCLAVE_LOCAL_SERVERS` must begin with http:// or https://",
    );
}

#[test]
fn found_server_receives_no_key_unless_its_address_is_named() {
    let behind = ProviderServer::start();
    let server = LocalServer::llama_cpp("m-7b", 7_615_616_512, 8_192).before(&behind);
    let key_sent = |conclave: Conclave| {
        let before = model_requests(&behind).len();
        conclave
            .variable("LLAMA_API_KEY", "test-key-llama")
            .run(&[
                "consult",
                "-n",
                "--yes",
                "--model",
                "llamacpp:m-7b",
                "Shall we?",
            ])
            .ends_with(0);
        let requests = model_requests(&behind);
        let headers = &requests[before].recorded.headers;
        headers.get("authorization").cloned()
    };
    assert_eq!(key_sent(with_servers(&[&server])), None);
    let only_the_key = r#"{"endpoints": {"llamacpp": {"api_key_env": "LLAMA_API_KEY"}}}"#;
    assert_eq!(
        key_sent(with_servers(&[&server]).config(only_the_key)),
        None
    );
    let named = format!(
        r#"{{"endpoints": {{"llamacpp": {{"base_url": "{}", "api_key_env": "LLAMA_API_KEY"}}}}}}"#,
        server.url()
    );
    assert_eq!(
        key_sent(Conclave::new().config(&named)).as_deref(),
        Some("Bearer test-key-llama")
    );
}
