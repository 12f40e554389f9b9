//! Passphrases of plain words, which are no sentences.

use super::dummy::has_common_word;
use super::words::WordSet;

/// Words of sentences and labels, which passphrases of random words do not have.
static SENTENCE_WORDS: WordSet = WordSet::new(
    "about after all already also and any are as at be been before between both but by can cannot \
    check choose confirm contain contains could different do does done each either enter every \
    failed for forgot from get give given has have here how if in incorrect into it its last least \
    less letters long longer match may more most must need needs not of one only or other our out \
    please provide same see set should show so than the them then there these they this those to \
    too try type up use used using was we what when where which while will with without wrong you \
    your der die das den dem ein eine einer ist sind und oder nicht mit von bitte ihr ihre le la \
    les des du un une est et ou votre mot passe pas pour avec el los las su una por para con que de \
    characters digits number numbers word words letter uppercase lowercase email address",
);

/// Returns whether a value is a few plain words: `correct horse battery staple`, also with dashes.
pub(in crate::scrub) fn is_passphrase(value: &str) -> bool {
    let separator = if value.contains(' ') { ' ' } else { '-' };
    let is_plain = |word: &str| {
        (3..=10).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !SENTENCE_WORDS.contains(word.as_bytes())
    };
    (4..=8).contains(&value.split(separator).count())
        && value.split(separator).all(is_plain)
        && !has_common_word(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_is_no_sentence() {
        assert!(is_passphrase("correct horse battery staple"));
        assert!(is_passphrase("correct-horse-battery-staple"));
        assert!(is_passphrase("velvet anchor quiet lantern dusk"));
        assert!(!is_passphrase("Enter your password here"));
        assert!(!is_passphrase("at least eight characters long"));
        assert!(!is_passphrase("correct horse battery"));
    }
}
