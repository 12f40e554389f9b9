use super::*;

fn parse(name: &str, text: &str) -> Result<LoopSettings, String> {
    let is_shared = name != "config.toml";
    LoopSettings::parse(PathBuf::from(name), text, is_shared).map_err(|error| error.to_string())
}

fn error(name: &str, text: &str) -> String {
    parse(name, text).unwrap_err()
}

/// Every setting, in both formats.
const WHOLE: [(&str, &str); 2] = [
    (
        "config.yaml",
        "# Stricter.\nexit_decision:\n  min_confidence: 80\n  min_completion: 90\n  max_errors: 4\n  \
         stagnation_loops: 2\n  max_turns: 30 # a day\n  same_error_turns: 4\ncircuit: \
         {no_progress_turns: 5, same_error_turns: 6, \"cooldown_minutes\": 10}\n",
    ),
    (
        "config.toml",
        "[exit_decision]\nmin_confidence = 80\nmin_completion = 90\nmax_errors = 4\n\
         stagnation_turns = 2\nmax_turns = 3_0\nsame_error_turns = 4\n[circuit]\n\
         no_progress_turns = 5\nsame_error_turns = 6\ncooldown_minutes = 10\n",
    ),
];

#[test]
fn every_format_sets_every_threshold() {
    for (name, text) in WHOLE {
        let settings = parse(name, text).unwrap();
        for (setting, value) in [
            ((EXIT_DECISION, "min_confidence"), 80),
            ((EXIT_DECISION, "min_completion"), 90),
            ((EXIT_DECISION, "max_errors"), 4),
            ((EXIT_DECISION, "stagnation_turns"), 2),
            ((EXIT_DECISION, "max_turns"), 30),
            ((EXIT_DECISION, "same_error_turns"), 4),
            ((CIRCUIT, "no_progress_turns"), 5),
            ((CIRCUIT, "same_error_turns"), 6),
            ((CIRCUIT, "cooldown_minutes"), 10),
        ] {
            assert_eq!(settings.get(setting), Some(value), "{name}: {setting:?}");
        }
    }
}

#[test]
fn origin_names_key_file_and_line() {
    let (name, text) = WHOLE[0];
    let settings = parse(name, text).unwrap();
    assert_eq!(
        settings
            .origin((EXIT_DECISION, "stagnation_turns"))
            .unwrap(),
        "`stagnation_loops` in `config.yaml`, line 6"
    );
    assert_eq!(
        LoopSettings::default().origin((EXIT_DECISION, "max_turns")),
        None
    );
}

#[test]
fn empty_files_and_sections_set_nothing() {
    for (name, text) in [
        ("config.yaml", ""),
        ("config.yaml", "# nothing yet\n"),
        ("config.yaml", "---\n"),
        ("config.yaml", "exit_decision:\n"),
        ("config.toml", "[exit_decision]\n"),
    ] {
        assert_eq!(parse(name, text).unwrap().values, [], "{name}: {text:?}");
    }
}

#[test]
fn unknown_key_names_its_line_and_the_nearest() {
    for (name, text) in [
        ("config.yaml", "exit_decision:\n  min_confidense: 80\n"),
        ("config.toml", "[exit_decision]\nmin_confidense = 80\n"),
    ] {
        assert_eq!(
            error(name, text),
            format!(
                "`{name}`, line 2: unknown key `min_confidense`; did you mean `min_confidence`?"
            )
        );
    }
    assert_eq!(
        error("config.yaml", "circuit:\n  xyz: 80\n"),
        "`config.yaml`, line 2: unknown key `xyz`; the keys here are `no_progress_turns`, \
         `same_error_turns`, `cooldown_minutes`, `probe_minutes`"
    );
}

#[test]
fn unknown_section_is_an_error_only_in_a_file_of_this_program() {
    assert_eq!(
        error(
            "config.toml",
            "version = 3\n[exit_decisions]\nmax_turns = 9\n"
        ),
        "`config.toml`, line 1: unknown key `version`; the keys here are `exit_decision`, `circuit`"
    );
    let text = "version: 3\nlist: &x [a]\ncopy: *x\nexit_decisions:\n  max_turns: 9\n\
                exit_decision:\n  max_turns: 8\n";
    let shared = LoopSettings::parse(PathBuf::from("config.yaml"), text, true).unwrap();
    assert_eq!(shared.get((EXIT_DECISION, "max_turns")), Some(8));
}

#[test]
fn value_that_is_no_whole_number_is_quoted() {
    let yaml = |value: &str| {
        (
            "config.yaml",
            format!("exit_decision:\n  max_turns:{value}\n"),
        )
    };
    let toml = |value: &str| {
        (
            "config.toml",
            format!("[exit_decision]\nmax_turns ={value}\n"),
        )
    };
    for ((name, text), is) in [
        (yaml(" ten"), "is `ten`"),
        (yaml(" 0.7"), "is `0.7`"),
        (yaml(" -1"), "is `-1`"),
        (yaml(" '9'"), "is the text `9`"),
        (yaml(""), "is nothing"),
        (yaml(" [1]"), "is a list"),
        (yaml(" {a: 1}"), "is a map of keys"),
        (toml(" 0x10"), "is `0x10`"),
        (toml(" true"), "is `true`"),
    ] {
        assert_eq!(
            error(name, &text),
            format!("`{name}`, line 2: `max_turns` {is}, but must be a whole number")
        );
    }
}

#[test]
fn sections_without_keys_and_settings_set_twice_are_errors() {
    for (text, expected) in [
        (
            "exit_decision: 80\n",
            "line 1: `exit_decision` is `80`, but must have settings beneath it",
        ),
        (
            "exit_decision:\n  max_turns: 1\n  max_turns: 2\n",
            "line 3: `max_turns` is set in line 2 already",
        ),
        (
            "exit_decision:\n  stagnation_turns: 1\n  stagnation_loops: 2\n",
            "line 3: `stagnation_loops` is set in line 2 already, as `stagnation_turns`",
        ),
        (
            "just words\n",
            "line 1: expected keys with values, such as `exit_decision:`",
        ),
        (
            "exit_decision:\n---\ncircuit:\n",
            "line 2: a second document begins here",
        ),
        // In a file of several programs too.
        (
            "exit_decision:\n  stagnation_turn: 3\n",
            "line 2: unknown key `stagnation_turn`; did you mean `stagnation_turns`?",
        ),
    ] {
        let expected = format!("`config.yaml`, {expected}");
        assert_eq!(error("config.yaml", text), expected);
    }
}

#[test]
fn text_of_another_format_names_its_line() {
    let yaml = error("config.yaml", "exit_decision:\n  max_turns: 1\n bad\n");
    assert!(yaml.starts_with("`config.yaml`, line "), "{yaml}");
    assert!(yaml.contains("not YAML: "), "{yaml}");
    let toml = error("config.toml", "[exit_decision]\nmax_turns: 1\n");
    assert!(
        toml.starts_with("`config.toml`, line 2: not TOML: "),
        "{toml}"
    );
}

#[test]
fn hostile_yaml_ends_soon() {
    let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
    assert_eq!(parse("config.yaml", bomb).unwrap().values, []);
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
    ] {
        let message = error("config.yaml", &text);
        assert!(message.starts_with("`config.yaml`, line "), "{message}");
    }
    for text in [
        "\u{0}",
        "\t",
        "%",
        "&",
        "*x",
        "? ? ?",
        "!!",
        "a: |\n\u{1b}",
        "<<: *x",
    ] {
        let _ = parse("config.yaml", text);
    }
}
