//! `conclave config`: shows and changes settings, and never writes a file that cannot be read.

mod rejections;
mod values;

use crate::support::binary::{Conclave, RunOutput};

fn config(conclave: &Conclave, arguments: &[&str]) -> RunOutput {
    conclave.run(&[&["config"], arguments].concat())
}

fn set(conclave: &Conclave, key: &str, value: &str) -> RunOutput {
    config(conclave, &["set", key, value])
}

fn file(conclave: &Conclave) -> String {
    std::fs::read_to_string(conclave.home().join("config.json")).unwrap()
}
