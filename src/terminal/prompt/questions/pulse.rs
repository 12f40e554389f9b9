//! The pulse: which agents a round still waits for, and whether to continue.

use std::time::Duration;

use crate::consultation::event::{Answer, StillWaiting};

use crate::terminal::output::format::whole_seconds;
use crate::terminal::prompt::question::{KeyChoice, KeyQuestion, QuestionTrace};
use crate::text::clean::one_line;

/// Asks whether to keep waiting, or, if the other answers are enough, to go on without the agents.
pub(in crate::terminal) fn question(
    waiting: &[StillWaiting],
    may_go_on_without: bool,
) -> KeyQuestion<Answer> {
    let lines = match waiting {
        [_] => vec![still_waiting(waiting)],
        agents => {
            let names = names(agents).into_iter().map(|name| format!("- {name}"));
            std::iter::once("⏱️ Still waiting on:".to_owned())
                .chain(names)
                .collect()
        }
    };
    let question = match (may_go_on_without, waiting) {
        (true, [_]) => "Wait, go on without it, or stop?",
        (true, _) => "Wait, go on without them, or stop?",
        (false, _) => "Wait or stop?",
    };
    let mut choices = vec![
        KeyChoice::plain("wait", Answer::Yes),
        KeyChoice::plain("go on", Answer::GoOnWithout),
        KeyChoice::plain("stop", Answer::No),
    ];
    choices.retain(|choice| may_go_on_without || choice.answer != Answer::GoOnWithout);
    KeyQuestion {
        lines,
        question: question.to_owned(),
        choices,
        default: 'w',
        safe: 'w',
        trace: QuestionTrace::Nothing,
    }
}

pub(in crate::terminal) fn still_waiting(waiting: &[StillWaiting]) -> String {
    match waiting {
        [agent] => format!(
            "⏱️ Still waiting on {} ({} elapsed).",
            one_line(&agent.name),
            elapsed(agent)
        ),
        agents => format!("⏱️ Still waiting on {}.", names(agents).join(", ")),
    }
}

fn names(agents: &[StillWaiting]) -> Vec<String> {
    let name = |agent: &StillWaiting| format!("{} ({})", one_line(&agent.name), elapsed(agent));
    agents.iter().map(name).collect()
}

fn elapsed(agent: &StillWaiting) -> String {
    whole_seconds(Duration::from_millis(agent.elapsed_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::AgentId;
    use crate::terminal::output::style::Paint;

    fn waiting(name: &str, elapsed_ms: u64) -> StillWaiting {
        StillWaiting {
            agent_id: AgentId::from(name),
            name: name.to_owned(),
            elapsed_ms,
        }
    }

    #[test]
    fn pulse_names_one_agent_or_lists_several() {
        let text = |waiting: &[StillWaiting], may_go_on_without| {
            question(waiting, may_go_on_without).text(80, Paint::PLAIN)
        };
        let one = [waiting("Security Expert", 72_400)];
        assert_eq!(
            text(&one, false),
            "⏱️ Still waiting on Security Expert (72s elapsed).\nWait or stop? [W/s] "
        );
        let two = [
            waiting("Security Expert", 72_400),
            waiting("Architect", 65_000),
        ];
        assert_eq!(
            text(&two, true),
            "⏱️ Still waiting on:\n- Security Expert (72s)\n- Architect (65s)\n\
             Wait, go on without them, or stop? [W/g/s] "
        );
        assert_eq!(
            still_waiting(&two),
            "⏱️ Still waiting on Security Expert (72s), Architect (65s)."
        );
    }
}
