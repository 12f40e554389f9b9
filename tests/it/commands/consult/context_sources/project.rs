//! `--project` and `--greenfield`, from the command line to prompts and record.

use std::fs;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::ProviderServer;

const BROWNFIELD: &str = "🏗️ Brownfield project detected. Biasing toward existing patterns.";
const GREENFIELD: &str = "🆕 Greenfield project. Recommendations based on current best practices.";
const IGNORED: &str = "🔧 Ignoring existing patterns (--greenfield mode)";

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
            assert!(body.contains(part), "{part}: {body}");
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
fn dry_run_shows_the_project_as_the_record_would() {
    let (server, conclave) = setup();
    let shown = ask(&conclave, &["--dry-run", "--json"]).json();
    assert_eq!(shown["project_context"]["project_type"], "brownfield");
    assert_eq!(shown["project_context"]["framework_detected"], "nextjs");
    assert!(server.requests().is_empty());
}

#[test]
fn greenfield_flag_overrides_what_is_detected() {
    let (server, conclave) = setup();
    let output = ask(&conclave, &["--greenfield", "--rounds", "1"]);
    output.assert_stderr_contains(IGNORED);
    assert!(!output.stderr.contains(BROWNFIELD), "{}", output.stderr);
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("This is a greenfield project"), "{body}");
    let context = &conclave.record()["project_context"];
    assert_eq!(context["project_type"], "greenfield");
    assert_eq!(context["framework_detected"], "nextjs");
    assert_eq!(context["bias_applied"], false);
}

#[test]
fn greenfield_flag_works_without_a_project() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave
        .run(&["consult", "--greenfield", "Which router?"])
        .ends_with(0);
    output.assert_stderr_contains(IGNORED);
    for request in &server.requests() {
        let body = request.body.to_string();
        assert!(body.contains("This is a greenfield project"), "{body}");
    }
}

#[test]
fn new_project_gets_best_practices() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    fs::write(conclave.folder().join("README.md"), "# New\n").unwrap();
    let output = conclave
        .run(&["consult", "--rounds", "1", "Which router?", "--project"])
        .ends_with(0);
    output.assert_stderr_contains(GREENFIELD);
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("This is a greenfield project"), "{body}");
}

#[test]
fn quiet_run_does_not_announce_the_project() {
    let (_server, conclave) = setup();
    let output = ask(&conclave, &["--quiet", "--rounds", "1"]);
    assert!(!output.stderr.contains(BROWNFIELD), "{}", output.stderr);
}

/// Runs and expects an error of usage before anything is sent.
fn refused(arguments: &[&str]) -> String {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    fs::write(conclave.folder().join("notes.txt"), "").unwrap();
    let output = conclave.run(arguments).ends_with(2);
    assert_eq!(output.stdout, "");
    assert!(server.requests().is_empty());
    output.stderr
}

#[test]
fn missing_project_folder_is_refused() {
    let stderr = refused(&["consult", "--project", "nowhere", "Which router?"]);
    assert!(
        stderr.contains("error: project folder not found: `nowhere`"),
        "{stderr}"
    );
    assert!(stderr.contains("--project . "), "{stderr}");
}

#[test]
fn file_in_the_place_of_a_project_folder_is_refused() {
    let stderr = refused(&["consult", "--project", "notes.txt", "Which router?"]);
    assert!(
        stderr.contains("error: `notes.txt` is not a folder"),
        "{stderr}"
    );
}

#[test]
fn question_that_project_takes_for_its_folder_is_named() {
    let stderr = refused(&["consult", "--project", "Which router?"]);
    let error = "error: `Which router?` was taken as the folder of `--project`";
    assert!(stderr.contains(error), "{stderr}");
    assert!(stderr.contains("hint: name the folder first"), "{stderr}");
}

#[test]
fn budget_of_the_description_has_bounds_and_needs_a_project() {
    let stderr = refused(&[
        "consult",
        "--project",
        ".",
        "--project-tokens",
        "10",
        "Which?",
    ]);
    assert!(stderr.contains("--project-tokens"), "{stderr}");
    let stderr = refused(&["consult", "--project-tokens", "1000", "Which?"]);
    assert!(stderr.contains("--project"), "{stderr}");
}
