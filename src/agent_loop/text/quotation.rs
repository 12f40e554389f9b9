//! Quoted words: they are said of, not said.

use crate::text::pattern::Pattern;

/// Quotations with their marks. Straight marks also close quotations and abbreviate: one begins a
/// quotation after a blank or a bracket, or after a letter of a language without blanks, and before
/// a letter. An apostrophe within a word closes nothing.
static QUOTATION: Pattern = Pattern::prepared("", |_| {
    let start = r"(?:\b{start-half}|(?P<letter>[\u{3040}-\u{30ff}\u{3400}-\u{9fff}]))";
    let single = r"'(?:[^\s']|[^\s'](?:[^']|'\w|\s')*?[^\s'])'\b{end-half}";
    let straight = format!(r#"{start}(?:"[^\s"][^"]*"|{single}|”[^\s”][^”]*”|»[^\s«][^«]*«)"#);
    let curved = "[‘‚](?:[^’‘]|’\\w)*?[’‘]|“[^”“]*[”“]|„[^“”\"]*[“”\"]|«[^»]*»|‹[^›]*›";
    let wide = "「[^」]*」|『[^』]*』|《[^》]*》|＂[^＂]*＂";
    format!("{straight}|{curved}|{wide}")
});

/// Replaces each quotation with its marks by `placeholder`.
pub(super) fn without_quotations(prose: &mut String, placeholder: char) {
    let replacement = format!("${{letter}}{placeholder}");
    *prose = QUOTATION.replace_in(prose, &replacement).into_owned();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_are_replaced_and_apostrophes_stay() {
        for (prose, expected) in [
            ("say \"all done\" now", "say * now"),
            ("say 'all done' now", "say * now"),
            ("say “all done” and ‘more’", "say * and *"),
            ("er sagt „alles fertig“ dazu", "er sagt * dazu"),
            ("il dit « tout est fini » ici", "il dit * ici"),
            ("「完了」と言う", "*と言う"),
            ("他说“完成”了", "他说*了"),
            ("it's done, isn't it", "it's done, isn't it"),
            ("the agents' work isn't done", "the agents' work isn't done"),
            ("a 5\" disk and a 3\" disk", "a 5\" disk and a 3\" disk"),
            ("他说\"完成\"了", "他说*了"),
            ("an \"open quotation", "an \"open quotation"),
            ("'don't stop' he said", "* he said"),
            ("(\"x\")", "(*)"),
            ("", ""),
        ] {
            let mut text = prose.to_owned();
            without_quotations(&mut text, '*');
            assert_eq!(text, expected);
        }
    }
}
