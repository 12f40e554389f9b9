//! Tests of panels with programs.

use super::*;
use crate::domain::ids::ProviderId;
use crate::setup::fallbacks::fallbacks;
use crate::setup::helper::helper;

/// Installed, whatever they are.
const INSTALLED: &str = r#"{"programs": {"claude-code": {"argv": ["/bin/sh"]},
    "codex": {"argv": ["/bin/sh"]}, "own": {"argv": ["/bin/sh"]}}}"#;

const OPENAI_KEY: [&str; 1] = ["openai"];

fn with_programs(keyed: &[&str], spec: &PanelSpec) -> SelectedPanel {
    selected_with(keyed, spec, INSTALLED).unwrap()
}

/// The panel of a user without any key, whose programs have these models.
fn without_key(models: &[&str]) -> SelectedPanel {
    let models: Vec<ModelRef> = models.iter().map(|it| it.parse().unwrap()).collect();
    let sources = SampleSources::new(INSTALLED, &[]);
    let context = SelectionContext {
        usual_programs: &models,
        ..sources.context()
    };
    select(&PanelSpec::default(), &context).unwrap()
}

const CLAUDE: [&str; 3] = [
    "claude-code:sonnet",
    "claude-code:opus",
    "claude-code:haiku",
];

#[test]
fn two_programs_share_the_seats_and_the_rarer_family_judges() {
    let panel = without_key(&[&CLAUDE[..], &["codex:gpt-5.5"]].concat());
    assert_eq!(
        seats(&panel),
        [
            "security=claude-code:sonnet",
            "architecture=codex:gpt-5.5",
            "pragmatic=claude-code:opus"
        ]
    );
    assert_eq!(
        judges(&panel),
        ["codex:gpt-5.5", "claude-code:sonnet", "claude-code:opus"]
    );
    assert_eq!(
        panel.notices,
        ["Using Claude Code and Codex: no API key is set"]
    );
}

#[test]
fn panel_of_one_program_says_what_another_would_add() {
    let panel = without_key(&CLAUDE);
    assert_eq!(judges(&panel), CLAUDE);
    assert!(panel.panel.is_one_family());
    assert_eq!(
        panel.notices[1],
        "only Claude Code is logged in: with Codex, or a vendor's key, as well, models of other \
         families would join the panel"
    );
    let alone = without_key(&["codex:gpt-5.5"]);
    assert!(alone.panel.is_one_family());
    assert_eq!(judges(&alone), ["codex:gpt-5.5"]);
}

#[test]
fn panel_of_programs_asks_no_other_model_whatever_keys_are_set() {
    let spec = of_models(&["claude-code:sonnet", "codex:gpt-5.5", "command:own"]);
    let panel = with_programs(&OPENAI_KEY, &spec);
    assert_eq!(
        judges(&panel),
        ["claude-code:sonnet", "codex:gpt-5.5", "command:own"]
    );
    let sources = SampleSources::new(INSTALLED, &[("OPENAI_API_KEY", "k")]);
    let all = fallbacks(&panel.panel, &spec, &sources.context());
    let is_program = |model: &ModelRef| !["openai", "anthropic"].contains(&model.provider.as_str());
    assert_eq!(all.len(), 3);
    assert!(all.values().flatten().all(is_program), "{all:?}");
    // A program of the user's may run on their own machine.
    let helper = helper(&panel.panel, &sources.context()).unwrap();
    assert_eq!(helper.to_string(), "claude-code:sonnet");
}

#[test]
fn helper_is_a_program_only_if_there_is_nothing_else() {
    let spec = of_models(&["claude-code:sonnet", "codex:gpt-5.5"]);
    for (keys, expected) in [
        (&[][..], "claude-code:sonnet"),
        (&[("OPENAI_API_KEY", "k")], "openai:gpt-6-luna"),
    ] {
        let sources = SampleSources::new(INSTALLED, keys);
        let panel = select(&spec, &sources.context()).unwrap().panel;
        let helper = helper(&panel, &sources.context()).unwrap();
        assert_eq!(helper.to_string(), expected);
    }
}

#[test]
fn vendors_program_is_its_vendors_cloud_and_ones_own_is_private() {
    let sources = SampleSources::new(INSTALLED, &[]);
    let context = sources.context();
    for (id, is_private) in [
        ("claude-code", false),
        ("codex", false),
        ("command:own", true),
    ] {
        let id = id
            .parse::<ModelRef>()
            .map_or(ProviderId::new(id), |it| it.provider);
        assert_eq!(context.is_private(&id), is_private, "{id}");
        assert_eq!(context.is_own_server(&id), is_private, "{id}");
    }
}

#[test]
fn programs_that_cannot_be_asked_are_refused_with_what_to_do() {
    let config = r#"{"programs": {"claude-code": {"argv": ["claude"]},
        "codex": {"argv": ["bin/codex"]}}}"#;
    let refused = |model: &str| {
        let error = selected_with(&[], &of_models(&[model]), config).unwrap_err();
        [vec![error.to_string()], error.hints].concat()
    };
    assert_eq!(
        refused("claude-code:sonnet"),
        [
            "`claude` is not installed: no folder of `PATH` has it",
            "install Claude Code, and log in with `claude /login`",
            "or add its folder to `PATH`, or put its absolute path first in \
             `programs.claude-code.argv`"
        ]
    );
    assert_eq!(
        refused("codex:gpt-5.5"),
        [
            "`bin/codex` is not the absolute path of an executable file",
            "change `programs.codex.argv`"
        ]
    );
    assert_eq!(
        refused("command:own"),
        [
            "the settings have no program `own`",
            "one of: claude-code, codex",
            "or add it with `conclave config set programs.own.argv '[\"/path/to/it\"]'`"
        ]
    );
    assert_eq!(
        refused("claude-code")[1],
        "name its model too, as in `claude-code:sonnet`"
    );
}
