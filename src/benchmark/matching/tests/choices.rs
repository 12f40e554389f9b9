//! Answers to choices.

use super::{AnswerRow, choice};

pub(super) fn stated_options_are_read_whatever_is_around_them() -> Vec<AnswerRow> {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    vec![
        AnswerRow(q(), "ANSWER: B", "B", true),
        AnswerRow(q(), "answer: b", "B", true),
        AnswerRow(q(), "ANSWER:B", "B", true),
        AnswerRow(q(), "ANSWER B", "B", true),
        AnswerRow(q(), "Answer：B", "B", true),
        AnswerRow(q(), "**ANSWER:** B", "B", true),
        AnswerRow(q(), "**ANSWER: B**", "B", true),
        AnswerRow(q(), "### Final answer: `B`", "B", true),
        AnswerRow(q(), "Final Answer: (B) Venus", "B", true),
        AnswerRow(q(), "ANSWER: [B]", "B", true),
        AnswerRow(q(), "ANSWER: **B**. Venus traps heat.", "B", true),
        AnswerRow(q(), "ANSWER: B - Venus", "B", true),
        AnswerRow(
            q(),
            "ANSWER: B) Venus, because its air traps heat; C is cooler.",
            "B",
            true,
        ),
        AnswerRow(
            q(),
            "ANSWER: B because A and C lack the atmosphere",
            "B",
            true,
        ),
        AnswerRow(q(), "ANSWER: Option B", "B", true),
        AnswerRow(q(), "ANSWER: the letter B", "B", true),
        AnswerRow(q(), "ANSWER: Venus", "B", true),
        AnswerRow(q(), "ANSWER: \"venus.\"", "B", true),
        AnswerRow(q(), "ANSWER:\n\nB", "B", true),
        AnswerRow(q(), "ANSWER:\n```\nB\n```", "B", true),
        AnswerRow(q(), "ANSWER: $\\boxed{\\text{B}}$", "B", true),
        AnswerRow(q(), "So we get \\boxed{B}.", "B", true),
        AnswerRow(q(), "The correct answer is therefore B.", "B", true),
        AnswerRow(q(), "The answer to the question is option (B).", "B", true),
        AnswerRow(q(), "The best answer would be Venus.", "B", true),
        AnswerRow(q(), "Die richtige Antwort lautet B.", "B", true),
        AnswerRow(q(), "**Antwort:** B) Venus", "B", true),
        AnswerRow(q(), "La réponse est B.", "B", true),
        AnswerRow(q(), "Respuesta: B", "B", true),
        AnswerRow(q(), "Ответ: B", "B", true),
        AnswerRow(q(), "最終的な答え：B", "B", true),
        AnswerRow(q(), "答案是B", "B", true),
        AnswerRow(q(), "{\"answer\": \"B\"}", "B", true),
        AnswerRow(q(), "ANSWER: A is tempting.\nANSWER: B", "B", true),
        AnswerRow(q(), "ANSWER: B. My first answer: A was wrong.", "B", true),
        AnswerRow(q(), "ANSWER: B\nANSWER: <letter>", "B", true),
        AnswerRow(q(), "ANSWER: B\n\nANSWER:", "B", true),
        AnswerRow(
            q(),
            "The experts agree that it is hot. ANSWER: B Confidence is high.",
            "B",
            true,
        ),
    ]
}

pub(super) fn texts_that_take_no_option_or_two_are_no_answer() -> Vec<AnswerRow> {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    vec![
        AnswerRow(q(), "", "", false),
        AnswerRow(q(), "ANSWER:", "", false),
        AnswerRow(q(), "ANSWER: unknown", "", false),
        AnswerRow(q(), "ANSWER: B and C", "", false),
        AnswerRow(q(), "ANSWER: B, C", "", false),
        AnswerRow(q(), "ANSWER: B/C", "", false),
        AnswerRow(q(), "ANSWER: either B or C", "", false),
        AnswerRow(q(), "ANSWER: Venus or Mars", "", false),
        AnswerRow(q(), "ANSWER: B) Mars", "", false),
        AnswerRow(q(), "ANSWER: not B", "", false),
        AnswerRow(q(), "ANSWER: none of the above", "", false),
        AnswerRow(q(), "ANSWER: E", "", false),
        AnswerRow(q(), "The answer is not B.", "", false),
        AnswerRow(
            q(),
            "It depends on how you measure: option B by mean, option A by peak.",
            "",
            false,
        ),
        AnswerRow(q(), "I'm sorry, but I can't help with that.", "", false),
        AnswerRow(q(), "A) Mercury\nB) Venus\nC) Earth\nD) Mars", "", false),
        AnswerRow(q(), "A planet is hot if it has an atmosphere.", "", false),
        AnswerRow(
            q(),
            "I think a planet near the Sun is hot. C++ would not help.",
            "",
            false,
        ),
        AnswerRow(
            q(),
            "End with \"ANSWER:\" and the letter of one option.",
            "",
            false,
        ),
        AnswerRow(q(), "ANSWER: B was my first thought", "B", true),
    ]
}

pub(super) fn options_are_read_without_a_statement_where_only_one_is_meant() -> Vec<AnswerRow> {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    vec![
        AnswerRow(q(), "B.", "B", true),
        AnswerRow(q(), "(b)", "B", true),
        AnswerRow(q(), "**B**", "B", true),
        AnswerRow(q(), "B) Venus", "B", true),
        AnswerRow(q(), "B: Venus is the hottest.", "B", true),
        AnswerRow(q(), "I would go with B.", "B", true),
        AnswerRow(q(), "Choose option B; option C is wrong.", "B", true),
        AnswerRow(q(), "Not Mercury but Venus is the hottest.", "B", true),
        AnswerRow(q(), "It isn't Mercury, it's Venus.", "B", true),
        AnswerRow(q(), "Venus rather than Mercury.", "B", true),
        AnswerRow(q(), "Neither Mercury nor Mars. Venus.", "B", true),
        AnswerRow(q(), "Nicht Mercury, sondern Venus.", "B", true),
        AnswerRow(
            q(),
            "Rule out A. Rule out C and option D is wrong. (B) remains.",
            "B",
            true,
        ),
        AnswerRow(q(), "Mercury is closest, but Venus is hotter.", "", false),
        AnswerRow(q(), "Option (C).", "C", false),
    ]
}

pub(super) fn options_may_be_words_letters_or_parts_of_each_other() -> Vec<AnswerRow> {
    let truth = || choice(&["True", "False"], "A");
    let blood = || choice(&["A", "B", "AB", "O"], "C");
    let nested = || choice(&["New York", "York", "Jersey"], "A");
    let many = || choice(&["1", "2", "3", "4", "5", "6", "7", "8", "nine"], "I");
    let marks = || choice(&["C", "C++", "C#"], "B");
    vec![
        AnswerRow(truth(), "True. The proof is short.", "A", true),
        AnswerRow(truth(), "ANSWER: TRUE", "A", true),
        AnswerRow(truth(), "This is false.", "B", false),
        AnswerRow(truth(), "ANSWER: Not true", "", false),
        AnswerRow(blood(), "ANSWER: AB", "C", true),
        AnswerRow(blood(), "ANSWER: C", "C", true),
        AnswerRow(nested(), "We moved to New York.", "A", true),
        AnswerRow(nested(), "ANSWER: York", "B", false),
        AnswerRow(many(), "ANSWER: I", "I", true),
        AnswerRow(many(), "ANSWER: I believe it is H", "H", false),
        AnswerRow(many(), "ANSWER: nine", "I", true),
        AnswerRow(marks(), "ANSWER: C++", "B", true),
        AnswerRow(marks(), "ANSWER: B", "B", true),
    ]
}
