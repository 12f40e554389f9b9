//! Labelled texts with and without secrets, in `corpus/`: the share of secrets that the scrubber
//! masks, and the share of masked texts that held one.
//!
//! A case follows a line `=== true KIND` (every secret in it must be gone) or `=== false KIND`
//! (the text must stay as it is). After `lines`, each line is a case of its own; after `crlf`,
//! lines end in CR LF. `⟦=text⟧` is a secret, `⟦name⟧` a generated one: see `generator`. The name
//! of the file is the format.

mod generator;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use conclave::scrub::rules::UserRules;
use conclave::scrub::{OutgoingText, Scrubber};

use self::generator::{Expansion, expand};
use crate::support::source_tree::files;

/// The share of secrets to mask, and of masked texts that hold a secret.
const FLOOR: f64 = 0.95;

/// No piece of a secret that is this long stays in the text.
const LONGEST_REMNANT: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Secret,
    Harmless,
}

struct Case {
    label: Label,
    kind: String,
    format: String,
    /// The line of the file that the case begins on.
    line: usize,
    expansion: Expansion,
}

/// The judgement of one case.
struct Verdict {
    case: Case,
    /// The secrets are gone, or the harmless text is unchanged.
    right: bool,
    /// Text outside the secrets is unchanged too.
    exact: bool,
    scrubbed: String,
}

/// Counts of right and wrong cases.
#[derive(Clone, Copy, Default)]
struct Tally {
    masked_secrets: u32,
    missed_secrets: u32,
    harmless: u32,
    false_alarms: u32,
    overreaching: u32,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        match (verdict.case.label, verdict.right) {
            (Label::Secret, true) => self.masked_secrets += 1,
            (Label::Secret, false) => self.missed_secrets += 1,
            (Label::Harmless, true) => self.harmless += 1,
            (Label::Harmless, false) => self.false_alarms += 1,
        }
        if verdict.case.label == Label::Secret && verdict.right && !verdict.exact {
            self.overreaching += 1;
        }
    }

    fn recall(self) -> f64 {
        share(
            self.masked_secrets,
            self.masked_secrets + self.missed_secrets,
        )
    }

    fn precision(self) -> f64 {
        share(self.masked_secrets, self.masked_secrets + self.false_alarms)
    }
}

fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 {
        return 1.0;
    }
    f64::from(part) / f64::from(whole)
}

fn scrubber() -> Scrubber {
    Scrubber::new(&UserRules::default(), &[]).unwrap()
}

fn scrub(scrubber: &Scrubber, text: &str) -> String {
    let texts = [OutgoingText {
        source: "case",
        text,
    }];
    scrubber.scrub(&texts).texts.remove(0).into_owned()
}

/// Returns the cases of all files, in order.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in files("tests/it/context/corpus") {
        if path.extension().is_some_and(|extension| extension == "txt") {
            let format = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            read_cases(&format, &text, &mut cases);
        }
    }
    cases
}

fn read_cases(format: &str, text: &str, cases: &mut Vec<Case>) {
    let mut line = 1;
    let blocks = text.strip_prefix("=== ").unwrap();
    for block in blocks.split("\n=== ") {
        let (head, body) = block.split_once('\n').unwrap();
        let words: Vec<&str> = head.split(' ').collect();
        let label = match words[0] {
            "true" => Label::Secret,
            "false" => Label::Harmless,
            other => panic!("{format}:{line}: `{other}` is no label"),
        };
        let case = |line: usize, template: &str| Case {
            label,
            kind: words[1].to_owned(),
            format: format.to_owned(),
            line,
            expansion: expand(template),
        };
        if words.contains(&"lines") {
            for (offset, template) in body.lines().enumerate() {
                cases.push(case(line + 1 + offset, template));
            }
        } else if words.contains(&"crlf") {
            cases.push(case(line + 1, &body.trim_end().replace('\n', "\r\n")));
        } else {
            cases.push(case(line + 1, body.trim_end()));
        }
        line += block.matches('\n').count() + 1;
    }
}

fn judge(case: Case, scrubbed: String) -> Verdict {
    let right = match case.label {
        Label::Secret => !case
            .expansion
            .secrets
            .iter()
            .any(|secret| remains(secret, &scrubbed)),
        Label::Harmless => scrubbed == case.expansion.text,
    };
    let exact = holds_in_order(&scrubbed, &case.expansion.outside);
    Verdict {
        case,
        right,
        exact,
        scrubbed,
    }
}

/// Reports whether a piece of the secret is still in the text.
fn remains(secret: &str, text: &str) -> bool {
    let letters: Vec<char> = secret.chars().collect();
    let length = letters.len().min(LONGEST_REMNANT);
    letters
        .windows(length)
        .any(|piece| text.contains(&piece.iter().collect::<String>()))
}

/// Reports whether the text has all pieces, one after the other.
fn holds_in_order(text: &str, pieces: &[String]) -> bool {
    let mut rest = text;
    pieces.iter().all(|piece| {
        let found = rest.find(piece.as_str());
        rest = found.map_or("", |at| &rest[at + piece.len()..]);
        found.is_some()
    })
}

fn verdicts() -> Vec<Verdict> {
    let scrubber = scrubber();
    cases()
        .into_iter()
        .map(|case| {
            let masked = scrub(&scrubber, &case.expansion.text);
            judge(case, masked)
        })
        .collect()
}

/// Returns a table of the tallies: all cases, by kind and by format; and the wrong cases.
fn report(verdicts: &[Verdict]) -> String {
    let mut tallies = BTreeMap::<String, Tally>::new();
    for verdict in verdicts {
        let label = match verdict.case.label {
            Label::Secret => "true",
            Label::Harmless => "false",
        };
        for row in [
            " all".to_owned(),
            format!("{label} {}", verdict.case.kind),
            format!("in {}", verdict.case.format),
        ] {
            tallies.entry(row).or_default().add(verdict);
        }
    }
    let mut report = String::from("row: true missed | false alarms | more than the secret\n");
    for (row, tally) in tallies {
        writeln!(
            report,
            "{row}: {} {} | {} {} | {}  recall {:.3} precision {:.3}",
            tally.masked_secrets + tally.missed_secrets,
            tally.missed_secrets,
            tally.harmless + tally.false_alarms,
            tally.false_alarms,
            tally.overreaching,
            tally.recall(),
            tally.precision(),
        )
        .unwrap();
    }
    for verdict in verdicts {
        let fault = match (verdict.case.label, verdict.right, verdict.exact) {
            (Label::Secret, false, _) => "MISSED",
            (Label::Secret, true, false) => "MORE",
            (Label::Harmless, false, _) => "ALARM",
            (Label::Secret, true, true) | (Label::Harmless, true, _) => continue,
        };
        let Case {
            kind, format, line, ..
        } = &verdict.case;
        writeln!(report, "{fault} {format}:{line} {kind}").unwrap();
        writeln!(report, "    {}", shortened(&verdict.case.expansion.text)).unwrap();
        writeln!(report, "    {}", shortened(&verdict.scrubbed)).unwrap();
    }
    report
}

fn shortened(text: &str) -> String {
    text.chars()
        .take(400)
        .collect::<String>()
        .escape_debug()
        .to_string()
}

fn total(verdicts: &[Verdict]) -> Tally {
    let mut tally = Tally::default();
    for verdict in verdicts {
        tally.add(verdict);
    }
    tally
}

#[test]
fn the_corpus_is_large_and_labelled_both_ways() {
    let cases = cases();
    let secrets = cases.iter().filter(|case| case.label == Label::Secret);
    let marked = secrets.filter(|case| !case.expansion.secrets.is_empty());
    assert!(marked.count() >= 400);
    let harmless = cases.iter().filter(|case| case.label == Label::Harmless);
    assert!(harmless.count() >= 400);
}

#[test]
fn nearly_every_secret_of_the_corpus_is_masked_and_nothing_else() {
    let verdicts = verdicts();
    let tally = total(&verdicts);
    assert!(tally.recall() >= FLOOR, "{}", report(&verdicts));
    assert!(tally.precision() >= FLOOR, "{}", report(&verdicts));
    // The text around the secrets stays.
    let masked = tally.masked_secrets;
    let exact = share(masked - tally.overreaching, masked);
    assert!(exact >= FLOOR, "{}", report(&verdicts));
}

#[test]
fn long_texts_are_scrubbed_as_their_parts_are() {
    let scrubber = scrubber();
    // Longer than the window of a rule.
    let filler = "The quick brown fox jumps over the lazy dog.\n".repeat(60);
    for case in cases().into_iter().step_by(3) {
        let alone = scrub(&scrubber, &case.expansion.text);
        let surrounded = format!("{filler}\n{}\n\n{filler}", case.expansion.text);
        let expected = format!("{filler}\n{alone}\n\n{filler}");
        let masked = scrub(&scrubber, &surrounded);
        assert_eq!(masked, expected, "{}:{}", case.format, case.line);
    }
}

#[test]
#[ignore = "prints the figures of the corpus"]
fn figures_of_the_corpus() {
    panic!("{}", report(&verdicts()));
}
