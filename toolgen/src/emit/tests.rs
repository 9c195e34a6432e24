//! A hand-written program that uses every field of a tool.

use std::sync::Arc;
use std::time::Duration;

use toolgen_core::schema::shape::*;
use toolgen_core::spec::hints::{Callers, Hints, Icon, InputFormat};
use toolgen_core::spec::plan::*;
use toolgen_core::spec::template::*;
use toolgen_core::spec::*;
use toolgen_core::{Def, Frozen, List, Text};

use super::{ModuleStyle, Modules, RuntimeDependency, module, module_name, package};
use crate::source::Pointer;
use crate::tool::{Origin, Program, Success, Tool};

fn text(text: &str) -> Text {
    text.to_owned().into()
}

fn one<T>(item: T) -> List<T> {
    vec![item].into()
}

fn servers() -> List<Server> {
    let variables = one(ServerVariable {
        name: text("region"),
        default: text("eu"),
        allowed: vec![text("eu"), text("us")].into(),
    });
    one(Server { url: text("https://{region}.example.com/v1"), variables })
}

fn defs() -> List<Def> {
    one(Def { name: text("Pet"), schema: Shape::of(Kind::Boolean).into() })
}

fn full_plan() -> RequestPlan {
    let style = |style| Encoding::Style { style, explode: true, allow_reserved: true };
    let parameter = |name: &str, location, encoding| Parameter {
        argument: text(name),
        name: text(&format!("{name}[]")),
        location,
        encoding,
    };
    let scheme = |id: &str, placement| SecurityScheme {
        id: text(id),
        placement,
        scopes: one(text("read:pets")),
        env: text("PETS_TOKEN"),
    };
    RequestPlan {
        method: text("POST"),
        path: text("/pets/{id}"),
        query: one((text("beta"), text("true"))),
        servers: servers(),
        parameters: vec![
            parameter("a", Location::Path, Encoding::SIMPLE),
            parameter("b", Location::Query, Encoding::FORM),
            parameter("c", Location::Header, Encoding::Content(text("application/json"))),
            parameter("d", Location::Cookie, style(Style::Matrix)),
            parameter("e", Location::Query, style(Style::Label)),
            parameter("f", Location::Query, style(Style::SpaceDelimited)),
            parameter("g", Location::Query, style(Style::PipeDelimited)),
            parameter("h", Location::Query, style(Style::DeepObject)),
            parameter("i", Location::Query, Encoding::Xml(xml())),
        ]
        .into(),
        body: Some(Body {
            required: true,
            media_type: text("multipart/form-data"),
            codec: Codec::Multipart(
                vec![
                    Part { name: text("x"), file: true, content_type: text("image/png"), encoding: None },
                    Part {
                        name: text("y"),
                        file: false,
                        content_type: Text::EMPTY,
                        encoding: Some(style(Style::Form)),
                    },
                ]
                .into(),
            ),
            source: BodySource::Fields(one(BodyField { argument: text("x"), name: text("x \"quoted\"") })),
        }),
        security: one(SecurityRequirement {
            schemes: vec![
                scheme("a", Placement::Header(text("X-Key"))),
                scheme("b", Placement::Query(text("key"))),
                scheme("c", Placement::Cookie(text("key"))),
                scheme("d", Placement::Basic),
                scheme("e", Placement::Bearer),
                scheme("f", Placement::MutualTls),
                scheme("g", Placement::Other(text("digest"))),
            ]
            .into(),
        }),
        accept: text("application/json"),
        xml_response: Some(xml()),
        headers: one(text("X-Total-Count")),
        redirects: one(302),
        derived: one((text("=y"), every_template())),
        defaults: true,
        idempotency_key: text("Idempotency-Key"),
        pagination: "cursor=a@/next items=/data more=/more size=b offered=max_items".parse().ok(),
    }
}

fn xml() -> Xml {
    let node = |kind, content| XmlNode {
        kind,
        name: text("n"),
        prefix: text("p"),
        namespace: text("urn:n"),
        content,
    };
    let field = |key: &str, node| XmlField { key: text(key), node };
    let fields = vec![
        field("a", node(XmlKind::Attribute, XmlContent::Number)),
        field("b", node(XmlKind::Text, XmlContent::Text)),
        field("c", node(XmlKind::Cdata, XmlContent::Any)),
        field("d", node(XmlKind::None, XmlContent::List(one(XmlNode::EMPTY)))),
        field("", node(XmlKind::Element, XmlContent::Boolean)),
    ];
    let named = one((text("Pet"), XmlContent::Object(fields.into())));
    Xml { root: node(XmlKind::Element, XmlContent::Named(text("Pet"))), named }
}

fn reference(root: Root, optional: bool) -> Reference {
    Reference { root, path: one(text("0")), optional }
}

fn every_template() -> Template {
    let argument = || reference(Root::Argument(text("a")), true);
    let with = Template::With(argument(), vec![(text("k"), Some(text("1"))), (text("l"), None)].into());
    let members = vec![
        (text("constant"), Template::Constant(text("{\"n\":1}"))),
        (text("value"), Template::Value(argument())),
        (text("text"), Template::Text(vec![Segment::Literal(text("x")), Segment::Value(argument())].into())),
        (text("list"), Template::List(one(Template::Value(reference(Root::Item, false))))),
        (text("with"), with),
    ];
    Template::Object(members.into())
}

fn every_condition() -> Condition {
    let given = Condition::Given(reference(Root::Step(text("first")), true));
    let is_true = Condition::True(reference(Root::Argument(text("on")), false));
    let equal = Condition::Equal(every_template(), Template::Constant(text("1")));
    let not = Condition::Not(Frozen::Shared(Arc::new(given.clone())));
    Condition::All(vec![given, is_true, Condition::Any(vec![equal, not].into())].into())
}

fn full_command() -> CommandPlan {
    CommandPlan {
        argv: vec![
            ArgvTemplate::One { text: every_template(), allow_leading_dash: true },
            ArgvTemplate::Each { list: every_template(), allow_leading_dash: false },
            ArgvTemplate::Group {
                condition: Some(every_condition()),
                words: one(ArgvTemplate::Group { condition: None, words: List::EMPTY }),
            },
        ]
        .into(),
        script: text("exec \"$0\""),
        stdin: Stdin::Text(every_template()),
        env: one((text("KEY"), every_template())),
        inherit: one(text("HOME")),
        work_dir: Some(every_template()),
        output: CommandOutput::JsonLines,
        exit_codes: one(ExitCode { code: -1, success: true, message: text("nothing") }),
        stream: true,
        max_output: 10,
        cpus: Some(0.5),
        memory: Some(1 << 40),
        pids: Some(4),
        programs: one(text("git")),
    }
}

/// A plan of every kind but HTTP.
fn other_calls() -> Vec<ExecutionPlan> {
    let step = Step {
        id: text("first"),
        tool: text("full"),
        arguments: every_template(),
        condition: Some(every_condition()),
        for_each: Some(ForEach {
            list: reference(Root::Argument(text("a")), false),
            parallel: 2,
            max_items: 9,
        }),
        optional: true,
    };
    let last = Step { condition: None, for_each: None, ..step.clone() };
    vec![
        ExecutionPlan::Command(full_command()),
        ExecutionPlan::Command(CommandPlan { stdin: Stdin::Arguments, ..CommandPlan::EMPTY }),
        ExecutionPlan::Compose(ComposePlan {
            steps: vec![step, last].into(),
            result: Some(every_template()),
        }),
        ExecutionPlan::Complete(CompletePlan { message: None, data: Some(every_template()) }),
        ExecutionPlan::Mcp(mcp_plan()),
        ExecutionPlan::Effect(EffectPlan { name: text("ask"), data: None }),
        ExecutionPlan::Agent(AgentPlan {
            system_prompt: text("Be brief."),
            model: text("{\"name\":\"m\"}"),
            thinking_level: text("high"),
            tools: one(text("full")),
            max_turns: 1,
            max_tokens: 2,
            max_time: 3,
        }),
        ExecutionPlan::Function,
    ]
}

fn mcp_plan() -> McpPlan {
    let server = McpServer {
        alias: text("disk"),
        transport: McpTransport::Stdio {
            argv: one(text("server")),
            env: one((text("A"), text("b"))),
            inherit: one(text("HOME")),
            work_dir: text("/srv"),
        },
        revision: text("2025-11-25"),
        concurrency: 4,
        idle_timeout: Some(Duration::from_millis(1500)),
        call_timeout: Some(Duration::from_secs(60)),
        capabilities: one(text("elicitation")),
    };
    McpPlan { server: Frozen::Shared(Arc::new(server)), tool: text("read_file"), descriptor: text("{}") }
}

fn full_spec(name: &'static str) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        label: text("Label"),
        description: text("Says \"hi\" */ // {} \\ \u{202e} and\nmore: \"#\"##"),
        returns: text("A pet."),
        use_for: text("Pets."),
        examples: one(Example { summary: text("One"), arguments: text("{\"id\":1}") }),
        input: Shape::of(Kind::Object(ObjectRules::ANY)).into(),
        output: Some(Shape::of(Kind::Ref(text("Pet"))).into()),
        output_may_differ: true,
        string_arguments: one(text("id")),
        defs: defs(),
        exact: true,
        slim: "compact, optional=a, depth=3, description=sentence".parse().unwrap(),
        effects: Effects {
            network: Network::Hosts(one(text("eu.example.com"))),
            files: Files::Read,
            ..Effects::NONE
        },
        category: text("pets"),
        scopes: one(text("pets")),
        timeout: Timeout::Millis(1500),
        exclusive: true,
        service: text("pets"),
        reads: one(text("pet:{id}")),
        writes: one(text("index")),
        result_limit: Some(4096),
        documentation: "- **all** - \"quoted\"\n".into(),
        requires: one(Requirement {
            kind: RequirementKind::Entity,
            name: text("pet"),
            argument: text("id"),
            message: Text::EMPTY,
            optional: true,
        }),
        projection: text("fields"),
        completion: Some(Completion { next_state: text("done") }),
        sub_agent: true,
        hints: Hints {
            callers: Callers::Both,
            eager_input: true,
            input_format: InputFormat::Lark(text("start: /[a-z]+/")),
            icons: one(Icon {
                src: text("https://example.com/pet.png"),
                mime_type: text("image/png"),
                sizes: one(text("48x48")),
                theme: text("dark"),
            }),
            meta: text("{\"team\":\"pets\"}"),
        },
        deprecated: Some(text("use another")),
    }
}

fn program() -> Program {
    let origin = |path: &str| Origin {
        source: Arc::default(),
        pointer: Pointer::ROOT,
        id: String::new(),
        title: format!("POST {path}"),
        groups: Vec::new(),
    };
    let plan = full_plan();
    let small = RequestPlan {
        path: text("/"),
        servers: servers(),
        body: Some(Body {
            required: false,
            media_type: text("application/json"),
            codec: Codec::Json,
            source: BodySource::Argument(text("body")),
        }),
        ..RequestPlan::EMPTY
    };
    let tool = |spec, plan, path: &str| Tool {
        spec,
        call: ExecutionPlan::Http(plan),
        failure: None,
        success: Success::default(),
        origin: origin(path),
    };
    let others = other_calls().into_iter().enumerate().map(|(number, call)| {
        let name = ToolName::parse(format!("other_{number}")).unwrap();
        Tool {
            spec: ToolSpec { name, ..ToolSpec::EMPTY },
            call,
            failure: None,
            success: Success::default(),
            origin: origin("/"),
        }
    });
    let mut tools = vec![
        tool(full_spec("full"), plan, "/pets/{id}"),
        tool(ToolSpec { name: ToolName::new("TOOL_full"), ..ToolSpec::EMPTY }, small, "/a`b\n/c"),
        tool(ToolSpec { name: ToolName::new("tools"), ..ToolSpec::EMPTY }, RequestPlan::EMPTY, "/"),
    ];
    tools.extend(others);
    Program {
        kind: "openapi",
        version: "3.1.0".to_owned(),
        operations: tools.len(),
        tools,
        defs: defs(),
        ..Program::default()
    }
}

fn text_of(program: &Program) -> String {
    module(program, &ModuleStyle { types: false, ..ModuleStyle::new("pets.yaml") })
}

#[test]
fn emitted_program_is_deterministic() {
    assert_eq!(text_of(&program()), text_of(&program()));
}

#[test]
fn static_names_do_not_collide() {
    let text = text_of(&program());
    let mut names: Vec<_> = text
        .lines()
        .filter_map(|line| {
            let line = line.strip_prefix("pub ").unwrap_or(line);
            let rest = line.strip_prefix("static ").or_else(|| line.strip_prefix("const "))?;
            Some(rest.split(':').next()?.to_ascii_lowercase())
        })
        .filter(|name| name != "_")
        .collect();
    assert_eq!(names.len(), 1 + 2 * 11 + 5, "{text}");
    names.sort();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "{names:?}");
}

#[test]
fn shared_values_are_emitted_once() {
    let text = text_of(&program());
    assert_eq!(text.matches("https://{region}").count(), 1, "{text}");
    assert_eq!(text.matches("S(&SERVERS)").count(), 2, "{text}");
}

#[test]
fn comment_has_one_line_of_visible_text() {
    let text = text_of(&program());
    assert!(text.contains("/// `POST /a b /c`\n"), "{text}");
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn modules_of_a_crate_have_unique_names() {
    let mut taken = Vec::new();
    let names: Vec<_> = ["pets.yaml", "Pets.json", "type.yaml", "2023-01.yaml", ".hidden", "lib.rs"]
        .into_iter()
        .map(|file| module_name(file, &mut taken))
        .collect();
    assert_eq!(names, ["pets", "pets_2", "type_", "n2023_01", "hidden", "lib_2"]);
}

#[test]
fn crate_declares_all_its_modules() {
    let modules = [("a".to_owned(), "// a\n".to_owned()), ("b".to_owned(), "// b\n".to_owned())];
    let runtime = RuntimeDependency::Path("../x".to_owned());
    let files = package("my-\"tools", &modules, &["typed"], &runtime, Modules::One);
    let paths: Vec<_> = files.iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["Cargo.toml", "src/a.rs", "src/b.rs", "src/lib.rs"]);
    let (_, manifest) = files.iter().next().unwrap();
    assert!(manifest.contains("name = \"my-\\\"tools\""), "{manifest}");
    assert!(
        manifest.contains("path = \"../x\", default-features = false, features = [\"typed\"]"),
        "{manifest}"
    );
}

/// Prints the module to inspect its layout: `cargo test -p toolgen --lib emit::tests::show -- --ignored --nocapture`.
#[test]
#[ignore = "for reading"]
fn show() {
    println!("{}", text_of(&program()));
}
