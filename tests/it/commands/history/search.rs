//! `conclave history --search`.

use crate::support::binary::Conclave;

use super::{MIDDLE, NEWEST, OLDEST, ids, three};

fn search(conclave: &Conclave, text: &str) -> Vec<String> {
    let json = conclave
        .run(&["history", "--json", &format!("--search={text}")])
        .ends_with(0)
        .json();
    ids(&json)
}

#[test]
fn search_finds_words_in_questions_and_recommendations() {
    let conclave = three();
    for (text, expected) in [
        ("oauth", vec![OLDEST]),
        ("OAuth JWT", vec![OLDEST]),
        ("jwt oauth", vec![OLDEST]),
        ("oau", vec![OLDEST]),
        ("oau jwt", vec![]),
        ("\"use OAuth\"", vec![OLDEST]),
        ("\"OAuth use\"", vec![]),
        ("\"oau\"", vec![]),
        ("access-tokens", vec![OLDEST]),
        ("redis whe", vec![MIDDLE]),
        ("größere", vec![NEWEST]),
        ("GROSSERE", vec![]),
        ("grossere", vec![]),
        ("grö", vec![NEWEST]),
        ("GRÖSSE", vec![]),
        ("🦀", vec![NEWEST]),
        ("🦀 Datenbank", vec![NEWEST]),
        ("🦀 OAuth", vec![]),
        ("🐍", vec![]),
        ("we", vec![MIDDLE]),
    ] {
        assert_eq!(search(&conclave, text), expected, "{text}");
    }
}

#[test]
fn search_words_are_never_operators() {
    let conclave = three();
    for text in [
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "a AND",
        "NEAR(a b)",
        "NEAR(OAuth JWT, 10)",
        "*",
        "OAuth *",
        "^",
        "^OAuth",
        "-",
        "-OAuth",
        "OAuth -JWT",
        "question:OAuth",
        "question : OAuth",
        "{question} : x",
        "(",
        ")",
        "(OAuth",
        "\"",
        "\"\"\"",
        "\"OAuth",
        "OAuth\"",
        "a\"b",
        "'",
        "';--",
        "+",
        "OAuth + JWT",
        "\\",
        "%",
        "_",
        "c++",
        "\u{1}",
        "\u{feff}",
        "e\u{301}",
        "認証",
        "👩‍👩‍👧",
    ] {
        let ran = conclave
            .run(&["history", "--json", &format!("--search={text}")])
            .ends_with(if text.trim_matches(['"', ' ']).is_empty() {
                2
            } else {
                0
            });
        assert!(
            !ran.stderr.contains("fts5") && !ran.stderr.contains("syntax"),
            "{text}: {}",
            ran.stderr
        );
    }
    for (text, expected) in [
        ("^OAuth", vec![OLDEST]),
        ("OAuth *", vec![OLDEST]),
        ("OAuth - JWT", vec![OLDEST]),
        ("NEAR(OAuth", vec![]),
        ("\"OAuth", vec![OLDEST]),
    ] {
        assert_eq!(search(&conclave, text), expected, "{text}");
    }
}

#[test]
fn empty_search_is_rejected_and_a_very_long_one_works() {
    let conclave = three();
    for text in ["", "  ", "\"\""] {
        let ran = conclave.run(&["history", "--search", text]).ends_with(2);
        assert!(
            ran.stderr
                .starts_with("error: the search has no words\nhint: "),
            "{}",
            ran.stderr
        );
    }
    let words: Vec<String> = (0..2_000).map(|number| format!("w{number}")).collect();
    assert_eq!(search(&conclave, &words.join(" ")), [""; 0]);
    assert_eq!(search(&conclave, &"OAuth ".repeat(1_700)), [OLDEST]);
    assert_eq!(search(&conclave, &"🦀 ".repeat(2_000)), [NEWEST]);
    let pictures: String = ('\u{1f400}'..='\u{1f4ff}')
        .flat_map(|picture| [picture, ' '])
        .collect();
    assert_eq!(search(&conclave, &pictures), [""; 0]);
    assert_eq!(search(&conclave, &"x".repeat(10_240)), [""; 0]);
}
