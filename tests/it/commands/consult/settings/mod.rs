//! The home and the environment of a consultation: prompts, catalogs, proxies, and earlier runs.

mod repository;

use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::ProviderServer;

#[test]
fn persona_file_in_a_folder_that_is_not_read_is_named_once() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config("{}");
    std::fs::create_dir(conclave.home().join("personas")).unwrap();
    let file = conclave.home().join("personas/otter.md");
    std::fs::write(&file, "You are an otter.").unwrap();
    let warning = format!(
        "Warning: {} is not read; personas are in `prompts/personas`\n",
        file.display()
    );
    let ran = conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert_eq!(ran.stderr.matches(&warning).count(), 1, "{}", ran.stderr);
}

#[test]
fn user_prompts_are_sent_and_change_the_recorded_hash() {
    let server = ProviderServer::start();
    let usual = Conclave::at(&server);
    usual.run(&["consult", "Shall we?"]).ends_with(0);
    let before = server.requests().len();

    let own = Conclave::at(&server).config("{}");
    let template = format!(
        "{}/prompts/converge/independent.md",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(template).unwrap() + "\nThink of the otters.\n";
    std::fs::create_dir_all(own.home().join("prompts/converge")).unwrap();
    std::fs::write(own.home().join("prompts/converge/independent.md"), text).unwrap();
    own.run(&["consult", "Shall we?"]).ends_with(0);
    for request in &model_requests(&server)[before..] {
        assert_eq!(
            request.prompt().contains("Think of the otters."),
            request.answer == "independent"
        );
    }
    let hash = |conclave: &Conclave| {
        conclave.record()["prompt_versions"]["templates"]["converge/independent"]["sha256"].clone()
    };
    assert!(hash(&usual).is_string());
    assert_ne!(hash(&usual), hash(&own));
}

#[test]
fn unusable_home_files_are_named_before_any_request() {
    let server = ProviderServer::start();
    for (file, text) in [
        (
            "prompts/converge/independent.md",
            "---\nversion: v9\n---\n{% if %}",
        ),
        ("prompts/converge/independent.md", "no front matter"),
        ("prompts/converge/nonsense.md", "---\nversion: v1\n---\n"),
        ("models.json", "{"),
        (
            "models.json",
            r#"{"schema_version": "1.0", "models": [{"provider": "openai"}]}"#,
        ),
    ] {
        let conclave = Conclave::at(&server).config("{}");
        let path = conclave.home().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let output = conclave.run(&["consult", "Shall we?"]).ends_with(2);
        assert!(output.stdout.is_empty(), "{text}: {}", output.stderr);
        assert!(
            output.stderr.contains(path.to_str().unwrap()),
            "{text}: {}",
            output.stderr
        );
    }
    assert!(server.requests().is_empty());
}

#[test]
fn proxies_are_not_used_for_this_machine() {
    let server = ProviderServer::start();
    let nowhere = "http://127.0.0.1:9";
    let conclave = [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ]
    .into_iter()
    .fold(Conclave::at(&server), |conclave, name| {
        conclave.variable(name, nowhere)
    });
    assert_eq!(
        conclave
            .run(&["consult", "Shall we?", "--format", "json"])
            .ends_with(0)
            .json()["status"],
        "complete"
    );
}

#[test]
fn missing_home_yields_a_hint() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server)
        .without("CONCLAVE_HOME")
        .without("HOME");
    let output = conclave.run(&["consult", "Shall we?"]).ends_with(2);
    assert_eq!(
        output.stderr,
        "error: no home directory: set `CONCLAVE_HOME`\n"
    );
}

#[test]
fn answer_lengths_are_learned_from_five_consultations() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let expected = || {
        let shown = conclave
            .run(&["consult", "--dry-run", "--format", "json", "Shall we?"])
            .ends_with(0)
            .json();
        let calls = shown["prompts"].as_array().unwrap().clone();
        calls
            .iter()
            .map(|call| call["output_tokens"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    for _ in 0..4 {
        conclave.run(&["consult", "Shall we?"]).ends_with(0);
    }
    assert_eq!(expected(), [2_000; 9]);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    assert_eq!(
        expected(),
        [20; 9],
        "the server reports 20 tokens for every answer"
    );
}
