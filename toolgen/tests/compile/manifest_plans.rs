//! What a manifest becomes, value by value.

use serde_json::{Value, json};
use toolgen::{Options, Program};
use toolgen_runtime::spec::plan::{
    AgentPlan, Body, BodyField, BodySource, Codec, CommandOutput, CommandPlan, CompletePlan, EffectPlan,
    Encoding, ExitCode, Location, Parameter, Placement, SecurityRequirement, SecurityScheme, Server, Stdin,
    Word,
};
use toolgen_runtime::spec::template::{Condition, Reference, Root, Segment, Template};
use toolgen_runtime::spec::{
    Completion, Effects, Example, Files, Network, Requirement, RequirementKind, Timeout,
};
use toolgen_runtime::{Call, Frozen, List, RequestPlan, Text, ToolName, ToolSpec};

use crate::support::{self, of_shape};

fn compiled_with(text: &str, options: &Options) -> Program {
    let (program, problems) = support::compiled(text, options);
    assert_eq!(problems.to_string(), "");
    program.unwrap()
}

fn compiled(text: &str) -> Program {
    compiled_with(text, &Options::default())
}

/// The only tool of a manifest, of which this is the tool `t`.
fn tool(body: &str) -> toolgen::Tool {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    compiled(&format!("toolgen: 1\ntools:\n  t:\n    description: Does it.\n{body}")).tools.remove(0)
}

fn call(body: &str) -> Call {
    tool(body).call
}

fn reference(name: &str, path: &[&str], optional: bool) -> Reference {
    let path = path.iter().map(|key| Text::from((*key).to_owned())).collect();
    Reference { root: Root::Argument(name.to_owned().into()), path, optional }
}

fn value(name: &str) -> Template {
    Template::Value(reference(name, &[], false))
}

fn optional(name: &str) -> Template {
    Template::Value(reference(name, &[], true))
}

fn constant(value: &Value) -> Template {
    Template::Constant(value.to_string().into())
}

fn word(text: Template) -> Word {
    Word::One { text, dash: false }
}

fn fixed(text: &str) -> Word {
    word(constant(&json!(text)))
}

fn joined(literal: &str, last: Reference) -> Template {
    Template::Text(vec![Segment::Literal(literal.to_owned().into()), Segment::Value(last)].into())
}

fn input(spec: &ToolSpec) -> Value {
    of_shape(spec.input.shape())
}

#[test]
fn a_command_is_words_groups_and_spreads() {
    let plan = call(
        r#"parameters:
  word: string - W.
  paths: string[]? - P.
  most: integer = 5 - M.
  loud: boolean? - L.
command:
  argv:
    - grep
    - -m{most}
    - [--file, '{word}', 7]
    - {if: {all: ['{loud}', {not: {given: paths}}, {equal: ['{word}', {a: 1}]}]}, args: [-v]}
    - {arg: '{word}', allow_dash: true}
    - 'a{{b}}'
    - '{paths?*}'
  stdin: {text: "{word}\n"}
  env: {WORD: {arg: '{word}', code: false}, DEPTH: 2}
  inherit: [TERM]
  cwd: '{word}'
  output: json_lines
  exit_codes: {1: {success: true, message: None.}, 2: Broken., other: {success: true}}
  stream: true
  max_output: 64KiB
  limits: {cpus: 0.5, memory: 256MiB, pids: 16}
  programs: [grep]"#,
    );
    let given = Condition::Not(Frozen::from(Condition::Given(reference("paths", &[], true))));
    let equal = Condition::Equal(value("word"), constant(&json!({"a": 1})));
    let condition = vec![Condition::True(reference("loud", &[], true)), given, equal];
    let text = vec![Segment::Value(reference("word", &[], false)), Segment::Literal("\n".into())];
    let expected = CommandPlan {
        argv: vec![
            fixed("grep"),
            word(joined("-m", reference("most", &[], false))),
            Word::Group {
                condition: None,
                words: vec![fixed("--file"), word(value("word")), fixed("7")].into(),
            },
            Word::Group {
                condition: Some(Condition::All(condition.into())),
                words: vec![fixed("-v")].into(),
            },
            Word::One { text: value("word"), dash: true },
            fixed("a{b}"),
            Word::Each { list: optional("paths"), dash: false },
        ]
        .into(),
        script: Text::EMPTY,
        stdin: Stdin::Text(Template::Text(text.into())),
        env: vec![("WORD".into(), value("word")), ("DEPTH".into(), constant(&json!("2")))].into(),
        inherit: vec!["TERM".into()].into(),
        work_dir: Some(value("word")),
        output: CommandOutput::JsonLines,
        exit_codes: vec![
            ExitCode { code: 1, success: true, message: "None.".into() },
            ExitCode { code: 2, success: false, message: "Broken.".into() },
            ExitCode { code: ExitCode::OTHER, success: true, message: "".into() },
        ]
        .into(),
        stream: true,
        max_output: 65_536,
        cpus: Some(0.5),
        memory: Some(256 << 20),
        pids: Some(16),
        programs: vec!["grep".into()].into(),
    };
    assert_eq!(plan, Call::Command(expected));
}

#[test]
fn a_script_takes_its_values_beside_it() {
    let plan = call(
        "parameters: {a: string - A.}\ncommand: {shell: true, script: 'echo \"$1\" ${A} {b}', args: ['{a}'], env: {A: '{a}'}, stdin: arguments}",
    );
    let expected = CommandPlan {
        argv: vec![word(value("a"))].into(),
        script: "echo \"$1\" ${A} {b}".into(),
        env: vec![("A".into(), value("a"))].into(),
        stdin: Stdin::Arguments,
        ..CommandPlan::EMPTY
    };
    assert_eq!(plan, Call::Command(expected));
}

fn parameter(argument: &str, name: &str, location: Location) -> Parameter {
    let encoding = if location == Location::Query { Encoding::FORM } else { Encoding::SIMPLE };
    Parameter { argument: argument.to_owned().into(), name: name.to_owned().into(), location, encoding }
}

fn field(argument: &str, name: &str) -> BodyField {
    BodyField { argument: argument.to_owned().into(), name: name.to_owned().into() }
}

#[test]
fn a_request_takes_arguments_and_what_is_derived_from_them() {
    let tool = tool(
        r#"parameters:
  id: integer - I.
  who: {type: object, properties: {mail: string}, description: W.}
  page: integer? - P.
  tags: string[] - T.
http:
  method: put
  url: https://Api.example.com:8443/v1/{id}/{who.mail}?fixed=a%20b+c&page={page?}
  query: {size: 50, tags: '{tags}', q: 'id {id}'}
  headers: {X-Id: 'no. {id}', X-Client: toolgen, accept: text/plain}
  body: {tags: '{tags}', by: {mail: '{who.mail}'}, page: '{page?}'}
  auth: {header: X-Key, env: API_KEY}"#,
    );
    let mail = Reference { path: vec!["mail".into()].into(), ..reference("who", &["mail"], false) };
    let by = Template::Object(vec![("mail".into(), Template::Value(mail.clone()))].into());
    let fields = vec![field("tags", "tags"), field("=body.by", "by"), field("page", "page")];
    let scheme = SecurityScheme {
        id: "API_KEY".into(),
        placement: Placement::Header("X-Key".into()),
        scopes: List::EMPTY,
        env: "API_KEY".into(),
    };
    let expected = RequestPlan {
        method: "PUT".into(),
        path: "/v1/{id}/{who.mail}".into(),
        query: vec![("fixed".into(), "a b c".into()), ("size".into(), "50".into())].into(),
        servers: vec![Server { url: "https://api.example.com:8443".into(), variables: List::EMPTY }].into(),
        parameters: vec![
            parameter("id", "id", Location::Path),
            parameter("=path.who.mail", "who.mail", Location::Path),
            parameter("page", "page", Location::Query),
            parameter("tags", "tags", Location::Query),
            parameter("=query.q", "q", Location::Query),
            parameter("=header.X-Id", "X-Id", Location::Header),
            parameter("=header.X-Client", "X-Client", Location::Header),
        ]
        .into(),
        body: Some(Body {
            required: true,
            media_type: "application/json".into(),
            codec: Codec::Json,
            source: BodySource::Fields(fields.into()),
        }),
        security: vec![SecurityRequirement { schemes: vec![scheme].into() }].into(),
        accept: "text/plain".into(),
        defaults: true,
        derived: vec![
            ("=path.who.mail".into(), Template::Value(mail)),
            ("=query.q".into(), joined("id ", reference("id", &[], false))),
            ("=header.X-Id".into(), joined("no. ", reference("id", &[], false))),
            ("=header.X-Client".into(), constant(&json!("toolgen"))),
            ("=body.by".into(), by),
        ]
        .into(),
        ..RequestPlan::EMPTY
    };
    assert_eq!(tool.call, Call::Http(expected));
    let hosts = Network::Hosts(vec!["api.example.com:8443".into()].into());
    let effects =
        Effects { read_only: false, destructive: true, open_world: true, network: hosts, ..Effects::NONE };
    assert_eq!(tool.spec.effects, effects);
}

fn body(text: &str) -> Option<Body> {
    match call(text) {
        Call::Http(plan) => plan.body,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_body_is_what_is_said_or_what_is_left() {
    let rest = body("parameters: {id: integer - I., name: string? - N.}\nhttp: {method: POST, url: 'https://a.example/{id}'}").unwrap();
    assert_eq!((rest.required, &rest.codec), (false, &Codec::Json));
    assert_eq!(rest.source, BodySource::Fields(vec![field("name", "name")].into()));
    assert_eq!(
        body("parameters: {id: integer - I.}\nhttp: {method: POST, url: 'https://a.example/{id}'}"),
        None
    );
    let whole =
        body("parameters: {all: 'object? - A.'}\nhttp: {url: 'https://a.example', body: '{all?}'}").unwrap();
    assert_eq!((whole.required, whole.source), (false, BodySource::Argument("all".into())));
    let form = body("parameters: {a: string - A.}\nhttp: {url: 'https://a.example', form: {x: '{a}', y: 1}}")
        .unwrap();
    assert_eq!(form.media_type, "application/x-www-form-urlencoded");
    assert_eq!(form.source, BodySource::Fields(vec![field("a", "x"), field("=body.y", "y")].into()));
    let text = body("parameters: {a: string - A.}\nhttp: {url: 'https://a.example', text: 'x{a}', headers: {Content-Type: text/xml}}").unwrap();
    assert_eq!((text.media_type.as_str(), &text.codec), ("text/xml", &Codec::Text));
    assert_eq!(text.source, BodySource::Argument("=body".into()));
}

#[test]
fn the_specification_has_every_attribute() {
    let spec = tool(
        r#"label: The tool
returns: A result.
use_for: Everything.
doc_override: Read the manual.
category: files
scopes: [read, write]
timeout: 90s
destructive: false
idempotent: true
open_world: false
files: read
requires:
  - {session: cart, message: First a cart., optional: true}
  - {entity: order, argument: a}
  - a => b
at_most_one: [b, c]
service: store
reads: 'file:{a}'
writes: ['file:{b}', log]
exclusive: true
result_limit: 1MiB
deprecated: Use another.
dialects: [openai, gemini]
examples: [{summary: One., arguments: {a: x, b: y}}]
parameters:
  a: string - A.
  b: enum(x, y)? - B.
  c: {type: integer, minimum: 0, default: 3, description: C., aliases: [count]}
output: {type: object, properties: {n: integer}}
complete: {next_state: DONE}
function: {}"#,
    )
    .spec;
    assert_eq!(
        input(&spec),
        json!({
            "type": "object",
            "properties": {
                "a": {"type": "string", "description": "A."},
                "b": {"enum": ["x", "y"], "description": "B."},
                "c": {"type": "integer", "minimum": 0, "default": 3, "description": "C.", "x-aliases": ["count"]},
            },
            "required": ["a"],
            "additionalProperties": false,
            "x-relations": [["requires", "a", "b"], ["at-most-one", "b", "c"]],
        })
    );
    let requirement = Requirement {
        kind: RequirementKind::Session,
        name: "cart".into(),
        argument: Text::EMPTY,
        message: "First a cart.".into(),
        optional: true,
    };
    let expected = ToolSpec {
        name: ToolName::new("t"),
        label: "The tool".into(),
        slim: ToolSpec::EMPTY.slim,
        exact: ToolSpec::EMPTY.exact,
        output_may_differ: ToolSpec::EMPTY.output_may_differ,
        texts: List::EMPTY,
        description: "Does it.".into(),
        returns: "A result.".into(),
        use_for: "Everything.".into(),
        documentation: "Read the manual.".into(),
        examples: vec![Example { summary: "One.".into(), arguments: "{\"a\":\"x\",\"b\":\"y\"}".into() }]
            .into(),
        input: spec.input.clone(),
        output: spec.output.clone(),
        defs: List::EMPTY,
        effects: Effects {
            destructive: false,
            idempotent: true,
            open_world: false,
            network: Network::None,
            files: Files::Read,
            ..Effects::UNDECLARED
        },
        category: "files".into(),
        scopes: vec!["read".into(), "write".into()].into(),
        timeout: Timeout::Millis(90_000),
        exclusive: true,
        service: "store".into(),
        reads: vec!["file:{a}".into()].into(),
        writes: vec!["file:{b}".into(), "log".into()].into(),
        result_limit: Some(1 << 20),
        requires: vec![requirement, Requirement::entity("order", "a")].into(),
        completion: Some(Completion { next_state: "DONE".into() }),
        sub_agent: false,
        deprecated: Some("Use another.".into()),
    };
    assert_eq!(spec, expected);
    let output = of_shape(spec.output.unwrap().shape());
    // A property in short form is required unless it says otherwise.
    assert_eq!(
        output,
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    );
}

/// As `#[tool(read_only)]` and its like do.
#[test]
fn effects_follow_from_each_other() {
    let of = |text: &str| tool(&format!("{text}\nfunction: {{}}")).spec.effects;
    assert_eq!(of(""), Effects::UNDECLARED);
    assert_eq!(of("pure: true"), Effects::NONE);
    let read_only = Effects {
        read_only: true,
        destructive: false,
        idempotent: true,
        files: Files::Read,
        ..Effects::UNDECLARED
    };
    assert_eq!(of("read_only: true"), read_only);
    assert_eq!(of("open_world: false").network, Network::None);
    let hosts = Network::Hosts(vec!["a.example".into(), "b.example:1".into()].into());
    assert_eq!(of("network: [a.example, 'b.example:1']").network, hosts);
    let command = tool("read_only: true\nnetwork: none\ncommand: {argv: [ls]}").spec.effects;
    let offline = Effects { network: Network::None, open_world: false, ..read_only };
    assert_eq!(command, offline);
    let stated = tool("read_only: true\nnetwork: none\nopen_world: true\ncommand: {argv: [ls]}").spec.effects;
    assert_eq!(stated, Effects { open_world: true, ..offline });
    assert_eq!(tool("http: {url: 'https://a.example/'}").spec.effects.files, Files::None);
    assert_eq!(tool("complete: true").spec.effects, Effects::NONE);
    // What handles an effect may do anything.
    assert_eq!(tool("effect: {name: e}").spec.effects, Effects::UNDECLARED);
}

#[test]
fn a_file_says_what_its_tools_share() {
    let program = compiled(
        "toolgen: 1
defaults: {timeout: none, category: web, network: none, undocumented: true, scopes: [a]}
tools:
  one: {parameters: {a: string}, function: {}}
  two: {timeout: 5s, scopes: [], http: {url: 'https://a.example/'}}",
    );
    let [one, two] = program.tools.as_slice() else { panic!("two tools") };
    assert_eq!((one.spec.timeout, &one.spec.effects.network), (Timeout::Never, &Network::None));
    assert_eq!(
        (one.spec.label.as_str(), one.spec.category.as_str(), one.spec.scopes.len()),
        ("One", "web", 1)
    );
    assert_eq!((two.spec.timeout, two.spec.scopes.len()), (Timeout::Millis(5_000), 0));
    // A request goes where its URL says, whatever holds for other tools.
    assert_eq!(two.spec.effects.network, Network::Hosts(vec!["a.example".into()].into()));
}

#[test]
fn signals_agents_and_functions_are_plans() {
    let plan = call(
        "parameters: {a: string - A.}\ncomplete: {next_state: X, message: 'Did {a}.', data: {n: 1, a: '{a}'}}",
    );
    let Call::Complete(CompletePlan { message, data }) = plan else { panic!("{plan:?}") };
    assert_eq!(message.unwrap(), {
        let segments = vec![
            Segment::Literal("Did ".into()),
            Segment::Value(reference("a", &[], false)),
            Segment::Literal(".".into()),
        ];
        Template::Text(segments.into())
    });
    let members = vec![("n".into(), constant(&json!(1))), ("a".into(), value("a"))];
    assert_eq!(data, Some(Template::Object(members.into())));
    assert_eq!(call("complete:"), Call::Complete(CompletePlan { message: None, data: None }));
    assert_eq!(call("effect: {name: e}"), Call::Effect(EffectPlan { name: "e".into(), data: None }));
    assert_eq!(call("function:"), Call::Function);
    let program = compiled(
        "toolgen: 1
namespace: n
tools:
  a: {description: A., function: {}}
  b: {agent: {system_prompt: P., tools: [a], model: {name: m}, thinking_level: low, max_turns: 3, max_tokens: 9, max_time: 2m}}",
    );
    let agent = AgentPlan {
        system_prompt: "P.".into(),
        model: "{\"name\":\"m\"}".into(),
        thinking_level: "low".into(),
        tools: vec!["n__a".into()].into(),
        max_turns: 3,
        max_tokens: 9,
        max_time: 120_000,
    };
    let tool = &program.tools[1];
    assert_eq!(tool.call, Call::Agent(agent));
    assert!(tool.spec.sub_agent);
    assert_eq!(tool.spec.timeout, Timeout::Millis(120_000));
    assert_eq!(tool.spec.description, "Delegate a task to the 'n__b' sub-agent");
    assert_eq!(input(&tool.spec)["required"], json!(["task"]));
}

#[test]
fn schemas_are_named_once_and_only_if_they_are_reached() {
    let program = compiled(
        "toolgen: 1
schemas:
  Point: {type: object, properties: {x: number, y: 'number? = 0 - Up.', next: {$ref: '#/schemas/Point'}}}
  Unused: string
tools:
  t:
    description: Draws.
    parameters: {at: Point - Where., all: 'Point[]? - All.'}
    output: Point
    function: {}",
    );
    let names: Vec<&str> = program.defs.iter().map(|def| def.name.as_str()).collect();
    assert_eq!(names, ["Point"]);
    assert_eq!(program.tools[0].spec.defs, program.defs);
    let point = of_shape(program.defs[0].schema.shape());
    assert_eq!(point["required"], json!(["x"]));
    assert_eq!(
        input(&program.tools[0].spec)["properties"]["all"],
        json!({"type": "array", "items": {"$ref": "#/$defs/Point"}, "description": "All."})
    );
}

#[test]
fn options_select_rename_and_prefix_the_tools() {
    let text = "toolgen: 1
namespace: own
tools:
  a: {description: A., category: x, function: {}}
  b: {description: B., category: y, deprecated: true, function: {}}
  c: {agent: {tools: [a]}}";
    let names = |options: &Options| -> Vec<String> {
        compiled_with(text, options).tools.iter().map(|tool| tool.spec.name.to_string()).collect()
    };
    assert_eq!(names(&Options::default()), ["own__a", "own__b", "own__c"]);
    assert_eq!(names(&Options::default().namespace("n").exclude("b")), ["n__a", "n__c"]);
    assert_eq!(names(&Options::default().include("tag:y")), ["own__b"]);
    assert_eq!(names(&Options::default().deprecated(false).rename("a", "z")), ["own__c", "own__z"]);
}
