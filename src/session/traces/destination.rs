//! Where traces go, by the standard variables of OpenTelemetry's exporters.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use url::form_urlencoded;

use crate::config::env::Environment;

const DEFAULT_BASE: &str = "http://localhost:4318";

/// A receiver of traces.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    pub(super) url: String,
    /// They may hold a key.
    pub(super) headers: HeaderMap,
    /// Of one attempt, and of all that is left at the end of a run.
    pub(super) timeout: Duration,
}

impl Destination {
    /// Returns `None` if the variables switch the export off.
    ///
    /// # Errors
    ///
    /// When they ask for another protocol.
    pub(super) fn of(environment: &Environment) -> Result<Option<Self>, &'static str> {
        let text = |name| environment.text(name);
        let is = |name, value| text(name).is_some_and(|it| it.to_lowercase() == value);
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        let of_exporter = |end| {
            let of = |kind| environment.text(&format!("OTEL_EXPORTER_OTLP_{kind}{end}"));
            of("TRACES_").or_else(|| of(""))
        };
        if of_exporter("PROTOCOL").is_some_and(|protocol| protocol != "http/protobuf") {
            return Err("`OTEL_EXPORTER_OTLP_PROTOCOL` can only be `http/protobuf`");
        }
        let base = text("OTEL_EXPORTER_OTLP_ENDPOINT").unwrap_or(DEFAULT_BASE);
        let url = text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").map(ToOwned::to_owned);
        let secret = |(name, value): (String, String)| {
            let mut value = HeaderValue::try_from(value).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::try_from(name).ok()?, value))
        };
        let timeout = of_exporter("TIMEOUT").and_then(|ms| ms.parse().ok());
        Ok(Some(Self {
            url: url.unwrap_or_else(|| format!("{}/v1/traces", base.trim_end_matches('/'))),
            headers: pairs(of_exporter("HEADERS")).filter_map(secret).collect(),
            timeout: Duration::from_millis(timeout.unwrap_or(10_000)),
        }))
    }
}

/// The attributes of this program.
pub(super) fn resource(environment: &Environment) -> BTreeMap<String, Value> {
    let own = [
        ("service.name", env!("CARGO_PKG_NAME")),
        ("service.version", env!("CARGO_PKG_VERSION")),
    ];
    let named = environment.text("OTEL_SERVICE_NAME");
    let named = named.map(|name| ("service.name", name)).into_iter();
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let listed = pairs(environment.text("OTEL_RESOURCE_ATTRIBUTES"));
    let all = own
        .into_iter()
        .map(owned)
        .chain(listed)
        .chain(named.map(owned));
    all.map(|(name, value)| (name, value.into())).collect()
}

/// Reads `name=value,other=value`, percent-encoded; what has another form is left out.
fn pairs(text: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let pairs = text.unwrap_or_default().split(',');
    // As in a form, whose other signs mean nothing here.
    let as_form = |pair: &str| pair.replace('+', "%2B").replace('&', "%26");
    pairs.filter_map(move |pair| {
        let form = as_form(pair.split_once('=').map(|_| pair)?);
        let (name, value) = form_urlencoded::parse(form.as_bytes()).next()?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<Destination>, &'static str> {
        let named = |(name, value): &(&str, &str)| (format!("OTEL_{name}"), (*value).to_owned());
        Destination::of(&Environment::of(variables.iter().map(named)))
    }

    #[test]
    fn the_address_is_that_of_traces_or_is_completed() {
        let general = ("EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");
        let traces = ("EXPORTER_OTLP_TRACES_ENDPOINT", "https://in.example/otlp");
        for (variables, url) in [
            (&[][..], "http://localhost:4318/v1/traces"),
            (&[general], "http://collector:4318/v1/traces"),
            (&[general, traces], "https://in.example/otlp"),
        ] {
            assert_eq!(of(variables).unwrap().unwrap().url, url);
        }
    }

    #[test]
    fn headers_are_decoded_and_secret() {
        let list = "Authorization=Bearer%20k%3D1+2, x-team = a=b&c ,wrong,no name=x,";
        let destination = of(&[("EXPORTER_OTLP_HEADERS", list)]).unwrap().unwrap();
        let headers = &destination.headers;
        assert_eq!(headers.len(), 2);
        assert_eq!(headers["authorization"], "Bearer k=1+2");
        assert_eq!(headers["x-team"], "a=b&c");
        assert!(!format!("{destination:?}").contains("k=1"));
    }

    #[test]
    fn what_is_for_traces_outweighs_what_is_for_all() {
        let timeout = |variables: &[_]| of(variables).unwrap().unwrap().timeout.as_millis();
        let general = ("EXPORTER_OTLP_TIMEOUT", "300");
        assert_eq!(timeout(&[]), 10_000);
        assert_eq!(timeout(&[general]), 300);
        assert_eq!(
            timeout(&[general, ("EXPORTER_OTLP_TRACES_TIMEOUT", "20")]),
            20
        );
        assert_eq!(timeout(&[("EXPORTER_OTLP_TIMEOUT", "soon")]), 10_000);
        let grpc = ("EXPORTER_OTLP_PROTOCOL", "grpc");
        assert!(of(&[grpc]).unwrap_err().contains("http/protobuf"));
        let right = ("EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf");
        assert!(of(&[grpc, right]).unwrap().is_some());
    }

    #[test]
    fn variables_switch_it_off() {
        for variable in [("SDK_DISABLED", "TRUE"), ("TRACES_EXPORTER", "none")] {
            assert!(of(&[variable]).unwrap().is_none());
        }
    }

    #[test]
    fn the_services_name_outweighs_the_list() {
        let list = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=listed,team=a%2Cb");
        let name = ("OTEL_SERVICE_NAME", "named");
        let values = |variables: &[(&str, &str)]| {
            let attributes = resource(&Environment::of(variables.iter().copied()));
            let values = attributes
                .into_iter()
                .filter(|(name, _)| name != "service.version");
            values.map(|(_, value)| value).collect::<Vec<_>>()
        };
        assert_eq!(values(&[]), ["conclave"]);
        assert_eq!(values(&[list]), ["listed", "a,b"]);
        assert_eq!(values(&[list, name]), ["named", "a,b"]);
    }
}
