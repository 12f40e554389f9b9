//! How random a value looks.

/// Returns the Shannon entropy in bits per byte.
#[expect(clippy::cast_precision_loss, reason = "values are short")]
pub(in crate::scrub) fn shannon(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let length = value.len() as f64;
    let present = counts.iter().filter(|count| **count > 0);
    present
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_grows_with_the_variety_of_bytes() {
        assert!(shannon(b"").abs() < 1e-9);
        assert!(shannon(b"aaaa").abs() < 1e-9);
        assert!((shannon(b"abab") - 1.0).abs() < 1e-9);
        assert!((shannon(b"0123456789abcdef") - 4.0).abs() < 1e-9);
    }
}
