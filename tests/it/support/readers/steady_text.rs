//! Texts of a run without what differs from run to run, for snapshots.

/// Replaces what differs from run to run by marks of the same width: times, spinners
/// and ids of consultations.
pub(crate) fn steady(text: &str) -> String {
    let mut steady = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let is_part = |c: char| c.is_ascii_digit() || c == ':' || c == '.';
        let end = number.find(|c| !is_part(c)).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        let is_seconds = [" s", "s"].into_iter().any(|unit| {
            after
                .strip_prefix(unit)
                .is_some_and(|after| !after.starts_with(char::is_alphanumeric))
        });
        let is_clock = number.contains(':') && !number.contains('.');
        steady.push_str(before);
        if is_clock || is_seconds {
            steady.push_str(&number.replace(|c: char| c.is_ascii_digit(), "0"));
        } else {
            steady.push_str(number);
        }
        rest = after;
    }
    steady.push_str(rest);
    without_ids(&steady.replace(|c| "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains(c), "⠋"))
}

fn without_ids(text: &str) -> String {
    const START: &str = "consult-01";
    let mut parts = text.split(START);
    let mut steady = without_short_ids(parts.next().unwrap_or_default());
    for part in parts {
        let end = part
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(part.len());
        let (id, rest) = part.split_at(end);
        steady += START;
        steady += &"0".repeat(id.len());
        steady += &without_short_ids(rest);
    }
    steady
}

/// Without those of twelve characters.
fn without_short_ids(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let steady = words.map(|word| match word.get(..12) {
        Some(id) if id.starts_with("01") && id.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            word.replacen(id, "010000000000", 1)
        }
        Some(_) | None => word.to_owned(),
    });
    steady.collect()
}
