//! Reads digits with their separators: thousands and at most one decimal mark.

use super::decimal::Decimal;

/// The mark before decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecimalMark {
    Point,
    Comma,
}

pub(super) fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

pub(super) fn digits_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// A number of digits, separators and at most one decimal mark.
pub(super) struct PlainNumber {
    pub(super) value: Decimal,
    pub(super) length: usize,
    pub(super) groups: usize,
    pub(super) mark: Option<DecimalMark>,
}

impl PlainNumber {
    pub(super) fn is_integer(&self) -> bool {
        self.groups == 1
    }

    /// Reads a number at the beginning of a text; `None` if its digits are none.
    pub(super) fn read(text: &str, mark: DecimalMark) -> Option<Self> {
        let groups = groups(text);
        let (first, others) = groups.split_first()?;
        let commas = others.iter().filter(|group| group.separator == ',').count();
        let points = others.iter().filter(|group| group.separator == '.').count();
        let is_of_three = |group: &&Group| group.digits.len() == 3;
        let is_leading = (1..=3).contains(&first.digits.len()) && !first.digits.starts_with('0');
        let last = others.last();
        let last_mark = match last.map(|group| group.separator) {
            Some(',') => Some(DecimalMark::Comma),
            Some('.') => Some(DecimalMark::Point),
            _ => None,
        };
        let has_decimals = match (commas, points) {
            (0, 0) => false,
            // `1,234` and `1.234`
            (1, 0) | (0, 1)
                if others.len() == 1
                    && is_leading
                    && others.iter().all(|group| is_of_three(&group)) =>
            {
                return Some(Self::joined(&groups, last_mark == Some(mark), None));
            }
            (1, 0) | (0, 1) => true,
            (0, _) | (_, 0) => false,
            (1, _) if last_mark == Some(DecimalMark::Comma) => true,
            (_, 1) if last_mark == Some(DecimalMark::Point) => true,
            _ => return None,
        };
        let separators = others.len() - usize::from(has_decimals);
        let mut separated = others.iter().take(separators);
        let is_grouped =
            separators == 0 || is_leading && separated.all(|group| is_of_three(&group));
        if is_grouped {
            let mark = match (has_decimals, last_mark) {
                (true, mark) => mark,
                (false, Some(DecimalMark::Comma)) => Some(DecimalMark::Point),
                (false, Some(DecimalMark::Point)) => Some(DecimalMark::Comma),
                (false, None) => None,
            };
            return Some(Self::joined(&groups, has_decimals, mark));
        }
        let is_indian = points <= 1 && is_indian(first, others, has_decimals);
        if is_indian {
            return Some(Self::joined(
                &groups,
                has_decimals,
                Some(DecimalMark::Point),
            ));
        }
        // "1,2,3" is a list; "1.2.3" is a version.
        let first_comma = others.iter().position(|group| group.separator == ',');
        let listed = groups.get(..=first_comma?)?;
        Some(Self::joined(listed, listed.len() > 1, None))
    }

    /// Joins the groups; the last one is the decimals if there are any.
    fn joined(groups: &[Group], has_decimals: bool, mark: Option<DecimalMark>) -> Self {
        let digits: String = groups.iter().map(|group| group.digits.as_str()).collect();
        let last = groups.last().map_or(0, |group| group.digits.len());
        Self {
            value: Decimal::new(&digits, if has_decimals { last } else { 0 }, 0),
            length: groups.last().map_or(0, |group| group.end),
            groups: groups.len(),
            mark,
        }
    }
}

/// Whether groups are of two digits and the last of three: `12,34,567`.
fn is_indian(first: &Group, others: &[Group], has_decimals: bool) -> bool {
    let integers = others.get(..others.len() - usize::from(has_decimals));
    let Some((last, middle)) = integers.and_then(<[Group]>::split_last) else {
        return false;
    };
    let is_comma = |group: &Group| group.separator == ',';
    (1..=2).contains(&first.digits.len())
        && !middle.is_empty()
        && last.digits.len() == 3
        && is_comma(last)
        && middle
            .iter()
            .all(|group| group.digits.len() == 2 && is_comma(group))
}

/// Digits with the separator before them.
struct Group {
    separator: char,
    digits: String,
    /// The end within the text.
    end: usize,
}

/// Separators that can only group thousands.
const GROUPING: [&str; 9] = [
    " ", "\u{a0}", "\u{2009}", "\u{202f}", "'", "’", "_", "\\,", "\\ ",
];

/// Separators that group thousands or begin the decimals, with the character that they stand for.
const MARKS: [(&str, char); 4] = [("{,}", ','), ("{.}", '.'), (",", ','), (".", '.')];

/// Returns the digits at the beginning of a text, in groups between points and commas.
fn groups(text: &str) -> Vec<Group> {
    let first = digits_at(text);
    let mut groups = vec![Group {
        separator: ' ',
        digits: first.to_owned(),
        end: first.len(),
    }];
    let mut at = first.len();
    while let Some(rest) = text.get(at..) {
        let marked = MARKS
            .iter()
            .find_map(|(mark, separator)| Some((rest.strip_prefix(mark)?, Some(*separator))));
        let grouped = GROUPING
            .iter()
            .find_map(|separator| Some((rest.strip_prefix(separator)?, None)));
        let Some((after, separator)) = marked.or(grouped) else {
            break;
        };
        let digits = digits_at(after);
        let end = at + (rest.len() - after.len()) + digits.len();
        match (separator, groups.as_mut_slice()) {
            _ if digits.is_empty() => break,
            (Some(separator), _) => groups.push(Group {
                separator,
                digits: digits.to_owned(),
                end,
            }),
            // "1 234", but neither "2020 100" nor "0 100" nor decimals.
            (None, [only]) if digits.len() == 3 && first.len() <= 3 && !first.starts_with('0') => {
                only.digits.push_str(digits);
                only.end = end;
            }
            (None, _) => break,
        }
        at = end;
    }
    groups
}
