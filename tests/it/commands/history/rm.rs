//! `conclave history rm`: deletions, their consent, and what an interrupted one leaves.

use std::fs::File;

use crate::support::binary::Conclave;
use crate::support::pty::{Output, Terminal};
use crate::support::question_screens::at_every_width;
use crate::support::sample_events;
use crate::support::saved::{complete_consultation, consultation_with, log_folder};

use super::{MIDDLE, NEWEST, OLDEST, ids, three};

/// Returns the extensions of the files of a consultation.
fn files(conclave: &Conclave, id: &str) -> Vec<String> {
    let names = std::fs::read_dir(log_folder(conclave))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut endings: Vec<String> = names
        .filter_map(|name| Some(name.strip_prefix(&format!("consult-{id}."))?.to_owned()))
        .collect();
    endings.sort();
    endings
}

fn listed(conclave: &Conclave) -> Vec<String> {
    let json = conclave
        .run(&["history", "--all", "--json"])
        .ends_with(0)
        .json();
    ids(&json)
}

#[test]
fn rm_deletes_every_file_of_one_consultation_only() {
    let conclave = three();
    conclave
        .run(&["history", "outcome", OLDEST, "right"])
        .ends_with(0);
    assert_eq!(
        files(&conclave, OLDEST),
        ["json", "jsonl", "md", "outcome.json"]
    );
    let ran = conclave
        .run(&["history", "rm", OLDEST, OLDEST, "--yes"])
        .ends_with(0);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.starts_with("Deleted 1 consultation (4 files, ")
            && ran.stderr.ends_with(" KB)\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(files(&conclave, OLDEST), [""; 0]);
    assert_eq!(listed(&conclave), [NEWEST.to_owned(), MIDDLE.to_owned()]);
    conclave
        .run(&["consult-stats", "--rebuild-index"])
        .ends_with(0);
    assert_eq!(
        listed(&conclave),
        [NEWEST, MIDDLE],
        "a rebuild does not restore it"
    );
    assert_eq!(
        conclave
            .run(&["history", "--search", "jwt", "--json"])
            .ends_with(0)
            .json()["total"],
        0
    );
    assert_eq!(files(&conclave, MIDDLE).len(), 3);
    assert_eq!(files(&conclave, NEWEST).len(), 1);
}

#[test]
fn rm_without_a_terminal_needs_advance_consent() {
    let conclave = three();
    let stderr = conclave
        .run(&["history", "rm", MIDDLE, OLDEST])
        .ends_with(2)
        .stderr;
    assert_eq!(
        stderr,
        "error: cannot ask whether to delete 2 consultations: there is no terminal\nhint: agree with `--yes`\n"
    );
    assert_eq!(listed(&conclave).len(), 3);
    conclave
        .run(&["history", "rm", OLDEST, "nonsense", "--yes"])
        .ends_with(2);
    assert_eq!(
        listed(&conclave).len(),
        3,
        "an unknown name deletes nothing"
    );
    for wrong in [
        &[] as &[&str],
        &["x", "--older-than", "1d"],
        &["--older-than", "1y"],
        &["x", "--state", "aborted"],
    ] {
        conclave
            .run(&[&["history", "rm"], wrong].concat())
            .ends_with(2);
    }
    let stderr = conclave
        .run(&["history", "rm", "--older-than", "6m"])
        .ends_with(2)
        .stderr;
    assert!(
        stderr.contains("must be days, weeks or hours: 90d, 12w, 36h"),
        "{stderr}"
    );
}

#[test]
fn old_consultations_are_deleted_together() {
    let conclave = three();
    let now = jiff::Timestamp::now().to_string();
    complete_consultation("01zzz0zzzzzzzzzzzzzzzzzzzz", &now, "Now?").save(&conclave);
    consultation_with(
        sample_events::aborted(),
        "01kf00zzzzzzzzzzzzzzzzzzzz",
        "2025-12-01T10:00:00Z",
        "Then?",
    )
    .save(&conclave);
    conclave
        .run(&["consult-stats", "--rebuild-index"])
        .ends_with(0);
    assert_eq!(listed(&conclave).len(), 5);
    let ran = conclave
        .run(&[
            "history",
            "rm",
            "--older-than",
            "2w",
            "--state",
            "aborted",
            "-y",
        ])
        .ends_with(0);
    assert!(
        ran.stderr.starts_with("Deleted 2 consultations (6 files, "),
        "{}",
        ran.stderr
    );
    assert_eq!(
        listed(&conclave),
        ["01zzz0zzzzzzzzzzzzzzzzzzzz", NEWEST, OLDEST]
    );
    conclave
        .run(&["history", "rm", "--older-than", "36h", "-y"])
        .ends_with(0);
    assert_eq!(listed(&conclave), ["01zzz0zzzzzzzzzzzzzzzzzzzz"]);
    let ran = conclave
        .run(&["history", "rm", "--older-than", "1h"])
        .ends_with(0);
    assert_eq!(
        ran.stderr,
        "No consultation is that old; nothing was deleted\n"
    );
}

#[test]
fn undeletable_file_does_not_stop_the_other_deletions() {
    let conclave = three();
    let markdown = log_folder(&conclave).join(format!("consult-{MIDDLE}.md"));
    std::fs::remove_file(&markdown).unwrap();
    std::fs::create_dir(&markdown).unwrap();
    let journal =
        File::open(log_folder(&conclave).join(format!("consult-{NEWEST}.jsonl"))).unwrap();
    journal.lock().unwrap();
    let ran = conclave
        .run(&["history", "rm", NEWEST, MIDDLE, OLDEST, "-y"])
        .ends_with(1);
    assert!(
        ran.stderr.starts_with("Deleted 1 consultation (3 files, "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains(&format!(
            "\nconsult-{NEWEST} was not deleted: another process is writing to it\n"
        )),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains(&format!(
            "\nconsult-{MIDDLE} was not deleted: cannot delete `{}`: ",
            markdown.display()
        )),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .ends_with("error: 2 of 3 consultations were not deleted\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(listed(&conclave), [NEWEST.to_owned(), MIDDLE.to_owned()]);
    assert_eq!(files(&conclave, MIDDLE).len(), 3);
    drop(journal);
    std::fs::remove_dir(&markdown).unwrap();
    conclave.run(&["history", "rm", "last", "-y"]).ends_with(0);
    conclave.run(&["history", "rm", "last", "-y"]).ends_with(0);
    assert_eq!(listed(&conclave), [""; 0]);
}

#[test]
fn next_deletion_finishes_a_killed_one() {
    // The deletion was killed after each of the four files.
    for deleted in 1..=4 {
        let conclave = three();
        conclave
            .run(&["history", "outcome", OLDEST, "right"])
            .ends_with(0);
        for ending in ["md", "outcome.json", "json", "jsonl"].iter().take(deleted) {
            std::fs::remove_file(log_folder(&conclave).join(format!("consult-{OLDEST}.{ending}")))
                .unwrap();
        }
        if deleted == 3 {
            // The index is rebuilt before the next deletion.
            conclave
                .run(&["consult-stats", "--rebuild-index"])
                .ends_with(0);
        }
        assert!(listed(&conclave).contains(&OLDEST.to_owned()), "{deleted}");
        conclave.run(&["history", "rm", OLDEST, "-y"]).ends_with(0);
        assert_eq!(files(&conclave, OLDEST), [""; 0], "{deleted}");
        assert_eq!(listed(&conclave).len(), 2, "{deleted}");
    }
}

#[test]
fn unusable_index_does_not_prevent_deletion() {
    let conclave = three();
    std::fs::write(conclave.home().join("consult-analytics.db"), "no database").unwrap();
    conclave.run(&["history", "rm", OLDEST, "-y"]).ends_with(0);
    assert_eq!(files(&conclave, OLDEST), [""; 0]);
    assert_eq!(listed(&conclave).len(), 2);
}

/// Returns a terminal that asks whether to delete two consultations.
fn deletion_prompt() -> (Conclave, Terminal) {
    let conclave = three().variable("TERM", "xterm-256color");
    let terminal = Terminal::start(
        &conclave,
        70,
        Output::Pipe,
        &["history", "rm", MIDDLE, OLDEST],
    );
    terminal.wait_for(
        "Delete 2 consultations (2026-01-05 to 2026-01-06)? [y/N] ",
        1,
    );
    (conclave, terminal)
}

#[test]
fn yes_on_the_terminal_deletes() {
    let (conclave, mut terminal) = deletion_prompt();
    terminal.type_in("m");
    terminal.wait_for(
        "Press one of these keys: y = yes, n = no (Enter: n, Esc: n)",
        1,
    );
    terminal.type_in("y");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    assert!(
        screen.text().contains("Deleted 2 consultations (6 files, "),
        "{}",
        screen.text()
    );
    assert!(
        screen
            .text()
            .contains("01kfa1aa  2026-01-05  Should I use OAuth or JWT?\n"),
        "{}",
        screen.text()
    );
    assert_eq!(screen.too_wide(70), [""; 0]);
    assert_eq!(listed(&conclave), [NEWEST]);
}

#[test]
fn any_other_answer_deletes_nothing() {
    for (typed, code) in [
        ("\n", Some(3)),
        ("n", Some(3)),
        ("\x1b", Some(3)),
        ("\x04", Some(3)),
        ("\x03", Some(130)),
    ] {
        let (conclave, mut terminal) = deletion_prompt();
        terminal.type_in(typed);
        let (ran, screen) = terminal.end();
        assert_eq!(ran.code, code, "{typed:?}: {}", screen.text());
        assert!(
            code == Some(130) || screen.text().contains("error: nothing was deleted\n"),
            "{typed:?}: {}",
            screen.text()
        );
        assert_eq!(listed(&conclave).len(), 3, "{typed:?}");
    }
}

#[test]
fn the_question_fits_every_width() {
    let shown = at_every_width("01k", |columns, paint| {
        let conclave = paint.apply(three());
        let arguments = ["history", "rm", MIDDLE, OLDEST];
        let terminal = Terminal::start(&conclave, columns, Output::Pipe, &arguments);
        (conclave, terminal)
    });
    insta::assert_snapshot!(shown);
}
