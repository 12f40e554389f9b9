//! Answers that are words, patterns and transcriptions.

use super::{AnswerRow, case, contains, exact, similar_to, table};
use crate::benchmark::case::{Case, ErrorRate, Matcher};

fn pattern(expected: &str) -> Case {
    case(expected, Matcher::Regex)
}

fn words(expected: &str) -> Case {
    let (at_most, expected) = expected.split_once(' ').unwrap();
    let (measure, at_most) = (ErrorRate::Wer, at_most.parse().unwrap());
    case(expected, Matcher::Similarity { measure, at_most })
}

pub(super) fn exact_answers_differ_only_in_what_surrounds_them() -> Vec<AnswerRow> {
    table(
        exact,
        "\
        Paris | paris + ANSWER: paris
        Paris | Paris + Paris.
        Paris | Paris + **Paris**
        Paris | Paris + ANSWER: «Paris»
        Paris | Paris + ANSWER: (Paris)
        Paris | Paris + The answer is Paris.
        Paris | Paris + \\boxed{\\text{Paris}}
        Paris | * - The capital of France is Paris.
        Paris | Paris, Texas - ANSWER: Paris, Texas
        Paris | not Paris - ANSWER: not Paris
        Paris | * - ANSWER: Paris or Lyon
        don't panic | * + ANSWER: Don’t panic!
        C++ | C - ANSWER: C
        C++ | C++ + ANSWER: `C++`
        snake_case | snake_case + ANSWER: `snake_case`
        New York | * + ANSWER: new\u{a0} york
        U.S. | * - ANSWER: U.S. Virgin Islands
        Zoë | Zoë + ANSWER: Zoe\u{308}
        ; | * + ANSWER: `;`
        ; | , - ANSWER: ,
        Paris | - The question is hard. There are many arguments for many cities, of which \
         one may be Paris, or not.",
    )
}

pub(super) fn contained_words_and_patterns_are_found_in_the_statement_or_the_text() -> Vec<AnswerRow>
{
    [
        table(
            contains,
            "\
            Paris | * + It is Paris, I think.
            Paris | * - Parisian cafés
            Eiffel Tower | * + the **Eiffel** Tower in Paris
            Eiffel Tower | * + the Eiffel\\nTower
            Paris | Lyon - Paris is large. ANSWER: Lyon
            東京 | * + 首都は東京です。
            C++ | * + Use C++17.
            3.5 | * - It is 13.5 m
            no | * - nothing",
        ),
        table(
            pattern,
            "\
            ^\\d{4}-\\d{2}-\\d{2}$ | 2024-02-29 + ANSWER: 2024-02-29
            ^\\d{4}-\\d{2}-\\d{2}$ | * - It was 2024-02-29.
            (?i)\\bstraße\\b | * + Die STRAßE ist lang.
            gr[ae]y | * + a grey cat
            SELECT .* FROM | * + ANSWER:\\n```sql\\nSELECT a FROM b\\n```
            cat | dog - ANSWER: dog\\n\\nNot a cat.",
        ),
    ]
    .concat()
}

pub(super) fn transcriptions_stand_after_the_marker() -> Vec<AnswerRow> {
    [
        table(
            similar_to,
            "\
            0.0 Hello, world | Hello, world + ANSWER: Hello, world
            0.0 Hello, world | Hello, world + ANSWER: \"Hello, world\"
            0.0 Hello, world | Hello, world + **ANSWER:** Hello, world
            0.0 Hello, world | Hello, world + ```\\nHello, world\\n```
            0.0 Hello, world | * + ANSWER:\\n\\nHello,\\n  world\\n
            0.0 Hello, world | * - ANSWER: hello, world
            0.1 Hello, world | * + ANSWER: hello, world
            0.0 one\\n\\ntwo | * + ANSWER: one\\n\\ntwo
            0.5 one | * - ANSWER: one and many more words",
        ),
        table(
            words,
            "\
            0.2 the cat sat on the mat | * + ANSWER: the cat sat in the mat
            0.1 the cat sat on the mat | * - ANSWER: the cat sat in the mat
            0.0 the cat | * - I cannot read the picture.",
        ),
    ]
    .concat()
}
