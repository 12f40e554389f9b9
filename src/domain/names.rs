//! Names in files of settings and on the command line: their two spellings, and suggestions for
//! wrong ones.

pub fn snake_case(name: &str) -> String {
    name.chars().fold(String::new(), |mut snake, c| {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
        snake
    })
}

/// Returns the name that a wrong one was most likely meant to be.
pub fn likely<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.75);
    near.max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Returns a hint on a wrong name: which one was most likely meant, or all there are.
pub fn near_or_all(wrong: &str, names: &[&str]) -> String {
    match likely(wrong, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of: {}", names.join(", ")),
    }
}

/// Returns the rest of a sentence about a wrong name: which one was most likely meant; empty if
/// none is like it.
pub fn did_you_mean<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    likely(&snake_case(wrong), names)
        .map(|meant| format!("; did you mean `{meant}`?"))
        .unwrap_or_default()
}
