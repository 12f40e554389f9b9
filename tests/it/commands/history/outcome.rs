//! `conclave history outcome`: grades of answers.

use serde_json::{Value, json};

use crate::support::binary::Conclave;

use super::{MIDDLE, NEWEST, OLDEST, three};

fn outcome_of(conclave: &Conclave, id: &str) -> Value {
    let listed = conclave.run(&["history", "--json"]).ends_with(0).json();
    let id = format!("consult-{id}");
    listed["consultations"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["consultation_id"] == id.as_str())
        .unwrap()["outcome"]
        .clone()
}

#[test]
fn outcome_is_recorded_replaced_and_removed() {
    let conclave = three();
    let ran = conclave
        .run(&[
            "history",
            "outcome",
            OLDEST,
            "right",
            "--note",
            " it \u{1b}[1mheld ",
        ])
        .ends_with(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr,
        format!("consult-{OLDEST}: right (Should I use OAuth or JWT?)\n")
    );
    let file = conclave
        .home()
        .join(format!("consult-logs/consult-{OLDEST}.outcome.json"));
    let saved: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(saved["outcome"], "right");
    assert_eq!(saved["consultation_id"], format!("consult-{OLDEST}"));
    assert_eq!(
        outcome_of(&conclave, OLDEST),
        json!({ "outcome": "right", "note": "it \u{1b}[1mheld" })
    );
    assert!(
        conclave
            .run(&["history"])
            .ends_with(0)
            .stdout
            .contains("  completed   right  85%"),
        "the list shows it"
    );

    let shown = conclave
        .run(&["history", "show", OLDEST])
        .ends_with(0)
        .stdout;
    assert!(
        shown.contains("\n**Outcome:** right: it [1mheld"),
        "{shown}"
    );
    let page = conclave
        .run(&["history", "export", OLDEST, "--format", "html"])
        .ends_with(0)
        .stdout;
    assert!(
        page.contains("<strong>Outcome:</strong> right") && page.contains("it [1mheld"),
        "{page}"
    );

    conclave
        .run(&["history", "outcome", OLDEST, "wrong"])
        .ends_with(0);
    assert_eq!(
        outcome_of(&conclave, OLDEST),
        json!({ "outcome": "wrong", "note": null })
    );
    conclave
        .run(&["consult-stats", "--rebuild-index"])
        .ends_with(0);
    assert_eq!(
        outcome_of(&conclave, OLDEST),
        json!({ "outcome": "wrong", "note": null }),
        "the file is authoritative"
    );

    for _ in 0..2 {
        conclave
            .run(&["history", "outcome", OLDEST, "--clear"])
            .ends_with(0);
        assert_eq!(outcome_of(&conclave, OLDEST), Value::Null);
        assert!(!file.exists());
    }
}

#[test]
fn consultation_without_an_answer_cannot_be_graded() {
    let conclave = three();
    for id in [MIDDLE, NEWEST] {
        let stderr = conclave
            .run(&["history", "outcome", id, "right"])
            .ends_with(2)
            .stderr;
        assert_eq!(
            stderr,
            format!("error: consult-{id} has no answer that could be right or wrong\n")
        );
        assert_eq!(outcome_of(&conclave, id), Value::Null);
    }
    for arguments in [
        &[OLDEST] as &[&str],
        &[OLDEST, "maybe"],
        &[OLDEST, "right", "--clear"],
        &[OLDEST, "--clear", "--note", "x"],
        &[],
    ] {
        conclave
            .run(&[&["history", "outcome"], arguments].concat())
            .ends_with(2);
    }
    assert_eq!(outcome_of(&conclave, OLDEST), Value::Null);
}

#[test]
fn missing_outcome_and_missing_consultation_are_named() {
    let conclave = three();
    let refused = |arguments: &[&str]| {
        conclave
            .run(&[&["history", "outcome"], arguments].concat())
            .ends_with(2)
            .stderr
    };
    assert_eq!(
        refused(&[]),
        "error: no outcome is given\n\
         hint: for example: `conclave history outcome right`; or `wrong`, `mixed`\n"
    );
    assert_eq!(
        refused(&[OLDEST]),
        format!(
            "error: no outcome is given\n\
             hint: for example: `conclave history outcome {OLDEST} right`; or `wrong`, `mixed`\n"
        )
    );
    assert_eq!(
        refused(&["--clear"]),
        "error: `--clear` needs the name of a consultation\n\
         hint: for the newest: `conclave history outcome last --clear`\n"
    );
}
