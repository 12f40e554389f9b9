//! A small grammar for manifests that are programs: comments and string literals.

/// The comments of a language.
#[derive(Clone, Copy, Debug)]
pub(super) enum Comments {
    /// `#` to the end of the line.
    Hash,
    /// `//` to the end of the line, and `/* … */`.
    Slashes,
}

/// Returns a program without its comments. String literals stay, and so do the lines.
pub(super) fn without_comments(code: &str, comments: Comments) -> String {
    let mut bare = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let end = match (first, comments) {
            ('"' | '\'', _) => {
                let end = literal_end(rest, first);
                bare.push_str(rest.get(..end).unwrap_or(rest));
                end
            }
            ('#', Comments::Hash) => line_end(rest),
            ('/', Comments::Slashes) if rest.starts_with("//") => line_end(rest),
            ('/', Comments::Slashes) if rest.starts_with("/*") => {
                let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
                let lines = rest.get(..end).unwrap_or(rest).matches('\n').count();
                bare.extend(std::iter::repeat_n('\n', lines));
                end
            }
            (other, _) => {
                bare.push(other);
                other.len_utf8()
            }
        };
        rest = rest.get(end..).unwrap_or_default();
    }
    bare
}

fn line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Returns the length of the literal that a text begins with: up to its closing quote, or up to the
/// end of the line if it has none.
fn literal_end(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\n' => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A piece of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// The contents of a string literal.
    Literal(&'a str),
    /// What stands between literals.
    Code(&'a str),
}

/// Splits code without comments into literals and what stands between them.
pub(super) fn pieces(code: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(['"', '\'']) {
        let (before, literal) = rest.split_at(start);
        if !before.is_empty() {
            pieces.push(Piece::Code(before));
        }
        let quote = if literal.starts_with('"') { '"' } else { '\'' };
        let end = literal_end(literal, quote);
        let inner = literal.get(1..end).unwrap_or_default();
        pieces.push(Piece::Literal(inner.strip_suffix(quote).unwrap_or(inner)));
        rest = literal.get(end..).unwrap_or_default();
    }
    if !rest.is_empty() {
        pieces.push(Piece::Code(rest));
    }
    pieces
}

/// Returns the literals of code without comments.
pub(super) fn literals(code: &str) -> Vec<&str> {
    let pieces = pieces(code).into_iter();
    let literals = pieces.filter_map(|piece| match piece {
        Piece::Literal(text) => Some(text),
        Piece::Code(_) => None,
    });
    literals.collect()
}

/// Returns the arguments of each call of a function, without its parentheses.
pub(super) fn calls<'a>(code: &'a str, function: &str) -> Vec<&'a str> {
    let mut calls = Vec::new();
    let mut rest = code;
    while let Some((_, after)) = rest.split_once(function) {
        let arguments = after.trim_start();
        rest = match arguments.strip_prefix(['(', '[']) {
            Some(inside) => {
                let end = closing(inside);
                let (call, behind) = inside.split_at(end);
                calls.push(call);
                behind
            }
            None => after,
        };
    }
    calls
}

/// Returns the place of the parenthesis or bracket that closes the one before a text.
fn closing(text: &str) -> usize {
    let mut depth = 1_usize;
    let mut at = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        match first {
            '"' | '\'' => {
                at += literal_end(text.get(at..).unwrap_or_default(), first);
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += first.len_utf8();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_literals_stay() {
        let code = "a('x # y') # z\nb \"it's\" // no\n";
        assert_eq!(
            without_comments(code, Comments::Hash),
            "a('x # y') \nb \"it's\" // no\n"
        );
        let code = "a(\"http://x\") /* b\nc */ d // e";
        assert_eq!(
            without_comments(code, Comments::Slashes),
            "a(\"http://x\") \n d "
        );
    }

    #[test]
    fn calls_end_at_their_own_parenthesis() {
        let code = ".package(url: \"a)b\", .upTo(from: \"1\")), .package(name: \"c\")";
        assert_eq!(
            calls(code, ".package"),
            ["url: \"a)b\", .upTo(from: \"1\")", "name: \"c\""]
        );
    }

    #[test]
    fn unclosed_literals_end_with_their_line() {
        assert_eq!(literals("'a\n'b'"), ["a", "b"]);
    }
}
