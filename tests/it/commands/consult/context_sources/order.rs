//! All kinds of source in one run.

use serde_json::json;

use super::{setup, write};

#[test]
fn every_round_sends_project_stdin_and_files_in_this_order() {
    let (server, conclave) = setup();
    write(
        &conclave,
        &[
            ("web/Cargo.toml", b"[package]\nname = \"web\"\n"),
            ("web/README.md", b"# Web\n\nSells lamps.\n"),
            ("b.md", b"All about ferries.\n"),
            ("a.rs", b"fn lamp() {}\n"),
        ],
    );
    let arguments = [
        "consult",
        "--context",
        "b.md,a.rs",
        "--project",
        "web",
        "Which router?",
    ];
    conclave
        .run_with(&arguments, "thread panicked\n")
        .ends_with(0);

    let record = conclave.record();
    assert_eq!(record["completed_rounds"], json!([1, 2, 3, 4]));
    let sources = record["context"]["sources"].as_array().unwrap();
    let names: Vec<&str> = sources
        .iter()
        .map(|source| source["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["web", "stdin", "b.md", "a.rs"]);

    let requests = server.requests();
    assert!(requests.len() >= 9, "{}", requests.len());
    let parts = [
        r"### Project Context\n\n",
        "Sells lamps.",
        r"### Stdin Input\n\nthread panicked\n\n",
        r"### File: b.md\n\nAll about ferries.\n\n",
        r"### File: a.rs\n\nfn lamp() {}\n",
        "Which router?",
    ];
    for request in requests {
        let body = request.body.to_string();
        let place = |part: &str| body.find(part).unwrap_or_else(|| panic!("{part}: {body}"));
        assert!(parts.map(place).is_sorted(), "{body}");
        for (heading, times) in [
            ("### Project Context", 1),
            ("### Stdin Input", 1),
            ("### File: ", 2),
        ] {
            assert_eq!(body.matches(heading).count(), times, "{heading}: {body}");
        }
    }
}
