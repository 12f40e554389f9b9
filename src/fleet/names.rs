//! The names of a fleet's subjects, streams and buckets, all under one prefix.
//!
//! ```text
//! conclave.jobs.<providers>.<run>.<consultation>   stream conclave_jobs: a job that is to be done
//! conclave.journal.<run>.<consultation>            stream conclave_journal: its journal
//! conclave.owner.<worker>                          asks a worker whether it still has a job
//! ```

use std::collections::BTreeSet;

use crate::domain::ids::{ConsultationId, ProviderId};

use super::FleetError;

/// Bytes of the longest part of a subject.
const LONGEST: usize = 200;

/// Names one consultation of one run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobName {
    pub run: String,
    pub id: ConsultationId,
}

/// Returns the name of a stream or a bucket.
pub fn store(what: &str) -> String {
    format!("conclave_{what}")
}

/// Returns the subjects of a kind, of which `rest` is the part that varies.
pub fn subject(kind: &str, rest: &str) -> String {
    format!("conclave.{kind}.{rest}")
}

impl JobName {
    pub fn new(run: &str, id: &str) -> Result<Self, FleetError> {
        let id = part(id)?;
        let id = ConsultationId::parse(id).map_err(|_| unusable(id))?;
        let run = part(run)?.to_owned();
        Ok(Self { run, id })
    }

    /// Returns what the subject of a job or a journal names; `None` for any other subject.
    pub fn of(subject: &str) -> Option<Self> {
        let parts: Vec<&str> = subject.split('.').collect();
        match parts[..] {
            ["conclave", "jobs", _, run, id] | ["conclave", "journal", run, id] => {
                Self::new(run, id).ok()
            }
            _ => None,
        }
    }

    pub fn journal(&self) -> String {
        subject("journal", &format!("{}.{}", self.run, self.id))
    }
}

/// Checks that a text can be one part of a subject or a key.
pub fn part(text: &str) -> Result<&str, FleetError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if !text.is_empty() && text.len() <= LONGEST && text.bytes().all(is_allowed) {
        Ok(text)
    } else {
        Err(unusable(text))
    }
}

fn unusable(name: &str) -> FleetError {
    let name: String = name.chars().take(LONGEST).collect();
    FleetError::Wrong(format!(
        "`{name}` cannot be a name on a fleet: only letters, digits, `-` and `_` can"
    ))
}

/// Returns the name of the queue of jobs that need these providers: `anthropic+openai`.
pub fn queue_of(providers: &BTreeSet<ProviderId>) -> Result<String, FleetError> {
    let names = providers.iter().map(|provider| part(provider.as_str()));
    let names: Vec<&str> = names.collect::<Result<_, _>>()?;
    let name = names.join("+");
    if name.is_empty() || name.len() > LONGEST {
        return Err(unusable(&name));
    }
    Ok(name)
}

/// Returns the providers that the jobs of a queue need; `None` for a name that no queue has.
pub fn providers_of(queue: &str) -> Option<BTreeSet<ProviderId>> {
    let providers = queue.split('+').map(|name| part(name).map(ProviderId::new));
    let providers = providers.collect::<Result<BTreeSet<_>, _>>().ok()?;
    (queue.len() <= LONGEST).then_some(providers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_name_their_job_and_nothing_else_does() {
        let job = JobName::new("bench-01k", "consult-01a").unwrap();
        let queued = "conclave.jobs.anthropic+openai.bench-01k.consult-01a";
        for subject in [queued, &job.journal()] {
            assert_eq!(JobName::of(subject), Some(job.clone()), "{subject}");
        }
        for other in [
            "",
            "conclave",
            "conclave.jobs.a.b",
            "conclave.journal.a.b.c",
            "conclave.journal.a",
            "conclave.journal.a.",
            "other.journal.a.b",
            "conclave.journal.a.$b",
            "conclave.owner.a.b",
        ] {
            assert_eq!(JobName::of(other), None, "{other}");
        }
    }

    #[test]
    fn names_have_no_character_that_means_something_in_a_subject() {
        for name in [
            "",
            "a.b",
            "a b",
            "*",
            ">",
            "a\n",
            "ä",
            "a/b",
            "$a",
            &"a".repeat(201),
        ] {
            assert!(JobName::new(name, "consult-1").is_err(), "{name:?}");
            assert!(JobName::new("run", name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn queue_names_the_providers_that_its_jobs_need() {
        let providers: BTreeSet<_> = ["openai", "anthropic"].map(ProviderId::new).into();
        let queue = queue_of(&providers).unwrap();
        assert_eq!(queue, "anthropic+openai");
        assert_eq!(providers_of(&queue), Some(providers));
        assert!(queue_of(&BTreeSet::new()).is_err());
        assert!(queue_of(&[ProviderId::new("command:own")].into()).is_err());
        assert_eq!(providers_of("a+.b"), None);
        assert_eq!(providers_of(""), None);
    }
}
