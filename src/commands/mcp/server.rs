//! The Model Context Protocol in both of its eras: with `initialize` (to 2025-11-25), and with the
//! version in every request (from 2026-07-28). The crate `rmcp` speaks it; here is what tools,
//! tasks and resources answer.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CreateTaskResult,
    DetailedTask, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    GetTaskParams, GetTaskResult, Implementation, InputRequest, InputRequiredResult, JsonObject,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, Task,
    TaskPayload, TaskStatus, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use url::Url;

use super::answers::{RESOURCE, check_consent, complete, link, needs_consent, question, refusal};
use super::host::{Host, Waited, lock};
use super::is_project;
use super::request::{ConsultArguments, PreparedConsultation};
use crate::consultation::plan::TraceParent;
use crate::consultation::policy::consent::Gate;
use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::session::batch::approved;
use crate::session::run::MonthRule;

/// The longest time that a call waits without signs of progress: clients cut silent calls after a
/// minute.
const WITHOUT_PROGRESS: Duration = Duration::from_secs(50);

/// The longest time that a call waits with progress: some clients cut a call after five minutes
/// whatever it reports.
const WITH_PROGRESS: Duration = Duration::from_secs(240);

/// The longest time between two signs of progress: at most ten seconds for the client.
const PROGRESS: Duration = Duration::from_secs(9);

/// The time after which a client that polls a task asks again.
const POLL_MS: u64 = 5_000;

/// The longest wait for a person's answer.
const ANSWER: Duration = Duration::from_secs(600);

/// Most consultations that wait for a person's answer.
const MAX_ASKED: usize = 16;

/// The question to the person among the requests for input.
const CONSENT: &str = "consent";

const INSTRUCTIONS: &str = "Second opinions from a panel of different language models that argue \
    with each other. Use `consult` before decisions that are hard to reverse, and say in the \
    question all that the panel needs to know. Search `history_search` first: the question may \
    have been asked before.";

/// Answers a client's requests.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) host: Arc<Host>,
    pub(super) tools: Arc<Vec<Tool>>,
    /// The longest time that a call waits, if the person has set it.
    longest_wait: Option<Duration>,
    /// Consultations whose cost a person is asked about, by the state that the client returns.
    asked: Arc<Mutex<BTreeMap<String, (Instant, PreparedConsultation)>>>,
}

/// A tool's result, or an error that the model reads.
type ToolResult = Result<CallToolResponse, Error>;

impl Server {
    pub(super) fn new(host: Host, tools: Vec<Tool>, longest_wait: Option<Duration>) -> Self {
        Self {
            host: Arc::new(host),
            tools: Arc::new(tools),
            longest_wait,
            asked: Arc::default(),
        }
    }

    async fn consult(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult {
        let answer = request.input_responses.as_ref();
        let answer = answer.and_then(|all| all.get(CONSENT)).cloned();
        let earlier = request.request_state.as_deref().and_then(|state| {
            let mut asked = lock(&self.asked);
            let (since, prepared) = asked.remove(state)?;
            (since.elapsed() < ANSWER).then_some(prepared)
        });
        if let (Some(prepared), Some(answer)) = (earlier, answer) {
            let answer: ElicitResult = serde_json::from_value(answer).map_err(Error::usage)?;
            check_consent(&answer.action, &prepared)?;
            return self
                .begin(prepared, MonthRule::MayBeExceeded, context)
                .await;
        }
        let mut arguments: ConsultArguments = arguments(request.arguments)?;
        if !arguments.files.is_empty() {
            arguments.roots = self.roots(context).await;
        }
        let prepare = move |host: &Host| host.prepare(arguments, false);
        let prepared = self.host.aside(prepare).await?;
        match &prepared.gate {
            Gate::Pass(_) | Gate::AboveCeiling => {
                self.begin(prepared, MonthRule::Limited, context).await
            }
            Gate::Ask(_) | Gate::Refuse(_) => self.ask_consent(prepared, context).await,
        }
    }

    /// Asks the person about the cost, before there is anything to be lost.
    async fn ask_consent(
        &self,
        prepared: PreparedConsultation,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult {
        let capabilities = context.client_capabilities();
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        if !elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()) {
            return Err(needs_consent(&prepared, "no person can be asked here"));
        }
        let question = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: question(&prepared),
            requested_schema: ElicitationSchema::new(BTreeMap::new()),
        };
        if is_modern(context) {
            let (state, now) = (ulid::Ulid::generate().to_string(), Instant::now());
            let mut asked = lock(&self.asked);
            asked.retain(|_, (since, _)| since.elapsed() < ANSWER);
            if asked.len() >= MAX_ASKED {
                // States are in the order of time.
                asked.pop_first();
            }
            asked.insert(state.clone(), (now, prepared));
            let request = InputRequest::Elicitation(rmcp::model::ElicitRequest::new(question));
            let requests = BTreeMap::from([(CONSENT.to_owned(), request)]);
            return Ok(InputRequiredResult::new(Some(requests), Some(state)).into());
        }
        let peer = &context.peer;
        let asked = peer.create_elicitation_with_timeout(question, Some(ANSWER));
        let answer = tokio::select! {
            answer = asked => answer.map(|answer| answer.action),
            () = context.ct.cancelled() => Ok(ElicitationAction::Cancel),
        };
        check_consent(&answer.unwrap_or(ElicitationAction::Cancel), &prepared)?;
        self.begin(prepared, MonthRule::MayBeExceeded, context)
            .await
    }

    /// The folders that the client works in, if they may be read.
    #[expect(deprecated, reason = "clients of the era of `initialize` have them")]
    async fn roots(&self, context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
        let capabilities = context.client_capabilities();
        let has_roots = capabilities.is_some_and(|capabilities| capabilities.roots.is_some());
        if !self.host.takes_roots || !has_roots || is_modern(context) {
            return Vec::new();
        }
        let listed = timeout(PROGRESS, context.peer.list_roots()).await;
        let Ok(Ok(listed)) = listed else {
            return Vec::new();
        };
        let folder = |uri: &str| fs::canonicalize(Url::parse(uri).ok()?.to_file_path().ok()?).ok();
        let roots = listed.roots.iter();
        let is_project = |folder: &PathBuf| is_project(folder, &self.host.environment);
        let roots = roots.filter_map(|root| folder(&root.uri));
        roots.filter(is_project).collect()
    }

    async fn begin(
        &self,
        prepared: PreparedConsultation,
        month_rule: MonthRule,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult {
        if context.ct.is_cancelled() {
            return Err(Error::declined("the call was cancelled"));
        }
        let providers = prepared.template.providers.clone();
        let mut plan = approved(prepared.prepared);
        let of_client = context.meta.get_traceparent();
        plan.trace_parent = of_client.and_then(TraceParent::parse).or(plan.trace_parent);
        let id = self.host.begin(plan, &providers, month_rule).await?;
        let capabilities = context.client_capabilities();
        let has_tasks = capabilities.is_some_and(|capabilities| capabilities.supports_tasks());
        // Clients of the era of `initialize` declare the extension, but do not understand a task.
        if has_tasks && is_modern(context) {
            let waited = self.host.wait(&id, None, Instant::now()).await?;
            let task = self.task(&id, &waited);
            return Ok(CallToolResponse::Task(CreateTaskResult::new(task)));
        }
        let is_cancelled = context.ct.cancelled();
        let waited = tokio::select! {
            waited = self.wait(&id, context) => waited?,
            () = is_cancelled => {
                self.host.cancel(&id);
                self.host.wait(&id, None, Instant::now() + PROGRESS).await?
            }
        };
        Ok(complete(&waited.view(&id)).into())
    }

    /// Waits as long as the client does, and reports progress where it wants it.
    async fn wait(
        &self,
        id: &ConsultationId,
        context: &RequestContext<RoleServer>,
    ) -> Result<Waited, Error> {
        let began = Instant::now();
        let token = context.meta.get_progress_token();
        let usual = if token.is_some() {
            WITH_PROGRESS
        } else {
            WITHOUT_PROGRESS
        };
        let deadline = began + self.longest_wait.unwrap_or(usual);
        let mut known = String::new();
        let mut steps = 0.0;
        loop {
            let next = token.as_ref().map(|_| known.as_str());
            let until = deadline.min(Instant::now() + PROGRESS);
            let waited = self.host.wait(id, next, until).await?;
            let Waited::Running(phase) = &waited else {
                return Ok(waited);
            };
            if Instant::now() >= deadline {
                return Ok(waited);
            }
            if let Some(token) = &token {
                steps += 1.0;
                let progress = ProgressNotificationParam::new(token.clone(), steps);
                let progress = progress.with_message(phase.as_str());
                // A client that is gone is noticed by the end of its input.
                let _ = context.peer.notify_progress(progress).await;
            }
            known.clone_from(phase);
        }
    }

    fn task(&self, id: &ConsultationId, waited: &Waited) -> Task {
        let now = self.host.clock.now().to_string();
        let began = self.host.record(id).ok().and_then(|record| record.at);
        let began = began.map_or_else(|| now.clone(), |at| at.to_string());
        let (status, message) = match waited {
            Waited::Running(phase) => (TaskStatus::Working, phase.clone()),
            Waited::Ended(_) if waited.is_cancelled() => {
                (TaskStatus::Cancelled, "Cancelled".to_owned())
            }
            Waited::Ended(_) => (TaskStatus::Completed, "Done".to_owned()),
        };
        Task::new(id.as_str(), status, began, now)
            .with_status_message(message)
            .with_poll_interval_ms(POLL_MS)
    }

    /// The whole id alone names a task: it has eighty random bits, and a beginning may be guessed.
    fn task_id(&self, id: &str) -> Result<ConsultationId, ErrorData> {
        let found = ConsultationId::parse(id).ok();
        let found = found.filter(|id| self.host.record(id).is_ok());
        found.ok_or_else(|| ErrorData::invalid_params(format!("no task is called `{id}`"), None))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_tasks()
            .build();
        let version = env!("CARGO_PKG_VERSION");
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("conclave", version))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        let answered = match name.as_ref() {
            "consult" => self.consult(request, &context).await,
            "consultation" => self.consultation(request.arguments, &context).await,
            "history_search" => self.aside(request.arguments, Host::history_search).await,
            "models" => self.aside(request.arguments, Host::panel).await,
            "exit_check" => self.aside(request.arguments, Host::exit_check).await,
            name => {
                let message = format!("no tool is called `{name}`");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(answered.unwrap_or_else(|error| refusal(&error, &self.host.environment).into()))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let id = self.task_id(&request.task_id)?;
        let completed = |result: CallToolResult| TaskPayload::Completed {
            result: serde_json::from_value(json!(result)).unwrap_or_default(),
        };
        let (task, payload) = match self.host.wait(&id, None, Instant::now()).await {
            Ok(waited) => {
                let payload = match &waited {
                    Waited::Running(_) => TaskPayload::Working,
                    Waited::Ended(_) if waited.is_cancelled() => TaskPayload::Cancelled,
                    Waited::Ended(_) => completed(complete(&waited.view(&id))),
                };
                (self.task(&id, &waited), payload)
            }
            // An error of a tool, as the model would read it without a task.
            Err(error) => {
                let now = self.host.clock.now().to_string();
                let task = Task::new(id.as_str(), TaskStatus::Completed, now.clone(), now);
                (task, completed(refusal(&error, &self.host.environment)))
            }
        };
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.host.cancel(&self.task_id(&request.task_id)?);
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let rows = self.host.aside(Host::newest).await.unwrap_or_default();
        let resource = |(id, question): (String, String)| link(&id, question);
        Ok(ListResourcesResult::with_all_items(
            rows.into_iter().map(resource).collect(),
        ))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = |uri: &str, name: &str, mime: &str| {
            ResourceTemplate::new(format!("{RESOURCE}{uri}"), name).with_mime_type(mime)
        };
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            template("{id}", "report", "text/markdown"),
            template("{id}/record", "record", "application/json"),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let rest = uri.strip_prefix(RESOURCE).unwrap_or_default();
        let (name, mime) = match rest.strip_suffix("/record") {
            Some(name) => (name.to_owned(), "application/json"),
            None => (rest.to_owned(), "text/markdown"),
        };
        let is_record = name != rest;
        let read = move |host: &Host| host.resource(&host.find(&name)?, is_record);
        let text = self.host.aside(read).await.map_err(|_| {
            ErrorData::resource_not_found(format!("there is no resource `{uri}`"), None)
        })?;
        let contents = ResourceContents::text(text, uri).with_mime_type(mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

impl Server {
    async fn consultation(
        &self,
        given: Option<JsonObject>,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Named {
            id: String,
        }
        let Named { id } = arguments(given)?;
        let id = self.host.find(id.trim())?;
        let waited = tokio::select! {
            waited = self.wait(&id, context) => waited?,
            // The consultation goes on: another call began it.
            () = context.ct.cancelled() => self.host.wait(&id, None, Instant::now()).await?,
        };
        Ok(complete(&waited.view(&id)).into())
    }

    /// Answers a tool that blocks, on a thread of its own.
    async fn aside<A: DeserializeOwned + Send + 'static, T: Serialize + Send + 'static>(
        &self,
        given: Option<JsonObject>,
        tool: fn(&Host, &A) -> Result<T, Error>,
    ) -> ToolResult {
        let arguments: A = arguments(given)?;
        let answered = self.host.aside(move |host| tool(host, &arguments)).await?;
        let value = serde_json::to_value(answered).map_err(Error::failed)?;
        Ok(CallToolResult::structured(value).into())
    }
}

fn arguments<A: DeserializeOwned>(given: Option<JsonObject>) -> Result<A, Error> {
    let given = Value::Object(given.unwrap_or_default());
    serde_json::from_value(given).map_err(|error| Error::usage(format!("wrong arguments: {error}")))
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

#[cfg(test)]
mod tests;
