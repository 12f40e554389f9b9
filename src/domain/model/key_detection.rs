//! Detection of keys where none belongs: by the name of a setting, and by the form of a text.

use super::vendors;
use crate::text::pattern::Pattern;

pub fn is_key_name(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let words = "key keys token tokens secret secrets password";
    let endings = "apikey apikeys apitoken authtoken accesstoken secret secretkey";
    words.split(' ').any(|word| word == name)
        || endings.split(' ').any(|ending| name.ends_with(ending))
}

/// Other texts may hold a key too.
pub fn holds_key(text: &str) -> bool {
    keys(text).next().is_some()
}

/// For messages, where tokens of services that sell no models are hidden too.
pub fn hide_keys(text: &str) -> String {
    static TOKENS: Pattern = Pattern::new(concat!(
        r"\b(?:[pr]k-|gh[a-z]_|github_pat_|xox[a-z]-|ya29\.|eyJ)[\w.-]{12,}",
        r"|(?i:\bbearer\s+)[\w.~+/=-]*\d[\w.~+/=-]*",
    ));
    let hidden = TOKENS.replace_in(text, "[key]").into_owned();
    keys(text).fold(hidden, |hidden, key| hidden.replace(key, "[key]"))
}

fn keys(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    // Also keys of vendors without a row of their own.
    let begins = |word: &str| {
        vendors::of_key(word).is_some() || word.starts_with("sk_") || word.starts_with("gsk_")
    };
    words.filter(move |word| {
        word.len() >= 20 && begins(word) && word.chars().any(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_keys_differ_from_names_of_where_a_key_is() {
        let keys = "api_key apiKey key token openai_api_key anthropicAuthToken OPENAI_API_KEY \
            api-key api_keys";
        for name in keys.split_whitespace() {
            assert!(is_key_name(name), "{name}");
        }
        let others = "api_key_env api_key_cmd max_output_tokens max_tokens_field monkey";
        for name in others.split(' ') {
            assert!(!is_key_name(name), "{name}");
        }
    }

    #[test]
    fn the_look_of_a_key_is_known_inside_a_text() {
        for text in [
            "sk-proj-0123456789abcdef",
            "echo 'sk-ant-api03-0123456789'",
            "K=AIzaSy0123456789abcdefg",
            "Bearer xai-0123456789abcdefgh",
        ] {
            assert!(holds_key(text), "{text}");
            assert!(!hide_keys(text).contains("0123456789"), "{text}");
        }
        for text in [
            "pass show sk-openai",
            "sk-something-without-figures",
            "gpt-6.1-sol",
            "risk-0123456789-0123456789",
            "",
        ] {
            assert!(!holds_key(text), "{text}");
            assert_eq!(hide_keys(text), text);
        }
    }

    #[test]
    fn tokens_are_hidden_and_words_are_not() {
        let key = "Ab1".repeat(10);
        let cases = [
            (format!("bad sk-ant-oat01-{key} here"), "bad [key] here"),
            (format!("token eyJhbGciOi.{key}.x"), "token [key]"),
            (
                format!("Authorization: Bearer {key}"),
                "Authorization: [key]",
            ),
            (
                "invalid bearer token, risk-management-of-tokens".to_owned(),
                "invalid bearer token, risk-management-of-tokens",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(hide_keys(&text), expected);
        }
    }
}
