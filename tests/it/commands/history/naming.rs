//! Names of consultations: ids, prefixes, files and `last`.

use crate::commands::json_of;
use crate::support::binary::Conclave;
use crate::support::saved::complete_consultation;

use super::{NEWEST, OLDEST, three};

#[test]
fn ambiguous_names_list_candidates_and_unknown_names_get_a_hint() {
    let conclave = three();
    for command in [
        &["history", "show"],
        &["history", "rm"],
        &["resume"] as &[&str],
    ] {
        let ran = conclave.run(&[command, &["01kfa"]].concat()).ends_with(2);
        let candidates = ran
            .stderr
            .strip_prefix("error: `01kfa` matches several consultations: 3 consultations\n")
            .unwrap_or_else(|| panic!("{}", ran.stderr));
        let hints: Vec<&str> = candidates.lines().collect();
        assert_eq!(hints.len(), 3, "{candidates}");
        assert_eq!(
            hints[2],
            format!("hint: {OLDEST}  2026-01-05  Should I use OAuth or JWT?")
        );
        let ran = conclave.run(&[command, &["02"]].concat()).ends_with(2);
        assert_eq!(
            ran.stderr,
            "error: no consultation is called `02`\nhint: see the saved consultations with `conclave history list`\n"
        );
    }
    let ran = Conclave::new()
        .run(&["history", "show", "last"])
        .ends_with(2);
    assert_eq!(
        ran.stderr,
        "error: no saved consultations\nhint: ask something with `conclave consult \"…\"`\n"
    );
}

#[test]
fn ids_prefixes_files_and_last_work_with_and_without_an_index() {
    let conclave = three();
    let file = conclave
        .home()
        .join("consult-logs")
        .join(format!("consult-{OLDEST}.json"));
    let full_id = format!("consult-{OLDEST}");
    let names = ["01KFA1", file.to_str().unwrap()];
    let id = |name: &str| {
        json_of(&conclave, &["history", "show", name, "--format", "json"])["consultation_id"]
            .clone()
    };
    let check = || {
        for name in names {
            assert_eq!(id(name), full_id.as_str(), "{name}");
        }
        assert_eq!(id("last"), format!("consult-{NEWEST}"));
    };
    check();
    for broken in [&b""[..], b"no database"] {
        std::fs::write(conclave.home().join("consult-analytics.db"), broken).unwrap();
        check();
    }
    // Looking up a name does not rebuild the index.
    assert_eq!(
        std::fs::read(conclave.home().join("consult-analytics.db")).unwrap(),
        b"no database"
    );
}

#[test]
fn unindexed_consultation_is_found_in_the_folder() {
    let conclave = three();
    complete_consultation(
        "01kfb0dddddddddddddddddddd",
        "2026-02-01T10:00:00Z",
        "Late?",
    )
    .save(&conclave);
    let shown = conclave
        .run(&["history", "show", "01kfb0", "--format", "json"])
        .ends_with(0)
        .json();
    assert_eq!(shown["question"], "Late?");
}
