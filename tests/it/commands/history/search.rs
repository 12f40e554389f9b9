//! `conclave history --search`: what is found is tested on an index in memory.

use conclave::records::history::{Filter, Search, count, list};
use conclave::records::index::rebuild::build_in_memory;

use crate::commands::refused;
use crate::support::saved::log_folder;

use super::{MIDDLE, NEWEST, OLDEST, ids, three};

#[test]
fn search_finds_words_in_questions_and_recommendations() {
    let conclave = three();
    let (index, _) = build_in_memory(&log_folder(&conclave)).unwrap();
    let long = |word: &str| word.repeat(1_700);
    let words: Vec<String> = (0..2_000).map(|number| format!("w{number} ")).collect();
    let pictures = ('\u{1f400}'..='\u{1f4ff}').flat_map(|picture| [picture, ' ']);
    for (text, expected) in [
        ("oauth", &[OLDEST][..]),
        ("OAuth JWT", &[OLDEST]),
        ("jwt oauth", &[OLDEST]),
        ("oau", &[OLDEST]),
        ("oau jwt", &[]),
        ("\"use OAuth\"", &[OLDEST]),
        ("\"OAuth use\"", &[]),
        ("\"oau\"", &[]),
        ("access-tokens", &[OLDEST]),
        ("redis whe", &[MIDDLE]),
        ("größere", &[NEWEST]),
        ("GROSSERE", &[]),
        ("grossere", &[]),
        ("grö", &[NEWEST]),
        ("GRÖSSE", &[]),
        ("🦀", &[NEWEST]),
        ("🦀 Datenbank", &[NEWEST]),
        ("🦀 OAuth", &[]),
        ("🐍", &[]),
        ("we", &[MIDDLE]),
        // What looks like an operator is a word.
        ("^OAuth", &[OLDEST]),
        ("OAuth *", &[OLDEST]),
        ("OAuth - JWT", &[OLDEST]),
        ("NEAR(OAuth", &[]),
        ("\"OAuth", &[OLDEST]),
        (&long("OAuth "), &[OLDEST]),
        (&long("🦀 "), &[NEWEST]),
        (&words.concat(), &[]),
        (&pictures.collect::<String>(), &[]),
        (&"x".repeat(10_240), &[]),
    ] {
        let search = Some(Search::parse(text).unwrap());
        let filter = Filter {
            search,
            ..Filter::default()
        };
        let found = list(&index.connection, &filter, None).unwrap();
        let found: Vec<&str> = found
            .iter()
            .map(|row| row.consultation_id.as_str())
            .collect();
        let expected: Vec<String> = expected.iter().map(|id| format!("consult-{id}")).collect();
        assert_eq!(found, expected, "{text}");
        let number = count(&index.connection, &filter).unwrap();
        assert_eq!(number, expected.len() as u64, "{text}");
    }
}

#[test]
fn search_words_are_never_operators() {
    let conclave = three();
    let (index, _) = build_in_memory(&log_folder(&conclave)).unwrap();
    for text in [
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "a AND",
        "NEAR(a b)",
        "NEAR(OAuth JWT, 10)",
        "*",
        "^",
        "-",
        "-OAuth",
        "OAuth -JWT",
        "question:OAuth",
        "question : OAuth",
        "{question} : x",
        "(",
        ")",
        "(OAuth",
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
        let search = Some(Search::parse(text).unwrap());
        let filter = Filter {
            search,
            ..Filter::default()
        };
        list(&index.connection, &filter, None).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn search_is_an_option_of_the_list_and_needs_words() {
    let conclave = three();
    let found = conclave.run(&["history", "--json", "--search=-OAuth"]);
    assert_eq!(ids(&found.ends_with(0).json()), [OLDEST]);
    let stderr = refused(&conclave, &["history", "--search", "\"\""]);
    let error = "error: the search has no words\nhint: ";
    assert!(stderr.starts_with(error), "{stderr}");
}
