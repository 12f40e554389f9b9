//! The page of a consultation shows all foreign text as text, has only the program's own markup,
//! and loads nothing.

mod content;
mod foreign_text;
mod sample;

use conclave::consultation::transcript::Transcript;
use conclave::domain::stored_record::StoredRecord;
use conclave::terminal::report::page;

use self::sample::{consultation, name};
use crate::support::html::scan;
use crate::support::sample_events;

/// A record of a complete consultation, one with every part, and an empty one.
fn records() -> [StoredRecord; 3] {
    [
        Transcript::fold(&sample_events::complete())
            .unwrap()
            .stored_record(),
        consultation(&name),
        StoredRecord::default(),
    ]
}

#[test]
fn page_loads_and_runs_nothing_and_forbids_both() {
    for record in records() {
        let page = page(&record);
        for word in [
            "url(",
            "src=",
            "href=",
            "@import",
            "<link",
            "<script",
            "<base",
            "<form",
            "<iframe",
            "javascript:",
            " style=",
        ] {
            assert_eq!(page.find(word), None, "{word}");
        }
        let policy = "http-equiv=\"Content-Security-Policy\" \
                      content=\"default-src 'none'; style-src 'unsafe-inline'";
        assert!(page.contains(policy), "{page}");
        scan(&page);
        assert!(
            page.find("Content-Security-Policy") < page.find("<title>"),
            "before anything of anybody's"
        );
    }
}

#[test]
fn headings_go_down_one_level_at_a_time() {
    for record in records() {
        let levels = scan(&page(&record)).levels;
        assert_eq!(levels.first(), Some(&1));
        assert_eq!(
            levels
                .iter()
                .map(|level| usize::from(*level == 1))
                .sum::<usize>(),
            1
        );
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{levels:?}"
        );
    }
}
