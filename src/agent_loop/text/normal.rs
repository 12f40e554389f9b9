//! One form of a text, wherever it comes from: line feeds, no escape sequences of a terminal, no
//! invisible characters.

use crate::text::clean::clean;
use crate::text::pattern::Pattern;

/// An escape sequence: a colour, a move of the cursor; or a string such as a title, up to a bell or
/// `ESC \`. It never spans a line, so that a cut one takes nothing else away.
static ESCAPE: Pattern = Pattern::prepared("", |_| {
    let parameters = r"[ -?]*[@-~]?";
    let string = r"[\]P_^][^\n]*?(?:\x07|\x{9c}|\x1b\\|(?m:$))";
    format!(r"(?:\x1b\[|\x{{9b}}){parameters}|\x1b(?:{string}|[^\n]|(?m:$))")
});

/// Returns a text without escape sequences and invisible characters, with `\n` as the end of a
/// line.
pub fn normal(text: &str) -> String {
    let text = clean(&ESCAPE.replace_in(text, ""));
    let text = text.replace(['\u{a0}', '\u{202f}'], " ");
    // A byte order mark, and marks between letters that are not shown.
    text.replace(['\u{feff}', '\u{200b}', '\u{2060}'], "")
}

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
    fn escape_sequences_and_invisible_characters_go() {
        for (text, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[1;32mdone\u{1b}[0m", "done"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]cut off\nnext", "\nnext"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}(Btext", "Btext"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("\u{feff}- [ ] a\u{200b}b", "- [ ] ab"),
            ("a\u{a0}b", "a b"),
            ("tout est terminé ✅", "tout est terminé ✅"),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

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
