//! Execution plans: how a tool is executed, as data.
//!
//! Engines interpret plans; no code is generated for them.

mod command;
mod file;
mod local;
mod mcp;
mod pagination;
mod response_headers;
mod xml;

use std::collections::BTreeMap;

use super::ToolSpec;
use super::template::{Root, Template};
use crate::base::frozen::{Frozen, List, Text};
use crate::base::printable::is_token;

pub use command::{ArgvTemplate, CommandOutput, CommandPlan, ExitCode, Stdin};
pub use file::{FILE_FIELDS, file_argument_help};
pub use local::{AgentPlan, CompletePlan, ComposePlan, EffectPlan, ForEach, Step};
pub use mcp::{McpPlan, McpServer, McpTransport};
pub use pagination::{NextPage, Pagination, PaginationError};
pub use response_headers::{is_informative_header, is_secret_header};
pub use xml::{Xml, XmlContent, XmlField, XmlKind, XmlNode};

/// A compiled tool: its specification and its execution plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The specification.
    pub spec: ToolSpec,
    /// How the tool is executed.
    pub call: ExecutionPlan,
}

/// Lets functions accept lists of tools and lists of references to tools.
impl AsRef<Tool> for Tool {
    fn as_ref(&self) -> &Tool {
        self
    }
}

impl From<&'static Tool> for Frozen<Tool> {
    fn from(tool: &'static Tool) -> Self {
        Frozen::Static(tool)
    }
}

/// How a tool is executed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "generated code writes plans as constants, which have no boxes")]
pub enum ExecutionPlan {
    /// With an HTTP request.
    Http(RequestPlan),
    /// With a program that is started.
    Command(CommandPlan),
    /// With a tool of an MCP server.
    Mcp(McpPlan),
    /// With calls of other tools.
    Compose(ComposePlan),
    /// Ends the agent loop.
    Complete(CompletePlan),
    /// Requests an effect.
    Effect(EffectPlan),
    /// With another agent.
    Agent(AgentPlan),
    /// With a function that the program implements.
    Function,
}

impl ExecutionPlan {
    /// Returns the request plan, if the tool is executed by an HTTP request.
    #[must_use]
    pub fn http(&self) -> Option<&RequestPlan> {
        match self {
            ExecutionPlan::Http(plan) => Some(plan),
            _ => None,
        }
    }

    /// Returns the names of the tools that the tool itself calls: those of its steps, or of its agent. A name may
    /// occur several times.
    #[must_use]
    pub fn tools(&self) -> Vec<&str> {
        match self {
            ExecutionPlan::Compose(plan) => plan.steps.iter().map(|step| step.tool.as_str()).collect(),
            ExecutionPlan::Agent(plan) => plan.tools.iter().map(Text::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

/// An HTTP request as data: how the arguments of a call become a request.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestPlan {
    /// The method, in upper case.
    pub method: Text,
    /// The path with its parameters as `{name}`, relative to the server, without query or fragment.
    pub path: Text,
    /// Query parameters of every request (from a path such as `/messages?beta=true`).
    pub query: List<(Text, Text)>,
    /// The servers that offer the operation; the first is used. If empty, the caller must provide one.
    pub servers: List<Server>,
    /// The parameters.
    pub parameters: List<Parameter>,
    /// The body.
    pub body: Option<Body>,
    /// Alternative security requirements; one of them is enough. If empty, no authentication is needed.
    pub security: List<SecurityRequirement>,
    /// The value of the `Accept` header. Empty for `*/*`.
    pub accept: Text,
    /// How an XML response is parsed as the result that the tool declares; `None` leaves it as text.
    pub xml_response: Option<Xml>,
    /// The headers that the result of a successful call reports in addition to `Location`, by their names in the
    /// document.
    pub headers: List<Text>,
    /// The statuses from 300 to 399 that are results of the operation: the result is the status and its `Location`.
    /// Such a response is a success, and the redirect is not followed.
    pub redirects: List<u16>,
    /// Arguments that are derived from those of the call before the request is built. Their names start with `=`,
    /// which no other argument's name does. An object that only gets additional members keeps its name.
    pub derived: List<(Text, Template)>,
    /// Whether missing arguments get the defaults of the tool's schema. If not, the service applies its own defaults,
    /// and the schema only documents them.
    pub defaults: bool,
    /// The header for an idempotency key, with which the service distinguishes a retry from a second call. Empty if
    /// the service has no such header.
    pub idempotency_key: Text,
    /// How the operation paginates its list; `None` if it does not, or if this is not known.
    pub pagination: Option<Pagination>,
}

impl RequestPlan {
    /// A request without path, parameters, body or server: the base of every literal.
    pub const EMPTY: RequestPlan = RequestPlan {
        method: Text::Static("GET"),
        path: Text::EMPTY,
        query: List::EMPTY,
        servers: List::EMPTY,
        parameters: List::EMPTY,
        body: None,
        security: List::EMPTY,
        accept: Text::EMPTY,
        xml_response: None,
        headers: List::EMPTY,
        redirects: List::EMPTY,
        derived: List::EMPTY,
        defaults: false,
        idempotency_key: Text::EMPTY,
        pagination: None,
    };
}

/// A server: the base of a request's URL.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The URL with its variables as `{name}`. May be relative to the location of the document.
    pub url: Text,
    /// The variables.
    pub variables: List<ServerVariable>,
}

/// A variable of a server's URL.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerVariable {
    /// The name.
    pub name: Text,
    /// The default value.
    pub default: Text,
    /// The allowed values. Empty if any value is allowed.
    pub allowed: List<Text>,
}

/// A parameter of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The key of the argument.
    pub argument: Text,
    /// The name on the wire; empty if the value is the whole query, as a document of a media type.
    pub name: Text,
    /// The location of the parameter.
    pub location: Location,
    /// How the value is encoded.
    pub encoding: Encoding,
}

/// The location of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// In the path template.
    Path,
    /// In the query.
    Query,
    /// In a header.
    Header,
    /// In the `Cookie` header.
    Cookie,
}

/// The owner of a request header that is not a parameter, even if a document declares it as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderOwner {
    /// The media types of the body and the responses.
    Media,
    /// The security schemes.
    Security,
    /// The HTTP client: the header describes the connection or the message, not the operation.
    Client,
}

impl HeaderOwner {
    /// Returns the owner of the header of this name, ignoring case; `None` if a parameter may set it.
    #[must_use]
    pub fn of(name: &str) -> Option<HeaderOwner> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "accept" | "content-type" => Some(HeaderOwner::Media),
            "authorization" => Some(HeaderOwner::Security),
            // RFC 9110 and 9112. The client must also support the encodings that it requests.
            "accept-encoding" | "connection" | "content-length" | "date" | "expect" | "host"
            | "keep-alive" | "te" | "trailer" | "transfer-encoding" | "upgrade" | "via" => {
                Some(HeaderOwner::Client)
            }
            _ => name.starts_with("proxy-").then_some(HeaderOwner::Client),
        }
    }
}

/// How a value is encoded in a URL, a header or a form (OpenAPI 3.1, "Style Values").
#[derive(Clone, Debug, PartialEq)]
pub enum Encoding {
    /// In a style.
    Style {
        /// The style.
        style: Style,
        /// Whether each item of a list or field of an object gets its own name.
        explode: bool,
        /// Whether reserved characters are not percent-encoded: all of them (queries), slashes (paths), or all that a
        /// cookie may contain (cookies).
        allow_reserved: bool,
    },
    /// As a document of this media type.
    Content(Text),
    /// As an XML document.
    Xml(Xml),
}

impl Encoding {
    /// The default of paths and headers.
    pub const SIMPLE: Encoding =
        Encoding::Style { style: Style::Simple, explode: false, allow_reserved: false };
    /// The default of queries and cookies.
    pub const FORM: Encoding = Encoding::Style { style: Style::Form, explode: true, allow_reserved: false };
}

/// The styles of OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `;name=value`
    Matrix,
    /// `.value`
    Label,
    /// `value,value`
    Simple,
    /// `name=value`
    Form,
    /// `name=value%20value`
    SpaceDelimited,
    /// `name=value|value`
    PipeDelimited,
    /// Values separated by tabs (`tsv` of Swagger 2.0).
    TabDelimited,
    /// `name[key]=value`
    DeepObject,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Whether the body is sent even if none of its arguments is passed.
    pub required: bool,
    /// The `Content-Type`; for a file also a list of allowed types and ranges.
    pub media_type: Text,
    /// How the value is encoded.
    pub codec: Codec,
    /// The source of the value.
    pub source: BodySource,
}

/// How the value of a body is encoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Codec {
    /// As JSON, which is also valid YAML.
    Json,
    /// As JSON Lines, one line per item of a list.
    JsonLines,
    /// As `application/x-www-form-urlencoded`, with the encodings of its fields.
    Form(List<Part>),
    /// As `multipart/form-data`, with one part per field.
    Multipart(List<Part>),
    /// As an XML document.
    Xml(Xml),
    /// Plain text.
    Text,
    /// The bytes of a file argument.
    Binary,
}

/// The source of a body's value.
#[derive(Clone, Debug, PartialEq)]
pub enum BodySource {
    /// The argument of this name is the body.
    Argument(Text),
    /// The body is an object of these arguments.
    Fields(List<BodyField>),
}

/// An argument that is a field of the body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyField {
    /// The key of the argument.
    pub argument: Text,
    /// The key in the body.
    pub name: Text,
}

/// How a field of a form is encoded. Other fields follow the defaults of OpenAPI.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The field, by its key in the body. Empty for the fields that no other part names.
    pub name: Text,
    /// Whether the value is a file argument (see [`FILE_FIELDS`]), or a list of file arguments.
    pub file: bool,
    /// The `Content-Type` of the part; for a file also a list of allowed types and ranges. If empty, it follows the
    /// type of the value.
    pub content_type: Text,
    /// The style, if the document sets one (for a field of a form, or a list in one part), or XML.
    pub encoding: Option<Encoding>,
}

impl Part {
    /// Returns the part for a field, if it has one.
    #[must_use]
    pub fn of<'p>(parts: &'p [Part], field: &str) -> Option<&'p Part> {
        let named = parts.iter().find(|part| part.name == field);
        named.or_else(|| parts.iter().find(|part| part.name.is_empty()))
    }
}

/// Security schemes that together authenticate a request.
#[derive(Clone, Debug, PartialEq)]
pub struct SecurityRequirement {
    /// The schemes, all of which are needed. If empty, no authentication is needed.
    pub schemes: List<SecurityScheme>,
}

/// A security scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct SecurityScheme {
    /// The name of the scheme in the document; credentials are looked up by it.
    pub id: Text,
    /// Where the credential is placed.
    pub placement: Placement,
    /// The scopes that the operation needs.
    pub scopes: List<Text>,
    /// The environment variable that holds the credential. May be empty.
    pub env: Text,
}

/// Where a credential is placed in a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// In the header of this name, unchanged.
    Header(Text),
    /// In the query parameter of this name.
    Query(Text),
    /// In the cookie of this name.
    Cookie(Text),
    /// `Authorization: Basic`; the credential is `user:password`.
    Basic,
    /// `Authorization: Bearer`. OAuth 2 and OpenID Connect tokens are sent this way.
    Bearer,
    /// The client's TLS certificate; nothing is added to the request.
    MutualTls,
    /// `Authorization` with another scheme, such as `Token`; see [`is_supported`](Placement::is_supported).
    Other(Text),
}

/// HTTP schemes that respond to a challenge or sign a request: those of IANA's registry, and some other common ones.
/// With these schemes, the credential itself must not be sent.
const COMPUTED_SCHEMES: [&str; 12] = [
    "aws4-hmac-sha256",
    "concealed",
    "digest",
    "dpop",
    "gnap",
    "hawk",
    "hoba",
    "mutual",
    "negotiate",
    "ntlm",
    "oauth",
    "signature",
];

impl Placement {
    /// Whether the credential can be sent unchanged. It cannot if the HTTP scheme computes a value from it, if the name
    /// of the scheme is not a token (RFC 9110, 11.1), or if the header belongs to the client.
    #[must_use]
    pub fn is_supported(&self) -> bool {
        match self {
            Placement::Header(name) => {
                !matches!(HeaderOwner::of(name), Some(HeaderOwner::Client | HeaderOwner::Media))
            }
            Placement::Other(name) => {
                let lower = name.to_ascii_lowercase();
                is_token(name) && !COMPUTED_SCHEMES.contains(&lower.as_str()) && !lower.starts_with("scram-")
            }
            _ => true,
        }
    }

    /// Returns the header that contains only the credential, if there is one.
    #[must_use]
    pub fn header(&self) -> Option<&str> {
        match self {
            Placement::Header(name) => Some(name.as_str()),
            Placement::Basic | Placement::Bearer | Placement::Other(_) => Some("Authorization"),
            Placement::Query(_) | Placement::Cookie(_) | Placement::MutualTls => None,
        }
    }
}

/// Whether a media type without parameters is never text: `image/png`, `application/pdf`. For others, such as
/// `application/jwt` or `application/octet-stream`, the schema or the bytes decide.
#[must_use]
pub fn is_binary_media_type(essence: &str) -> bool {
    const SUBTYPES: [&str; 15] = [
        "gzip",
        "java-archive",
        "msword",
        "pdf",
        "protobuf",
        "vnd.google.protobuf",
        "wasm",
        "x-7z-compressed",
        "x-bzip2",
        "x-gzip",
        "x-protobuf",
        "x-tar",
        "x-zip-compressed",
        "zip",
        "zstd",
    ];
    let (main, sub) = essence.split_once('/').unwrap_or((essence, ""));
    match main {
        "audio" | "video" | "font" | "image" => !sub.ends_with("+xml"),
        "application" => {
            SUBTYPES.contains(&sub) || sub.starts_with("vnd.openxmlformats-") || sub.starts_with("vnd.ms-")
        }
        _ => false,
    }
}

/// The arguments of a request, and whether each is always sent as a string.
#[derive(Default)]
struct ArgumentForms<'p>(BTreeMap<&'p Text, bool>);

impl<'p> ArgumentForms<'p> {
    fn add(&mut self, argument: &'p Text, is_text: bool) {
        let is_always_text = self.0.entry(argument).or_insert(true);
        *is_always_text &= is_text;
    }

    fn add_body(&mut self, body: &'p Body) {
        let parts = match &body.codec {
            Codec::Form(parts) | Codec::Multipart(parts) => Some(parts),
            _ => None,
        };
        match &body.source {
            BodySource::Fields(fields) => fields.iter().for_each(|field| {
                self.add(&field.argument, parts.is_some_and(|parts| is_text(Part::of(parts, &field.name))));
            }),
            BodySource::Argument(name) => {
                let is_form = parts.is_some_and(|parts| parts.iter().all(|part| is_text(Some(part))));
                self.add(name, is_form || body.codec == Codec::Text);
            }
        }
    }
}

/// Whether scalar values of a field are sent as strings.
fn is_text(part: Option<&Part>) -> bool {
    let Some(part) = part else { return true };
    let content_type = part.content_type.as_str();
    !part.file
        && (content_type.is_empty() || content_type.starts_with("text/plain"))
        && matches!(part.encoding, None | Some(Encoding::Style { .. }))
}

impl RequestPlan {
    /// Returns the arguments of a call that are sent only as strings: in the path, the query, headers, cookies and
    /// forms.
    #[must_use]
    pub fn texts(&self) -> List<Text> {
        let mut arguments = ArgumentForms::default();
        for parameter in &self.parameters {
            arguments.add(&parameter.argument, matches!(parameter.encoding, Encoding::Style { .. }));
        }
        if let Some(body) = &self.body {
            arguments.add_body(body);
        }
        for (name, template) in &self.derived {
            let is_whole_value =
                matches!(template, Template::Value(_) | Template::Text(_) | Template::With(..));
            let is_text = is_whole_value && arguments.0.get(name).copied().unwrap_or(false);
            template.references(&mut |reference| {
                if let Root::Argument(argument) = &reference.root {
                    arguments.add(argument, is_text && reference.path.is_empty());
                }
            });
        }
        let keeps_name = |template: &Template| matches!(template, Template::With(..));
        let is_call_argument = |name: &Text| {
            self.derived.iter().all(|(derived, template)| derived != name || keeps_name(template))
        };
        arguments
            .0
            .into_iter()
            .filter(|(name, is_text)| *is_text && is_call_argument(name))
            .map(|(name, _)| name.clone())
            .collect()
    }
}
