//! The vendors with a key: whether the key looks like one, whether the address answers, whether the
//! key is accepted, and whether the models of the default panel are still there. By what costs
//! nothing alone.

use futures_util::future::join_all;
use secrecy::ExposeSecret;

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::ids::ProviderId;
use crate::domain::ids::without_date;
use crate::domain::time::Timestamp;
use crate::domain::vendors::{self, name};
use crate::providers::catalog::{Date, ModelCatalog};
use crate::providers::http::Http;
use crate::providers::listing::{self, KeyStanding, Listed};
use crate::setup::provider_access::Reach;
use crate::terminal::tables::doctor::{Check, CheckStatus};

use super::{ANSWER, Target};

/// A model that goes away is announced from this many days before.
const NOTICE_DAYS: i64 = 60;

/// What was found at one vendor.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) provider: ProviderId,
    pub(super) check: Check,
    /// As far as can be told for nothing, its models would answer.
    pub(super) answers: bool,
}

/// What is to be said of one vendor, before it is put together.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    status: CheckStatus,
    message: String,
    fix: Option<String>,
}

fn word(status: CheckStatus, message: impl Into<String>, fix: impl Into<String>) -> Word {
    let fix = fix.into();
    Word {
        status,
        message: message.into(),
        fix: (!fix.is_empty()).then_some(fix),
    }
}

/// All of them at once.
pub(super) async fn check_all(
    keyed: &[Target],
    http: &Http,
    catalog: &ModelCatalog,
    now: Timestamp,
) -> Vec<Found> {
    join_all(keyed.iter().map(|target| check(target, http, catalog, now))).await
}

async fn check(target: &Target, http: &Http, catalog: &ModelCatalog, now: Timestamp) -> Found {
    let account = &target.endpoint.account;
    let mut words = Vec::new();
    words.extend(account.key.as_ref().and_then(|key| {
        form(
            target.id.as_str(),
            key.expose_secret(),
            &account.origin,
            target.is_at_home,
        )
    }));
    let list_request = listing::request(target.dialect, &target.endpoint);
    let list = http.get(&list_request, account, ANSWER);
    let key = async {
        match listing::key_request(target.dialect, &target.endpoint) {
            Some(request) => Some(http.get(&request, account, ANSWER).await),
            None => None,
        }
    };
    let (list, key) = futures_util::future::join(list, key).await;
    let list = list.and_then(|got| got.success(account));
    let key = key.map(|key| key.and_then(|got| got.success(account)));
    let listed = list.map(|body| listing::models(target.dialect, &body));
    let address = if target.is_at_home {
        None
    } else {
        Some(host(&target.endpoint.base_url))
    };
    let mut answers = true;
    match &key {
        Some(Err(failure)) => {
            answers &= can_still_answer(failure);
            words.push(trouble(failure, "its check of the key"));
        }
        Some(Ok(body)) => {
            let consent_mode = listing::key_standing(body);
            answers &= consent_mode
                .is_none_or(|consent_mode| consent_mode.remaining.is_none_or(|left| left.0 > 0));
            words.push(key_word(consent_mode));
        }
        None => {}
    }
    match listed {
        Err(failure) => {
            answers &= can_still_answer(&failure);
            // The same failure need not be told twice.
            if !matches!(key, Some(Err(_))) {
                words.push(trouble(&failure, "its list of models"));
            }
        }
        Ok(Err(not_a_list)) => words.push(word(
            CheckStatus::Warning,
            not_a_list.to_string(),
            "check the base URL",
        )),
        Ok(Ok(models)) => {
            let accepted = if key.is_some() { "" } else { "key accepted, " };
            words.push(word(
                CheckStatus::Ok,
                format!("{accepted}{} models", models.len()),
                "",
            ));
            words.extend(panel_words(&models, catalog, &target.id, &Date::of(now)));
        }
    }
    found(target, &words, address, answers)
}

fn found(target: &Target, words: &[Word], address: Option<String>, answers: bool) -> Found {
    let status = words
        .iter()
        .map(|word| word.status)
        .max()
        .unwrap_or(CheckStatus::Ok);
    let messages: Vec<&str> = words.iter().map(|word| word.message.as_str()).collect();
    // What went wrong with a connection names the address by itself.
    let at = address.filter(|address| !messages.iter().any(|message| message.contains(address)));
    let at = at
        .map(|address| format!("at {address}: "))
        .unwrap_or_default();
    let fixes: Vec<&str> = words
        .iter()
        .filter_map(|word| word.fix.as_deref())
        .collect();
    let check = Check::new(
        format!("provider.{}", target.id),
        name(&target.id),
        status,
        format!("{at}{}", messages.join("; ")),
    );
    let check = if fixes.is_empty() {
        check
    } else {
        check.fix(fixes.join("; "))
    };
    Found {
        provider: target.id.clone(),
        check,
        answers,
    }
}

/// What is odd about the look of a key. Never with the key itself.
fn form(provider: &str, key: &str, origin: &str, is_usual_address: bool) -> Option<Word> {
    // A gateway may have keys of its own, and a token is not a key.
    let prefix = vendors::find(provider)
        .and_then(|vendor| vendor.key_prefix)
        .filter(|_| is_usual_address && !origin.contains("TOKEN"))?;
    let looks_like = vendors::of_key(key);
    match looks_like {
        Some(vendor) if vendor.id == provider => None,
        Some(vendor) => Some(word(
            CheckStatus::Warning,
            format!("the key in {origin} looks like one of {}", vendor.name),
            format!("check {origin}"),
        )),
        None => Some(word(
            CheckStatus::Warning,
            format!("the key in {origin} does not begin with `{prefix}`"),
            format!("check {origin}"),
        )),
    }
}

fn key_word(consent_mode: Option<KeyStanding>) -> Word {
    match consent_mode {
        Some(KeyStanding {
            remaining: Some(left),
        }) if left.0 == 0 => word(
            CheckStatus::Error,
            "key accepted, but its limit is used up",
            "raise the key's limit, or use another key",
        ),
        Some(KeyStanding {
            remaining: Some(left),
        }) => word(
            CheckStatus::Ok,
            format!("key accepted, {left:.2} left under its limit"),
            "",
        ),
        Some(KeyStanding { remaining: None }) => {
            word(CheckStatus::Ok, "key accepted, without a limit", "")
        }
        None => word(
            CheckStatus::Warning,
            "its word about the key was not understood",
            "check the base URL",
        ),
    }
}

fn trouble(failure: &Failure, what: &str) -> Word {
    let message = &failure.message;
    match failure.class {
        FailureClass::Auth => word(
            CheckStatus::Error,
            format!("the key was refused: {message}"),
            "make or copy a key that is in force",
        ),
        FailureClass::Billing => word(
            CheckStatus::Error,
            message.clone(),
            "add credit, or raise the limit",
        ),
        FailureClass::Transport | FailureClass::Timeout => word(
            CheckStatus::Error,
            message.clone(),
            "check the network, the proxy and the base URL; other providers still work",
        ),
        FailureClass::RateLimit | FailureClass::Overload => {
            word(CheckStatus::Warning, message.clone(), "try again later")
        }
        FailureClass::ModelMissing
        | FailureClass::BadRequest
        | FailureClass::Context
        | FailureClass::Policy
        | FailureClass::Unsupported
        | FailureClass::Interrupted
        | FailureClass::Empty
        | FailureClass::Malformed
        | FailureClass::Internal => word(
            CheckStatus::Warning,
            format!("{what} is not to be had: {message}"),
            "check the base URL; see whether it answers: --deep",
        ),
    }
}

/// Without a list nothing is proved, but where the key was not refused and the address answers, a
/// call may still work.
fn can_still_answer(failure: &Failure) -> bool {
    !matches!(
        failure.class,
        FailureClass::Auth
            | FailureClass::Billing
            | FailureClass::Transport
            | FailureClass::Timeout
    )
}

/// Models of the default panel that the vendor does not list, or is about to take away.
fn panel_words(
    listed: &[Listed],
    catalog: &ModelCatalog,
    provider: &ProviderId,
    today: &Date,
) -> Vec<Word> {
    let mut words = Vec::new();
    let find = |id: &str| {
        listed
            .iter()
            .find(|model| model.id == id || without_date(&model.id) == Some(id))
    };
    let defaults = catalog.defaults(provider);
    let missing: Vec<String> = defaults
        .iter()
        .filter(|model| find(&model.id).is_none())
        .map(|model| format!("`{}`", model.id))
        .collect();
    if !missing.is_empty() {
        let message = format!(
            "its list is without {} of the default panel",
            missing.join(", ")
        );
        words.push(word(
            CheckStatus::Warning,
            message,
            "name the models yourself with --model or `panel` in the settings, or get a newer version",
        ));
    }
    for model in defaults {
        let day = find(&model.id)
            .and_then(|listed| listed.retires.as_ref())
            .and_then(|text| Date::try_from(text.get(..10)?.to_owned()).ok());
        if let Some(day) = day.filter(|day| day.days_since(today) <= NOTICE_DAYS) {
            words.push(word(
                CheckStatus::Warning,
                format!("`{}` goes away on {day}", model.id),
                "name another model, or get a newer version",
            ));
        }
    }
    words
}

/// One quiet line for all vendors without a key.
pub(super) fn without_key(reached: &[Reach]) -> Option<Check> {
    let told: Vec<String> = reached
        .iter()
        .filter_map(|reach| Some(format!("{} ({})", name(&reach.id), reach.missing_key()?)))
        .collect();
    (!told.is_empty()).then(|| Check::new("keys", "no key", CheckStatus::Note, told.join(", ")))
}

/// The host of an address, without user, password and path.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keys_look_is_a_warning_and_the_key_is_not_shown() {
        let status =
            |provider, key, usual| form(provider, key, "`K`", usual).map(|word| word.status);
        assert_eq!(status("anthropic", "sk-ant-123", true), None);
        assert_eq!(
            status("mistral", "anything", true),
            None,
            "its keys have no beginning in common"
        );
        assert_eq!(status("openai", "pk-123", true), Some(CheckStatus::Warning));
        assert_eq!(
            status("openai", "pk-123", false),
            None,
            "a gateway has keys of its own"
        );
        let swapped = form("openai", "sk-ant-123", "`OPENAI_API_KEY`", true).unwrap();
        assert_eq!(
            swapped.message,
            "the key in `OPENAI_API_KEY` looks like one of Anthropic"
        );
        assert_eq!(
            form("anthropic", "token", "`ANTHROPIC_AUTH_TOKEN`", true),
            None
        );
    }

    #[test]
    fn models_of_the_default_panel_are_missed_and_their_end_is_announced() {
        let listed = |id: &str, retires: Option<&str>| Listed {
            id: id.into(),
            context: None,
            retires: retires.map(ToOwned::to_owned),
        };
        let today = Date::try_from("2026-11-21".to_owned()).unwrap();
        let catalog = ModelCatalog::builtin();
        let list = [
            listed("gpt-6.1-sol-2026-09-01", None),
            listed("gpt-6-sol", Some("2026-12-24T00:00:00Z")),
        ];
        let told = panel_words(&list, &catalog, &ProviderId::new("openai"), &today);
        let messages: Vec<&str> = told.iter().map(|word| word.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "its list is without `gpt-6.1-terra` of the default panel",
                "`gpt-6-sol` goes away on 2026-12-24"
            ]
        );
    }

    #[test]
    fn an_address_is_shown_without_what_may_be_secret_in_it() {
        assert_eq!(
            host("https://user:secret@gateway:8443/v1?key=x"),
            "gateway:8443"
        );
    }
}
