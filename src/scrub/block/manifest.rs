//! The values of `data` and `stringData` in a manifest of kind `Secret`, as YAML or JSON.

use crate::text::byte_pattern::BytePattern;

/// A value behind its name.
static VALUE: BytePattern =
    BytePattern::new(r#":\s*\\*(?:["']([^"']+?)\\*["']|([^\s"'\\,{}][^\s"',{}]*))"#);

/// What a line begins with: spaces, the dash of an item, the sign of a comment or a difference.
const HEAD: &[u8] = b" \t+->|#*";

/// Returns the values of pairs in braces.
pub(super) fn in_braces(pairs: &[u8]) -> Vec<(usize, usize)> {
    let found = VALUE
        .regex()
        .into_iter()
        .flat_map(|regex| regex.captures_iter(pairs));
    let values = found.filter_map(|pair| pair.get(1).or_else(|| pair.get(2)));
    values.map(|value| (value.start(), value.end())).collect()
}

/// Returns the values in lines. Those that are no further out than the kind, from one `---` or dash
/// of an item to the next, are its manifest.
pub(super) fn in_lines(text: &[u8], kind: usize) -> Vec<(usize, usize)> {
    let head = |line: &[u8]| line.iter().take_while(|byte| HEAD.contains(byte)).count();
    let lines = || text.split_inclusive(|byte| *byte == b'\n');
    let mut next = 0;
    let column = lines().find(|line| {
        next += line.len();
        next > kind
    });
    let column = column.map_or(0, head);
    let mut values: Vec<(usize, usize)> = Vec::new();
    let (mut is_found, mut is_data, mut inner, mut next) = (false, false, usize::MAX, 0);
    for line in lines() {
        let (head, rest) = line.split_at_checked(head(line)).unwrap_or_default();
        let (rest, start) = (rest.trim_ascii_end(), next + head.len());
        let (end, is_kind) = (
            start + rest.len(),
            start <= kind && kind < next + line.len(),
        );
        next += line.len();
        let is_separator = rest.is_empty() && head.trim_ascii_end().ends_with(b"---");
        if !is_separator && (rest.is_empty() || rest.starts_with(b"{{")) {
            continue;
        }
        let begins_item = head.ends_with(b"- ") && head.len() <= column;
        if is_separator || begins_item || head.len() < column {
            if is_found {
                break;
            }
            values.clear();
        }
        is_found |= is_kind;
        if head.len() <= column {
            (is_data, inner) = (matches!(rest, b"data:" | b"stringData:"), usize::MAX);
        } else if is_data && head.len() <= inner {
            inner = head.len();
            let value = rest
                .splitn(2, |byte| *byte == b':')
                .nth(1)
                .unwrap_or_default();
            let value = value.trim_ascii_start();
            let quote = usize::from(matches!(value, [b'"', .., b'"'] | [b'\'', .., b'\'']));
            values.push(match value {
                // The lines below are the value.
                [b'|' | b'>' | b'!' | b'&', ..] => (end, end),
                _ => (end - value.len() + quote, end - quote),
            });
        } else if is_data && let Some((from, to)) = values.last_mut() {
            (*from, *to) = (if from == to { start } else { *from }, end);
        }
    }
    values.retain(|_| is_found);
    values
}
