//! Secrets in the document: what stands beside it and what is shown has masks in their place; the
//! document itself, which is edited, has them still.

use std::fs;

use super::{Refinement, position};
use crate::support::provider_server::On;

/// Random letters and digits.
const BODY: &str = "q8Zr2LmX9vBn4TkW7pYsq8Zr2LmX9vBn4TkW";

/// One iteration.
const ONCE: [&str; 4] = ["--min-iterations", "1", "--max-iterations", "1"];

/// Sets up a document whose claim and question have a token, which is known by its form, and whose
/// other question has a password, which is known by its name.
fn refinement() -> (Refinement, [String; 2]) {
    let secrets = [format!("ghp_{BODY}"), "Winter2024!x".to_owned()];
    let refinement = Refinement::of(2);
    let text = refinement.document();
    let text = text.replace("It is a service.", &format!("It uses {}.", secrets[0]));
    let text = text.replace("in k01", &format!("in k01 for {}", secrets[0]));
    let text = text.replace("in k02", &format!("in k02 with password: {}", secrets[1]));
    refinement.write(&text);
    for number in [1, 2] {
        let asked = On::containing(&format!("Q1: Which way is right in k0{number}"));
        let said = position("Q1 ANSWERED: The short way.");
        refinement.server.on(asked, said);
    }
    (refinement, secrets)
}

fn assert_masked(place: &str, text: &str, secrets: &[String; 2]) {
    for secret in secrets {
        assert!(!text.contains(secret), "{place} has {secret}: {text}");
    }
    assert!(text.contains("[REDACTED"), "{place} has no mask: {text}");
}

#[test]
fn secrets_of_the_document_stay_in_it_and_are_masked_beside_it() {
    let (refinement, secrets) = refinement();
    let dry_run = refinement.run(&["--dry-run"]).ends_with(0);
    assert_masked("the dry run", &dry_run.stdout, &secrets);
    refinement.run(&ONCE).ends_with(0);
    let document = refinement.document();
    assert_eq!(document.matches(&secrets[0]).count(), 2, "{document}");
    assert!(document.contains(&secrets[1]), "{document}");
    assert!(!document.contains("[REDACTED"), "{document}");
    assert_eq!(document.matches("Answer: The short way.").count(), 2);
    for name in ["changes.md", "log.jsonl"] {
        let text = fs::read_to_string(refinement.folder().join(name)).unwrap();
        assert_masked(name, &text, &secrets);
    }
    let diff = refinement.conclave.run(&["refine", "SPEC.md", "--diff"]);
    assert_masked("the diff", &diff.ends_with(0).stdout, &secrets);
    let check = refinement.conclave.run(&["refine", "check", "SPEC.md"]);
    check.ends_with(0);
}

#[test]
fn loop_over_secrets_resumes_after_a_kill_and_asks_nothing_again() {
    let (refinement, secrets) = refinement();
    let before = refinement.document();
    refinement.run(&ONCE).ends_with(0);
    let after = refinement.document();
    // As a kill before the merge leaves it.
    refinement.cut_log_after("batch_finished");
    refinement.write(&before);
    refinement.run(&ONCE).ends_with(0);
    assert_eq!(refinement.document(), after);
    assert_eq!(refinement.server.requests().len(), 2);
    assert!(after.contains(&secrets[1]), "{after}");
}

#[test]
fn links_of_answers_that_run_something_are_text() {
    let refinement = Refinement::of(2);
    let answer = |number: u8, link: &str| {
        let asked = On::containing(&format!("Q1: Which way is right in k0{number}"));
        let said = format!("Q1 ANSWERED: See [this]({link}).");
        refinement.server.on(asked, position(&said));
    };
    answer(1, "javascript:alert(1)");
    answer(2, "https://example.org/a");
    refinement.run(&ONCE).ends_with(0);
    let document = refinement.document();
    let expected = "See \\[this](javascript:alert(1))";
    assert!(document.contains(expected), "{document}");
    let expected = "See [this](https://example.org/a)";
    assert!(document.contains(expected), "{document}");
    let changes = fs::read_to_string(refinement.folder().join("changes.md")).unwrap();
    for line in changes.lines().filter(|line| line.contains("javascript:")) {
        assert!(!line.contains("[this](") || line.contains("\\["), "{line}");
    }
}
