//! How a tool is carried out, as data.
//!
//! An engine interprets it; no code is generated for it.

use crate::base::frozen::{List, Text};
use crate::spec::ToolSpec;

/// A compiled tool: what it is and how it is carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What it is.
    pub spec: ToolSpec,
    /// How it is carried out.
    pub call: Call,
}

/// How a tool is carried out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Call {
    /// By an HTTP request.
    Http(RequestPlan),
}

impl Call {
    /// The request, if the tool is carried out by one.
    #[must_use]
    pub fn http(&self) -> Option<&RequestPlan> {
        match self {
            Call::Http(plan) => Some(plan),
        }
    }
}

/// An HTTP request as data: where the arguments of a call go.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestPlan {
    /// The method, in capitals.
    pub method: Text,
    /// The path with its parameters as `{name}`, relative to the server. No query, no fragment.
    pub path: Text,
    /// Query pairs every request has (a path such as `/messages?beta=true` declares them).
    pub query: List<(Text, Text)>,
    /// The servers that offer the operation; the first is used. Empty: the caller must name one.
    pub servers: List<Server>,
    /// The parameters.
    pub parameters: List<Parameter>,
    /// The body.
    pub body: Option<Body>,
    /// The alternatives of authentication; one is enough. Empty: none is needed.
    pub security: List<SecurityRequirement>,
    /// The value of the `Accept` header. Empty: `*/*`.
    pub accept: Text,
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
    };
}

/// A server: the base of a request's URL.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The URL with its variables as `{name}`. It may be relative, to where the document came from.
    pub url: Text,
    /// The variables.
    pub variables: List<ServerVariable>,
}

/// A variable of a server's URL.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerVariable {
    /// The name.
    pub name: Text,
    /// The value that is used unless the caller gives another.
    pub default: Text,
    /// The values that may be given. Empty: any.
    pub allowed: List<Text>,
}

/// A parameter of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The key of the argument.
    pub argument: Text,
    /// The name on the wire.
    pub name: Text,
    /// Where it goes.
    pub location: Location,
    /// How its value is written.
    pub encoding: Encoding,
}

/// Where a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// Into the path template.
    Path,
    /// Into the query.
    Query,
    /// Into a header.
    Header,
    /// Into the `Cookie` header.
    Cookie,
}

/// How a value is written into a URL, a header or a form (OpenAPI 3.1, "Style Values").
#[derive(Clone, Debug, PartialEq)]
pub enum Encoding {
    /// By a style.
    Style {
        /// The style.
        style: Style,
        /// Each value of a list or an object gets a name of its own.
        explode: bool,
        /// Reserved characters are left as they are (queries only).
        allow_reserved: bool,
    },
    /// As a document of this media type.
    Content(Text),
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
    /// `name[key]=value`
    DeepObject,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Sent even if no argument for it was given.
    pub required: bool,
    /// The `Content-Type`.
    pub media_type: Text,
    /// How the value is written.
    pub codec: Codec,
    /// Where the value comes from.
    pub source: BodySource,
}

/// How the value of a body is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Codec {
    /// As JSON.
    Json,
    /// As `application/x-www-form-urlencoded`, by the encodings of its fields.
    Form(List<Part>),
    /// As `multipart/form-data`, a part for each field.
    Multipart(List<Part>),
    /// A text as it is.
    Text,
    /// The bytes of a file argument.
    Binary,
}

/// Where the value of a body comes from.
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

/// How one field of a form is written. Fields without one follow the defaults of OpenAPI.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The field, by its key in the body.
    pub name: Text,
    /// Its value is a file argument (see [`FILE_FIELDS`]), or a list of them.
    pub file: bool,
    /// The `Content-Type` of the part. Empty: by the type of the value.
    pub content_type: Text,
    /// The style, where the document names one (forms only).
    pub encoding: Option<Encoding>,
}

/// The fields of an argument that stands for a file: a `path`, or the content in `base64`, exactly one of them;
/// and optionally a `filename` and a `content_type`.
pub const FILE_FIELDS: [&str; 4] = ["path", "base64", "filename", "content_type"];

/// Schemes that together authenticate a request.
#[derive(Clone, Debug, PartialEq)]
pub struct SecurityRequirement {
    /// The schemes, all of which are needed. Empty: none is.
    pub schemes: List<SecurityScheme>,
}

/// A scheme of authentication.
#[derive(Clone, Debug, PartialEq)]
pub struct SecurityScheme {
    /// The name the document gives it; credentials are looked up by it.
    pub id: Text,
    /// Where the credential goes.
    pub placement: Placement,
    /// The scopes the operation needs.
    pub scopes: List<Text>,
    /// The environment variable that holds the credential. Empty: none is named.
    pub env: Text,
}

/// Where a credential goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// Into the header of this name, as it is.
    Header(Text),
    /// Into the query parameter of this name.
    Query(Text),
    /// Into the cookie of this name.
    Cookie(Text),
    /// `Authorization: Basic`; the credential is `user:password`.
    Basic,
    /// `Authorization: Bearer`. OAuth 2 and OpenID Connect tokens are sent this way.
    Bearer,
    /// The client's TLS certificate; nothing is added to the request.
    MutualTls,
    /// A scheme the engine does not know, by its name (`digest`, `hoba`).
    Other(Text),
}
