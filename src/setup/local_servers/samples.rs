//! Sample servers for the tests of this folder.

use crate::domain::model::vendors::LocalServerKind;
use crate::providers::discovery::{Condition, ServedModel, Server};

pub(super) fn served(id: &str, loaded: bool) -> ServedModel {
    ServedModel {
        id: id.to_owned(),
        context: None,
        parameters: None,
        loaded,
        runs_here: !id.ends_with("cloud"),
    }
}

pub(super) fn ready(kind: LocalServerKind, port: u16, models: &[ServedModel]) -> Server {
    let authority = format!("127.0.0.1:{port}");
    Server {
        kind,
        base_url: format!("http://{authority}"),
        authority,
        version: None,
        condition: Condition::Ready,
        on_own_network: true,
        models: models.to_vec(),
    }
}

pub(super) fn loading(kind: LocalServerKind, port: u16) -> Server {
    Server {
        condition: Condition::Loading,
        ..ready(kind, port, &[])
    }
}

pub(super) fn locked(kind: LocalServerKind, port: u16) -> Server {
    Server {
        condition: Condition::Locked,
        ..ready(kind, port, &[])
    }
}
