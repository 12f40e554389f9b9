//! Answers written before the code that reads them.

use super::numbers::tolerant;
use super::{AnswerRow, choice, contains, exact, is, similar_to, table};

pub(super) fn blind_answers_are_read_as_a_person_reads_them() -> Vec<AnswerRow> {
    let capitals = || choice(&["Sydney", "Melbourne", "Canberra", "Perth"], "C");
    let yes_no = || choice(&["Yes", "No"], "B");
    [
        table(
            |_| capitals(),
            "\
            C + Canberra has been the seat of government since 1927. ANSWER: C
            C + **Answer:** (C)
            C + Answer is: C.
            C + Many would say Sydney, but the answer is C) Canberra.
            C + ANSWER: not A but C
            - I cannot decide between A and C.
            C + ANSWER: Canberra
            - Option A is the largest city. Still, option A is not the capital.
            C + Antwort: C
            - ANSWER: A or C
            C + The capital is Canberra.
            C + $\\boxed{C}$
            C + ANSWER: B\\n\\nOn reflection Melbourne was only the interim seat.\\nANSWER: C
            D - A good case can be made for Perth.
            C + 答案：C
            - As an AI I must not answer this.",
        ),
        table(
            |_| yes_no(),
            "\
            B + No, because the index is not used.
            - Yes and no.",
        ),
        table(
            is,
            "\
            1234.5 | 1,234.50 + The total is 1,234.50 dollars.
            1234.5 | 1.234,50 + Das ergibt 1.234,50 Euro.
            0.75 | 3/4 + ANSWER: 3/4
            42 | 42 + First 6, then 7, so 6 * 7 = \\boxed{42}
            -40 | \u{2212}40 + They meet at \u{2212}40 degrees, in both scales.
            1000 | 1e3 + ANSWER: 1e3
            0.3 | 0.30000000000000004 - ANSWER: 0.30000000000000004
            12 | 12 + It is 12, not 13.
            12 | - Somewhere between 10 and 14.
            45 | 45 % + ANSWER: 45 %
            2400 | 2 400 + ANSWER: €2 400
            5 | 5 + CO2 and H2O together have 5 distinct bonds",
        ),
        table(
            tolerant,
            "\
            299792458 0.0 0.001 | 3.00e8 + About 3.00 × 10^8 m/s",
        ),
        table(
            exact,
            "\
            Mount Everest | Mount Everest + ANSWER: \u{201c}Mount Everest\u{201d}.
            The Hague | Hague - ANSWER: Hague
            Canberra | Canberra + ANSWER: Canberra. It was chosen as a compromise.",
        ),
        table(
            contains,
            "\
            ring buffer | * + Use a Ring  Buffer; it never allocates.
            cat | * - Concatenate the two lists.
            Paris | Paris + Londres ? Non.\\n\\nRéponse : Paris",
        ),
        table(
            similar_to,
            "\
            0.05 the quick brown fox | the quick brown fox + Transcription \
             follows.\\nANSWER:\\n```\\nthe quick brown fox\\n```
            0.05 the quick brown fox | the quick brawn fix - ANSWER: the quick brawn fix
            0.0 caf\u{e9} cr\u{e8}me | * + ANSWER: cafe\u{301} cre\u{300}me",
        ),
    ]
    .concat()
}
