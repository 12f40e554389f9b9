//! `refine check` and `--dry-run`: they send nothing, and need no key.

use super::{Desk, ONE_ANSWER, SIX};
use crate::support::binary::Conclave;
use crate::support::pty::{Output, Terminal};
use crate::support::schema;

#[test]
fn check_tells_whether_the_document_has_converged() {
    let desk = Desk::with(SIX).finds(ONE_ANSWER);
    let before = desk
        .conclave
        .run(&["refine", "check", "SPEC.md"])
        .ends_with(1);
    let stdout = &before.stdout;
    assert!(stdout.starts_with("SPEC.md: The document has "), "{stdout}");
    desk.run(&["--in-place"]).ends_with(0);
    let converged = desk
        .conclave
        .run(&["refine", "check", "SPEC.md"])
        .ends_with(0);
    assert!(
        converged
            .stdout
            .starts_with("SPEC.md: The document has converged after"),
        "{}",
        converged.stdout
    );
    let text = desk.read("SPEC.md");
    desk.write("SPEC.md", &(text + "- Is there one more question?\n"));
    let edited = desk
        .conclave
        .run(&["refine", "check", "SPEC.md"])
        .ends_with(1);
    let stdout = &edited.stdout;
    assert!(stdout.starts_with("SPEC.md: The document has "), "{stdout}");
}

#[test]
fn check_of_what_cannot_be_read_is_an_error() {
    let conclave = Conclave::new();
    let missing = conclave
        .run(&["refine", "check", "missing.md"])
        .ends_with(2);
    missing.assert_stderr_contains("missing.md");
}

#[test]
fn dry_run_sends_and_writes_nothing() {
    let desk = Desk::with(SIX);
    let dry_run = ["refine", "SPEC.md", "--dry-run", "--batch", "4"];
    let output = desk.conclave.run(&dry_run).ends_with(0);
    let text = &output.stdout;
    assert!(text.contains("6 open questions"), "{text}");
    assert!(text.contains("Where are idempotency keys kept?"), "{text}");
    assert!(text.contains("- Consultation 1\n  - "), "{text}");
    assert!(text.contains("- Consultation 2\n  - "), "{text}");
    assert!(text.contains("In all"), "{text}");
    assert!(text.contains("SPEC.refined.md"), "{text}");
    assert_eq!(desk.requests(), 0);
    assert!(!desk.path("SPEC.refine").exists());
    assert!(!desk.path("SPEC.refined.md").exists());
}

#[test]
fn dry_run_names_lists_of_questions_that_are_not_read() {
    let desk = Desk::with(&format!(
        "{SIX}\n## Discussion\n\n- Who pays?\n- Who signs?\n"
    ));
    let dry_run = ["refine", "SPEC.md", "--dry-run"];
    let output = desk.conclave.run(&dry_run).ends_with(0);
    let warning = "\"Discussion\" has 2 questions that are not read: call it `Open Questions`";
    output.assert_stderr_contains(warning);
}

#[test]
fn json_follows_its_schemas_and_warns_of_questions_in_paragraphs() {
    let document = SIX.replace(
        "## Open Questions\n",
        "## Open Questions\n\nWho audits it?\n",
    );
    let desk = Desk::with(&document);
    let warning = "Warning: SPEC.md:15: this paragraph is no list entry";
    let warned = |arguments: &[&str], schema: &str| {
        let output = desk.conclave.run(arguments);
        output.assert_stderr_contains(warning);
        let json = output.json();
        schema::check(schema, &json);
        assert_eq!(json["warnings"][0]["line"], 15);
        assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
        json
    };
    let check = ["refine", "check", "SPEC.md", "--json"];
    let schema = include_str!("../../../../../schemas/refine_check.schema.json");
    assert_eq!(warned(&check, schema)["converged"], false);
    let dry_run = ["refine", "SPEC.md", "--dry-run", "--json", "--batch", "20"];
    let schema = include_str!("../../../../../schemas/refine_dry_run.schema.json");
    let questions = &warned(&dry_run, schema)["consultations"][0]["questions"];
    assert_eq!(questions.as_array().unwrap().len(), 6);
    let run = desk.run(&["--max-iterations", "1", "--min-iterations", "1"]);
    run.assert_stderr_contains(warning);
    assert_eq!(run.stderr.matches("Warning: ").count(), 1, "{}", run.stderr);
    let listed = Desk::with(SIX).conclave.run(&check);
    assert!(!listed.stderr.contains("arning"), "{}", listed.stderr);
}

#[test]
fn dry_run_fits_80_columns_and_cuts_no_word() {
    const LONG: &str = "Where are idempotency keys kept, and for how long do they have to stay there \
                        before anybody may delete them without asking the accounting department?";
    let document = SIX.replace("Where are idempotency keys kept?", LONG);
    let desk = Desk::with(&document.replace("Some words", LONG));
    let terminal = Terminal::start(
        &desk.conclave,
        80,
        Output::Terminal,
        &["refine", "SPEC.md", "--dry-run"],
    );
    let (output, transcript) = terminal.end();
    output.ends_with(0);
    assert_eq!(transcript.too_wide(80), Vec::<String>::new());
    let text = transcript.text();
    let words: Vec<&str> = text.split_whitespace().collect();
    for word in LONG.split(' ') {
        assert!(words.contains(&word), "{word}: {text}");
    }
}
