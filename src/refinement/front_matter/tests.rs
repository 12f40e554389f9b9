//! Front matter as people write it, and properties of any.

use proptest::prelude::*;
use saphyr_parser::{Event, Parser};

use super::*;

fn entry() -> ConvergenceEntry {
    ConvergenceEntry {
        iteration: 3,
        questions_stable_count: 1,
        open_questions_count: Some(5),
        high_confidence_ratio: Some(0.65),
        last_decision: "continue".to_owned(),
        rule: None,
        questions: "0123456789ab".to_owned(),
    }
}

fn last_entry() -> ConvergenceEntry {
    ConvergenceEntry {
        iteration: 4,
        last_decision: "converged".to_owned(),
        rule: Some("low_questions".to_owned()),
        ..entry()
    }
}

fn edited(text: &str, entry: &ConvergenceEntry) -> String {
    with_entry(text, entry).unwrap()
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

const LINES: &str = "  iteration: 3
  questions_stable_count: 1
  open_questions_count: 5
  high_confidence_ratio: 0.65
  last_decision: continue
  questions: \"0123456789ab\"
";

#[test]
fn a_document_without_front_matter_gets_one() {
    let text = "# Spec\n";
    let expected = format!("---\nconvergence:\n{LINES}---\n\n# Spec\n");
    assert_eq!(edited(text, &entry()), expected);
    let expected = format!("---\nconvergence:\n{LINES}---\n");
    assert_eq!(edited("", &entry()), expected);
}

#[test]
fn a_section_is_added_behind_the_last_key() {
    let text = "---\ntitle: x # y\nlist:\n- a\n---\nBody\n";
    let expected = format!("---\ntitle: x # y\nlist:\n- a\nconvergence:\n{LINES}---\nBody\n");
    assert_eq!(edited(text, &entry()), expected);
}

#[test]
fn empty_front_matter_and_comments_are_kept() {
    for yaml in ["", "# nothing yet\n", "\n"] {
        let text = format!("---\n{yaml}...\nBody");
        let expected = format!("---\n{yaml}convergence:\n{LINES}...\nBody");
        assert_eq!(edited(&text, &entry()), expected);
    }
}

#[test]
fn only_the_block_of_the_section_changes() {
    let text = "---
a: &anchor {x: 1}
convergence: # ours
    iteration: 1   # first
    last_decision:
      continue
    'rule' : \"x\"

# of b
b: *anchor
---
";
    let expected = "---
a: &anchor {x: 1}
convergence:
  iteration: 4
  questions_stable_count: 1
  open_questions_count: 5
  high_confidence_ratio: 0.65
  last_decision: converged
  rule: low_questions
  questions: \"0123456789ab\"

# of b
b: *anchor
---
";
    assert_eq!(edited(text, &last_entry()), expected);
}

#[test]
fn values_that_other_readers_take_for_no_text_are_quoted() {
    let entry = ConvergenceEntry {
        last_decision: "1e3".to_owned(),
        rule: Some("yes".to_owned()),
        questions: "abcdefabcdef".to_owned(),
        ..entry()
    };
    let expected = "  last_decision: \"1e3\"\n  rule: \"yes\"\n  questions: \"abcdefabcdef\"\n";
    let text = edited("", &entry);
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_section_without_keys_of_its_own_lines_gets_them() {
    for section in [
        "convergence:",
        "convergence: # c",
        "\"convergence\" : null",
        "convergence: {iteration: 1, rule: 'x'}",
    ] {
        let text = format!("---\n{section}\nb: 1\n---\n");
        let expected = format!("---\nconvergence:\n{LINES}b: 1\n---\n");
        assert_eq!(edited(&text, &entry()), expected);
    }
    assert_eq!(
        edited("---\n  a: 1\n---\n", &entry()),
        format!("---\n  a: 1\n  convergence:\n{LINES}---\n")
            .replace("\n  ", "\n    ")
            .replace("\n    a:", "\n  a:")
            .replace("\n    convergence:", "\n  convergence:")
    );
}

#[test]
fn line_endings_and_a_byte_order_mark_are_kept() {
    let text = "\u{feff}---\r\ntitle: é\r\n---\r\n\r\nBody\r\n";
    let lines = LINES.replace('\n', "\r\n");
    let expected = format!("\u{feff}---\r\ntitle: é\r\nconvergence:\r\n{lines}---\r\n\r\nBody\r\n");
    assert_eq!(edited(text, &entry()), expected);
    let none = edited("\u{feff}Body\r\n", &entry());
    let expected = format!("\u{feff}---\r\nconvergence:\r\n{lines}---\r\n\r\nBody\r\n");
    assert_eq!(none, expected);
}

#[test]
fn thematic_breaks_are_no_front_matter() {
    for text in [
        "---\n\nProse\n\n---\n",
        "---\nProse\n---\n",
        "---\n- list\n---\n",
        "---\n\n[broken: prose\n---\n",
        "---\nProse without an end\n",
        "---\n",
        "Title\n---\n",
        "----\na: 1\n----\n",
    ] {
        assert_eq!(read(text), Ok(None), "{text:?}");
    }
}

#[test]
fn other_formats_are_refused_by_name() {
    assert_eq!(read("+++\na = 1\n+++\n"), Err(FrontMatterError::Toml));
    assert_eq!(read("{\n  \"a\": 1\n}\n"), Err(FrontMatterError::Json));
    let expected = Err(FrontMatterError::Unclosed);
    assert_eq!(read("---\ntitle: x\n\n# Spec\n"), expected);
}

#[test]
fn problems_name_their_line() {
    assert!(
        refused("---\na: 1\nb: [\n---\n")
            .starts_with("line 4: the front matter cannot be read: not YAML: ")
    );
    let already = "line 4: the front matter cannot be read:";
    let cannot = |line: usize| {
        format!(
            "line {line}: `convergence` of the front matter cannot be set: write its keys on \
             lines of their own, without braces and anchors"
        )
    };
    let section = |line: usize, problem: &str| {
        format!("line {line}: `convergence` of the front matter {problem}")
    };
    let added = "cannot be added: write the keys on lines of their own, without braces and tabs";
    let own = "has the key `owner`, which is not its own: write it elsewhere";
    let cases = [
        ("a: 1\nconvergence: yes\n", section(3, "must be a mapping")),
        ("convergence: [1]\n", section(2, "must be a mapping")),
        (
            "convergence:\nb: 1\nconvergence:\n",
            format!("{already} `convergence` is set in line 2 already"),
        ),
        (
            "convergence:\n  iteration:\n  iteration: 2\n",
            format!("{already} `iteration` is set in line 3 already"),
        ),
        (
            "convergence:\n  iteration: 1\n  owner: me\n",
            section(4, own),
        ),
        ("convergence:\n  iteration: &a 1\nb: *a\n", cannot(2)),
        ("convergence: &a\n  rule: x\nb: *a\n", cannot(2)),
        ("? convergence\n: iteration: 1\n", cannot(2)),
        ("\ta: 1\n", section(2, added)),
        ("{\"a\": 1}\n", section(2, added)),
        ("{}\n", section(2, added)),
    ];
    for (yaml, expected) in cases {
        assert_eq!(refused(&format!("---\n{yaml}---\n")), expected);
    }
}

#[test]
fn an_entry_with_missing_or_meaningless_keys_is_none() {
    let text = "---\nconvergence:\n  iteration: 2\n  open_questions_count: 5\n---\n";
    assert_eq!(read(text).unwrap().unwrap().entry, None);
    let text = format!("---\nconvergence:\n{LINES}---\n").replace("iteration: 3", "iteration: no");
    assert_eq!(read(&text).unwrap().unwrap().entry, None);
}

/// A value with all that can be compared.
#[derive(Clone, Debug, PartialEq)]
enum Yaml {
    Scalar(String, usize),
    List(Vec<Yaml>),
    Mapping(Vec<(Yaml, Yaml)>),
    Alias(usize),
}

fn value<'e>(events: &mut impl Iterator<Item = Event<'e>>) -> Option<Yaml> {
    match events.next()? {
        Event::Scalar(text, _, anchor, _) => Some(Yaml::Scalar(text.into_owned(), anchor)),
        Event::Alias(anchor) => Some(Yaml::Alias(anchor)),
        Event::SequenceStart(..) => {
            Some(Yaml::List(std::iter::from_fn(|| value(events)).collect()))
        }
        Event::MappingStart(..) => {
            let member = || Some((value(events)?, value(events)?));
            Some(Yaml::Mapping(std::iter::from_fn(member).collect()))
        }
        Event::SequenceEnd | Event::MappingEnd | Event::StreamEnd | Event::DocumentEnd => None,
        Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => value(events),
    }
}

/// The members of the front matter without the section.
fn foreign(text: &str) -> Vec<(Yaml, Yaml)> {
    let [_, yaml] = find(text).unwrap().unwrap();
    let events = Parser::new_from_str(text.get(yaml).unwrap()).map(|event| event.unwrap().0);
    let Some(Yaml::Mapping(mut members)) = value(&mut events.into_iter()) else {
        return Vec::new();
    };
    members.retain(|(key, _)| !matches!(key, Yaml::Scalar(text, _) if text == "convergence"));
    members
}

fn any_entry() -> impl Strategy<Value = ConvergenceEntry> {
    let word = "[a-z_]{1,9}|true|[0-9]{1,4}|[ -~é]{0,9}";
    let counts = (0..9_u64, 0..9_u64, prop::option::of(0..9_u64), 0..=100_u32);
    (
        counts,
        word,
        prop::option::of(word),
        "[0-9a-f]{12}|[0-9]{5}e[0-9]{6}",
    )
        .prop_map(
            |((iteration, stable, open, percent), last_decision, rule, questions)| {
                ConvergenceEntry {
                    iteration,
                    questions_stable_count: stable,
                    open_questions_count: open,
                    high_confidence_ratio: Some(f64::from(percent) / 100.0),
                    last_decision,
                    rule,
                    questions,
                }
            },
        )
}

/// Lines of foreign members, and of the section, in many forms.
fn any_yaml() -> impl Strategy<Value = String> {
    let member = prop::sample::select(vec![
        "# a comment\n",
        "\n",
        "title: A \"quoted\" é # why\n",
        "tags: [a, 'b', {c: 1}]\n",
        "list:\n- x\n- y: 1\n  z: 2\n",
        "text: |+\n  one\n\n  two\n\n",
        "fold: >-\n  one\n  two\n",
        "base: &base\n  k: 1\n",
        "empty:\n",
        "\"iteration\": 7\n",
        "plain: one\n  two\n",
        "nested:\n  convergence:\n    iteration: 9\n",
        "tab: x\t# tabs\n",
    ]);
    let section = prop::sample::select(vec![
        "",
        "convergence:\n",
        "convergence: # empty\n",
        "convergence: null\n",
        "'convergence':  ~   # null\n",
        "convergence: {}\n",
        "convergence: { }\n",
        "convergence: {\n  iteration: 1, # one\n  rule: \"x\" }\n",
        "convergence:\n        rule: 'a' # r\n        last_decision: \"b c\"\n",
    ]);
    let members = || prop::collection::vec(member.clone(), 0..4);
    (members(), section, members()).prop_filter_map(
        "a key is set twice",
        |(before, section, after)| {
            let mut lines: Vec<&str> = before.iter().chain(&after).copied().collect();
            lines.retain(|line| !line.starts_with(['#', '\n']));
            lines.sort_unstable();
            let is_unique = lines.windows(2).all(|pair| pair[0] != pair[1]);
            is_unique.then(|| format!("{}{section}{}", before.concat(), after.concat()))
        },
    )
}

fn any_document() -> impl Strategy<Value = String> {
    let fenced = (any_yaml(), any::<bool>()).prop_map(|(yaml, dots)| {
        let closing = if dots { "..." } else { "---" };
        format!("---\n{yaml}{closing}\n")
    });
    let bodies = prop::sample::select(vec!["", "# Body\n", "\n---\nx: 1\n---\n"]);
    let head = prop_oneof![4 => fenced, 1 => Just(String::new())];
    (any::<bool>(), head, bodies, any::<bool>()).prop_map(|(bom, head, body, crlf)| {
        let bom = if bom { "\u{feff}" } else { "" };
        let text = format!("{bom}{head}{body}");
        if crlf {
            text.replace('\n', "\r\n")
        } else {
            text
        }
    })
}

/// Texts of the characters that YAML gives a meaning to.
fn any_characters() -> impl Strategy<Value = String> {
    let words = ["convergence", "iteration", "rule"];
    let marks = [
        ":", ": ", "\n", "\n  ", "{", "}", "[", "]", ", ", "# ", "'", "\"", "&a ", "*a", "!t ",
        "|", ">", "~", "- ", "? ", "a", "1", " ", "\t", "\r\n", "é", "%", "---\n", "\\", "<<",
    ];
    let piece = prop::sample::select([&words[..], &marks].concat());
    prop::collection::vec(piece, 0..16)
        .prop_map(|pieces| format!("---\n{}\n---\n", pieces.concat()))
}

#[test]
fn comment_after_the_block_stays() {
    let text = "---\nconvergence:\n  iteration: 1\n\n  # owners, sorted by hand\nowners: me\n---\n";
    let result = edited(text, &ConvergenceEntry::default());
    let expected = "\n\n  # owners, sorted by hand\nowners: me\n";
    assert!(result.contains(expected), "{result}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn an_edit_changes_nothing_but_the_section(text in any_document(), entry in any_entry()) {
        let before = read(&text).unwrap();
        let result = edited(&text, &entry);
        let after = read(&result).unwrap().unwrap();
        prop_assert_eq!(after.entry.as_ref(), Some(&entry), "{}", result);
        prop_assert_eq!(&edited(&result, &entry), &result, "a second edit changes nothing");
        let none = beginning(&text);
        let body = before.as_ref().map_or(none, |front_matter| front_matter.range.end);
        prop_assert!(result.ends_with(text.get(body..).unwrap()));
        if before.is_some() {
            prop_assert_eq!(foreign(&result), foreign(&text), "{}", result);
        }
        let kept = |text: &str| -> Vec<String> {
            let is_own = |line: &&str| KEYS.iter().any(|name| line.contains(name));
            let lines = text.lines().filter(|line| !is_own(line) && !line.contains("convergence"));
            lines.map(str::to_owned).collect()
        };
        if before.is_some() {
            prop_assert_eq!(kept(&result), kept(&text));
        }
        let has_other_breaks = result.replace("\r\n", "").contains('\n');
        prop_assert!(!(text.contains('\r') && has_other_breaks), "{:?}", result);
    }

    #[test]
    fn whatever_can_be_read_can_be_edited(text in any_characters(), entry in any_entry()) {
        let Ok(before) = read(&text) else {
            return Ok(());
        };
        let result = edited(&text, &entry);
        let after = read(&result);
        prop_assert!(after.is_ok(), "{:?} {:?}", after, result);
        prop_assert_eq!(after.unwrap().unwrap().entry, Some(entry), "{}", result);
        if before.is_some() {
            prop_assert_eq!(foreign(&result), foreign(&text), "{}", result);
        }
    }
}
