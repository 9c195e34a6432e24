//! A program with everything a tool can hold, made by hand.

use std::sync::Arc;

use toolgen_runtime::schema::shape::*;
use toolgen_runtime::spec::plan::*;
use toolgen_runtime::spec::*;
use toolgen_runtime::{Def, List, Text};

use super::{ModuleStyle, RuntimeDependency, module, module_name, package};
use crate::source::Pointer;
use crate::tool::{Origin, Program, Tool};

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
    }
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
        defs: defs(),
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
        completion: Some(Completion { next_state: text("done") }),
        sub_agent: true,
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
    let tool = |spec, plan, path: &str| Tool { spec, call: Call::Http(plan), origin: origin(path) };
    let tools = vec![
        tool(full_spec("full"), plan, "/pets/{id}"),
        tool(ToolSpec { name: ToolName::new("TOOL_full"), ..ToolSpec::EMPTY }, small, "/a`b\n/c"),
        tool(ToolSpec { name: ToolName::new("tools"), ..ToolSpec::EMPTY }, RequestPlan::EMPTY, "/"),
    ];
    Program {
        kind: "openapi",
        version: "3.1.0".to_owned(),
        operations: 3,
        tools,
        defs: defs(),
        schemes: Vec::new(),
    }
}

fn text_of(program: &Program) -> String {
    module(program, &ModuleStyle { types: false, ..ModuleStyle::new("pets.yaml") })
}

#[test]
fn a_program_is_written_the_same_each_time() {
    assert_eq!(text_of(&program()), text_of(&program()));
}

#[test]
fn names_of_statics_do_not_collide() {
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
    assert_eq!(names.len(), 1 + 2 * 3 + 4, "{text}");
    names.sort();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "{names:?}");
}

#[test]
fn what_is_shared_is_written_once() {
    let text = text_of(&program());
    assert_eq!(text.matches("https://{region}").count(), 1, "{text}");
    assert_eq!(text.matches("S(&SERVERS)").count(), 2, "{text}");
}

#[test]
fn a_comment_holds_one_line_of_visible_text() {
    let text = text_of(&program());
    assert!(text.contains("/// `POST /a b /c`\n"), "{text}");
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn modules_of_a_crate_have_different_names() {
    let mut taken = Vec::new();
    let names: Vec<_> = ["pets.yaml", "Pets.json", "type.yaml", "2023-01.yaml", ".hidden", "lib.rs"]
        .into_iter()
        .map(|file| module_name(file, &mut taken))
        .collect();
    assert_eq!(names, ["pets", "pets_2", "type_", "n2023_01", "hidden", "lib_2"]);
}

#[test]
fn a_crate_of_several_modules_declares_them() {
    let modules = [("a".to_owned(), "// a\n".to_owned()), ("b".to_owned(), "// b\n".to_owned())];
    let files = package("my-\"tools", &modules, true, &RuntimeDependency::Path("../x".to_owned()));
    let paths: Vec<_> = files.iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["Cargo.toml", "src/a.rs", "src/b.rs", "src/lib.rs"]);
    let (_, manifest) = files.iter().next().unwrap();
    assert!(manifest.contains("name = \"my-\\\"tools\""), "{manifest}");
    assert!(
        manifest.contains("path = \"../x\", default-features = false, features = [\"typed\"]"),
        "{manifest}"
    );
}

/// Prints the module for a look at its layout: `cargo test -p toolgen --lib emit::tests::show -- --ignored --nocapture`.
#[test]
#[ignore = "for reading"]
fn show() {
    println!("{}", text_of(&program()));
}
