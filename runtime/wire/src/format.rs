//! Wire formats as data. A program can define its own and use it as [`WireFormat::Custom`](super::WireFormat).
//!
//! A format is a constant made of stateless functions. Fields that it does not set come from [`Format::EMPTY`]:
//!
//! ```
//! use serde_json::{Value, json};
//! use toolgen_runtime::call::ToolResponse;
//! use toolgen_runtime::wire::WireFormat;
//! use toolgen_runtime::wire::format::{Format, Item, Layout, WrittenCall, text};
//!
//! static LINES: Format = Format {
//!     name: "lines",
//!     layout: Layout { title: "Lines", path: &["said"], is_block: |block| block.get("do").is_some(), ..Layout::EMPTY },
//!     item: |block| match block.get("do") {
//!         Some(call) => Item::Call(WrittenCall::of(call, "id", "/do/id", "with")),
//!         None => Item::Text(text(block, "say").into()),
//!     },
//!     answer: |response, _| json!({ "did": response.id.as_str(), "gave": response.text() }),
//!     ..Format::EMPTY
//! };
//!
//! # fn main() -> Result<(), toolgen_runtime::wire::WireError> {
//! let format = WireFormat::Custom(&LINES);
//! let turn = format.turn(&json!({ "said": [
//!     { "say": "Let me look." },
//!     { "do": { "id": "1", "name": "clock", "with": {} } },
//! ] }))?;
//! assert_eq!((turn.text.as_str(), turn.calls[0].name.as_str()), ("Let me look.", "clock"));
//! # Ok(())
//! # }
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde_json::Value;

use super::ToolResultOptions;
use super::plan::PlanOptions;
use super::request::{CallPolicy, Request};
use super::tools::{self, ToolWriter};
use super::turn::Usage;
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_kernel::schema::dialect::{Dialect, JSON_SCHEMA};

pub use super::calls::{Item, ParsedCall as WrittenCall, text};
pub use super::layout::{Layout, ResponseEnd};
pub use super::properties::{Property, ToolProperties};
pub use super::stream::assembly::Assembly;
pub use super::turn::count;

/// A wire format: its names and the functions that render and parse it. Two formats are equal if their names are.
#[derive(Clone, Copy)]
pub struct Format {
    /// The name, in lower case and with hyphens. Transcripts record it, so it must not change.
    pub name: &'static str,
    /// The dialect of tool schemas.
    pub dialect: &'static Dialect,
    /// Renders a tool from its specification and the schema of its arguments in a dialect.
    pub tool: ToolWriter,
    /// The properties that [`set_properties`](Self::set_properties) writes. The description of a tool states
    /// others.
    pub properties: &'static [Property],
    /// Adds properties to a rendered tool.
    pub set_properties: fn(&mut Value, ToolProperties),
    /// Whether a tool that programs may call can be strict, and its schema can refer to itself.
    pub strict_programs: bool,
    /// Arranges the tools of a request by the options of a plan: in groups, with cache points, and with tools of the
    /// vendor that the options need.
    #[doc(hidden)]
    pub arrange: fn(Vec<Value>, &PlanOptions) -> Vec<Value>,
    /// Turns the list of tools into the value for a request.
    pub list: fn(Vec<Value>) -> Value,
    /// Where a response contains its blocks.
    pub layout: Layout,
    /// Parses a block.
    pub item: for<'v> fn(&'v Value) -> Item<'v>,
    /// Parses the members next to the blocks, in the object that contains them. Each item has a name for its kind.
    pub beside: for<'v> fn(&'v Value) -> Vec<(&'static str, Item<'v>)>,
    /// Whether calls without an ID can get results.
    pub ids_optional: bool,
    /// Reads the token counts of a response.
    pub usage: fn(&Value) -> Usage,
    /// Returns the messages of a request that contain a turn unchanged. The arguments are the object that contains the
    /// blocks (or null), and the blocks.
    pub keep: fn(&Value, &[Value]) -> Vec<Value>,
    /// Returns the members that the next request must have, from the object that contains the blocks of a response: the
    /// ID of the container in which a program waits. Null for none.
    pub carry: fn(&Value) -> Value,
    /// Renders a tool result.
    pub answer: fn(&ToolResponse, &ToolResultOptions<'_>) -> Value,
    /// The key of a user message that contains all tool results. If empty, each result is a separate message.
    pub message: &'static str,
    /// Adds an event of a stream to the response that is assembled from it.
    pub assemble: fn(&mut Assembly, &Value) -> Result<(), super::WireError>,
    /// How a conversation is rendered; `None` if the format has only calls and results.
    pub conversation: Option<Conversation>,
}

/// How a format renders a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Conversation {
    /// Renders a user message: a content block if [`Format::message`] names the key of blocks, otherwise a whole
    /// message.
    pub user: fn(&str) -> Value,
    /// Renders a turn of another vendor's model from its text and its calls.
    pub model: fn(&str, &[ToolCall]) -> Vec<Value>,
    /// Renders a request, without its choice of tools.
    pub request: fn(Request<'_>) -> Value,
    /// Returns the members of a request for a choice of tools and for parallel calls; they are merged into the request.
    /// `Err` says what the format cannot do, such as `cannot forbid calls`.
    pub policy: fn(CallPolicy<'_>) -> Result<Value, &'static str>,
}

impl Format {
    /// The base of every literal: JSON Schema, a list of tools, no results, no conversation, and a stream whose only
    /// event is the whole response.
    pub const EMPTY: Format = Format {
        name: "",
        dialect: &JSON_SCHEMA,
        tool: |spec, schema, dialect| tools::named_tool(spec, "parameters", schema, dialect),
        properties: &[],
        set_properties: |_, _| {},
        strict_programs: true,
        arrange: |tools, _| tools,
        list: Value::Array,
        layout: Layout::EMPTY,
        item: |_| Item::Skip,
        beside: |_| Vec::new(),
        ids_optional: false,
        usage: |_| Usage::default(),
        keep: |_, blocks| blocks.to_vec(),
        carry: |_| Value::Null,
        answer: |_, _| Value::Null,
        message: "",
        assemble: |assembly, event| {
            assembly.response = event.clone();
            assembly.end();
            Ok(())
        },
        conversation: None,
    };
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Format").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl PartialOrd for Format {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Format {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(other.name)
    }
}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
