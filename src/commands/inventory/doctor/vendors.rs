//! Checks of the vendors with a key: whether the key has the right form and is accepted, whether
//! the address answers, and whether the default models are still listed. All requests are free.

use futures_util::future::{OptionFuture, join};
use jiff::civil::Date;
use secrecy::ExposeSecret;

use crate::consultation::protocol::call::{Failure, FailureClass};
use crate::domain::cost::money::MicroUsd;
use crate::domain::ids::{ProviderId, without_date};
use crate::domain::model::address::authority;
use crate::domain::model::vendors::{self, name};
use crate::domain::time::{Timestamp, days_between};
use crate::providers::catalog::ModelCatalog;
use crate::providers::chatgpt::sign_in::COMMAND;
use crate::providers::http::Http;
use crate::providers::model_list::{self, KeyBudget, ListedModel};
use crate::setup::provider_access::ProviderAccess;
use crate::terminal::output::format::count;
use crate::terminal::tables::doctor::{Check, CheckStatus};

use super::{ANSWER, Target};

/// Days before its retirement from which a model is reported.
const NOTICE_DAYS: i64 = 60;

/// Unless the result is an error, its models would answer, as far as free requests show.
pub(super) async fn check(
    target: &Target<'_>,
    http: &Http,
    catalog: &ModelCatalog,
    now: Timestamp,
) -> Check {
    let access = target.access;
    let mut endpoint = target.endpoint.clone();
    if let Some(sign_in) = access.sign_in() {
        match sign_in.account(None).await {
            Ok(account) => endpoint.account = account,
            Err(failure) => {
                let fix = format!("run `{COMMAND}`");
                let check = Check::new(CheckStatus::Error, failure.message, fix);
                return check.of(format!("provider.{}", access.id), name(&access.id));
            }
        }
    }
    let account = &endpoint.account;
    let mut findings = Vec::new();
    findings.extend(account.key.as_ref().and_then(|key| {
        form(
            access.id.as_str(),
            key.expose_secret(),
            &account.origin,
            access.uses_default_endpoint(),
        )
    }));
    findings.extend(access.unencrypted_key().map(|warning| {
        let (message, fix) = warning.split_once("; ").unwrap_or((&warning, ""));
        Check::new(CheckStatus::Warning, message, fix)
    }));
    let list_request = model_list::request(access.dialect, &endpoint);
    let list = http.get(&list_request, account, ANSWER);
    let key_request = model_list::key_request(access.dialect, &endpoint);
    let get = |request| http.get(request, account, ANSWER);
    let key = OptionFuture::from(key_request.as_ref().map(get));
    let (list, key) = join(list, key).await;
    let list = list.and_then(|got| got.success(account));
    let key = key.map(|key| key.and_then(|got| got.success(account)));
    let listed = list.map(|body| model_list::models(access.dialect, &body));
    let address = (!access.uses_default_endpoint()).then(|| authority(&endpoint.base_url));
    match &key {
        Some(Err(failure)) => findings.push(trouble(failure, "its check of the key")),
        Some(Ok(body)) => findings.push(key_finding(model_list::key_budget(body))),
        None => {}
    }
    match listed {
        Err(failure) => {
            let trouble = trouble(&failure, "its list of models");
            // After a failure of the key only a worse one says more.
            if !matches!(key, Some(Err(_))) || trouble.status == CheckStatus::Error {
                findings.push(trouble);
            }
        }
        Ok(Err(not_a_list)) => findings.push(Check::new(
            CheckStatus::Warning,
            not_a_list.to_string(),
            "check the base URL",
        )),
        Ok(Ok(models)) => {
            let signed_in = access.sign_in().and_then(|sign_in| sign_in.stored().email);
            let accepted = match signed_in {
                Some(email) => format!("signed in as {email}, "),
                None if key.is_some() => String::new(),
                None => "key accepted, ".to_owned(),
            };
            findings.push(Check::new(
                CheckStatus::Ok,
                format!("{accepted}{}", count(models.len(), "model")),
                "",
            ));
            findings.extend(panel_findings(&models, catalog, &access.id, now.day()));
        }
    }
    let status = findings.iter().map(|finding| finding.status).max();
    let messages: Vec<&str> = findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    let message = messages.join("; ");
    // A failed connection names the address already.
    let message = match address.filter(|address| !message.contains(address)) {
        Some(address) => format!("at {address}: {message}"),
        None => message,
    };
    let fixes: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding.fix.as_deref())
        .collect();
    let provider = &access.id;
    Check::new(status.unwrap_or(CheckStatus::Ok), message, fixes.join("; "))
        .of(format!("provider.{provider}"), name(provider))
}

/// Without the key itself.
fn form(provider: &str, key: &str, origin: &str, is_usual_address: bool) -> Option<Check> {
    // Gateways have keys of their own, and a token is not a key.
    let prefix = vendors::find(provider)
        .and_then(|vendor| vendor.key_prefix)
        .filter(|_| is_usual_address && !origin.contains("TOKEN"))?;
    let problem = match vendors::of_key(key) {
        Some(vendor) if vendor.id == provider => return None,
        Some(vendor) => format!("looks like one of {}", vendor.name),
        None => format!("does not begin with `{prefix}`"),
    };
    let message = format!("the key in {origin} {problem}");
    let fix = format!("check {origin}");
    Some(Check::new(CheckStatus::Warning, message, fix))
}

fn key_finding(key_limit: Option<KeyBudget>) -> Check {
    use CheckStatus::{Error, Ok, Warning};

    match key_limit.map(|limit| limit.remaining) {
        Some(Some(MicroUsd::ZERO)) => Check::new(
            Error,
            "key accepted, but its spending limit is used up",
            "raise the key's limit, or use another key",
        ),
        Some(Some(left)) => Check::new(
            Ok,
            format!("key accepted, {left:.2} left under its limit"),
            "",
        ),
        Some(None) => Check::new(Ok, "key accepted, without a limit", ""),
        None => Check::new(
            Warning,
            "its reply about the key is unreadable",
            "check the base URL",
        ),
    }
}

fn trouble(failure: &Failure, what: &str) -> Check {
    use CheckStatus::{Error, Warning};

    let message = failure.message.clone();
    match failure.class {
        FailureClass::Auth => Check::new(
            Error,
            format!("the key was refused: {message}"),
            "create a new key, or copy one that is still valid",
        ),
        FailureClass::Billing => Check::new(Error, message, "add credit, or raise the limit"),
        FailureClass::Transport | FailureClass::Timeout => Check::new(
            Error,
            message,
            "check the network, the proxy and the base URL; other providers still work",
        ),
        FailureClass::RateLimit | FailureClass::Overload | FailureClass::Quota => {
            Check::new(Warning, message, "try again later")
        }
        FailureClass::ModelMissing
        | FailureClass::BadRequest
        | FailureClass::Context
        | FailureClass::Policy
        | FailureClass::Unsupported
        | FailureClass::Interrupted
        | FailureClass::Empty
        | FailureClass::Malformed
        | FailureClass::Internal => Check::new(
            Warning,
            format!("{what} is not available: {message}"),
            "check the base URL; test it with `--deep`",
        ),
    }
}

fn panel_findings(
    listed: &[ListedModel],
    catalog: &ModelCatalog,
    provider: &ProviderId,
    today: Date,
) -> Vec<Check> {
    let mut findings = Vec::new();
    let find = |id: &str| {
        let is_called =
            |model: &&ListedModel| model.id == id || without_date(&model.id) == Some(id);
        listed.iter().find(is_called)
    };
    let defaults = catalog.defaults(provider);
    let missing = defaults.iter().filter(|model| find(&model.id).is_none());
    let missing: Vec<String> = missing.map(|model| format!("`{}`", model.id)).collect();
    if !missing.is_empty() {
        let message = format!("its list lacks {} of the default panel", missing.join(", "));
        findings.push(Check::new(
            CheckStatus::Warning,
            message,
            "name the models yourself with `--model` or the setting `panel`, or update conclave",
        ));
    }
    for model in defaults {
        let retires = find(&model.id).and_then(|listed| listed.retires.as_ref());
        let day = retires.and_then(|text| text.get(..10)?.parse::<Date>().ok());
        if let Some(day) = day.filter(|day| days_between(today, *day) <= NOTICE_DAYS) {
            findings.push(Check::new(
                CheckStatus::Warning,
                format!("`{}` retires on {day}", model.id),
                "name another model, or update conclave",
            ));
        }
    }
    findings
}

pub(super) fn without_key(access_list: &[ProviderAccess]) -> impl Iterator<Item = Check> {
    let kinds = [("keys", "no key"), ("sign_ins", "not signed in")];
    kinds.into_iter().filter_map(|(id, title)| {
        let missing = |access: &ProviderAccess| {
            let source = access.missing_key()?;
            let is_of_kind = access.sign_in().is_some() == (id == "sign_ins");
            is_of_kind.then(|| format!("{} ({source})", name(&access.id)))
        };
        let missing: Vec<String> = access_list.iter().filter_map(missing).collect();
        let check = || Check::new(CheckStatus::Note, missing.join(", "), "").of(id, title);
        (!missing.is_empty()).then(check)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_the_wrong_form_gives_a_warning_without_the_key() {
        let status =
            |provider, key, usual| form(provider, key, "`K`", usual).map(|finding| finding.status);
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
    fn failures_and_limits_of_a_key_have_a_status_and_words() {
        let failed = |class| {
            let check = trouble(&Failure::new(class, "no"), "its list");
            (check.status, check.message)
        };
        let (warning, error) = (CheckStatus::Warning, CheckStatus::Error);
        for (class, status, words) in [
            (FailureClass::Auth, error, "the key was refused: no"),
            (FailureClass::Billing, error, "no"),
            (FailureClass::Timeout, error, "no"),
            (FailureClass::Overload, warning, "no"),
            (
                FailureClass::ModelMissing,
                warning,
                "its list is not available: no",
            ),
        ] {
            assert_eq!(failed(class), (status, words.to_owned()), "{class:?}");
        }
        let limited = |remaining| {
            let check = key_finding(Some(KeyBudget { remaining }));
            (check.status, check.message)
        };
        let accepted = |words: &str| format!("key accepted, {words}");
        let ok = CheckStatus::Ok;
        assert_eq!(limited(None), (ok, accepted("without a limit")));
        let left = Some(MicroUsd(4_500_000));
        assert_eq!(limited(left), (ok, accepted("$4.50 left under its limit")));
        let used_up = accepted("but its spending limit is used up");
        assert_eq!(limited(Some(MicroUsd::ZERO)), (error, used_up));
        assert_eq!(key_finding(None).status, warning);
    }

    #[test]
    fn missing_and_retiring_default_models_are_reported() {
        let listed = |id: &str, retires: Option<&str>| ListedModel {
            id: id.into(),
            context: None,
            retires: retires.map(ToOwned::to_owned),
        };
        let today = "2026-11-21".parse::<Date>().unwrap();
        let catalog = ModelCatalog::builtin();
        let list = [
            listed("gpt-6.1-sol-2026-09-01", None),
            listed("gpt-6-sol", Some("2026-12-24T00:00:00Z")),
        ];
        let findings = panel_findings(&list, &catalog, &ProviderId::new("openai"), today);
        let messages: Vec<&str> = findings
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "its list lacks `gpt-6.1-terra` of the default panel",
                "`gpt-6-sol` retires on 2026-12-24"
            ]
        );
    }
}
