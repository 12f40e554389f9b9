//! What is refused before anything is asked.

use super::{Desk, SIX};
use crate::support::binary::Conclave;

#[test]
fn document_that_cannot_be_refined_is_refused_with_the_reason() {
    let desk = Desk::with(SIX);
    desk.write("empty.md", "\n");
    std::fs::write(desk.path("latin.md"), b"caf\xe9").unwrap();
    let headings = "# A\n\n## Open Questions\n\n### How are they signed?\n\nDetails.\n";
    desk.write("headings.md", headings);
    desk.write("broken.md", &format!("---\nconvergence: [\n---\n{SIX}"));
    let no_entries = "the sections of `headings.md` have no list entries";
    for (path, problem) in [
        ("missing.md", "there is no document `missing.md`"),
        (".", "cannot read `.`"),
        ("empty.md", "the document `empty.md` is empty"),
        ("latin.md", "cannot read `latin.md`"),
        ("headings.md", no_entries),
        ("broken.md", "cannot read `broken.md`"),
        ("broken.md", "front matter"),
    ] {
        let output = desk.conclave.run(&["refine", path, "--yes"]).ends_with(2);
        output.assert_stderr_contains(problem);
    }
    assert_eq!(desk.requests(), 0);
}

#[test]
fn thresholds_that_cannot_be_reached_name_their_flags() {
    let desk = Desk::with(SIX);
    for (flags, named) in [
        (["--min-iterations", "6"], "--min-iterations"),
        (["--max-iterations", "0"], "--max-iterations"),
        (["--stable", "5"], "--stable"),
        (["--ratio", "1"], "--ratio"),
    ] {
        let output = desk.run(&flags).ends_with(2);
        output.assert_stderr_contains(named);
    }
    assert_eq!(desk.requests(), 0);
}

#[test]
fn flags_that_exclude_each_other_are_refused() {
    let desk = Desk::with(SIX);
    for flags in [
        ["--in-place", "--output=x.md"],
        ["--dry-run", "--diff"],
        ["--json", "--diff"],
        ["--format=json", "--diff"],
        ["--strict-seed", "--stable-by=set"],
        ["--batch=0", "--jobs=1"],
    ] {
        desk.run(&flags).ends_with(2);
    }
}

#[test]
fn cost_without_a_terminal_needs_consent() {
    let desk = Desk::with(SIX);
    let output = desk
        .conclave
        .run(&["refine", "SPEC.md", "--batch", "1"])
        .ends_with(3);
    output.assert_stderr_contains("agree to it with `--yes`");
    assert_eq!(desk.requests(), 0);
    assert!(!desk.path("SPEC.refine").exists());
}

#[test]
fn missing_keys_are_named_with_a_hint() {
    let conclave = Conclave::new();
    std::fs::write(conclave.folder().join("SPEC.md"), SIX).unwrap();
    let model = ["refine", "SPEC.md", "--yes", "-m", "claude-opus-5-5"];
    let output = conclave.run(&model).ends_with(2);
    output.assert_stderr_contains("ANTHROPIC_API_KEY");
    assert!(!conclave.folder().join("SPEC.refine").exists());
}
