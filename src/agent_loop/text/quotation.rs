//! Quoted words: they are said of, not said.

/// Replaces each quotation with its marks by `placeholder`.
pub(super) fn without_quotations(prose: &mut String, placeholder: char) {
    if !prose.contains(|c| closing_mark(c).is_some()) {
        return;
    }
    let mut rest = prose.as_str();
    let mut result = String::with_capacity(rest.len());
    while let Some((at, open)) = rest
        .char_indices()
        .find(|(_, c)| closing_mark(*c).is_some())
    {
        let (before, quoted) = rest.split_at(at);
        result.push_str(before);
        let quoted = quoted.get(open.len_utf8()..).unwrap_or_default();
        let end = if begins_quotation(result.chars().next_back(), open, quoted) {
            quotation_end(open, quoted)
        } else {
            None
        };
        if let Some(end) = end {
            result.push(placeholder);
            rest = quoted.get(end..).unwrap_or_default();
        } else {
            result.push(open);
            rest = quoted;
        }
    }
    result.push_str(rest);
    *prose = result;
}

/// Returns the marks that close what a mark opens.
fn closing_mark(open: char) -> Option<&'static [char]> {
    Some(match open {
        '"' => &['"'],
        '\'' => &['\''],
        '‘' | '‚' => &['’', '‘'],
        '“' => &['”', '“'],
        '„' => &['“', '”', '"'],
        '”' => &['”'],
        '«' => &['»'],
        '»' => &['«'],
        '‹' => &['›'],
        '「' => &['」'],
        '『' => &['』'],
        '《' => &['》'],
        '＂' => &['＂'],
        _ => return None,
    })
}

/// Straight marks also close quotations and abbreviate: one begins a quotation after a blank or an
/// opening bracket, and before a letter.
fn begins_quotation(before: Option<char>, open: char, quoted: &str) -> bool {
    if !matches!(open, '"' | '\'' | '”' | '»') {
        return true;
    }
    let after_blank = before.is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c));
    after_blank && quoted.chars().next().is_some_and(|c| !c.is_whitespace())
}

/// Whether words are written without blanks between them.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Returns the end of a quotation in bytes, with the closing mark.
fn quotation_end(open: char, quoted: &str) -> Option<usize> {
    let closing = closing_mark(open)?;
    let mut letters = quoted.char_indices().peekable();
    let mut before = None;
    while let Some((at, c)) = letters.next() {
        if closing.contains(&c) {
            let after = letters.peek().map(|(_, c)| *c);
            // An apostrophe within a word closes nothing.
            let is_apostrophe = matches!(c, '\'' | '’')
                && (after.is_some_and(char::is_alphanumeric)
                    || before.is_some_and(char::is_whitespace));
            if !is_apostrophe {
                return Some(at + c.len_utf8());
            }
        }
        before = Some(c);
    }
    None
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
