//! Answers that are numbers.

use super::{AnswerRow, is, numeric, table};
use crate::benchmark::case::Case;

/// A number with its absolute and relative tolerance: `0.3 0.1 0.0`.
pub(super) fn tolerant(expected: &str) -> Case {
    let parts: Vec<&str> = expected.split(' ').collect();
    numeric(
        parts[0],
        parts[1].parse().unwrap(),
        parts[2].parse().unwrap(),
    )
}

pub(super) fn numbers_are_read_in_every_notation() -> Vec<AnswerRow> {
    table(
        is,
        "\
        42 | 42 + ANSWER: 42
        42 | 42 + ANSWER: 42.
        42 | 42.0 + ANSWER: 42.0
        42 | 42 + ANSWER: **42** km/h
        42 | 42 + ANSWER: x = 42
        42 | 42 + ANSWER: $x = 42$
        42 | 42 + ANSWER: 6 × 7 = 42
        42 | 42 + ANSWER: 42 = 6 * 7
        42 | 42 + ANSWER: 42 (6 times 7)
        42 | 42 + ANSWER: forty-two
        42 | 42 + ANSWER: \\(\\boxed{42}\\)
        42 | 42 + ANSWER: ４２
        42 | 42 + ANSWER: ٤٢
        42 | 42 + ANSWER: +42
        1234567 | 1,234,567 + ANSWER: 1,234,567
        1234567 | 1.234.567 + ANSWER: 1.234.567
        1234567 | 1 234 567 + ANSWER: 1 234 567
        1234567 | * + ANSWER: 1\u{202f}234\u{202f}567
        1234567 | * + ANSWER: 1'234'567
        1234567 | * + ANSWER: 1_234_567
        1234567 | * + ANSWER: 12,34,567
        1000 | * + ANSWER: 1{,}000
        1234 | 1,234 + ANSWER: 1,234
        3.5 | 3,5 + ANSWER: 3,5
        0.125 | * + ANSWER: 0,125
        1.234 | 1,234 + Mit 0,5 gerechnet: ANSWER: 1,234
        12,75 | 12,75 + Antwort: 12,75 €
        12.75 | 12,75 + La réponse est 12,75.
        -5 | -5 + ANSWER: -5
        -5 | −5 + ANSWER: −5 °C
        -5 | minus 5 + ANSWER: minus 5
        -5 | -$5 + ANSWER: -$5
        1200 | 1,200.00 + ANSWER: $1,200.00
        10000 | 10 thousand + ANSWER: $10k
        1200 | 1.200,00 + ANSWER: EUR 1.200,00
        1000 | * + ANSWER: 10^3
        1000 | * + ANSWER: 10³
        1000 | * + ANSWER: 1E+3
        1024 | * + ANSWER: 2^10
        0.00015 | * + ANSWER: 1.5 \\times 10^{-4}
        0.00015 | * + ANSWER: 1.5·10⁻⁴
        0.75 | * + ANSWER: \\frac{3}{4}
        1.75 | 1 3/4 + ANSWER: 1 3/4
        1.5 | * + ANSWER: 1½
        1/3 | 1/3 + ANSWER: 1/3
        0.5 | * + ANSWER: .5
        0.45 | 45% + ANSWER: 45%
        45% | 0.45 + ANSWER: 0.45
        50% | 0.5% - ANSWER: 0.5%
        45 | 45 Prozent + ANSWER: 45 Prozent
        2500000 | 2.5 million + ANSWER: 2.5 million
        2.5 | 2.5 Mio - ANSWER: 2.5 Mio.",
    )
}

pub(super) fn the_number_that_answers_is_found() -> Vec<AnswerRow> {
    table(
        is,
        "\
        7 | 7 + There are 3 apples and 4 pears, 7 in all.
        7 | 7 + 1. Count the apples: 3.\\n2. Count the pears: 4.\\n3. Add: 3 + 4 = 7.
        7 | 7 + 3 + 4 = 7. Confidence: 0.9
        7 | 7 + It is 7, I am 95 % sure.
        7 | 7 + ANSWER: not 6 but 7
        7 | 7 + ANSWER: 7, not 6
        7 | - ANSWER: 7 of 12
        7 | 7 + Using GPT-4 and CO2 data at 12:30, we get seven.
        7 | 7 + It took 7
        7 | 7 + ANSWER: 6\\nWait, I forgot one.\\nANSWER: 7
        7 | - ANSWER: 6 or 7
        7 | - ANSWER: 6–8
        7 | - ANSWER: between 6 and 8
        7 | - ANSWER: 6 to 8
        7 | - ANSWER: unknown
        7 | - ANSWER: NaN
        7 | - ANSWER: infinity
        7 | - I refuse to answer.
        7 | - ANSWER: 3 + 4
        7 | - Version 1.2.3 of 3/4/2020
        7 | - ANSWER: 7,3,2
        7 | 7 + With 95% certainty: 7
        7 | - ANSWER: 7/2 is wrong
        7 | 8 - ANSWER: 8
        7 | -7 - ANSWER: -7",
    )
}

fn apples(expected: &str) -> Case {
    let question = "How many apples has Tom in the end?".to_owned();
    Case {
        question,
        ..is(expected)
    }
}

fn millions(expected: &str) -> Case {
    let question = "What does it cost, in millions of dollars, for 3 thousand people?".to_owned();
    Case {
        question,
        ..is(expected)
    }
}

pub(super) fn numbers_are_read_as_whole_phrases_or_not_at_all() -> Vec<AnswerRow> {
    let in_millions = "\
        7 | * + ANSWER: 7
        7 | * + ANSWER: 7 million
        7 | * + ANSWER: $7 million
        7 | * - ANSWER: 7 thousand
        7 | * - ANSWER: 7 billion
        7 | * - ANSWER: 8 million";
    let phrases = table(apples, include_str!("phrases.txt"));
    let wrong = phrases.iter().filter(|row| !row.3).count();
    assert!(wrong * 2 >= phrases.len(), "{wrong} of {}", phrases.len());
    [phrases, table(millions, in_millions)].concat()
}

pub(super) fn tolerances_are_exact() -> Vec<AnswerRow> {
    [
        table(
            tolerant,
            "\
            0.3 0.1 0.0 | 0.4 + ANSWER: 0.4
            0.3 0.1 0.0 | * - ANSWER: 0.4000000000000000001
            100 0.0 0.01 | 101 + ANSWER: 101
            100 0.0 0.01 | * - ANSWER: 101.0001
            -100 0.0 0.01 | -99 + ANSWER: -99
            0 0.0 0.5 | * - ANSWER: 0.0001
            1/3 0.0 0.001 | * + ANSWER: 0.3333
            1e400 0.0 0.1 | * - ANSWER: 10^300",
        ),
        table(
            is,
            "\
            0.3 | 0.30 + ANSWER: 0.30
            0 | * + ANSWER: -0.0
            1/3 | * - ANSWER: 0.3333333333333333
            1e400 | * + ANSWER: 10^400
            265252859812191058636308480000000 | * + ANSWER: \
             265,252,859,812,191,058,636,308,480,000,000
            93326215443944152681699238856266700490715968264381621468592963895217 | * - ANSWER: \
             93326215443944152681699238856266700490715968264381621468592963895218",
        ),
    ]
    .concat()
}
