//! Secrets made from the seed of their case. The repository holds none that a scanner of pushed
//! code would take for a real one: the forms are templates.

use conclave::domain::random::SplitMix64;

/// A case with its marks replaced.
pub(super) struct Expansion {
    pub(super) text: String,
    /// The values that must be gone if the case is labelled as true. A private key counts by its
    /// lines.
    pub(super) secrets: Vec<String>,
    /// The text before, between and after the marks.
    pub(super) outside: Vec<String>,
}

/// The forms of tokens by name. `<A36>` is 36 characters of the class `A`: see `alphabet`.
const FORMS: [(&str, &str); 78] = [
    ("age", "AGE-SECRET-KEY-1<Z58>"),
    ("airtable", "pat<A14>.<h64>"),
    ("anthropic", "sk-ant-api03-<u93>AA"),
    ("atlassian", "ATATT3xFfGF0<u180>"),
    ("aws_id", "AKIA<T16>"),
    ("aws_temporary_id", "ASIA<T16>"),
    ("azure_secret", "<A3>8Q~<A34>"),
    ("azure_sig", "<A42>%3D"),
    ("azure_storage", "<b86>=="),
    ("cratesio", "cio<A32>"),
    ("databricks", "dapi<h32>"),
    ("deepseek", "sk-<h32>"),
    ("digitalocean", "dop_v1_<h64>"),
    ("discord", "M<A25>.<u6>.<u38>"),
    ("dockerhub", "dckr_pat_<u27>"),
    ("doppler", "dp.pt.<A43>"),
    ("dropbox", "sl.<u135>"),
    ("figma", "figd_<u40>"),
    ("gho", "gho_<A36>"),
    ("ghp", "ghp_<A36>"),
    ("ghr", "ghr_<A36>"),
    ("ghs", "ghs_<A36>"),
    ("ghu", "ghu_<A36>"),
    ("github_pat", "github_pat_<A22>_<A59>"),
    ("gitlab", "glpat-<u20>"),
    ("gitlab_deploy", "gldt-<u20>"),
    ("gitlab_job", "glcbt-<h2>_<u20>"),
    ("gitlab_runner", "glrt-<u20>"),
    ("google", "AIza<u35>"),
    ("google_client_secret", "GOCSPX-<u28>"),
    ("google_oauth", "ya29.<u150>"),
    ("google_refresh", "1//0<u98>"),
    ("grafana", "glsa_<A32>_<h8>"),
    ("groq", "gsk_<A52>"),
    ("heroku", "HRKU-AA<u58>"),
    ("huggingface", "hf_<A34>"),
    (
        "jwt",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwiaWF0IjoxNTE2MjM5MDIyfQ.<u43>",
    ),
    (
        "jwt_k8s",
        "eyJhbGciOiJSUzI1NiIsImtpZCI6Ii<u40>.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50Ii<u200>.<u342>",
    ),
    ("laravel", "base64:<b43>="),
    ("linear", "lin_api_<A40>"),
    ("mailchimp", "<h32>-us14"),
    ("mailgun", "key-<h32>"),
    ("mapbox_secret", "sk.eyJ1Ijoi<u60>.<u22>"),
    ("newrelic", "NRAK-<U27>"),
    ("notion", "ntn_<A46>"),
    ("npm", "npm_<A36>"),
    ("nuget", "oy2<L43>"),
    ("openai", "sk-<A20>T3BlbkFJ<A20>"),
    ("openai_proj", "sk-proj-<u74>T3BlbkFJ<u74>"),
    ("openai_svc", "sk-svcacct-<u74>T3BlbkFJ<u74>"),
    ("openrouter", "sk-or-v1-<h64>"),
    ("perplexity", "pplx-<A48>"),
    ("planetscale", "pscale_tkn_<u43>"),
    ("postman", "PMAK-<h24>-<h34>"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc<u150>"),
    ("replicate", "r8_<A37>"),
    ("rubygems", "rubygems_<h48>"),
    ("sendgrid", "SG.<u22>.<u43>"),
    ("shopify", "shpat_<h32>"),
    ("slack_app", "xapp-1-A<U10>-<D13>-<h64>"),
    ("slack_bot", "xoxb-<D12>-<D13>-<A24>"),
    ("slack_config", "xoxe.xoxp-1-<A146>"),
    ("slack_hook_tail", "B<U8>/<A24>"),
    ("slack_user", "xoxp-<D12>-<D12>-<D12>-<h32>"),
    ("sonar", "sqp_<h40>"),
    ("square", "EAAA<u60>"),
    ("stripe_live", "sk_live_<A24>"),
    ("stripe_restricted", "rk_live_<A99>"),
    ("stripe_test", "sk_test_<A24>"),
    ("stripe_webhook", "whsec_<A32>"),
    ("supabase", "sbp_<h40>"),
    ("telegram", "<D10>:AA<u33>"),
    ("tfcloud", "<A14>.atlasv1.<u67>"),
    ("twilio_key", "SK<h32>"),
    ("uuid", "<h8>-<h4>-4<h3>-a<h3>-<h12>"),
    ("vault", "hvs.<u95>"),
    ("wireguard", "<b43>="),
    ("xai", "xai-<A80>"),
];

/// The kinds of private keys: name, label of the block, a header line, and the first letters.
const PRIVATE_KEYS: [(&str, &str, &str, &str); 6] = [
    ("pem", "PRIVATE KEY", "", "MIIEvQIBADANBgkqhkiG9w0B"),
    ("pem_escaped", "PRIVATE KEY", "", "MIIEvQIBADANBgkqhkiG9w0B"),
    ("pem_rsa", "RSA PRIVATE KEY", "", "MIIEpAIBAAKCAQEA"),
    ("pem_ec", "EC PRIVATE KEY", "", "MHcCAQEEI"),
    (
        "pem_openssh",
        "OPENSSH PRIVATE KEY",
        "",
        "b3BlbnNzaC1rZXktdjEA",
    ),
    ("pem_pgp", "PGP PRIVATE KEY BLOCK", "\n", "lQOYBF"),
];

/// Replaces the marks of a template. Equal templates become equal texts.
pub(super) fn expand(template: &str) -> Expansion {
    let mut random = SplitMix64::new(seed(template));
    let mut expansion = Expansion {
        text: String::new(),
        secrets: Vec::new(),
        outside: Vec::new(),
    };
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('⟦') {
        let (mark, after) = after.split_once('⟧').unwrap();
        expansion.text.push_str(before);
        expansion.outside.push(before.to_owned());
        match mark.strip_prefix('=') {
            Some(literal) => {
                expansion.text.push_str(literal);
                expansion.secrets.push(literal.to_owned());
            }
            None => generate(mark, &mut random, &mut expansion),
        }
        rest = after;
    }
    expansion.text.push_str(rest);
    expansion.outside.push(rest.to_owned());
    expansion
}

/// FNV-1a.
fn seed(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

fn generate(mark: &str, random: &mut SplitMix64, expansion: &mut Expansion) {
    if PRIVATE_KEYS.iter().any(|(name, ..)| *name == mark) {
        private_key(mark, random, expansion);
        return;
    }
    let value = match mark {
        "basic" => base64(&format!("deploy:{}", draw('A', 15, random))),
        _ => match FORMS.iter().find(|(name, _)| *name == mark) {
            Some((_, form)) => fill(form, random),
            None => fill(&format!("<{mark}>"), random),
        },
    };
    expansion.text.push_str(&value);
    expansion.secrets.push(value);
}

/// Adds a private key whose lines begin as the line of the mark does.
fn private_key(mark: &str, random: &mut SplitMix64, expansion: &mut Expansion) {
    let (name, label, header, first) = PRIVATE_KEYS
        .into_iter()
        .find(|(name, ..)| *name == mark)
        .unwrap();
    let mut lines = vec![format!("-----BEGIN {label}-----{header}")];
    for number in 0..8 {
        let start = if number == 0 { first } else { "" };
        let line = format!("{start}{}", draw('b', 64 - start.len(), random));
        expansion.secrets.push(line.clone());
        lines.push(line);
    }
    lines.push(format!("-----END {label}-----"));
    let line_end = if name == "pem_escaped" {
        "\\n".to_owned()
    } else {
        let line_start = expansion.text.rsplit('\n').next().unwrap();
        let is_margin = line_start
            .chars()
            .all(|letter| " \t+->#/*".contains(letter));
        format!("\n{}", if is_margin { line_start } else { "" })
    };
    expansion.text.push_str(&lines.join(&line_end));
}

/// Fills a form such as `ghp_<A36>`.
fn fill(form: &str, random: &mut SplitMix64) -> String {
    let mut filled = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('<') {
        let (class, after) = after.split_once('>').unwrap();
        let letter = class.chars().next().unwrap();
        let length = class[1..].trim_end_matches(['u', 'x']);
        let length = length
            .parse()
            .unwrap_or_else(|_| panic!("`{form}` is no form"));
        filled.push_str(before);
        // A password for addresses and XML has no characters that these would escape.
        let class = if class.ends_with(['u', 'x']) {
            'S'
        } else {
            letter
        };
        filled.push_str(&draw(class, length, random));
        rest = after;
    }
    filled + rest
}

fn draw(class: char, length: usize, random: &mut SplitMix64) -> String {
    let letters: Vec<char> = alphabet(class).chars().collect();
    let mut drawn = String::new();
    for position in 0..length {
        let is_edge = position == 0 || position + 1 == length;
        let letters = match class {
            'P' | 'S' if is_edge => &letters[..62],
            _ => &letters[..],
        };
        let at = random.below(u64::try_from(letters.len()).unwrap());
        drawn.push(letters[usize::try_from(at).unwrap()]);
    }
    drawn
}

fn alphabet(class: char) -> &'static str {
    match class {
        'A' => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'D' => "0123456789",
        'H' => "0123456789ABCDEF",
        'L' => "abcdefghijklmnopqrstuvwxyz0123456789",
        'P' => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!%*+-_.^@?",
        'S' => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!*-_.~",
        'T' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        'U' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'Z' => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        'b' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        'h' => "0123456789abcdef",
        'u' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        other => panic!("`{other}` is no class of characters"),
    }
}

fn base64(text: &str) -> String {
    let letters: Vec<char> = alphabet('b').chars().collect();
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let mut bits = 0_usize;
        for place in 0..3 {
            bits = bits << 8 | chunk.get(place).copied().map_or(0, usize::from);
        }
        for place in 0..4 {
            let letter = letters[bits >> (18 - 6 * place) & 63];
            encoded.push(if place > chunk.len() { '=' } else { letter });
        }
    }
    encoded
}
