//! Answers that are numbers.

use super::{AnswerRow, numeric};

fn is(expected: &str) -> crate::benchmark::case::Case {
    numeric(expected, 0.0, 0.0)
}

pub(super) fn numbers_are_read_in_every_notation() -> Vec<AnswerRow> {
    vec![
        AnswerRow(is("42"), "ANSWER: 42", "42", true),
        AnswerRow(is("42"), "ANSWER: 42.", "42", true),
        AnswerRow(is("42"), "ANSWER: 42.0", "42.0", true),
        AnswerRow(is("42"), "ANSWER: **42** km/h", "42", true),
        AnswerRow(is("42"), "ANSWER: x = 42", "42", true),
        AnswerRow(is("42"), "ANSWER: $x = 42$", "42", true),
        AnswerRow(is("42"), "ANSWER: 6 × 7 = 42", "42", true),
        AnswerRow(is("42"), "ANSWER: 42 = 6 * 7", "42", true),
        AnswerRow(is("42"), "ANSWER: 42 (6 times 7)", "42", true),
        AnswerRow(is("42"), "ANSWER: forty-two", "forty-two", true),
        AnswerRow(is("42"), "ANSWER: \\(\\boxed{42}\\)", "42", true),
        AnswerRow(is("42"), "ANSWER: ４２", "42", true),
        AnswerRow(is("42"), "ANSWER: ٤٢", "42", true),
        AnswerRow(is("42"), "ANSWER: +42", "42", true),
        AnswerRow(is("1234567"), "ANSWER: 1,234,567", "1,234,567", true),
        AnswerRow(is("1234567"), "ANSWER: 1.234.567", "1.234.567", true),
        AnswerRow(is("1234567"), "ANSWER: 1 234 567", "1 234 567", true),
        AnswerRow(is("1234567"), "ANSWER: 1\u{202f}234\u{202f}567", "*", true),
        AnswerRow(is("1234567"), "ANSWER: 1'234'567", "*", true),
        AnswerRow(is("1234567"), "ANSWER: 1_234_567", "*", true),
        AnswerRow(is("1234567"), "ANSWER: 12,34,567", "*", true),
        AnswerRow(is("1000"), "ANSWER: 1{,}000", "*", true),
        AnswerRow(is("1234"), "ANSWER: 1,234", "1,234", true),
        AnswerRow(is("3.5"), "ANSWER: 3,5", "3,5", true),
        AnswerRow(is("0.125"), "ANSWER: 0,125", "*", true),
        AnswerRow(
            is("1.234"),
            "Mit 0,5 gerechnet: ANSWER: 1,234",
            "1,234",
            true,
        ),
        AnswerRow(is("12,75"), "Antwort: 12,75 €", "12,75", true),
        AnswerRow(is("12.75"), "La réponse est 12,75.", "12,75", true),
        AnswerRow(is("-5"), "ANSWER: -5", "-5", true),
        AnswerRow(is("-5"), "ANSWER: −5 °C", "−5", true),
        AnswerRow(is("-5"), "ANSWER: minus 5", "5", true),
        AnswerRow(is("-5"), "ANSWER: -$5", "-$5", true),
        AnswerRow(is("1200"), "ANSWER: $1,200.00", "1,200.00", true),
        AnswerRow(is("10000"), "ANSWER: $10k", "10", true),
        AnswerRow(is("1200"), "ANSWER: EUR 1.200,00", "1.200,00", true),
        AnswerRow(is("1000"), "ANSWER: 10^3", "*", true),
        AnswerRow(is("1000"), "ANSWER: 10³", "*", true),
        AnswerRow(is("1000"), "ANSWER: 1E+3", "*", true),
        AnswerRow(is("1024"), "ANSWER: 2^10", "*", true),
        AnswerRow(is("0.00015"), "ANSWER: 1.5 \\times 10^{-4}", "*", true),
        AnswerRow(is("0.00015"), "ANSWER: 1.5·10⁻⁴", "*", true),
        AnswerRow(is("0.75"), "ANSWER: \\frac{3}{4}", "*", true),
        AnswerRow(is("1.75"), "ANSWER: 1 3/4", "1 3/4", true),
        AnswerRow(is("1.5"), "ANSWER: 1½", "*", true),
        AnswerRow(is("1/3"), "ANSWER: 1/3", "1/3", true),
        AnswerRow(is("0.5"), "ANSWER: .5", "*", true),
        AnswerRow(is("0.45"), "ANSWER: 45%", "45", true),
        AnswerRow(is("45%"), "ANSWER: 0.45", "0.45", true),
        AnswerRow(is("50%"), "ANSWER: 0.5%", "0.5", false),
        AnswerRow(is("45"), "ANSWER: 45 Prozent", "45", true),
        AnswerRow(is("2500000"), "ANSWER: 2.5 million", "2.5", true),
        AnswerRow(is("2.5"), "ANSWER: 2.5 Mio.", "2.5", true),
    ]
}

pub(super) fn the_number_that_answers_is_found() -> Vec<AnswerRow> {
    vec![
        AnswerRow(
            is("7"),
            "There are 3 apples and 4 pears, 7 in all.",
            "7",
            true,
        ),
        AnswerRow(
            is("7"),
            "1. Count the apples: 3.\n2. Count the pears: 4.\n3. Add: 3 + 4 = 7.",
            "7",
            true,
        ),
        AnswerRow(is("7"), "3 + 4 = 7. Confidence: 0.9", "7", true),
        AnswerRow(is("7"), "It is 7, I am 95 % sure.", "7", true),
        AnswerRow(is("7"), "ANSWER: not 6 but 7", "7", true),
        AnswerRow(is("7"), "ANSWER: 7, not 6", "7", true),
        AnswerRow(is("7"), "ANSWER: 7 of 12", "7", true),
        AnswerRow(
            is("7"),
            "Using GPT-4 and CO2 data at 12:30, we get seven.",
            "seven",
            true,
        ),
        AnswerRow(is("7"), "It took 7", "7", true),
        AnswerRow(
            is("7"),
            "ANSWER: 6\nWait, I forgot one.\nANSWER: 7",
            "7",
            true,
        ),
        AnswerRow(is("7"), "ANSWER: 6 or 7", "", false),
        AnswerRow(is("7"), "ANSWER: 6–8", "", false),
        AnswerRow(is("7"), "ANSWER: between 6 and 8", "", false),
        AnswerRow(is("7"), "ANSWER: 6 to 8", "", false),
        AnswerRow(is("7"), "ANSWER: unknown", "", false),
        AnswerRow(is("7"), "ANSWER: NaN", "", false),
        AnswerRow(is("7"), "ANSWER: infinity", "", false),
        AnswerRow(is("7"), "I refuse to answer.", "", false),
        AnswerRow(is("7"), "ANSWER: 3 + 4", "", false),
        AnswerRow(is("7"), "Version 1.2.3 of 3/4/2020", "", false),
        AnswerRow(is("7"), "ANSWER: 7,3,2", "", false),
        AnswerRow(is("7"), "With 95% certainty: 7", "7", true),
        AnswerRow(is("7"), "ANSWER: 7/2 is wrong", "", false),
        AnswerRow(is("7"), "ANSWER: 8", "8", false),
        AnswerRow(is("7"), "ANSWER: -7", "-7", false),
    ]
}

pub(super) fn tolerances_are_exact() -> Vec<AnswerRow> {
    vec![
        AnswerRow(numeric("0.3", 0.1, 0.0), "ANSWER: 0.4", "0.4", true),
        AnswerRow(
            numeric("0.3", 0.1, 0.0),
            "ANSWER: 0.4000000000000000001",
            "*",
            false,
        ),
        AnswerRow(numeric("0.3", 0.0, 0.0), "ANSWER: 0.30", "0.30", true),
        AnswerRow(numeric("100", 0.0, 0.01), "ANSWER: 101", "101", true),
        AnswerRow(numeric("100", 0.0, 0.01), "ANSWER: 101.0001", "*", false),
        AnswerRow(numeric("-100", 0.0, 0.01), "ANSWER: -99", "-99", true),
        AnswerRow(numeric("0", 0.0, 0.5), "ANSWER: 0.0001", "*", false),
        AnswerRow(numeric("0", 0.0, 0.0), "ANSWER: -0.0", "*", true),
        AnswerRow(numeric("1/3", 0.0, 0.001), "ANSWER: 0.3333", "*", true),
        AnswerRow(
            numeric("1/3", 0.0, 0.0),
            "ANSWER: 0.3333333333333333",
            "*",
            false,
        ),
        AnswerRow(numeric("1e400", 0.0, 0.0), "ANSWER: 10^400", "*", true),
        AnswerRow(numeric("1e400", 0.0, 0.1), "ANSWER: 10^300", "*", false),
        AnswerRow(
            numeric("265252859812191058636308480000000", 0.0, 0.0),
            "ANSWER: 265,252,859,812,191,058,636,308,480,000,000",
            "*",
            true,
        ),
        AnswerRow(
            numeric(
                "93326215443944152681699238856266700490715968264381621468592963895217",
                0.0,
                0.0,
            ),
            "ANSWER: 93326215443944152681699238856266700490715968264381621468592963895218",
            "*",
            false,
        ),
    ]
}
