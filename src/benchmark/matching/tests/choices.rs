//! Answers to choices.

use super::{AnswerRow, choice, table};

pub(super) fn stated_options_are_read_whatever_is_around_them() -> Vec<AnswerRow> {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    table(
        |_| q(),
        "\
        B + ANSWER: B
        B + answer: b
        B + ANSWER:B
        B + ANSWER B
        B + Answer：B
        B + **ANSWER:** B
        B + **ANSWER: B**
        B + ### Final answer: `B`
        B + Final Answer: (B) Venus
        B + ANSWER: [B]
        B + ANSWER: **B**. Venus traps heat.
        B + ANSWER: B - Venus
        B + ANSWER: B) Venus, because its air traps heat; C is cooler.
        B + ANSWER: B because A and C lack the atmosphere
        B + ANSWER: Option B
        B + ANSWER: the letter B
        B + ANSWER: Venus
        B + ANSWER: \"venus.\"
        B + ANSWER:\\n\\nB
        B + ANSWER:\\n```\\nB\\n```
        B + ANSWER: $\\boxed{\\text{B}}$
        B + So we get \\boxed{B}.
        B + The correct answer is therefore B.
        B + The answer to the question is option (B).
        B + The best answer would be Venus.
        B + Die richtige Antwort lautet B.
        B + **Antwort:** B) Venus
        B + La réponse est B.
        B + Respuesta: B
        B + Ответ: B
        B + 最終的な答え：B
        B + 答案是B
        B + {\"answer\": \"B\"}
        B + ANSWER: A is tempting.\\nANSWER: B
        B + ANSWER: B. My first answer: A was wrong.
        B + ANSWER: B\\nANSWER: <letter>
        B + ANSWER: B\\n\\nANSWER:
        B + The experts agree that it is hot. ANSWER: B Confidence is high.
        B + The correct option is B.
        B + **Correct choice: (B)**",
    )
}

pub(super) fn texts_that_take_no_option_or_two_are_no_answer() -> Vec<AnswerRow> {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    table(
        |_| q(),
        "\
        -
        - ANSWER:
        - ANSWER: unknown
        - ANSWER: B and C
        - ANSWER: B, C
        - ANSWER: B/C
        - ANSWER: either B or C
        - ANSWER: Venus or Mars
        - ANSWER: B) Mars
        - ANSWER: not B
        - ANSWER: anything but B
        - ANSWER: all but Venus
        - ANSWER: all planets but B
        - ANSWER: B versus C
        - ANSWER: \\boxed{B} or \\boxed{C}
        - ANSWER: $B \\cup C$
        - The correct option is not B.
        - The correct option is B or C.
        - Option B is a trap.
        - ANSWER: none of the above
        - ANSWER: E
        - The answer is not B.
        - It depends on how you measure: option B by mean, option A by peak.
        - I'm sorry, but I can't help with that.
        - A) Mercury\\nB) Venus\\nC) Earth\\nD) Mars
        - A planet is hot if it has an atmosphere.
        - I think a planet near the Sun is hot. C++ would not help.
        - End with \"ANSWER:\" and the letter of one option.
        B + ANSWER: B was my first thought",
    )
}

pub(super) fn letters_and_texts_are_of_the_same_option() -> Vec<AnswerRow> {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    table(
        |_| q(),
        "\
        B + ANSWER: B (Venus), because it is hot
        B + ANSWER: B) Venus, of course
        B + ANSWER: Venus (B)
        B + ANSWER: B. Venus is hot, but Mercury is nearer
        B + ANSWER: B, no other planet is as hot
        B + ANSWER: B rather than C
        B + ANSWER: Venus, no doubt
        - ANSWER: B (Earth)
        - ANSWER: B) Earth, of course
        - ANSWER: B - Earth
        - ANSWER: (B) Earth - the blue planet
        - ANSWER: Earth (B)
        - ANSWER: B, no, C
        - ANSWER: B? No, C
        - ANSWER: B — wait, actually C
        - ANSWER: B. Actually, C
        - ANSWER: B or rather C
        - ANSWER: B is plausible, but C is right
        - ANSWER: Venus, no, Earth
        - ANSWER: Venus. Correction: Earth",
    )
}

pub(super) fn options_that_are_numbers_are_read_as_numbers() -> Vec<AnswerRow> {
    let q = || choice(&["-20", "20", "30 km", "1,500", "none of these"], "B");
    table(
        |_| q(),
        "\
        B + ANSWER: 20
        B + ANSWER: x = 20.0
        B + ANSWER: twenty
        B + ANSWER: 10 + 10 = 20
        B + ANSWER: B) 20 because 10 + 10 = 20
        B + The result is 20.
        B + 30 is too much, so (B).
        A - ANSWER: \u{2212}20
        D - ANSWER: 1500 km
        C - ANSWER: 30
        E - ANSWER: none of these
        - ANSWER: 20\u{2013}30
        - ANSWER: 20.5
        - ANSWER: 20/3
        - ANSWER: \u{221a}20
        - ANSWER: 20x
        - ANSWER: at least 20
        - ANSWER: 20 hundred
        - ANSWER: 20, no, 30
        - ANSWER: 20 or none of these
        - ANSWER: B (30)
        - ANSWER: B) -20
        - We divide by 20.",
    )
}

pub(super) fn options_are_read_without_a_statement_where_only_one_is_meant() -> Vec<AnswerRow> {
    let q = || choice(&["Mercury", "Venus", "Earth", "Mars"], "B");
    table(
        |_| q(),
        "\
        B + B.
        B + (b)
        B + **B**
        B + B) Venus
        B + B: Venus is the hottest.
        B + I would go with B.
        B + Choose option B; option C is wrong.
        B + Not Mercury but Venus is the hottest.
        B + It isn't Mercury, it's Venus.
        B + Venus rather than Mercury.
        B + Neither Mercury nor Mars. Venus.
        B + Nicht Mercury, sondern Venus.
        B + Rule out A. Rule out C and option D is wrong. (B) remains.
        - Mercury is closest, but Venus is hotter.
        C - Option (C).",
    )
}

pub(super) fn options_may_be_words_letters_or_parts_of_each_other() -> Vec<AnswerRow> {
    let truth = || choice(&["True", "False"], "A");
    let blood = || choice(&["A", "B", "AB", "O"], "C");
    let nested = || choice(&["New York", "York", "Jersey"], "A");
    let many = || choice(&["1", "2", "3", "4", "5", "6", "7", "8", "nine"], "I");
    let marks = || choice(&["C", "C++", "C#"], "B");
    [
        table(
            |_| truth(),
            "\
            A + True. The proof is short.
            A + ANSWER: TRUE
            B - This is false.
            - ANSWER: Not true",
        ),
        table(
            |_| blood(),
            "\
            C + ANSWER: AB
            C + ANSWER: C",
        ),
        table(
            |_| nested(),
            "\
            A + We moved to New York.
            B - ANSWER: York",
        ),
        table(
            |_| many(),
            "\
            I + ANSWER: I
            H - ANSWER: I believe it is H
            I + ANSWER: nine",
        ),
        table(
            |_| marks(),
            "\
            B + ANSWER: C++
            B + ANSWER: B",
        ),
    ]
    .concat()
}
