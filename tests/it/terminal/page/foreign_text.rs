//! Foreign text is shown as text: it changes nothing of a page's markup.

use conclave::domain::stored_record::StoredRecord;
use conclave::terminal::report::page;
use proptest::prelude::*;

use super::sample::{aborted, consultation, filled, name};
use crate::support::html::{ScannedPage, scan};

/// Returns the tags and the visible text of a page, without the title, which is cut.
fn apart(page: &str) -> (Vec<String>, String) {
    let ScannedPage { mut tags, text, .. } = scan(page);
    // A long text has another class, which is not part of the structure.
    for tag in &mut tags {
        *tag = tag.replace("class=\"said long\"", "class=\"said\"");
    }
    (tags, text)
}

/// Proves that texts change nothing of a page but its text.
fn shows_as_text(say: &dyn Fn(usize) -> String) {
    let pairs = vec![
        (consultation(say), consultation(&name)),
        (
            aborted(consultation(say), say),
            aborted(consultation(&name), &name),
        ),
        (
            StoredRecord {
                ..consultation(say)
            },
            StoredRecord {
                ..consultation(&name)
            },
        ),
    ];
    for (hostile, plain) in pairs {
        let (tags, text) = apart(&page(&hostile));
        let (plain_tags, plain_text) = apart(&page(&plain));
        assert_eq!(tags, plain_tags);
        assert_eq!(text, filled(&plain_text, say));
    }
}

/// Proves that texts add nothing to a page but themselves, bold words and code.
fn adds_only_text_and_marks(say: &dyn Fn(usize) -> String) {
    let is_mark = |tag: &String| tag.contains("strong") || tag.contains("code");
    let unmarked = |text: &str| text.replace(['*', '`'], "").replace('•', "");
    let (mut tags, text) = apart(&page(&consultation(say)));
    let (mut plain_tags, plain_text) = apart(&page(&consultation(&name)));
    tags.retain(|tag| !is_mark(tag));
    plain_tags.retain(|tag| !is_mark(tag));
    assert_eq!(tags, plain_tags);
    // A bullet stands for `-` or `*`.
    let dashless = |text: &str| unmarked(text).replace('-', "");
    assert_eq!(dashless(&text), dashless(&filled(&plain_text, say)));
}

#[test]
fn foreign_text_is_shown_verbatim() {
    let attacks = [
        "<script>alert(1)</script>",
        "</style></title></main><script src='//x.example/a.js'></script>",
        "\" onmouseover=\"alert(1)\" x=\"",
        "' autofocus onfocus='alert(1)",
        "<img src=x onerror=alert(1)><svg/onload=alert(1)>",
        "--><!--<![CDATA[ ]]><?php ?>",
        "&lt;b&gt; &amp;amp; &#60;script&#62; &NotAnEntity; &",
        "<meta http-equiv=refresh content='0;url=//x.example'><base href=//x.example><link rel=stylesheet href=//x.example>",
        "a\u{0}b\u{1b}[31mc\u{7}d\u{9b}e\u{7f}f",
        "\u{202e}gnp.exe\u{202c}\u{2066}\u{2067}\u{2068}\u{2069}\u{202a}x",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} <b>\u{645}\u{631}\u{62d}\u{628}\u{627}</b>",
        "javascript:alert(1) data:text/html,<script>x</script> url(//x.example) @import '//x.example'",
        "{{ 7*7 }} ${7*7} <%= 7 %> {% raw %}",
        "\u{feff}\u{fffe}\u{10ffff}\u{e0001}x",
    ];
    for attack in attacks {
        shows_as_text(&|at| format!("{at} {attack} {at}"));
    }
}

#[test]
fn line_breaks_of_every_kind_stay_line_breaks() {
    shows_as_text(&|at| format!("{at} a\r\n  b\rc\n\n\td\u{2028}e\u{85}f"));
}

#[test]
fn very_long_answers_are_shown_whole() {
    let long = "<&>\"' \u{202e}".repeat(30_000);
    shows_as_text(&|at| {
        if at % 7 == 0 {
            format!("{at}{long}x")
        } else {
            name(at).replace(['«', '»'], "")
        }
    });
    let question = StoredRecord {
        question: "y".repeat(1 << 20),
        ..StoredRecord::default()
    };
    assert!(page(&question).contains(&question.question));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_never_changes_the_markup(
        texts in proptest::collection::vec(
            r#"(\PC|[\u{0}-\u{20}<>&"'=/!\-\u{202e}]|</|<!--|&#|&lt;|script|style){0,30}"#,
            1..8,
        ),
    ) {
        // The texts are not empty: an empty text has its own markup.
        let say = |at: usize| format!("{at}x{}x", texts[at % texts.len()]);
        adds_only_text_and_marks(&say);
        shows_as_text(&|at| say(at).replace(['*', '`', '-'], "_"));
    }

    #[test]
    fn marks_of_models_add_only_bold_words_and_code(
        texts in proptest::collection::vec(
            r"([*`_\-<>&\n\t #>\[\]()\\~|a-c1.]|\*\*|\n[*-] |```){0,40}",
            1..8,
        ),
    ) {
        adds_only_text_and_marks(&|at| format!("{at}x{}x", texts[at % texts.len()]));
    }
}
