//! `--project` and `--greenfield`, from the command line to prompts and record.

use std::fs;

use serde_json::Value;

use crate::commands::consult::assert_contains;
use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::ProviderServer;

const BROWNFIELD: &str = "🏗️ Brownfield project detected. Biasing toward existing patterns.";

/// Starts a server, and writes a small project in Next.js to `web`.
fn setup() -> (ProviderServer, Conclave) {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let files = [
        (
            "web/package.json",
            r#"{"dependencies": {"next": "^14.0.0", "zustand": "^4.0.0"}}"#,
        ),
        ("web/tsconfig.json", "{}"),
        ("web/README.md", "# Web\n\nSells lamps.\n"),
        ("web/app/page.tsx", "export {};\n"),
    ];
    for (path, text) in files {
        let path = conclave.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (server, conclave)
}

/// Asks about the project with these flags.
fn ask(conclave: &Conclave, flags: &[&str]) -> RunOutput {
    let arguments = ["consult", "--project", "web", "Which router?"];
    conclave.run(&[&arguments[..], flags].concat()).ends_with(0)
}

#[test]
fn existing_project_is_in_every_prompt_and_in_the_record() {
    let (server, conclave) = setup();
    let output = ask(&conclave, &[]);
    output.assert_stderr_contains(BROWNFIELD);
    assert!(!output.stdout.contains(BROWNFIELD), "{}", output.stdout);
    let requests = server.requests();
    assert!(requests.len() > 4, "{}", requests.len());
    for request in &requests {
        let body = request.body.to_string();
        for part in [
            "This is a brownfield project with existing patterns",
            "Framework: Next.js 14 App Router",
            "State Management: Zustand 4",
            "Respect existing tech stack choices unless critically flawed",
            "### Project Context",
            "Sells lamps.",
        ] {
            assert_contains(&body, part);
        }
    }
    let context = &conclave.record()["project_context"];
    assert_eq!(context["project_type"], "brownfield");
    assert_eq!(context["framework_detected"], "nextjs");
    assert_eq!(context["framework_version"], "14");
    assert_eq!(context["architecture_pattern"], "app_router");
    assert_eq!(context["tech_stack"]["state_management"], "zustand");
    assert_eq!(context["documentation_used"][0], "README.md");
    assert_eq!(context["bias_applied"], true);
}

#[test]
fn greenfield_flag_overrides_what_is_detected() {
    let (_server, conclave) = setup();
    let output = ask(
        &conclave,
        &["--greenfield", "--dry-run", "--format", "both"],
    );
    let (text, json) = output.stdout.split_once("\n---\n").unwrap();
    assert_contains(text, "This is a greenfield project");
    let json: Value = serde_json::from_str(json).unwrap();
    let context = &json["project_context"];
    assert_eq!(context["project_type"], "greenfield");
    assert_eq!(context["framework_detected"], "nextjs");
    assert_eq!(context["bias_applied"], false);
    let output = ask(&conclave, &["--greenfield", "--rounds", "1"]);
    output.assert_stderr_contains("🔧 Ignoring existing patterns (--greenfield mode)");
    assert!(!output.stderr.contains(BROWNFIELD), "{}", output.stderr);
    let output = ask(&conclave, &["-n", "--quiet", "--rounds", "1"]);
    assert!(!output.stderr.contains(BROWNFIELD), "{}", output.stderr);
}

#[test]
fn new_project_and_the_flag_alone_get_best_practices() {
    let greenfield = "🆕 Greenfield project. Recommendations based on current best practices.";
    let ignored = "🔧 Ignoring existing patterns (--greenfield mode)";
    for (flag, words) in [("--project", greenfield), ("--greenfield", ignored)] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        fs::write(conclave.folder().join("README.md"), "# New\n").unwrap();
        let output = conclave.run(&["consult", "Which router?", flag]);
        output.ends_with(0).assert_stderr_contains(words);
        assert_eq!(server.requests().len(), 9);
        for request in &server.requests() {
            let body = request.body.to_string();
            assert_contains(&body, "This is a greenfield project");
        }
    }
}

#[test]
fn unusable_projects_are_refused_with_what_to_do() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    fs::write(conclave.folder().join("notes.txt"), "").unwrap();
    for (flags, words) in [
        (
            &["--project", "nowhere", "Which?"][..],
            ["error: project folder not found: `nowhere`", "--project . "],
        ),
        (
            &["--project", "notes.txt", "Which?"],
            ["error: `notes.txt` is not a folder", ""],
        ),
        (
            &["--project", "Which router?"],
            [
                "error: `Which router?` was taken as the folder of `--project`",
                "hint: name the folder first",
            ],
        ),
        (
            &["--project", ".", "--project-tokens", "10", "Which?"],
            ["--project-tokens", ""],
        ),
        (&["--project-tokens", "1000", "Which?"], ["--project", ""]),
    ] {
        let output = conclave.run(&[&["consult"], flags].concat()).ends_with(2);
        assert_eq!(output.stdout, "");
        for words in words {
            output.assert_stderr_contains(words);
        }
    }
    assert!(server.requests().is_empty());
}
