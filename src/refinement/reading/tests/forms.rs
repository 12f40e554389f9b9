//! Forms of the same three findings.

use super::{batch, check, shown, shown_of, single};

const ALL: &str =
    "Q1 answered: 24 hours.\nQ2 open: the load is unknown\nQ3 deferred: finance decides";

#[test]
fn labels_are_read_in_every_form() {
    let forms = [
        "Q1 ANSWERED: 24 hours.\nQ2 OPEN: the load is unknown\nQ3 DEFERRED: finance decides",
        // Windows line ends, blank lines, trailing blanks.
        "Q1 ANSWERED: 24 hours.  \r\n\r\nQ2 OPEN: the load is unknown\r\n\r\nQ3 DEFERRED: finance decides\r\n",
        "**Q1 ANSWERED:** 24 hours.\n**Q2 OPEN:** the load is unknown\n**Q3 DEFERRED:** finance decides",
        "**Q1 ANSWERED**: 24 hours.\n__Q2 OPEN__: the load is unknown\n*Q3 DEFERRED*: finance decides",
        "**Q1 — ANSWERED** 24 hours.\n**Q2 — OPEN** the load is unknown\n**Q3 — DEFERRED** finance decides",
        "- Q1 ANSWERED: 24 hours.\n- Q2 OPEN: the load is unknown\n- Q3 DEFERRED: finance decides",
        "* **Q1 ANSWERED:** 24 hours.\n* **Q2 OPEN:** the load is unknown\n* **Q3 DEFERRED:** finance decides",
        "1. Q1 ANSWERED: 24 hours.\n2. Q2 OPEN: the load is unknown\n3. Q3 DEFERRED: finance decides",
        "1) **Q1 ANSWERED** – 24 hours.\n2) **Q2 OPEN** – the load is unknown\n3) **Q3 DEFERRED** – finance decides",
        "## Q1 ANSWERED\n24 hours.\n\n## Q2 OPEN\nthe load is unknown\n\n## Q3 DEFERRED\nfinance decides",
        "### Q1 — Answered\n\n24 hours.\n\n### Q2 — Open\n\nthe load is unknown\n\n### Q3 — Deferred\n\nfinance decides",
        "Q1 ANSWERED:\n24 hours.\n\nQ2 OPEN:\nthe load is unknown\n\nQ3 DEFERRED:\nfinance decides",
        "q1 answered: 24 hours.\nq2 open: the load is unknown\nq3 deferred: finance decides",
        "Q1 Answered - 24 hours.\nQ2 Open - the load is unknown\nQ3 Deferred - finance decides",
        "Q1 ANSWERED 24 hours.\nQ2 OPEN the load is unknown\nQ3 DEFERRED finance decides",
        "Q1: ANSWERED: 24 hours.\nQ2: OPEN: the load is unknown\nQ3: DEFERRED: finance decides",
        "Q1: ANSWERED. 24 hours.\nQ2: OPEN. the load is unknown\nQ3: DEFERRED. finance decides",
        "Q1 (ANSWERED): 24 hours.\nQ2 (OPEN): the load is unknown\nQ3 (DEFERRED): finance decides",
        "[Q1 ANSWERED] 24 hours.\n[Q2 OPEN] the load is unknown\n[Q3 DEFERRED] finance decides",
        "Q1 -> ANSWERED -> 24 hours.\nQ2 -> OPEN -> the load is unknown\nQ3 -> DEFERRED -> finance decides",
        "Q1 = ANSWERED = 24 hours.\nQ2 = OPEN = the load is unknown\nQ3 = DEFERRED = finance decides",
        "Q1 ANSWERED： 24 hours.\nQ2 OPEN：the load is unknown\nＱ３ ＤＥＦＥＲＲＥＤ：finance decides",
        "Question 1 ANSWERED: 24 hours.\nQuestion 2 OPEN: the load is unknown\nQuestion 3 DEFERRED: finance decides",
        "Q 1 ANSWERED: 24 hours.\nQ-2 OPEN: the load is unknown\nQ#3 DEFERRED: finance decides",
        "`Q1 ANSWERED:` 24 hours.\n`Q2 OPEN:` the load is unknown\n`Q3 DEFERRED:` finance decides",
        "✅ Q1 ANSWERED: 24 hours.\n❓ Q2 OPEN: the load is unknown\n⏸ Q3 DEFERRED: finance decides",
        "> Q1 ANSWERED: 24 hours.\n> Q2 OPEN: the load is unknown\n> Q3 DEFERRED: finance decides",
        "```\nQ1 ANSWERED: 24 hours.\nQ2 OPEN: the load is unknown\nQ3 DEFERRED: finance decides\n```",
        "Here is my position.\n\n```text\nQ1 ANSWERED: 24 hours.\nQ2 OPEN: the load is unknown\nQ3 DEFERRED: finance decides\n```\n",
        "Q1 ANSWERED: 24 hours. Q2 OPEN: the load is unknown Q3 DEFERRED: finance decides",
        "We agree on most. Q1 ANSWERED: 24 hours. Q2 OPEN: the load is unknown; Q3 DEFERRED: finance decides",
        "Q1 ANSWERED: 24 hours.\\nQ2 OPEN: the load is unknown\\nQ3 DEFERRED: finance decides",
        "Q1 STILL: \nQ1 ANSWERED: 24 hours.\nQ2 STILL OPEN: the load is unknown\nQ3 DEFER: finance decides",
        "Q1: How long do sessions last?\nANSWERED: 24 hours.\n\nQ2: Which database is used?\nOPEN: the load is unknown\n\nQ3: Who pays for refunds?\nDEFERRED: finance decides",
        "**Q1: How long do sessions last?**\n- Status: ANSWERED\n  24 hours.\n\n**Q2: Which database is used?**\n- Status: OPEN\n  the load is unknown\n\n**Q3: Who pays for refunds?**\n- Status: DEFERRED\n  finance decides",
        "Q3 DEFERRED: finance decides\nQ1 ANSWERED: 24 hours.\nQ2 OPEN: the load is unknown",
        "\u{feff}Q1 ANSWERED: \"24 hours.\"\nQ2 OPEN: “the load is unknown”\nQ3 DEFERRED: **finance decides**",
    ];
    for text in forms {
        assert_eq!(shown(text), ALL, "in:\n{text}");
    }
}

#[test]
fn tables_are_read_by_their_cells() {
    let forms = [
        "| Question | Status | Answer |\n|---|---|---|\n| Q1 | ANSWERED | 24 hours. |\n| Q2 | OPEN | the load is unknown |\n| Q3 | DEFERRED | finance decides |",
        "| # | Question | Finding | Text | Confidence |\n|:-:|---|---|---|---:|\n| **Q1** | How long do sessions last? | ✅ Answered | 24 hours. | 0.85 |\n| **Q2** | Which database is used? | Open | the load is unknown | 0.4 |\n| **Q3** | Who pays for refunds? | Deferred | finance decides | - |",
        "| Q1 ANSWERED | 24 hours. |\n|---|---|\n| Q2 OPEN | the load is unknown |\n| Q3 DEFERRED | finance decides |",
        "| Q1 | ANSWERED: 24 hours. |\n| Q2 | OPEN: the load is unknown |\n| Q3 | DEFERRED: finance decides |",
        "| Q1: How long do sessions last? | 24 hours. | ANSWERED |\n| Q2: Which database is used? | the load is unknown | OPEN |\n| Q3: Who pays for refunds? | finance decides | DEFERRED |",
        "| Q1 ANSWERED: 24 hours. | |\n| Q2 OPEN: the load is unknown | |\n| Q3 DEFERRED: finance decides | |",
    ];
    for text in forms {
        assert_eq!(shown(text), ALL, "in:\n{text}");
    }
    check(&[(
        "| Q | Outcome | Answer | Dissent |\n|---|---|---|---|\n| Q1 | ANSWERED | 24 hours | Expert B: 8 hours |\n| Q2 | ANSWERED | a \\| b | none |\n| C2 | CONTRADICTED | it is bcrypt | |\n| NEW | Who signs? | | |",
        "Q1 answered: 24 hours [dissent: Expert B: 8 hours]
         Q2 answered: a | b
         C2 contradicted: it is bcrypt
         new: Who signs?
         unread: Q3",
    )]);
}

#[test]
fn json_is_read_by_its_keys_and_strings() {
    let forms = [
        r#"{"recommendation": "Q1 ANSWERED: 24 hours.\nQ2 OPEN: the load is unknown\nQ3 DEFERRED: finance decides", "confidence": 0.8}"#,
        r#"{"Q1 ANSWERED": "24 hours.", "Q2 OPEN": "the load is unknown", "Q3 DEFERRED": "finance decides"}"#,
        r#"{"Q1": {"ANSWERED": "24 hours."}, "Q2": {"OPEN": "the load is unknown"}, "Q3": {"DEFERRED": "finance decides"}}"#,
        r#"{"Q1": "ANSWERED: 24 hours.", "Q2": "OPEN: the load is unknown", "Q3": "DEFERRED: finance decides"}"#,
        r#"[{"question": "Q1", "status": "ANSWERED", "text": "24 hours."}, {"question": "Q2", "status": "OPEN", "text": "the load is unknown"}, {"question": "Q3", "status": "deferred", "text": "finance decides"}]"#,
        "```json\n{\"findings\": [\"Q1 ANSWERED: 24 hours.\", \"Q2 OPEN: the load is unknown\", \"Q3 DEFERRED: finance decides\"]}\n```",
    ];
    for text in forms {
        assert_eq!(shown(text), ALL, "in:\n{text}");
    }
    let cut = r#"{"recommendation": "Q1 ANSWERED: 24 hours.\nQ2 OPEN: the lo"#;
    assert_eq!(shown(cut), "Q2 open: the lo\nunread: Q1 Q3");
}

#[test]
fn answers_have_several_lines_and_paragraphs() {
    check(&[
        (
            "Q1 ANSWERED: 24 hours,\nor 8 hours\nfor administrators.\nQ2 OPEN: x\nQ3 OPEN: y",
            "Q1 answered: 24 hours, or 8 hours for administrators.\nQ2 open: x\nQ3 open: y",
        ),
        (
            "Q1 ANSWERED: 24 hours.\n\nAdministrators get 8 hours.\n\nQ2 OPEN: x\nQ3 OPEN: y",
            "Q1 answered: 24 hours. Administrators get 8 hours.\nQ2 open: x\nQ3 open: y",
        ),
        (
            "Q1 ANSWERED: It depends on the role:\n- users: 24 hours\n- administrators: 8 hours\n\nQ2 OPEN: x\nQ3 OPEN: y",
            "Q1 answered: It depends on the role: users: 24 hours; administrators: 8 hours\nQ2 open: x\nQ3 open: y",
        ),
        (
            "Q1 OPEN: x\nQ2 OPEN: y\nQ3 ANSWERED: The shop pays.\n\nOverall, I am confident in these answers.",
            "Q1 open: x\nQ2 open: y\nQ3 answered: The shop pays.",
        ),
        (
            "Q1 OPEN: x\n\nQ2 OPEN: y\n\nQ3 ANSWERED: The shop pays.\n---\nThe experts agree.",
            "Q1 open: x\nQ2 open: y\nQ3 answered: The shop pays.",
        ),
        (
            "# Findings\n\nQ1 ANSWERED: 24 hours.\n\n## Reasons\n\nThe experts agree on 24 hours.",
            "Q1 answered: 24 hours.\nunread: Q2 Q3",
        ),
    ]);
}

#[test]
fn punctuation_and_languages_of_the_text_do_not_matter() {
    check(&[
        (
            "Q1 ANSWERED: ‘24 hours’ – as per §3; see the organisation's policy.\nQ2 OPEN: nothing favours either one\nQ3 DEFERRED: the board",
            "Q1 answered: ‘24 hours’ – as per §3; see the organisation's policy.\nQ2 open: nothing favours either one\nQ3 deferred: the board",
        ),
        (
            "Q1 ANSWERED: Sitzungen dauern 24 Stunden („siehe Abschnitt 3“).\nQ2 OPEN: Die Last ist unbekannt – bitte messen.\nQ3 DEFERRED: Das entscheidet die Buchhaltung.",
            "Q1 answered: Sitzungen dauern 24 Stunden („siehe Abschnitt 3“).\nQ2 open: Die Last ist unbekannt – bitte messen.\nQ3 deferred: Das entscheidet die Buchhaltung.",
        ),
        (
            "Q1 ANSWERED：会话持续24小时。Q2 OPEN：负载未知。\nQ3 DEFERRED：由财务部门决定。",
            "Q1 answered: 会话持续24小时。\nQ2 open: 负载未知。\nQ3 deferred: 由财务部门决定。",
        ),
        (
            "问题1 ANSWERED：会话持续24小时。\nFrage 2 OPEN: Die Last fehlt.\nPregunta 3 DEFERRED: lo decide finanzas",
            "Q1 answered: 会话持续24小时。\nQ2 open: Die Last fehlt.\nQ3 deferred: lo decide finanzas",
        ),
        (
            "Q1 ANSWERED: Use `ttl = 24h`.\nQ2 ANSWERED: `postgres` is used by **both** services\nQ3 OPEN: <none of the sources says>",
            "Q1 answered: Use `ttl = 24h`.\nQ2 answered: `postgres` is used by **both** services\nunread: Q3",
        ),
    ]);
}

#[test]
fn a_mark_is_part_of_every_label() {
    let mut batch = batch();
    batch.mark = Some("B3F0".to_owned());
    let text = "Q1-B3F0 ANSWERED: 24 hours.\n**Q2 B3F0 — OPEN** the load\nQ3 ANSWERED: the shop\nC2-b3f0 CONTRADICTED: bcrypt\nNEW-B3F0: Who signs?\nNEW: Who cares?\nNEW-B3F0 BLOCKER: Who runs it?";
    assert_eq!(
        shown_of(&batch, text),
        "Q1 answered: 24 hours.\nQ2 open: the load Q3 ANSWERED: the shop\nC2 contradicted: bcrypt\nnew: Who signs? NEW: Who cares?\nnew blocker: Who runs it?\nunread: Q3"
    );
}

#[test]
fn an_outcome_alone_is_about_the_only_question() {
    assert_eq!(
        shown_of(&single(), "ANSWERED: 24 hours."),
        "Q1 answered: 24 hours."
    );
    assert_eq!(shown_of(&single(), "**OPEN**: no data"), "Q1 open: no data");
    assert_eq!(shown("ANSWERED: 24 hours."), "unread: Q1 Q2 Q3");
}
