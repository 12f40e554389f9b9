//! Answers to choices.

use super::{Row, check, choice};

#[test]
fn stated_options_are_read_whatever_is_around_them() {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    check(&[
        Row(q(), "ANSWER: B", "B", true),
        Row(q(), "answer: b", "B", true),
        Row(q(), "ANSWER:B", "B", true),
        Row(q(), "ANSWER B", "B", true),
        Row(q(), "Answer：B", "B", true),
        Row(q(), "**ANSWER:** B", "B", true),
        Row(q(), "**ANSWER: B**", "B", true),
        Row(q(), "### Final answer: `B`", "B", true),
        Row(q(), "Final Answer: (B) Venus", "B", true),
        Row(q(), "ANSWER: [B]", "B", true),
        Row(q(), "ANSWER: **B**. Venus traps heat.", "B", true),
        Row(q(), "ANSWER: B - Venus", "B", true),
        Row(
            q(),
            "ANSWER: B) Venus, because its air traps heat; C is cooler.",
            "B",
            true,
        ),
        Row(
            q(),
            "ANSWER: B because A and C lack the atmosphere",
            "B",
            true,
        ),
        Row(q(), "ANSWER: Option B", "B", true),
        Row(q(), "ANSWER: the letter B", "B", true),
        Row(q(), "ANSWER: Venus", "B", true),
        Row(q(), "ANSWER: \"venus.\"", "B", true),
        Row(q(), "ANSWER:\n\nB", "B", true),
        Row(q(), "ANSWER:\n```\nB\n```", "B", true),
        Row(q(), "ANSWER: $\\boxed{\\text{B}}$", "B", true),
        Row(q(), "So we get \\boxed{B}.", "B", true),
        Row(q(), "The correct answer is therefore B.", "B", true),
        Row(q(), "The answer to the question is option (B).", "B", true),
        Row(q(), "The best answer would be Venus.", "B", true),
        Row(q(), "Die richtige Antwort lautet B.", "B", true),
        Row(q(), "**Antwort:** B) Venus", "B", true),
        Row(q(), "La réponse est B.", "B", true),
        Row(q(), "Respuesta: B", "B", true),
        Row(q(), "Ответ: B", "B", true),
        Row(q(), "最終的な答え：B", "B", true),
        Row(q(), "{\"answer\": \"B\"}", "B", true),
        Row(q(), "ANSWER: A is tempting.\nANSWER: B", "B", true),
        Row(q(), "ANSWER: B. My first answer: A was wrong.", "B", true),
        Row(q(), "ANSWER: B\nANSWER: <letter>", "B", true),
        Row(q(), "ANSWER: B\n\nANSWER:", "B", true),
        Row(
            q(),
            "The experts agree that it is hot. ANSWER: B Confidence is high.",
            "B",
            true,
        ),
    ]);
}

#[test]
fn texts_that_take_no_option_or_two_are_no_answer() {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    check(&[
        Row(q(), "", "", false),
        Row(q(), "ANSWER:", "", false),
        Row(q(), "ANSWER: unknown", "", false),
        Row(q(), "ANSWER: B and C", "", false),
        Row(q(), "ANSWER: B, C", "", false),
        Row(q(), "ANSWER: B/C", "", false),
        Row(q(), "ANSWER: either B or C", "", false),
        Row(q(), "ANSWER: Venus or Mars", "", false),
        Row(q(), "ANSWER: B) Mars", "", false),
        Row(q(), "ANSWER: not B", "", false),
        Row(q(), "ANSWER: none of the above", "", false),
        Row(q(), "ANSWER: E", "", false),
        Row(q(), "The answer is not B.", "", false),
        Row(
            q(),
            "It depends on how you measure: option B by mean, option A by peak.",
            "",
            false,
        ),
        Row(q(), "I'm sorry, but I can't help with that.", "", false),
        Row(q(), "A) Mercury\nB) Venus\nC) Earth\nD) Mars", "", false),
        Row(q(), "A planet is hot if it has an atmosphere.", "", false),
        Row(
            q(),
            "I think a planet near the Sun is hot. C++ would not help.",
            "",
            false,
        ),
        Row(
            q(),
            "End with \"ANSWER:\" and the letter of one option.",
            "",
            false,
        ),
        Row(q(), "ANSWER: B was my first thought", "B", true),
    ]);
}

#[test]
fn options_are_read_without_a_statement_where_only_one_is_meant() {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    check(&[
        Row(q(), "B.", "B", true),
        Row(q(), "(b)", "B", true),
        Row(q(), "**B**", "B", true),
        Row(q(), "B) Venus", "B", true),
        Row(q(), "B: Venus is the hottest.", "B", true),
        Row(q(), "I would go with B.", "B", true),
        Row(q(), "Choose option B; option C is wrong.", "B", true),
        Row(q(), "Not Mercury but Venus is the hottest.", "B", true),
        Row(q(), "It isn't Mercury, it's Venus.", "B", true),
        Row(q(), "Venus rather than Mercury.", "B", true),
        Row(q(), "Neither Mercury nor Mars. Venus.", "B", true),
        Row(q(), "Nicht Mercury, sondern Venus.", "B", true),
        Row(
            q(),
            "Rule out A. Rule out C and option D is wrong. (B) remains.",
            "B",
            true,
        ),
        Row(q(), "Mercury is closest, but Venus is hotter.", "", false),
        Row(q(), "Option (C).", "C", false),
    ]);
}

#[test]
fn options_may_be_words_letters_or_parts_of_each_other() {
    let truth = || choice(&["True", "False"], "A");
    let blood = || choice(&["A", "B", "AB", "O"], "C");
    let nested = || choice(&["New York", "York", "Jersey"], "A");
    let many = || choice(&["1", "2", "3", "4", "5", "6", "7", "8", "nine"], "I");
    let marks = || choice(&["C", "C++", "C#"], "B");
    check(&[
        Row(truth(), "True. The proof is short.", "A", true),
        Row(truth(), "ANSWER: TRUE", "A", true),
        Row(truth(), "This is false.", "B", false),
        Row(truth(), "ANSWER: Not true", "", false),
        Row(blood(), "ANSWER: AB", "C", true),
        Row(blood(), "ANSWER: C", "C", true),
        Row(nested(), "We moved to New York.", "A", true),
        Row(nested(), "ANSWER: York", "B", false),
        Row(many(), "ANSWER: I", "I", true),
        Row(many(), "ANSWER: I believe it is H", "H", false),
        Row(many(), "ANSWER: nine", "I", true),
        Row(marks(), "ANSWER: C++", "B", true),
        Row(marks(), "ANSWER: B", "B", true),
    ]);
}
