//! The terms of one consultation, decided before it begins. Plain data that does not change while
//! it runs.

pub mod options;
mod control;
pub mod caching;
pub mod preview;
mod trace_parent;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::context::{Context, ProjectContext, ScrubbingReport};
use crate::domain::cost::money::{Cost, MicroUsd, Saving};
use crate::domain::cost::pricing::{CostSource, Price, PriceList};
use crate::domain::cost::tokens::{Band, Usage, UsageSource};
use crate::domain::ids::{AgentId, ConsultationId, ModelRef, ProviderId, SeatId};
use crate::domain::model::billing::Billing;
use crate::domain::model::dialect::PromptCaching;
use crate::domain::panel::Panel;

pub use self::control::{Control, ControlRequest, Pricing, ResumeTerms, usual_max_calls};
pub use self::trace_parent::TraceParent;

use self::options::DebateOptions;
use super::anonymity::labels::Labels;
use super::policy::failure::Bill;
use super::policy::retry::RetryRule;
use super::prompt::filter::PromptMaterial;
use super::prompt::{PromptContext, Prompter, RenderedContexts, Size, Templates};
use super::protocol::answer::{AnswerForm, AnswerKind};
use super::protocol::call::{Failure, Prompt, Reply};

/// The usual limit of calls in flight at one provider.
pub const USUAL_IN_FLIGHT: u32 = 4;

/// The most tokens that a vendor adds around messages and schema. No vendor publishes the number;
/// this is a long page of text.
pub const AROUND_A_PROMPT: u64 = 500;

/// The lowest output limit that a ceiling may fit a call to, unless twice the expected output is
/// more.
const LEAST_OUTPUT: u64 = 2_000;

/// The plan of a consultation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub id: ConsultationId,
    pub question: String,
    pub panel: Panel,
    pub debate: DebateOptions,
    /// The terms of each model; a model without an entry gets [`ModelTerms::default`].
    pub models: BTreeMap<ModelRef, ModelTerms>,
    pub prices: PriceList,
    pub templates: Templates,
    /// The seed for the labels and order of the experts and for the jitter of retries.
    pub seed: u64,
    pub retry: RetryRule,
    /// Settings that the user may change when resuming an interrupted consultation.
    pub control: Control,
    /// The fallback models of each expert, best first. The judge's are in the panel.
    pub fallbacks: BTreeMap<SeatId, Vec<ModelRef>>,
    /// The amount of earlier rounds in the prompts of later ones.
    pub material: PromptMaterial,
    /// The length of answers in the user's own history; a kind without an entry has its model's
    /// usual length.
    pub learnt_output: BTreeMap<ModelRef, BTreeMap<AnswerKind, OutputTokens>>,
    /// The limit of calls in flight at each provider; a provider without an entry gets
    /// [`USUAL_IN_FLIGHT`].
    pub in_flight: BTreeMap<ProviderId, u32>,
    pub tool_version: String,
    /// Notes on the panel for the user, shown before anything is spent.
    pub notices: Vec<String>,
    /// The context of the question, part of the prompts of experts and judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Box<Context>>,
    /// What was detected of the project that belongs to the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Box<ProjectContext>>,
    /// The secrets that were masked in question and context. `None` in journals of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrubbing: Option<Box<ScrubbingReport>>,
    /// What the question asks for beside the usual fields of answers.
    #[serde(default)]
    pub form: AnswerForm,
    /// The trace that its own is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_parent: Option<TraceParent>,
    #[serde(skip)]
    pub rendered_contexts: RenderedContexts,
}

impl Plan {
    /// With the built-in templates, default options, and no prices or fallbacks.
    pub fn new(
        id: ConsultationId,
        question: impl Into<String>,
        panel: Panel,
        control: Control,
    ) -> Self {
        Self {
            id,
            question: question.into(),
            panel,
            debate: DebateOptions::default(),
            models: BTreeMap::new(),
            prices: PriceList::default(),
            templates: Templates::builtin(),
            seed: 0,
            retry: RetryRule::default(),
            control,
            fallbacks: BTreeMap::new(),
            material: PromptMaterial::default(),
            learnt_output: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            tool_version: String::new(),
            notices: Vec::new(),
            context: None,
            project: None,
            scrubbing: None,
            form: AnswerForm::Plain,
            trace_parent: None,
            rendered_contexts: RenderedContexts::default(),
        }
    }
}

/// The terms for one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelTerms {
    /// The token limit of an answer, thinking included.
    pub max_output_tokens: u64,
    /// The most tokens that the model can write; `max_output_tokens` may grow to this.
    pub output_limit: u64,
    pub expected_output: OutputTokens,
    pub size: Size,
    #[serde(default)]
    pub billing: Billing,
    /// The way in which its vendor caches prompts.
    #[serde(default, skip_serializing_if = "PromptCaching::is_none")]
    pub caching: PromptCaching,
}

/// The expected tokens of an answer.
pub type OutputTokens = Band;

impl OutputTokens {
    /// 2,000 tokens, the figure of the original design; between half and twice as many.
    pub const USUAL: Self = Self {
        low: 1_000,
        expected: 2_000,
        high: 4_000,
    };

    /// A few lines, for the helper; more for a model that thinks first.
    pub const OF_HELPER: Self = Self {
        low: 50,
        expected: 300,
        high: 2_000,
    };
}

impl Default for ModelTerms {
    /// A limit of 16,384 tokens, because thinking counts against it; 2,000 tokens expected, the
    /// figure of the original design.
    fn default() -> Self {
        Self {
            max_output_tokens: 16_384,
            output_limit: 32_768,
            expected_output: OutputTokens::USUAL,
            size: Size::Full,
            billing: Billing::Metered,
            caching: PromptCaching::None,
        }
    }
}

impl Plan {
    pub fn terms(&self, model: &ModelRef) -> ModelTerms {
        self.models.get(model).copied().unwrap_or_default()
    }

    /// Within its token limit.
    pub fn expected_output(&self, model: &ModelRef, answer: AnswerKind) -> OutputTokens {
        let terms = self.terms(model);
        let learnt = self
            .learnt_output
            .get(model)
            .and_then(|by_answer| by_answer.get(&answer))
            .copied();
        let usual = if answer.is_for_helper() {
            OutputTokens::OF_HELPER
        } else {
            terms.expected_output
        };
        let OutputTokens {
            low,
            expected,
            high,
        } = learnt.unwrap_or(usual);
        OutputTokens {
            low: low.min(terms.max_output_tokens),
            expected: expected.min(terms.max_output_tokens),
            high: high.min(terms.max_output_tokens),
        }
    }

    pub fn in_flight(&self, provider: &ProviderId) -> u32 {
        self.in_flight
            .get(provider)
            .copied()
            .unwrap_or(USUAL_IN_FLIGHT)
    }

    pub fn labels(&self) -> Labels {
        Labels::draw(&self.panel.seats, self.seed)
    }

    /// Reversed for the judge's second pass.
    pub fn labels_for(&self, agent: &AgentId) -> Labels {
        let labels = self.labels();
        if *agent == AgentId::SecondJudge {
            labels.reversed()
        } else {
            labels
        }
    }

    pub fn prompter<'a>(&'a self, labels: &'a Labels, model: &ModelRef) -> Prompter<'a> {
        Prompter {
            templates: &self.templates,
            labels,
            question: &self.question,
            prior: self.debate.follows_up.as_deref(),
            context: self.context.as_deref().map(|context| PromptContext {
                context,
                rendered: &self.rendered_contexts,
            }),
            size: self.terms(model).size,
            mode: self.debate.mode,
        }
    }

    /// Small only if all of them get short prompts.
    pub fn expert_size(&self) -> Size {
        let mut seats = self.panel.seats.iter();
        if seats.all(|seat| self.terms(&seat.model).size == Size::Small) {
            Size::Small
        } else {
            Size::Full
        }
    }

    /// The agent's own first, then its fallbacks, best first.
    pub fn models_for(&self, agent: &AgentId) -> Vec<ModelRef> {
        match agent {
            AgentId::Seat(id) => {
                let own = self.panel.seat(id).map(|seat| &seat.model);
                let fallbacks = self.fallbacks.get(id).into_iter().flatten();
                own.into_iter().chain(fallbacks).cloned().collect()
            }
            AgentId::Judge | AgentId::SecondJudge => self.panel.judges.clone(),
            AgentId::Helper => self.debate.helper.iter().cloned().collect(),
        }
    }

    pub fn agent_name(&self, agent: &AgentId) -> String {
        self.panel.agent_name(agent).to_owned()
    }

    /// Returns whether no call is billed by the token.
    pub fn is_free(&self) -> bool {
        self.panel
            .models()
            .chain(&self.debate.helper)
            .all(|model| !self.terms(model).billing.is_metered())
    }

    /// Returns whether the user's plan pays for the model's calls.
    pub fn is_by_plan(&self, model: &ModelRef) -> bool {
        self.terms(model).billing == Billing::Plan
    }

    /// As reported by the provider, else by the price of the model that served it, else by that of
    /// the model that was asked for.
    pub fn cost_of_reply(&self, asked: &ModelRef, reply: &Reply) -> (Cost, CostSource) {
        match reply.reported_cost {
            Some(cost) => (Cost::exactly(cost), CostSource::Provider),
            None => self.cost_of_usage(asked, reply.served_model.as_deref(), &reply.usage),
        }
    }

    /// A refused request costs nothing; a broken connection may have been billed.
    pub fn cost_of_failure(&self, asked: &ModelRef, failure: &Failure) -> (Cost, CostSource) {
        if let Some(cost) = failure.reported_cost {
            return (Cost::exactly(cost), CostSource::Provider);
        }
        if let Some(fixed) = self.terms(asked).billing.fixed_cost() {
            return fixed;
        }
        let usage = failure.usage.as_deref();
        let settled = match failure.class.meaning().bill {
            Bill::Nothing => true,
            Bill::Reported => usage.is_some(),
            Bill::Unknown => usage.is_some_and(|usage| *usage == Usage::default()),
        };
        let (mut cost, source) = match usage {
            Some(usage) => self.cost_of_usage(asked, None, usage),
            None if settled => (Cost::FREE, CostSource::Table),
            None => (Cost::FREE, CostSource::Unknown),
        };
        cost.lower_bound |= !settled;
        (cost, source)
    }

    /// By the price table.
    pub fn expected_cost(&self, model: &ModelRef, usage: &Usage) -> Cost {
        self.cost_of_usage(model, None, usage).0
    }

    /// By the price table: lowest, expected, highest. Prompts may be read from and written to a
    /// cache in any part; `expected` says in which.
    pub fn cost_range(
        &self,
        model: &ModelRef,
        prompt: Band,
        output: OutputTokens,
        expected: &Usage,
    ) -> [Cost; 3] {
        if let Some((fixed, _)) = self.terms(model).billing.fixed_cost() {
            return [fixed; 3];
        }
        let Some(price) = self.prices.price(model) else {
            return [Cost::at_least(MicroUsd::ZERO); 3];
        };
        [
            price.least(prompt.low, output.low),
            price.cost(expected),
            price.most(prompt.high, output.high),
        ]
        .map(Cost::exactly)
    }

    /// Returns the most that a call within its token limit can cost, by the price of its model. A
    /// model without a price may cost anything.
    pub fn worst_case(&self, model: &ModelRef, input: u64, max_output_tokens: u64) -> Cost {
        if !self.terms(model).billing.is_metered() {
            return Cost::FREE;
        }
        let Some(price) = self.prices.price(model) else {
            return Cost::at_least(MicroUsd::ZERO);
        };
        Cost::exactly(price.most(input, max_output_tokens))
    }

    /// Returns the most tokens that a prompt is taken to count, with the schema of its answer, which
    /// every vendor counts as input in some form.
    pub fn worst_input(&self, prompt: &Prompt, answer: AnswerKind) -> u64 {
        let schema = answer.worst_schema_tokens(self.form);
        prompt
            .worst_tokens()
            .saturating_add(schema)
            .saturating_add(AROUND_A_PROMPT)
    }

    /// Returns the lowest output limit that a ceiling may fit a call to.
    pub fn least_output(&self, model: &ModelRef, answer: AnswerKind) -> u64 {
        let expected = self.expected_output(model, answer).expected;
        let least = expected.saturating_mul(2).max(LEAST_OUTPUT);
        least.min(self.terms(model).max_output_tokens)
    }

    /// Returns the highest output limit with which a call costs at most `amount`; at least `least`,
    /// and at most `most`.
    pub fn fitted_output(
        &self,
        model: &ModelRef,
        input: u64,
        (least, most): (u64, u64),
        amount: MicroUsd,
    ) -> u64 {
        let (mut fits, mut above) = (least, most.saturating_add(1));
        while fits + 1 < above {
            let limit = fits.midpoint(above);
            if self.worst_case(model, input, limit).known <= amount {
                fits = limit;
            } else {
                above = limit;
            }
        }
        fits
    }

    fn cost_of_usage(
        &self,
        asked: &ModelRef,
        served: Option<&str>,
        usage: &Usage,
    ) -> (Cost, CostSource) {
        if let Some(fixed) = self.terms(asked).billing.fixed_cost() {
            return fixed;
        }
        // An alias is served under its full name, which the list may not contain. Another model
        // without a price may cost more than the one that was asked for.
        let of_served = self.price_of_served(asked, served);
        let is_other = || served.is_some_and(|served| !asked.is_served_as(served));
        let Some(price) = of_served.or_else(|| self.prices.price(asked)) else {
            return (Cost::at_least(MicroUsd::ZERO), CostSource::Unknown);
        };
        let cost = Cost {
            known: price.cost(usage),
            lower_bound: usage.source == UsageSource::Estimated
                || (of_served.is_none() && is_other()),
            by_plan: false,
        };
        (cost, CostSource::Table)
    }

    /// By the price table; `None` without a price.
    pub fn cache_saving(
        &self,
        asked: &ModelRef,
        served: Option<&str>,
        usage: &Usage,
    ) -> Option<Saving> {
        let price = self.price_of_served(asked, served);
        let price = price.or_else(|| self.prices.price(asked))?;
        Some(price.cache_saving(usage))
    }

    /// The price of the model that was asked for if the provider names none.
    fn price_of_served(&self, asked: &ModelRef, served: Option<&str>) -> Option<&Price> {
        self.prices.price(&ModelRef {
            provider: asked.provider.clone(),
            model: served.unwrap_or(&asked.model).to_owned(),
        })
    }

    /// At least by the price of the model that was asked for, since a server may state any name for
    /// the one that served it.
    pub fn counted_cost(
        &self,
        asked: &ModelRef,
        usage: &Usage,
        cost: Cost,
        source: CostSource,
    ) -> Cost {
        let price = self.prices.price(asked);
        let by_price = price.filter(|_| source == CostSource::Table);
        let least = by_price.map_or(MicroUsd::ZERO, |price| price.cost(usage));
        Cost {
            known: cost.known.max(least),
            ..cost
        }
    }
}
