//! The scrubber of texts that no plan has: with the user's own rules, and the keys in the
//! environment.

use std::sync::OnceLock;

use crate::config::env::Environment;
use crate::config::own_keys;
use crate::config::paths::Home;
use crate::error::Error;
use crate::scrub::Scrubber;
use crate::scrub::rules::UserRules;
use crate::setup::context::scrub_rules;
use crate::setup::settings;

/// Returns the scrubber of `consult`.
///
/// # Errors
///
/// When the user's settings or rules for secrets cannot be used.
pub fn load(environment: &Environment) -> Result<Scrubber, Error> {
    let (mut rules, mut endpoints) = (UserRules::default(), Vec::new());
    // Without a home there are no own rules.
    if let Ok(home) = Home::find(environment) {
        rules = scrub_rules::load(&home)?;
        endpoints = settings::load(&home, environment)?.endpoints;
    }
    let own_keys = own_keys::in_variables(&endpoints, environment);
    Scrubber::new(&rules, &own_keys).map_err(Error::usage)
}

/// Returns what masks the secrets in messages, which quote the command line. The user's settings
/// and rules may be what a message is about: they do not count if they cannot be used.
pub fn of_messages(environment: &Environment) -> impl Fn(&str) -> String + Send + Sync + use<> {
    let (environment, scrubber) = (environment.clone(), OnceLock::new());
    move |message| {
        let own_keys = || own_keys::in_variables(&[], &environment);
        let built_in = || Scrubber::new(&UserRules::default(), &own_keys());
        let scrubber = scrubber.get_or_init(|| load(&environment).or_else(|_| built_in()).ok());
        let mut message = message.to_owned();
        if let Some(scrubber) = scrubber {
            scrubber.mask(vec![&mut message]);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_quotes_the_command_line_holds_no_secret() {
        let key = "correct horse battery 1";
        let environment = Environment::of([("OPENAI_API_KEY", key)]);
        let mask = of_messages(&environment);
        let message = mask(&format!("no command `{key}`"));
        assert_eq!(message, "no command `[REDACTED_API_KEY]`");
    }
}
