//! The pulse: which agents a round still waits for, and whether to continue.

use std::time::Duration;

use crate::consultation::event::StillWaiting;

use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::whole_seconds;
use crate::terminal::prompt::choices::PromptChoices;

/// Asks whether to keep waiting.
pub(in crate::terminal) fn question(waiting: &[StillWaiting], choices: PromptChoices) -> String {
    let agents_waiting = match waiting {
        [_] => still_waiting(waiting),
        agents => format!("⏱️ Still waiting on:\n- {}", names(agents).join("\n- ")),
    };
    let ways = match (choices == PromptChoices::WAIT_GO_STOP, waiting) {
        (true, [_]) => "Wait, go on without it, or stop?",
        (true, _) => "Wait, go on without them, or stop?",
        (false, _) => "Wait or stop?",
    };
    format!("{agents_waiting}\n{ways} {} ", choices.prompt())
}

/// Lists the agents that a round still waits for, on one line.
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

    fn waiting(name: &str, elapsed_ms: u64) -> StillWaiting {
        StillWaiting {
            agent_id: AgentId::from(name),
            name: name.to_owned(),
            elapsed_ms,
        }
    }

    #[test]
    fn pulse_names_one_agent_or_lists_several() {
        let one = [waiting("Security Expert", 72_400)];
        assert_eq!(
            question(&one, PromptChoices::WAIT_STOP),
            "⏱️ Still waiting on Security Expert (72s elapsed).\nWait or stop? [W/s] "
        );
        let two = [
            waiting("Security Expert", 72_400),
            waiting("Architect", 65_000),
        ];
        assert_eq!(
            question(&two, PromptChoices::WAIT_GO_STOP),
            "⏱️ Still waiting on:\n- Security Expert (72s)\n- Architect (65s)\n\
             Wait, go on without them, or stop? [W/g/s] "
        );
        assert_eq!(
            still_waiting(&two),
            "⏱️ Still waiting on Security Expert (72s), Architect (65s)."
        );
    }
}
