//! What the APIs of vendors have in common, and where they differ: URL, key, headers.

use serde_json::{Value, json};
use toolgen_http::{Secret, escape_uri, secret_from_env};
use toolgen_wire::WireFormat;

/// The API of a vendor.
pub(super) struct Vendor {
    /// Its name in messages.
    pub(super) name: &'static str,
    pub(super) format: WireFormat,
    /// The base URL, as the vendor's own SDK takes it. `{region}` stands for the AWS region.
    pub(super) base_url: &'static str,
    /// The environment variables that may hold the key; the first that is set counts. Empty if no key is needed.
    pub(super) key_variables: &'static [&'static str],
    /// The header that holds the key, and what precedes it.
    pub(super) key_header: (&'static str, &'static str),
    /// Headers of every request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// Paths below the base URL, for a whole and for a streamed reply. `{model}` stands for the model.
    pub(super) paths: [&'static str; 2],
}

const BEARER: (&str, &str) = ("Authorization", "Bearer ");

/// The Messages API.
pub(super) static ANTHROPIC: Vendor = Vendor {
    name: "Anthropic",
    format: WireFormat::Anthropic,
    base_url: "https://api.anthropic.com",
    key_variables: &["ANTHROPIC_API_KEY"],
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    paths: ["/v1/messages"; 2],
};

/// The Responses API.
pub(super) static OPENAI: Vendor = Vendor {
    name: "OpenAI",
    format: WireFormat::OpenAiResponses,
    base_url: "https://api.openai.com/v1",
    key_variables: &["OPENAI_API_KEY"],
    key_header: BEARER,
    headers: &[],
    paths: ["/responses"; 2],
};

/// Any host with Chat Completions.
pub(super) static COMPATIBLE: Vendor = CHAT;

pub(super) static OLLAMA: Vendor = Vendor { name: "Ollama", base_url: "http://127.0.0.1:11434/v1", ..CHAT };

const CHAT: Vendor = Vendor {
    name: "the host",
    format: WireFormat::OpenAiChat,
    base_url: "",
    key_variables: &[],
    key_header: BEARER,
    headers: &[],
    paths: ["/chat/completions"; 2],
};

pub(super) static GEMINI: Vendor = Vendor {
    name: "Google Gemini",
    format: WireFormat::Gemini,
    base_url: "https://generativelanguage.googleapis.com",
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    key_header: ("x-goog-api-key", ""),
    headers: &[],
    paths: ["/v1beta/models/{model}:generateContent", "/v1beta/models/{model}:streamGenerateContent?alt=sse"],
};

/// Converse, with a key of Amazon Bedrock. Requests are not signed.
pub(super) static BEDROCK: Vendor = Vendor {
    name: "Amazon Bedrock",
    format: WireFormat::Bedrock,
    base_url: "https://bedrock-runtime.{region}.amazonaws.com",
    key_variables: &["AWS_BEARER_TOKEN_BEDROCK"],
    key_header: BEARER,
    headers: &[],
    paths: ["/model/{model}/converse", "/model/{model}/converse-stream"],
};

/// The variables that may name the AWS region.
const REGION_VARIABLES: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

impl Vendor {
    /// Returns the URL of a request.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL needs a region that is not set.
    pub(super) fn url(&self, base: Option<&str>, model: &str, streamed: bool) -> Result<String, String> {
        let base = match base {
            Some(base) => base.trim().trim_end_matches('/').to_owned(),
            None if self.base_url.contains("{region}") => {
                let region = REGION_VARIABLES.iter().find_map(|variable| secret_from_env(variable));
                let region = region.ok_or(
                    "set the environment variable AWS_REGION, or the URL with `Model::with_base_url`",
                )?;
                self.base_url.replace("{region}", region.expose())
            }
            None => self.base_url.to_owned(),
        };
        // Google lists its models with this prefix.
        let model =
            model.strip_prefix("models/").filter(|_| self.format == WireFormat::Gemini).unwrap_or(model);
        // Names of Bedrock contain `:` and, as ARNs, `/`.
        let path = self.paths[usize::from(streamed)].replace("{model}", &escape_uri(model));
        // Gateways such as Azure's have a query in their base URL.
        match base.split_once('?') {
            Some((base, query)) => {
                let separator = if path.contains('?') { '&' } else { '?' };
                Ok(format!("{}{path}{separator}{query}", base.trim_end_matches('/')))
            }
            None => Ok(format!("{base}{path}")),
        }
    }

    /// Returns members of each request that the vendor requires, and that options may replace.
    pub(super) fn defaults(&self, model: &str) -> Value {
        match self.format {
            // The reasoning counts, too; models before the fourth generation accept no more.
            WireFormat::Anthropic if model.starts_with("claude-3") => json!({ "max_tokens": 4096 }),
            WireFormat::Anthropic => json!({ "max_tokens": 16_384 }),
            _ => json!({}),
        }
    }

    /// Returns the key in the environment, and its variable.
    pub(super) fn key(&self) -> Option<(Secret, &'static str)> {
        self.key_variables.iter().find_map(|variable| Some((secret_from_env(variable)?, *variable)))
    }
}
