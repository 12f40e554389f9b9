//! `conclave history rm`: deletions, their consent, and what an interrupted one leaves.

use std::fs::File;

use crate::commands::{json_of, refused, succeed};
use crate::support::binary::Conclave;
use crate::support::pty::{Output, Terminal};
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
    let json = json_of(conclave, &["history", "--all", "--json"]);
    ids(&json)
}

#[test]
fn rm_deletes_every_file_of_one_consultation_only() {
    let conclave = three();
    succeed(&conclave, &["history", "outcome", OLDEST, "right"]);
    let all = ["json", "jsonl", "md", "outcome.json"];
    assert_eq!(files(&conclave, OLDEST), all);
    let ran = succeed(&conclave, &["history", "rm", OLDEST, OLDEST, "--yes"]);
    assert_eq!(ran.stdout, "");
    let stderr = &ran.stderr;
    let deleted = "Deleted 1 consultation (4 files, ";
    assert!(stderr.starts_with(deleted), "{stderr}");
    assert!(stderr.ends_with(" KB)\n"), "{stderr}");
    assert_eq!(files(&conclave, OLDEST), [""; 0]);
    assert_eq!(listed(&conclave), [NEWEST, MIDDLE]);
    succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    assert_eq!(
        listed(&conclave),
        [NEWEST, MIDDLE],
        "a rebuild does not restore it"
    );
    let found = json_of(&conclave, &["history", "--search", "jwt", "--json"]);
    assert_eq!(found["total"], 0);
    assert_eq!(files(&conclave, MIDDLE).len(), 3);
    assert_eq!(files(&conclave, NEWEST).len(), 1);
}

#[test]
fn rm_without_a_terminal_needs_advance_consent() {
    let conclave = three();
    assert_eq!(
        refused(&conclave, &["history", "rm", MIDDLE, OLDEST]),
        "error: cannot ask whether to delete 2 consultations: there is no terminal\n\
         hint: agree with `--yes`\n"
    );
    for wrong in [
        // An unknown name deletes nothing.
        &[OLDEST, "nonsense", "--yes"] as &[&str],
        &[],
        &["x", "--older-than", "1d"],
        &["--older-than", "1y"],
        &["x", "--state", "aborted"],
    ] {
        refused(&conclave, &[&["history", "rm"], wrong].concat());
    }
    assert_eq!(listed(&conclave).len(), 3);
    let stderr = refused(&conclave, &["history", "rm", "--older-than", "6m"]);
    let form = "must be days, weeks or hours: 90d, 12w, 36h";
    assert!(stderr.contains(form), "{stderr}");
}

#[test]
fn old_consultations_are_deleted_together() {
    const TODAY: &str = "01zzz0zzzzzzzzzzzzzzzzzzzz";
    let conclave = three();
    let now = jiff::Timestamp::now().to_string();
    complete_consultation(TODAY, &now, "Now?").save(&conclave);
    let (aborted, at) = (sample_events::aborted(), "2025-12-01T10:00:00Z");
    consultation_with(aborted, "01kf00zzzzzzzzzzzzzzzzzzzz", at, "Then?").save(&conclave);
    succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    assert_eq!(listed(&conclave).len(), 5);
    let rm = |age: &str, more: &[&str]| {
        let arguments = [&["history", "rm", "--older-than", age], more].concat();
        succeed(&conclave, &arguments).stderr
    };
    let stderr = rm("2w", &["--state", "aborted", "-y"]);
    let deleted = "Deleted 2 consultations (6 files, ";
    assert!(stderr.starts_with(deleted), "{stderr}");
    assert_eq!(listed(&conclave), [TODAY, NEWEST, OLDEST]);
    rm("36h", &["-y"]);
    assert_eq!(listed(&conclave), [TODAY]);
    assert_eq!(
        rm("1h", &[]),
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
    let all = ["history", "rm", NEWEST, MIDDLE, OLDEST, "-y"];
    let stderr = conclave.run(&all).ends_with(1).stderr;
    for line in [
        "Deleted 1 consultation (3 files, ".to_owned(),
        format!("\nconsult-{NEWEST} was not deleted: another process is writing to it\n"),
        format!(
            "\nconsult-{MIDDLE} was not deleted: cannot delete `{}`: ",
            markdown.display()
        ),
        "\nerror: 2 of 3 consultations were not deleted\n".to_owned(),
    ] {
        assert!(stderr.contains(&line), "{line}: {stderr}");
    }
    assert_eq!(listed(&conclave), [NEWEST, MIDDLE]);
    assert_eq!(files(&conclave, MIDDLE).len(), 3);
    // Not by closing it: a process that another test starts may hold a copy for a moment.
    journal.unlock().unwrap();
    std::fs::remove_dir(&markdown).unwrap();
    for _ in 0..2 {
        succeed(&conclave, &["history", "rm", "last", "-y"]);
    }
    assert_eq!(listed(&conclave), [""; 0]);
}

#[test]
fn next_deletion_finishes_a_killed_one() {
    // The deletion was killed after so many of the four files.
    for deleted in [1, 3, 4] {
        let conclave = three();
        succeed(&conclave, &["history", "outcome", OLDEST, "right"]);
        for ending in ["md", "outcome.json", "json", "jsonl"].iter().take(deleted) {
            std::fs::remove_file(log_folder(&conclave).join(format!("consult-{OLDEST}.{ending}")))
                .unwrap();
        }
        if deleted == 3 {
            // The index is rebuilt before the next deletion.
            succeed(&conclave, &["consult-stats", "--rebuild-index"]);
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
    terminal.type_in("y");
    let (ran, screen) = terminal.end();
    ran.ends_with(0);
    let text = screen.text();
    assert!(
        text.contains("Deleted 2 consultations (6 files, "),
        "{text}"
    );
    assert_eq!(listed(&conclave), [NEWEST]);
}

#[test]
fn any_other_answer_deletes_nothing() {
    for (typed, code) in [("\n", Some(3)), ("\x04", Some(3)), ("\x03", Some(130))] {
        let (conclave, mut terminal) = deletion_prompt();
        terminal.type_in(typed);
        let (ran, screen) = terminal.end();
        assert_eq!(ran.code, code, "{typed:?}: {}", screen.text());
        assert!(
            code == Some(130) || screen.text().contains("Nothing was deleted\n"),
            "{typed:?}: {}",
            screen.text()
        );
        assert_eq!(listed(&conclave).len(), 3, "{typed:?}");
    }
}
