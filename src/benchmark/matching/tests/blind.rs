//! Answers written before the code that reads them.

use super::{Row, check, choice, contains, exact, numeric, similar};

#[test]
fn blind_answers_are_read_as_a_person_reads_them() {
    let capitals = || choice(&["Sydney", "Melbourne", "Canberra", "Perth"], "C");
    let yes_no = || choice(&["Yes", "No"], "B");
    check(&[
        // Choice.
        Row(
            capitals(),
            "Canberra has been the seat of government since 1927. ANSWER: C",
            "C",
            true,
        ),
        Row(capitals(), "**Answer:** (C)", "C", true),
        Row(capitals(), "Answer is: C.", "C", true),
        Row(
            capitals(),
            "Many would say Sydney, but the answer is C) Canberra.",
            "C",
            true,
        ),
        Row(capitals(), "ANSWER: not A but C", "C", true),
        Row(capitals(), "I cannot decide between A and C.", "", false),
        Row(capitals(), "ANSWER: Canberra", "C", true),
        Row(
            capitals(),
            "Option A is the largest city. Still, option A is not the capital.",
            "",
            false,
        ),
        Row(capitals(), "Antwort: C", "C", true),
        Row(capitals(), "ANSWER: A or C", "", false),
        Row(capitals(), "The capital is Canberra.", "C", true),
        Row(capitals(), "$\\boxed{C}$", "C", true),
        Row(
            capitals(),
            "ANSWER: B\n\nOn reflection Melbourne was only the interim seat.\nANSWER: C",
            "C",
            true,
        ),
        Row(capitals(), "A good case can be made for Perth.", "D", false),
        Row(capitals(), "答案：C", "C", true),
        Row(capitals(), "As an AI I must not answer this.", "", false),
        Row(yes_no(), "No, because the index is not used.", "B", true),
        Row(yes_no(), "Yes and no.", "", false),
        // Numeric.
        Row(
            numeric("1234.5", 0.0, 0.0),
            "The total is 1,234.50 dollars.",
            "1,234.50",
            true,
        ),
        Row(
            numeric("1234.5", 0.0, 0.0),
            "Das ergibt 1.234,50 Euro.",
            "1.234,50",
            true,
        ),
        Row(numeric("0.75", 0.0, 0.0), "ANSWER: 3/4", "3/4", true),
        Row(
            numeric("42", 0.0, 0.0),
            "First 6, then 7, so 6 * 7 = \\boxed{42}",
            "42",
            true,
        ),
        Row(
            numeric("-40", 0.0, 0.0),
            "They meet at \u{2212}40 degrees, in both scales.",
            "\u{2212}40",
            true,
        ),
        Row(numeric("1000", 0.0, 0.0), "ANSWER: 1e3", "1e3", true),
        Row(
            numeric("0.3", 0.0, 0.0),
            "ANSWER: 0.30000000000000004",
            "0.30000000000000004",
            false,
        ),
        Row(
            numeric("299792458", 0.0, 0.001),
            "About 3.00 × 10^8 m/s",
            "3.00 × 10^8",
            true,
        ),
        Row(numeric("12", 0.0, 0.0), "It is 12, not 13.", "12", true),
        Row(
            numeric("12", 0.0, 0.0),
            "Somewhere between 10 and 14.",
            "",
            false,
        ),
        Row(numeric("45", 0.0, 0.0), "ANSWER: 45 %", "45", true),
        Row(numeric("2400", 0.0, 0.0), "ANSWER: €2 400", "2 400", true),
        Row(
            numeric("5", 0.0, 0.0),
            "CO2 and H2O together have 5 distinct bonds",
            "5",
            true,
        ),
        // Exact.
        Row(
            exact("Mount Everest"),
            "ANSWER: \u{201c}Mount Everest\u{201d}.",
            "Mount Everest",
            true,
        ),
        Row(exact("The Hague"), "ANSWER: Hague", "Hague", false),
        Row(
            exact("Canberra"),
            "ANSWER: Canberra. It was chosen as a compromise.",
            "Canberra",
            true,
        ),
        // Contains.
        Row(
            contains("ring buffer"),
            "Use a Ring  Buffer; it never allocates.",
            "*",
            true,
        ),
        Row(contains("cat"), "Concatenate the two lists.", "*", false),
        Row(
            contains("Paris"),
            "Londres ? Non.\n\nRéponse : Paris",
            "Paris",
            true,
        ),
        // Transcriptions.
        Row(
            similar("the quick brown fox", 0.05),
            "Transcription follows.\nANSWER:\n```\nthe quick brown fox\n```",
            "the quick brown fox",
            true,
        ),
        Row(
            similar("the quick brown fox", 0.05),
            "ANSWER: the quick brawn fix",
            "the quick brawn fix",
            false,
        ),
        Row(
            similar("caf\u{e9} cr\u{e8}me", 0.0),
            "ANSWER: cafe\u{301} cre\u{300}me",
            "*",
            true,
        ),
    ]);
}
