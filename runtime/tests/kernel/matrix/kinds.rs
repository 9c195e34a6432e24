//! The kinds of tools, which all perform the same target action. A row names the types that it covers.

use toolgen_runtime::agent::sub_agent::AgentEngine;
use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::spec::Projection;
use toolgen_runtime::tools;

use crate::matrix::evidence::{World, stem};
use crate::matrix::{compiled, mcp, server};
use crate::prelude::*;

/// A kind of tool.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The types that implement the trait.
    pub(crate) types: &'static [&'static str],
    /// The kinds of compiled calls, if it is compiled.
    pub(crate) calls: &'static [&'static str],
    /// Whether a slow call of it ends when it times out, and not only when it is done.
    pub(crate) interruptible: bool,
    /// The tool that the script calls: the target, or a tool that calls the target.
    pub(crate) called: &'static str,
    /// The tool through which the target is called, if it is not called by name.
    pub(crate) through: Option<&'static str>,
    pub(crate) tools: Make,
}

/// The kind that is called through the discovery tools.
pub(crate) const THROUGH: &str = "through discovery";

pub(crate) type Tools = Vec<Arc<dyn AgentTool>>;
type Make = fn(Arc<World>) -> BoxFuture<'static, Tools>;

fn kind(name: &'static str, types: &'static [&'static str], tools: Make) -> Kind {
    Kind { name, types, calls: &[], interruptible: true, called: "target", through: None, tools }
}

pub(crate) fn all() -> Vec<Kind> {
    vec![
        Kind {
            interruptible: false,
            ..kind("plain function", &["FunctionTool"], |_| ready(toolset![plain::target]))
        },
        // A function whose result a call may narrow.
        Kind {
            interruptible: false,
            ..kind("function with a projection", &["ProjectedTool"], |_| {
                let tools = Registry::builder().add_all(toolset![plain::target]);
                let registry = tools.projection(Projection::Always).seal().unwrap();
                ready(registry.iter().cloned().collect())
            })
        },
        // The same function, called by its name in the arguments of `call_tool`.
        Kind { through: Some("call_tool"), ..kind(THROUGH, &[], |_| ready(toolset![target])) },
        kind("blocking function", &[], |_| ready(toolset![blocking::target])),
        kind("async function", &[], |_| ready(toolset![target])),
        kind("method", &[], |world| ready(toolset![Methods::tools(&Arc::new(Methods(world)))])),
        kind("written by hand", &[], |world| ready(vec![Arc::new(ByHand(spec(), world))])),
        kind("dynamic", &["DynamicTool"], |world| ready(vec![Arc::new(dynamic(world))])),
        kind("factory", &["ToolFactory"], |world| {
            let create = move |_: &ToolboxContext| Ok(ByHand(spec(), Arc::clone(&world)));
            ready(vec![Arc::new(ToolFactory::new(spec(), create))])
        }),
        Kind {
            calls: &["Http"],
            ..kind("HTTP", &["HttpTool"], |world| Box::pin(async move { vec![server::tool(world)] }))
        },
        Kind { calls: &["Mcp"], ..kind("MCP", &["McpTool"], |world| Box::pin(mcp::tools(world))) },
        Kind {
            calls: &["Function"],
            ..kind("function of a table", &[], |world| ready(compiled::function(world)))
        },
        Kind {
            calls: &["Command"],
            ..kind("command", &["CommandTool"], |world| ready(compiled::command(world)))
        },
        Kind {
            calls: &["Effect"],
            interruptible: false,
            ..kind("effect", &["LocalTool"], |_| ready(compiled::effect()))
        },
        Kind {
            calls: &["Compose"],
            called: "outer",
            ..kind("composition", &[], |_| ready(compiled::composed(toolset![target])))
        },
        Kind {
            calls: &["Complete"],
            called: "outer",
            ..kind("completion", &[], |_| ready(compiled::completed(toolset![target])))
        },
        Kind { called: "outer", ..kind("nested call", &[], |_| ready(toolset![target, outer])) },
        Kind {
            calls: &["Agent"],
            called: "outer",
            ..kind("sub-agent", &["SubAgentTool"], |world| ready(sub_agent(world)))
        },
    ]
}

fn ready(tools: Tools) -> BoxFuture<'static, Tools> {
    Box::pin(std::future::ready(tools))
}

async fn slowly(path: &str) {
    if stem(path) == "/slow" {
        tokio::time::sleep(Duration::from_secs(30)).await;
    }
}

mod plain {
    use super::*;

    /// Does something.
    #[tool(undocumented, destructive, scopes("work"), service = "svc", requires(custom("open")))]
    pub(super) fn target(
        path: &str,
        #[arg(default = "")] note: &str,
        #[arg(secret, default = "")] pin: &str,
        ctx: &ToolContext,
        world: Service<World>,
    ) -> Result<ToolResult, ToolError> {
        world.target(path, note, pin, ctx)
    }
}

mod blocking {
    use super::*;

    /// Does something.
    #[tool(undocumented, destructive, scopes("work"), service = "svc", requires(custom("open")), blocking)]
    pub(super) fn target(
        path: String,
        #[arg(default = "")] note: String,
        #[arg(secret, default = "")] pin: String,
        ctx: &ToolContext,
        world: Service<World>,
    ) -> Result<ToolResult, ToolError> {
        if stem(&path) == "/slow" {
            // The thread is left running, and its result is dropped.
            std::thread::sleep(Duration::from_millis(600));
            return Ok(ToolResult::empty());
        }
        world.target(&path, &note, &pin, ctx)
    }
}

/// Does something.
#[tool(undocumented, destructive, scopes("work"), service = "svc", requires(custom("open")))]
async fn target(
    path: String,
    #[arg(default = "")] note: String,
    #[arg(secret, default = "")] pin: String,
    ctx: &ToolContext,
    world: Service<World>,
) -> Result<ToolResult, ToolError> {
    slowly(&path).await;
    world.target(&path, &note, &pin, ctx)
}

struct Methods(Arc<World>);

#[tools]
impl Methods {
    /// Does something.
    #[tool(undocumented, destructive, scopes("work"), service = "svc", requires(custom("open")))]
    async fn target(
        &self,
        path: String,
        #[arg(default = "")] note: String,
        #[arg(secret, default = "")] pin: String,
        ctx: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        slowly(&path).await;
        self.0.target(&path, &note, &pin, ctx)
    }
}

pub(crate) fn spec() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "note": {"type": "string", "default": ""},
            "pin": {"type": "string", "default": "", "writeOnly": true},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let open = Requirement {
        kind: RequirementKind::Custom,
        name: Text::Static("open"),
        argument: Text::EMPTY,
        message: Text::EMPTY,
        optional: false,
    };
    let mut spec = DynamicTool::builder("target", "Does something.").schema(&schema).spec().unwrap();
    spec.effects = Effects { destructive: true, read_only: false, ..spec.effects };
    spec.scopes = vec![Text::Static("work")].into();
    spec.service = Text::Static("svc");
    spec.requires = vec![open].into();
    spec
}

pub(crate) async fn run(world: &World, arguments: Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    slowly(text("path")).await;
    world.target(text("path"), text("note"), text("pin"), ctx)
}

struct ByHand(ToolSpec, Arc<World>);

impl AgentTool for ByHand {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(run(&self.1, params, ctx))
    }
}

fn dynamic(world: Arc<World>) -> DynamicTool {
    DynamicTool::new(spec(), move |params: Value, ctx: ToolContext| {
        let world = Arc::clone(&world);
        async move { run(&world, params, &ctx).await }
    })
}

/// Has the target do something.
#[tool(undocumented, read_only)]
async fn outer(
    path: String,
    #[arg(default = "")] note: String,
    #[arg(secret, default = "")] pin: String,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    ctx.call("target", json!({"path": path, "note": format!("{note}{pin}")})).await
}

/// An agent that calls the target with its task as the path, and returns the result.
fn sub_agent(world: Arc<World>) -> Tools {
    let runner = LoopRunner::new(move |task: &AgentTask, _: &AgentMonitor| {
        let arguments = json!({"path": task.task, "pin": world.pin});
        move |transcript: Transcript| {
            let arguments = arguments.clone();
            async move {
                Ok::<_, AgentFailure>(match transcript.last() {
                    Some(Entry::Answer(response)) => ModelTurn::text(response.text()),
                    _ => ModelTurn::calls([ToolCall::new("inner", "target", arguments)]),
                })
            }
        }
    });
    compiled::agent(AgentEngine::new(runner).tools(toolset![target]))
}
