//! `conclave history outcome`: grades of answers.

use serde_json::{Value, json};

use conclave::domain::ids::short_id;

use crate::commands::{refused, succeed};
use crate::support::binary::Conclave;
use crate::support::saved::log_folder;

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
    let grade = ["history", "outcome", OLDEST, "right"];
    let note = ["--note", " it \u{1b}[1mheld "];
    let ran = succeed(&conclave, &[&grade[..], &note].concat());
    assert_eq!(ran.stdout, "");
    assert_eq!(
        ran.stderr,
        format!("{}: right (Should I use OAuth or JWT?)\n", short_id(OLDEST))
    );
    let file = log_folder(&conclave).join(format!("consult-{OLDEST}.outcome.json"));
    let saved: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(saved["outcome"], "right");
    assert_eq!(saved["consultation_id"], format!("consult-{OLDEST}"));
    assert_eq!(
        outcome_of(&conclave, OLDEST),
        json!({ "outcome": "right", "note": "it \u{1b}[1mheld" })
    );
    let html = ["history", "export", OLDEST, "--format", "html"];
    for (arguments, words) in [
        (&["history"][..], "  completed   right  85%"),
        (
            &["history", "show", OLDEST],
            "\n**Outcome:** right: it [1mheld",
        ),
        (&html, "<strong>Outcome:</strong> right"),
        (&html, "it [1mheld"),
    ] {
        let shown = succeed(&conclave, arguments).stdout;
        assert!(shown.contains(words), "{words}: {shown}");
    }

    succeed(&conclave, &["history", "outcome", OLDEST, "wrong"]);
    let wrong = json!({ "outcome": "wrong", "note": null });
    assert_eq!(outcome_of(&conclave, OLDEST), wrong);
    succeed(&conclave, &["consult-stats", "--rebuild-index"]);
    assert_eq!(
        outcome_of(&conclave, OLDEST),
        wrong,
        "the file is authoritative"
    );

    for _ in 0..2 {
        succeed(&conclave, &["history", "outcome", OLDEST, "--clear"]);
        assert_eq!(outcome_of(&conclave, OLDEST), Value::Null);
        assert!(!file.exists());
    }
}

#[test]
fn consultation_without_an_answer_cannot_be_graded() {
    let conclave = three();
    for id in [MIDDLE, NEWEST] {
        let stderr = refused(&conclave, &["history", "outcome", id, "right"]);
        assert_eq!(
            stderr,
            format!(
                "error: {} has no answer that could be right or wrong\n",
                short_id(id)
            )
        );
        assert_eq!(outcome_of(&conclave, id), Value::Null);
    }
    for arguments in [
        &[OLDEST, "maybe"] as &[&str],
        &[OLDEST, "right", "--clear"],
        &[OLDEST, "--clear", "--note", "x"],
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
    assert_eq!(
        refused(&conclave, &["history", "outcome", OLDEST]),
        format!(
            "error: no outcome is given\n\
             hint: for example: `conclave history outcome {OLDEST} right`; or `wrong`, `mixed`\n"
        )
    );
    assert_eq!(
        refused(&conclave, &["history", "outcome", "--clear"]),
        "error: `--clear` needs the name of a consultation\n\
         hint: for the newest: `conclave history outcome last --clear`\n"
    );
}
