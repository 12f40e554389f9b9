//! Answers written before the code that reads them.

use super::{AnswerRow, choice, contains, exact, numeric, similar};

pub(super) fn blind_answers_are_read_as_a_person_reads_them() -> Vec<AnswerRow> {
    let capitals = || choice(&["Sydney", "Melbourne", "Canberra", "Perth"], "C");
    let yes_no = || choice(&["Yes", "No"], "B");
    vec![
        // Choice.
        AnswerRow(
            capitals(),
            "Canberra has been the seat of government since 1927. ANSWER: C",
            "C",
            true,
        ),
        AnswerRow(capitals(), "**Answer:** (C)", "C", true),
        AnswerRow(capitals(), "Answer is: C.", "C", true),
        AnswerRow(
            capitals(),
            "Many would say Sydney, but the answer is C) Canberra.",
            "C",
            true,
        ),
        AnswerRow(capitals(), "ANSWER: not A but C", "C", true),
        AnswerRow(capitals(), "I cannot decide between A and C.", "", false),
        AnswerRow(capitals(), "ANSWER: Canberra", "C", true),
        AnswerRow(
            capitals(),
            "Option A is the largest city. Still, option A is not the capital.",
            "",
            false,
        ),
        AnswerRow(capitals(), "Antwort: C", "C", true),
        AnswerRow(capitals(), "ANSWER: A or C", "", false),
        AnswerRow(capitals(), "The capital is Canberra.", "C", true),
        AnswerRow(capitals(), "$\\boxed{C}$", "C", true),
        AnswerRow(
            capitals(),
            "ANSWER: B\n\nOn reflection Melbourne was only the interim seat.\nANSWER: C",
            "C",
            true,
        ),
        AnswerRow(capitals(), "A good case can be made for Perth.", "D", false),
        AnswerRow(capitals(), "答案：C", "C", true),
        AnswerRow(capitals(), "As an AI I must not answer this.", "", false),
        AnswerRow(yes_no(), "No, because the index is not used.", "B", true),
        AnswerRow(yes_no(), "Yes and no.", "", false),
        // Numeric.
        AnswerRow(
            numeric("1234.5", 0.0, 0.0),
            "The total is 1,234.50 dollars.",
            "1,234.50",
            true,
        ),
        AnswerRow(
            numeric("1234.5", 0.0, 0.0),
            "Das ergibt 1.234,50 Euro.",
            "1.234,50",
            true,
        ),
        AnswerRow(numeric("0.75", 0.0, 0.0), "ANSWER: 3/4", "3/4", true),
        AnswerRow(
            numeric("42", 0.0, 0.0),
            "First 6, then 7, so 6 * 7 = \\boxed{42}",
            "42",
            true,
        ),
        AnswerRow(
            numeric("-40", 0.0, 0.0),
            "They meet at \u{2212}40 degrees, in both scales.",
            "\u{2212}40",
            true,
        ),
        AnswerRow(numeric("1000", 0.0, 0.0), "ANSWER: 1e3", "1e3", true),
        AnswerRow(
            numeric("0.3", 0.0, 0.0),
            "ANSWER: 0.30000000000000004",
            "0.30000000000000004",
            false,
        ),
        AnswerRow(
            numeric("299792458", 0.0, 0.001),
            "About 3.00 × 10^8 m/s",
            "3.00 × 10^8",
            true,
        ),
        AnswerRow(numeric("12", 0.0, 0.0), "It is 12, not 13.", "12", true),
        AnswerRow(
            numeric("12", 0.0, 0.0),
            "Somewhere between 10 and 14.",
            "",
            false,
        ),
        AnswerRow(numeric("45", 0.0, 0.0), "ANSWER: 45 %", "45", true),
        AnswerRow(numeric("2400", 0.0, 0.0), "ANSWER: €2 400", "2 400", true),
        AnswerRow(
            numeric("5", 0.0, 0.0),
            "CO2 and H2O together have 5 distinct bonds",
            "5",
            true,
        ),
        // Exact.
        AnswerRow(
            exact("Mount Everest"),
            "ANSWER: \u{201c}Mount Everest\u{201d}.",
            "Mount Everest",
            true,
        ),
        AnswerRow(exact("The Hague"), "ANSWER: Hague", "Hague", false),
        AnswerRow(
            exact("Canberra"),
            "ANSWER: Canberra. It was chosen as a compromise.",
            "Canberra",
            true,
        ),
        // Contains.
        AnswerRow(
            contains("ring buffer"),
            "Use a Ring  Buffer; it never allocates.",
            "*",
            true,
        ),
        AnswerRow(contains("cat"), "Concatenate the two lists.", "*", false),
        AnswerRow(
            contains("Paris"),
            "Londres ? Non.\n\nRéponse : Paris",
            "Paris",
            true,
        ),
        // Transcriptions.
        AnswerRow(
            similar("the quick brown fox", 0.05),
            "Transcription follows.\nANSWER:\n```\nthe quick brown fox\n```",
            "the quick brown fox",
            true,
        ),
        AnswerRow(
            similar("the quick brown fox", 0.05),
            "ANSWER: the quick brawn fix",
            "the quick brawn fix",
            false,
        ),
        AnswerRow(
            similar("caf\u{e9} cr\u{e8}me", 0.0),
            "ANSWER: cafe\u{301} cre\u{300}me",
            "*",
            true,
        ),
    ]
}
