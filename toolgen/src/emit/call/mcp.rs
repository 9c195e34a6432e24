//! The plans of tools of MCP servers, as constant expressions.

use toolgen_core::Text;
use toolgen_core::spec::plan::{McpPlan, McpServer, McpTransport};

use super::super::expr::Expr;
use super::super::fields::{Fields, duration, list_of, some, texts};
use super::super::pool::Pool;

pub(super) fn mcp(plan: &McpPlan, pool: &mut Pool) -> Expr {
    let McpPlan { server, tool, descriptor } = plan;
    let fields = vec![
        ("server", pool.value("MCP_SERVER", "__private::prelude::McpServer", self::server(server))),
        ("tool", Expr::text(tool)),
        ("descriptor", Expr::text(descriptor)),
    ];
    Expr::Struct { head: "McpPlan", fields, base: None }
}

fn server(server: &McpServer) -> Expr {
    let McpServer {
        alias,
        transport,
        revision,
        concurrency,
        idle_timeout: idle,
        call_timeout: total,
        capabilities,
    } = server;
    let base = &McpServer::EMPTY;
    let mut fields = Fields::default();
    fields.text("alias", alias, &base.alias);
    fields.put("transport", transport, &base.transport, self::transport);
    fields.text("revision", revision, &base.revision);
    fields.put("concurrency", concurrency, &base.concurrency, |max| Expr::atom(max.to_string()));
    fields.set_optional("idle_timeout", idle.as_ref().map(|limit| some(duration(limit))));
    fields.set_optional("call_timeout", total.as_ref().map(|limit| some(duration(limit))));
    fields.put("capabilities", capabilities, &base.capabilities, texts);
    fields.literal("McpServer", "McpServer::EMPTY")
}

fn transport(transport: &McpTransport) -> Expr {
    let (head, fields) = match transport {
        McpTransport::Stdio { argv, env, inherit, work_dir } => (
            "McpTransport::Stdio",
            vec![
                ("argv", texts(argv)),
                ("env", list_of(env, pair)),
                ("inherit", texts(inherit)),
                ("work_dir", Expr::text(work_dir)),
            ],
        ),
        McpTransport::Http { url, headers, bearer } => (
            "McpTransport::Http",
            vec![
                ("url", Expr::text(url)),
                ("headers", list_of(headers, pair)),
                ("bearer", Expr::text(bearer)),
            ],
        ),
    };
    Expr::Struct { head, fields, base: None }
}

fn pair((name, value): &(Text, Text)) -> Expr {
    Expr::Call("", vec![Expr::text(name), Expr::text(value)])
}
