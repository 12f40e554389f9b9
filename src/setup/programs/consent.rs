//! The user's consent to programs that answer in a seat.
//!
//! Invariant: no program is given a word of a question before its user has agreed: in the settings,
//! when asked, or with `--yes`.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{ProgramList, allowed_setting};
use crate::config::edit::set;
use crate::consultation::policy::consent::ConsentMode;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::billing::Billing;
use crate::domain::model::program::{Program, of_vendor};
use crate::engine::ports::{Confirmation, Face};
use crate::error::{Error, Exit, whole};
use crate::setup::settings;

/// Who is asked for consent, and how.
#[derive(Clone, Copy, Debug)]
pub struct ProgramConsent<'a> {
    pub programs: &'a ProgramList,
    pub face: &'a dyn Face,
    pub mode: ConsentMode,
    /// Nothing is started, so nothing is asked.
    pub dry_run: bool,
    /// Whether a person's answer is kept in the settings.
    pub keeps: bool,
}

impl ProgramConsent<'_> {
    /// Asks for consent to those of a plan's providers that are programs, once for each.
    ///
    /// # Errors
    ///
    /// When the user declines, or there is no person to ask.
    pub async fn agree(&self, ids: &BTreeSet<ProviderId>) -> Result<(), Error> {
        let asked = self.programs.of(ids).map(|seat| &seat.program);
        let open: Vec<_> = asked.filter(|program| !self.is_allowed(program)).collect();
        if open.is_empty() || self.dry_run {
            return Ok(());
        }
        let programs = names(&open);
        let error = match self.ask(Vec::new(), &open).await {
            Confirmation::Yes => return Ok(()),
            Confirmation::No => Error::declined(format!("you did not agree to ask {programs}")),
            Confirmation::NoPerson => {
                let why = "may be asked only with your consent, and there is no terminal to ask \
                           for it";
                let error = Error::new(Exit::Declined, format!("{programs} {why}"));
                error.hint("agree for this run with `--yes`")
            }
        };
        let allow = |program: &&Program| {
            let (name, setting) = (&program.name, allowed_setting(&program.id));
            format!("allow {name} with `conclave config set {setting} true`")
        };
        Err(open.iter().map(allow).fold(error, Error::hint))
    }

    /// Offers the programs whose user is logged in, when there is no key and no model is named.
    /// Returns the models that fill a panel; none if no program can, or may, be asked.
    pub async fn offer(&self) -> Vec<ModelRef> {
        let ready = self.programs.ready().await;
        let is_open = |program: &&&Program| !self.is_allowed(program);
        let open: Vec<_> = ready.iter().filter(is_open).copied().collect();
        if !self.dry_run && !open.is_empty() {
            let lines = vec![format!("No API key is set. {} can answer:", names(&open))];
            let answer = self.ask(lines, &open).await;
            for program in open.iter().filter(|_| answer == Confirmation::No) {
                let setting = allowed_setting(&program.id);
                let command = format!("`conclave config set {setting} false`");
                self.face.note(&format!("Not to be asked again: {command}"));
            }
        }
        let usable = ready
            .iter()
            .filter(|it| self.dry_run || self.is_allowed(it));
        usable.flat_map(|program| program.usual_models()).collect()
    }

    fn is_allowed(&self, program: &Program) -> bool {
        program.allowed == Some(true) || self.programs.agreed().contains(&program.id)
    }

    async fn ask(&self, mut lines: Vec<String>, open: &[&Program]) -> Confirmation {
        lines.extend(terms(open));
        let question = format!("Ask {}?", names(open));
        let answer = match self.mode {
            ConsentMode::PreApproved => Confirmation::Yes,
            ConsentMode::NonInteractive => Confirmation::NoPerson,
            ConsentMode::Interactive => self.face.confirm(lines, &question).await,
        };
        if answer == Confirmation::Yes {
            let ids = open.iter().map(|program| program.id.clone());
            self.programs.agreed().extend(ids);
            let is_kept = self.keeps && self.mode == ConsentMode::Interactive;
            let kept = open.iter().filter(|_| is_kept);
            kept.for_each(|program| self.store(program));
        }
        answer
    }

    fn store(&self, program: &Program) {
        let setting = allowed_setting(&program.id);
        let path: Vec<String> = setting.split('.').map(ToOwned::to_owned).collect();
        let allowed = |text: String| Ok((set(&text, &path, &Value::Bool(true)), ()));
        if let Err(error) = settings::edit(&self.programs.home, allowed) {
            let (name, error) = (&program.name, whole(error.source()));
            let warning = format!("Warning: {name} will be asked about again: {error}");
            self.face.warning(&warning);
        }
    }
}

/// What a person has to know of programs before they are asked.
fn terms(programs: &[&Program]) -> Vec<String> {
    let of_one = |program: &&Program| {
        let Program { name, id, .. } = program;
        let file = program.executable.as_deref().unwrap_or(Path::new("?"));
        let tools = of_vendor(id).map_or("", |_| ", without tools");
        let uses_plan = program.billing == Billing::Plan;
        let plan = if uses_plan { ", on your plan" } else { "" };
        let file = file.display();
        format!("{name} ({file}) runs as you on this machine, in an empty folder{tools}{plan}.")
    };
    let given = "Each call is given the question, the context and what the other seats say.";
    let given = std::iter::once(given.to_owned());
    programs.iter().map(of_one).chain(given).collect()
}

/// `Claude Code and Codex`.
fn names(programs: &[&Program]) -> String {
    let names: Vec<&str> = programs.iter().map(|it| it.name.as_str()).collect();
    names.join(" and ")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::FutureExt;

    use super::*;
    use crate::config::env::Environment;
    use crate::config::paths::Home;
    use crate::engine::ports::{BoxFuture, LongWork, WorkProgress};
    use crate::providers::programs::status::{Login, ProgramStatus};
    use crate::setup::samples;

    /// A person who gives one answer, and what they read.
    #[derive(Debug)]
    struct Answering(Confirmation, Mutex<Vec<String>>);

    impl Face for Answering {
        fn note(&self, line: &str) {
            self.1.lock().unwrap().push(line.to_owned());
        }

        fn detail(&self, _: &str) {}

        fn warning(&self, line: &str) {
            self.note(line);
        }

        fn lines(&self, _: &str) {}

        fn begin(&self, _: LongWork) -> Box<dyn WorkProgress> {
            unreachable!("nothing takes long")
        }

        fn confirm<'a>(
            &'a self,
            lines: Vec<String>,
            question: &'a str,
        ) -> BoxFuture<'a, Confirmation> {
            for line in &lines {
                self.note(line);
            }
            self.note(question);
            Box::pin(async { self.0 })
        }
    }

    /// All programs are the shell.
    const INSTALLED: &str = r#"{"programs": {"claude-code": {"argv": ["/bin/sh"]},
        "codex": {"argv": ["/bin/sh"]}}}"#;

    struct ConsentCase {
        programs: ProgramList,
        home: tempfile::TempDir,
        face: Answering,
    }

    impl ConsentCase {
        fn new(config: &str, logins: &[(&str, Login)], answer: Confirmation) -> Self {
            let home = tempfile::tempdir().unwrap();
            let programs = ProgramList::load(
                &samples::settings(config),
                &Environment::default(),
                &Home::at(home.path()),
            );
            let status = |(id, login): &(&str, Login)| {
                let login = login.clone();
                let status = ProgramStatus {
                    login,
                    ..ProgramStatus::default()
                };
                let program = programs.find(&ProviderId::new(*id));
                (program.unwrap().clone(), status)
            };
            let statuses = logins.iter().map(status).collect();
            programs.statuses.set(statuses).unwrap();
            Self {
                programs,
                home,
                face: Answering(answer, Mutex::default()),
            }
        }

        fn with<T>(&self, mode: ConsentMode, ask: impl AsyncFnOnce(ProgramConsent<'_>) -> T) -> T {
            let consent = ProgramConsent {
                programs: &self.programs,
                face: &self.face,
                mode,
                dry_run: false,
                keeps: true,
            };
            ask(consent).now_or_never().unwrap()
        }

        fn agree(&self, mode: ConsentMode, id: &str) -> Result<(), Error> {
            let ids = BTreeSet::from([ProviderId::new(id)]);
            self.with(mode, async |consent| consent.agree(&ids).await)
        }

        fn offer(&self, mode: ConsentMode) -> Vec<String> {
            let models = self.with(mode, async |consent| consent.offer().await);
            models.iter().map(ToString::to_string).collect()
        }

        fn read(&self) -> Vec<String> {
            std::mem::take(&mut *self.face.1.lock().unwrap())
        }

        fn stored(&self) -> Option<String> {
            std::fs::read_to_string(self.home.path().join("config.json")).ok()
        }
    }

    use ConsentMode::{Interactive, NonInteractive, PreApproved};

    #[test]
    fn consent_is_asked_once_and_stored() {
        let case = ConsentCase::new(INSTALLED, &[], Confirmation::Yes);
        case.agree(Interactive, "claude-code").unwrap();
        assert_eq!(
            case.read(),
            [
                "Claude Code (/bin/sh) runs as you on this machine, in an empty folder, without \
                 tools, on your plan.",
                "Each call is given the question, the context and what the other seats say.",
                "Ask Claude Code?"
            ]
        );
        let stored: Value = serde_json::from_str(&case.stored().unwrap()).unwrap();
        let allowed = serde_json::json!({"programs": {"claude-code": {"allowed": true}}});
        assert_eq!(stored, allowed);
        case.agree(Interactive, "claude-code").unwrap();
        assert_eq!(case.read(), [""; 0]);
        let known = r#"{"programs": {"codex": {"allowed": true}}}"#;
        let known = ConsentCase::new(known, &[], Confirmation::No);
        known.agree(NonInteractive, "codex").unwrap();
    }

    #[test]
    fn without_consent_no_program_is_asked() {
        let case = ConsentCase::new(INSTALLED, &[], Confirmation::No);
        let error = case.agree(Interactive, "codex").unwrap_err();
        assert_eq!(error.exit, Exit::Declined);
        assert_eq!(error.to_string(), "you did not agree to ask Codex");
        let error = case.agree(NonInteractive, "codex").unwrap_err();
        assert_eq!(error.exit, Exit::Declined);
        assert_eq!(
            error.hints,
            [
                "agree for this run with `--yes`",
                "allow Codex with `conclave config set programs.codex.allowed true`"
            ]
        );
        case.agree(PreApproved, "codex").unwrap();
        assert_eq!(case.stored(), None, "only for this run");
        case.agree(NonInteractive, "anthropic").unwrap();
    }

    #[test]
    fn only_programs_that_are_logged_in_with_a_plan_are_offered() {
        let logins = |codex: Login| {
            let plan = Login::Plan(Some("max_5x".to_owned()));
            [("claude-code", plan), ("codex", codex)]
        };
        for (codex, offered) in [
            (Login::Plan(None), true),
            (Login::No, false),
            (Login::Billed("an API key".to_owned()), false),
            (Login::Unknown, false),
        ] {
            let case = ConsentCase::new(INSTALLED, &logins(codex), Confirmation::Yes);
            let models = case.offer(Interactive);
            assert_eq!(models.contains(&"codex:gpt-5.5".to_owned()), offered);
            assert!(models.contains(&"claude-code:sonnet".to_owned()));
            let first = if offered {
                "Claude Code and Codex"
            } else {
                "Claude Code"
            };
            let first = format!("No API key is set. {first} can answer:");
            assert_eq!(case.read()[0], first);
        }
    }

    #[test]
    fn offer_that_is_declined_says_how_not_to_be_asked_again() {
        let login = [("codex", Login::Plan(None))];
        let case = ConsentCase::new(INSTALLED, &login, Confirmation::No);
        assert_eq!(case.offer(Interactive), [""; 0]);
        assert_eq!(
            case.read().last().unwrap(),
            "Not to be asked again: `conclave config set programs.codex.allowed false`"
        );
        assert_eq!(case.offer(NonInteractive), [""; 0], "it is not allowed");
        let refused = r#"{"programs": {"codex": {"argv": ["/bin/sh"], "allowed": false}}}"#;
        let refused = ConsentCase::new(refused, &login, Confirmation::Yes);
        assert_eq!(refused.offer(Interactive), [""; 0]);
        assert_eq!(refused.read(), [""; 0]);
        // Without a check, the user's own word counts.
        let own = r#"{"programs": {"own": {"argv": ["/bin/sh"], "allowed": true}}}"#;
        let own = ConsentCase::new(own, &[("command:own", Login::Unknown)], Confirmation::No);
        assert_eq!(own.offer(NonInteractive), ["command:own"]);
    }
}
