//! Clients for the APIs of model vendors.
//!
//! A [`Model`] sends the requests of an [`Agent`](crate::Agent) to a vendor, with the transport of the HTTP engine: its
//! TLS, its guard of private hosts, its masking of keys. It retries, streams, and counts the cost.
//!
//! ```no_run
//! use toolgen_runtime::agent::{Agent, Model};
//! use toolgen_runtime::{Toolbox, tool, toolset};
//!
//! /// Adds two numbers.
//! #[tool(pure, undocumented)]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Toolbox::new(toolset![add])?;
//! let model = Model::anthropic("claude-sonnet-5-5"); // the key is in ANTHROPIC_API_KEY
//! let mut agent = Agent::new(model, &tools).with_system("Be brief.");
//! println!("{}", agent.run("What is 17 + 25?").await.text()?);
//! # Ok(())
//! # }
//! ```

mod client;
mod error;
mod prices;
mod vendor;

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use toolgen_http::{HttpEngine, RetryPolicy, Secret};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::Dialects;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::toolbox::Toolbox;
use toolgen_wire::{PlanError, PlanOptions, ToolChoice, Usage};

use crate::agent_loop::template::RequestTemplate;
use crate::agent_loop::wire_model::answerable;
use crate::agent_loop::{AgentListener, Cost, LanguageModel, ModelError, ModelInfo, ModelTurn, Transcript};
use vendor::Vendor;

pub use error::{RequestError, RequestErrorKind};
pub use prices::{PRICES_DATE, Price, Prices};

/// Default time limit of a request to a model: ten minutes.
pub const DEFAULT_MODEL_TIMEOUT: Duration = Duration::from_secs(600);

/// A model of a vendor, reached over HTTP. See the [module](self).
///
/// Requests are sent to the vendor's public API, with the key in the usual environment variable, unless set otherwise.
/// Replies are streamed if the agent is [streamed](crate::Agent::stream).
#[derive(Clone)]
pub struct Model {
    vendor: &'static Vendor,
    template: RequestTemplate,
    base_url: Option<String>,
    key: Option<Key>,
    headers: Vec<(String, Secret)>,
    timeout: Duration,
    retries: RetryPolicy,
    prices: Prices,
    engine: Option<HttpEngine>,
    listener: Option<AgentListener>,
}

/// Where the key comes from.
#[derive(Clone)]
enum Key {
    Value(Secret),
    Variable(String),
}

impl Model {
    /// A model of Anthropic, such as `claude-sonnet-5-5`, over the Messages API. The key is in `ANTHROPIC_API_KEY`. A reply
    /// has at most 16,384 tokens, unless [options](Self::with_options) set `max_tokens`.
    pub fn anthropic(name: impl Into<String>) -> Model {
        Model::of(&vendor::ANTHROPIC, name)
    }

    /// A model of OpenAI, such as `gpt-5.4`, over the Responses API. The key is in `OPENAI_API_KEY`.
    pub fn openai(name: impl Into<String>) -> Model {
        Model::of(&vendor::OPENAI, name)
    }

    /// A model of Google, such as `gemini-2.5-flash`, over the Gemini API. The key is in `GEMINI_API_KEY` or
    /// `GOOGLE_API_KEY`.
    pub fn gemini(name: impl Into<String>) -> Model {
        Model::of(&vendor::GEMINI, name)
    }

    /// A model of Amazon Bedrock over the Converse API, by its model ID, inference profile or ARN. The key is an Amazon
    /// Bedrock API key in `AWS_BEARER_TOKEN_BEDROCK`, and the region is in `AWS_REGION` or `AWS_DEFAULT_REGION`. To sign
    /// requests with other AWS credentials instead, send them yourself, see
    /// [`WireModel`](crate::agent_loop::WireModel).
    pub fn bedrock(id: impl Into<String>) -> Model {
        Model::of(&vendor::BEDROCK, id)
    }

    /// A model that Ollama runs on this machine, at port 11434. No key is sent. Ollama shortens long requests without an
    /// error: set `OLLAMA_CONTEXT_LENGTH` where it runs, to 64000 for example.
    pub fn ollama(name: impl Into<String>) -> Model {
        Model::of(&vendor::OLLAMA, name)
    }

    /// A model of any host with OpenAI's Chat Completions API: vLLM, llama.cpp, OpenRouter, Groq, Mistral, and many
    /// others. The base URL is what precedes `/chat/completions`, such as `https://openrouter.ai/api/v1`. No key is sent,
    /// unless you set one.
    pub fn compatible(name: impl Into<String>, base_url: impl Into<String>) -> Model {
        Model::of(&vendor::COMPATIBLE, name).with_base_url(base_url)
    }

    fn of(vendor: &'static Vendor, name: impl Into<String>) -> Model {
        let mut template = RequestTemplate::new(vendor.format);
        template.model = name.into();
        template.defaults = vendor.defaults(&template.model);
        Model {
            vendor,
            template,
            base_url: None,
            key: None,
            headers: Vec::new(),
            timeout: DEFAULT_MODEL_TIMEOUT,
            retries: RetryPolicy::default()
                .max_retries(4)
                .initial_delay(Duration::from_millis(500))
                .max_delay(Duration::from_secs(60))
                .max_total_delay(Duration::from_secs(120)),
            prices: Prices::builtin(),
            engine: None,
            listener: None,
        }
    }

    /// Sets the base URL, such as that of a gateway. It is what the vendor's own SDK calls by this name:
    /// `https://api.openai.com/v1`, but `https://api.anthropic.com`. A private host in it is allowed, unless an
    /// [engine](Self::with_engine) is set, which decides. The key is sent there.
    #[must_use]
    pub fn with_base_url(mut self, url: impl Into<String>) -> Model {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the key.
    #[must_use]
    pub fn with_key(mut self, key: Secret) -> Model {
        self.key = Some(Key::Value(key));
        self
    }

    /// Reads the key from this environment variable.
    #[must_use]
    pub fn with_key_from(mut self, variable: impl Into<String>) -> Model {
        self.key = Some(Key::Variable(variable.into()));
        self
    }

    /// Adds a header to every request. Its value is treated as a secret.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: Secret) -> Model {
        self.headers.push((name.into(), value));
        self
    }

    /// Sets the system prompt. That of an [agent](crate::Agent::with_system) takes precedence.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<String>) -> Model {
        self.template.system = system.into();
        self
    }

    /// Sets additional members of each request, in the format of the API: `{"temperature": 0}` for Anthropic and OpenAI,
    /// `{"generationConfig": {"temperature": 0}}` for Gemini. Objects are merged; other values replace those of the
    /// request.
    #[must_use]
    pub fn with_options(mut self, options: Value) -> Model {
        self.template.options = options;
        self
    }

    /// Offers tools in a dialect such as [`OPENAI_STRICT`](toolgen_kernel::schema::dialect::OPENAI_STRICT), where it can
    /// express them. Default: the dialect of the vendor's API.
    #[must_use]
    pub fn with_dialect(mut self, dialect: &'static Dialect) -> Model {
        self.template.dialect = Some(dialect);
        self
    }

    /// Sets how tools are offered: their examples, programs that the vendor runs, cache points, deferred tools, tools of
    /// the vendor. See [`PlanOptions`].
    #[must_use]
    pub fn with_tool_options(mut self, options: PlanOptions) -> Model {
        self.template.tool_options = options;
        self
    }

    /// Sets which tools the model must or may call. A choice that forces a call applies to the first turn after each message
    /// of the user; in later turns, the model decides.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Model {
        self.template.tool_choice = Some(choice);
        self
    }

    /// Sets whether the model may make several calls in a turn. Default: the vendor's, mostly yes.
    #[must_use]
    pub fn with_parallel_calls(mut self, parallel: bool) -> Model {
        self.template.parallel_calls = Some(parallel);
        self
    }

    /// Sets the time limit of an attempt, from the connection to the end of the reply. Default:
    /// [`DEFAULT_MODEL_TIMEOUT`].
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Model {
        self.timeout = timeout;
        self
    }

    /// Sets how failed requests are retried. Default: four times, the first after half a second, at most a minute
    /// each, two minutes in total.
    ///
    /// Retried are failed connections, the statuses 408, 409, 429 and 500 and above, interrupted replies, and errors
    /// within a stream that the vendor calls temporary. `Retry-After` determines the delay.
    #[must_use]
    pub fn with_retries(mut self, retries: RetryPolicy) -> Model {
        self.retries = retries;
        self
    }

    /// Replaces the table of prices. Default: [`Prices::builtin`].
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Model {
        self.prices = prices;
        self
    }

    /// Sends the requests with this engine: its proxy, root certificates, allowed hosts and cassette. Its credentials
    /// and headers are not sent.
    #[must_use]
    pub fn with_engine(mut self, engine: HttpEngine) -> Model {
        self.engine = Some(engine);
        self
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("vendor", &self.vendor.name)
            .field("model", &self.template.model)
            .finish_non_exhaustive()
    }
}

impl LanguageModel for Model {
    type Error = ModelError<RequestError>;

    fn next<'a>(&'a mut self, transcript: &'a Transcript) -> BoxFuture<'a, Result<ModelTurn, Self::Error>> {
        let request = self.template.request(transcript, self.listener.is_some());
        Box::pin(async move { answerable(self.send(request.map_err(ModelError::Request)?).await?) })
    }

    fn about(&self) -> ModelInfo {
        self.template.info(self.listener.is_some())
    }

    fn offer(&mut self, toolbox: &Toolbox) -> Result<Option<Dialects>, PlanError> {
        self.template.offer(toolbox).map(Some)
    }

    fn report_to(&mut self, listener: Option<AgentListener>) {
        self.listener = listener;
    }

    fn cost(&self, usage: &Usage) -> Option<Cost> {
        self.prices.of(&self.template.model).map(|price| price.cost(usage))
    }
}
