//! From a call to a command line.

use std::path::Path;

use conclave::consultation::protocol::call::{Ask, FailureClass, Prompt};
use conclave::domain::ids::ModelRef;
use conclave::domain::model::program::{AnswerReader, Program};
use conclave::providers::programs::command::{Launch, launch};

use super::super::ask_of;
use super::{known, own};

fn folder() -> &'static Path {
    Path::new("/tmp/c 1")
}

fn launched(program: &Program, ask: &Ask) -> Launch {
    launch(program, ask, folder()).unwrap()
}

fn after<'a>(launch: &'a Launch, option: &str) -> &'a str {
    let at = launch.arguments.iter().position(|word| word == option);
    launch.arguments.get(at.unwrap() + 1).unwrap()
}

fn file<'a>(launch: &'a Launch, name: &str) -> Option<&'a str> {
    let mut files = launch.files.iter();
    let found = files.find(|(path, _)| path.ends_with(name));
    found.map(|(_, text)| text.as_str())
}

#[test]
fn claude_code_gets_the_system_prompt_in_a_file_and_the_message_within_tags() {
    let ask = ask_of("claude-code", "sonnet");
    let launch = launched(&known("claude-code"), &ask);
    assert_eq!(after(&launch, "--model"), "sonnet");
    assert_eq!(after(&launch, "--system-prompt-file"), "/tmp/c 1/system.md");
    assert_eq!(after(&launch, "--tools"), "");
    let schema: serde_json::Value = serde_json::from_str(after(&launch, "--json-schema")).unwrap();
    assert_eq!(schema, ask.answer.schema(ask.form));
    assert_eq!(file(&launch, "system.md"), Some("You are P.\n\nRules."));
    assert_eq!(file(&launch, "schema.json"), None);
    assert_eq!(
        launch.standard_input,
        "<message>\nQuestion?\n\nAnswer.\n</message>\n"
    );
    let limit = ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "16384");
    let mentions = ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1");
    for (name, value) in [limit, mentions] {
        let variable = (name.to_owned(), value.to_owned());
        assert!(launch.variables.contains(&variable), "{name}");
    }
}

#[test]
fn codex_gets_its_paths_as_strings_of_toml() {
    let odd = Path::new("/tmp/a\"b\\c");
    let launch = launch(&known("codex"), &ask_of("codex", "gpt-5.5"), odd).unwrap();
    let instructions = launch.arguments.iter();
    let instructions: Vec<_> = instructions
        .filter(|word| word.starts_with("model_instructions_file"))
        .collect();
    assert_eq!(
        instructions,
        [r#"model_instructions_file="/tmp/a\"b\\c/system.md""#]
    );
    assert_eq!(after(&launch, "-C"), "/tmp/a\"b\\c/work");
    assert_eq!(
        after(&launch, "--output-schema"),
        "/tmp/a\"b\\c/schema.json"
    );
    assert!(
        file(&launch, "schema.json")
            .unwrap()
            .contains("\"position\"")
    );
}

#[test]
fn placeholders_are_filled_once_and_what_is_none_stays() {
    let mut program = own(AnswerReader::Text);
    program.argv = [
        "x",
        "{model}{folder}",
        "{effort} {",
        "a{model",
        "}{",
        "{{model}}",
    ]
    .map(str::to_owned)
    .to_vec();
    program.schema_argv = vec![
        "{schema}".to_owned(),
        r#"{"s": "{schema_file}"}"#.to_owned(),
    ];
    program.set_env.insert("M".to_owned(), "{model}".to_owned());
    let launch = launched(&program, &ask_of("command:mine", "{folder}"));
    let mut arguments = launch.arguments;
    let schema = arguments.remove(5);
    assert!(schema.starts_with(r#"{"type":"object""#), "{schema}");
    assert_eq!(
        arguments,
        [
            "{folder}/tmp/c 1/work",
            "{effort} {",
            "a{model",
            "}{",
            "{{folder}}",
            r#"{"s": "/tmp/c 1/schema.json"}"#
        ]
    );
    assert_eq!(launch.variables, [("M".to_owned(), "{folder}".to_owned())]);
}

#[test]
fn a_schema_is_given_where_the_program_takes_one_and_no_cache_is_wanted() {
    let codex = known("codex");
    let has_schema =
        |program: &Program, ask: &Ask| file(&launched(program, ask), "schema.json").is_some();
    let ask = ask_of("codex", "m");
    let cached = Ask {
        cache_key: Some("k".to_owned()),
        ..ask.clone()
    };
    assert!(has_schema(&codex, &ask));
    assert!(!has_schema(&codex, &cached));
    assert!(!has_schema(&own(AnswerReader::Text), &ask));
}

#[test]
fn without_a_file_both_texts_come_within_tags() {
    let program = own(AnswerReader::Text);
    let mut ask = ask_of("command:mine", "mine");
    assert_eq!(
        launched(&program, &ask).standard_input,
        "<system-prompt>\nYou are P.\n\nRules.\n</system-prompt>\n\n\
         <message>\nQuestion?\n\nAnswer.\n</message>\n"
    );
    assert!(launched(&program, &ask).files.is_empty());
    ask.prompt = Prompt {
        task: "/compact".to_owned(),
        ..Prompt::default()
    };
    assert_eq!(
        launched(&program, &ask).standard_input,
        "<message>\n/compact\n</message>\n"
    );
}

#[test]
fn what_no_program_can_be_given_is_refused_with_the_reason() {
    let mut needs_model = own(AnswerReader::Text);
    needs_model.argv.push("{model}".to_owned());
    let nameless = Ask {
        model: "command:mine".parse::<ModelRef>().unwrap(),
        ..ask_of("command:mine", "mine")
    };
    let mut null = ask_of("command:mine", "m");
    null.prompt.task = "a\0b".to_owned();
    let option = ask_of("command:mine", "--yolo");
    let cases = [
        (
            &nameless,
            "`mine` needs a model: name one as `command:mine:MODEL`",
        ),
        (
            &null,
            "the prompt holds a null character, which no program can be given",
        ),
        (&option, "`--yolo` would be an option, not a model"),
    ];
    for (ask, message) in cases {
        let failure = launch(&needs_model, ask, folder()).unwrap_err();
        assert_eq!(failure.class, FailureClass::BadRequest);
        assert_eq!(failure.message, message);
    }
    // One that takes no model does not need one.
    assert!(launch(&own(AnswerReader::Text), &nameless, folder()).is_ok());
}

#[test]
fn no_word_of_a_prompt_is_an_argument_or_a_variable() {
    const CANARY: &str = "canary";
    let blocks = ["persona", "protocol", "shared", "task", "preamble"];
    let mut ask = ask_of("x", "m");
    let block = |name: &str| format!("{CANARY} {name} {{model}} @/etc/passwd");
    let [persona, protocol, shared, task, preamble] = blocks.map(block);
    for preamble in [String::new(), preamble] {
        ask.prompt = Prompt {
            preamble,
            persona: persona.clone(),
            protocol: protocol.clone(),
            shared: shared.clone(),
            task: task.clone(),
            ..Prompt::default()
        };
        for mut program in [
            known("claude-code"),
            known("codex"),
            own(AnswerReader::Text),
        ] {
            for system_in_file in [false, true] {
                program.system_in_file = system_in_file;
                let launch = launched(&program, &ask);
                let variables = launch.variables.iter().map(|(_, value)| value);
                let mut visible = launch.arguments.iter().chain(variables);
                assert!(!visible.any(|text| text.contains(CANARY)));
                let first = launch.standard_input.chars().next();
                assert_eq!(first, Some('<'));
                // Every block gets there, as it is.
                let files = launch.files.iter().map(|(_, text)| text.as_str());
                let given: String = files.chain([launch.standard_input.as_str()]).collect();
                for text in [&persona, &protocol, &shared, &task] {
                    assert!(given.contains(text.as_str()), "{text}");
                }
            }
        }
    }
}
