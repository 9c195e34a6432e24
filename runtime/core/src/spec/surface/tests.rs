//! Tests of writing, parsing and comparing surfaces. `tests/full.json` is a tool with a value in every field.

use std::path::Path;

use serde_json::json;
use toolgen_test_support::script;

use super::*;
use crate::base::frozen::{List, Text};
use crate::schema::shape::Def;
use crate::schema::shape::read::{read, read_document};
use crate::spec::drift::ChangeClass;
use crate::spec::plan::{ArgvTemplate, CommandPlan, ExecutionPlan, RequestPlan, Server};
use crate::spec::template::Template;
use crate::spec::{Effects, Files, ToolName};

fn shape(schema: &Value) -> crate::schema::shape::Shape {
    let mut problems = Vec::new();
    let shape = read(schema, &mut problems);
    assert_eq!(problems, []);
    shape
}

fn defs(schemas: &Value) -> List<Def> {
    read_document(&json!({ "$defs": schemas }), &mut Vec::new()).1
}

/// Returns a tool with a value in every field.
fn full() -> ToolSpec {
    ToolSpec::from_json(&serde_json::from_str(include_str!("tests/full.json")).unwrap()).unwrap()
}

fn request() -> ExecutionPlan {
    let server = Server { url: "https://a.example.com/v1".into(), variables: List::EMPTY };
    ExecutionPlan::Http(RequestPlan {
        path: "/orders".into(),
        servers: vec![server].into(),
        ..RequestPlan::EMPTY
    })
}

fn surface(spec: &ToolSpec, call: &ExecutionPlan) -> Surface {
    Surface::of([(spec, Some(recorded(call)))]).unwrap()
}

#[test]
fn specification_round_trips_as_json() {
    let json: Value = serde_json::from_str(include_str!("tests/full.json")).unwrap();
    assert_eq!(full().to_json(), json);
    let missing: Vec<_> = tool::KEYS.iter().filter(|key| json.get(key).is_none()).collect();
    assert_eq!(missing, [&"call"], "the file has a value in every field");
    for spec in [full(), ToolSpec::EMPTY] {
        assert_eq!(ToolSpec::from_json(&spec.to_json()).unwrap(), spec);
        let surface = Surface::of([(&spec, None)]).unwrap();
        assert_eq!(surface.specs(), std::slice::from_ref(&spec));
        assert_eq!(Surface::parse(&surface.text()).unwrap().specs(), [spec]);
    }
}

#[test]
fn every_error_of_a_specification_is_reported() {
    let mut json = full().to_json();
    json["effects"]["files"] = json!("some");
    json["colour"] = json!("red");
    json["timeout"] = json!("5 minutes");
    json["requires"][0]["kind"] = json!("luck");
    let problems = ToolSpec::from_json(&json).unwrap_err();
    let pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(pointers, ["/colour", "/effects/files", "/timeout", "/requires/0/kind"]);
}

#[test]
fn every_change_has_its_class() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/spec/surface/tests/changes.txt");
    let old = surface(&full(), &request());
    let root: Value = serde_json::from_str(&old.text()).unwrap();
    script::replay(&file, || {
        |word, rest| {
            let new = Surface::read(&script::changed(&root, word, rest)).unwrap();
            old.drift(&new).iter().map(ToString::to_string).collect()
        }
    });
}

#[test]
fn renamed_schema_is_not_a_change() {
    let old = surface(&full(), &request());
    let renamed = old.text().replace("$defs/Order", "$defs/Purchase").replace("\"Order\"", "\"Purchase\"");
    let changes = old.drift(&Surface::parse(&renamed).unwrap());
    let [change] = changes.as_slice() else { panic!("{changes:#?}") };
    assert_eq!(
        (change.class, change.pointer.as_str()),
        (ChangeClass::Text, "/output/properties/orders/items")
    );
}

#[test]
fn tools_are_added_removed_and_renamed() {
    let (find, other) = (full(), ToolSpec { name: ToolName::new("other"), ..ToolSpec::EMPTY });
    let messages = |old: &[&ToolSpec], new: &[&ToolSpec]| {
        let surface_of = |specs: &[&ToolSpec]| Surface::of(specs.iter().map(|spec| (*spec, None))).unwrap();
        surface_of(old).drift(&surface_of(new)).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(messages(&[&find], &[&other, &find]), ["added: `other`: the tool is new"]);
    assert_eq!(messages(&[&other, &find], &[&find]), ["breaking: `other`: the tool no longer exists"]);
    let renamed = ToolSpec { name: ToolName::new("search"), ..full() };
    assert_eq!(
        messages(&[&find], &[&renamed]),
        ["breaking: `find`: the tool is now called `search`", "added: `search`: the tool is new"]
    );
    let error = Surface::of([(&find, None), (&find, None)]).unwrap_err();
    assert_eq!(error.to_string(), "two tools have the name `find`; rename one");
}

#[test]
fn different_schemas_of_one_name_stay_separate() {
    let tool = |name: &'static str, kind: &str| ToolSpec {
        name: ToolName::new(name),
        input: shape(&json!({"type": "object", "properties": {"pet": {"$ref": "#/$defs/Pet"}}})).into(),
        defs: defs(&json!({"Pet": {"type": kind}})),
        ..ToolSpec::EMPTY
    };
    let specs = [tool("a", "string"), tool("b", "integer"), tool("c", "integer")];
    let surface = Surface::of(specs.iter().map(|spec| (spec, None))).unwrap();
    let root: Value = serde_json::from_str(&surface.text()).unwrap();
    assert_eq!(root["$defs"], json!({"Pet": {"type": "integer"}}));
    assert_eq!(root["tools"]["a"]["$defs"], json!({"Pet": {"type": "string"}}));
    assert_eq!(Surface::read(&root).unwrap().specs(), specs);
    // A change of a shared schema is reported once.
    let changed = [tool("a", "string"), tool("b", "number"), tool("c", "number")];
    let changed = Surface::of(changed.iter().map(|spec| (spec, None))).unwrap();
    let messages: Vec<String> = surface.drift(&changed).iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["compatible: `b`, `c` at /$defs/Pet/type: `type` was \"integer\" and is \"number\""]
    );
}

#[test]
fn equal_surfaces_have_equal_texts() {
    let first = surface(&full(), &request()).text();
    for _ in 0..100 {
        let parsed = Surface::parse(&first).unwrap();
        assert_eq!(parsed.text(), first);
        assert_eq!(surface(&full(), &request()).drift(&parsed), []);
    }
}

#[test]
fn sets_are_compared() {
    let set = |members: &[&'static str]| {
        let members: Vec<Text> = members.iter().map(|name| Text::Static(name)).collect();
        Surface::default().with_toolsets([&Toolset::new("desk", members)])
    };
    let messages: Vec<String> =
        set(&["a", "b"]).drift(&set(&["b", "c"])).iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "model: /toolsets/desk: `a` is no longer in the set `desk`",
            "model: /toolsets/desk: `c` is now in the set `desk`"
        ]
    );
    assert_eq!(set(&["a"]).drift(&Surface::default())[0].class, ChangeClass::Breaking);
}

#[test]
fn changed_program_is_a_security_change() {
    let command = |words: &[&str]| {
        let argv = words.iter().map(|word| ArgvTemplate::One {
            text: Template::Constant(json!(word).to_string().into()),
            allow_leading_dash: false,
        });
        ExecutionPlan::Command(CommandPlan { argv: argv.collect(), ..CommandPlan::EMPTY })
    };
    let spec = ToolSpec { effects: Effects { files: Files::Write, ..Effects::NONE }, ..ToolSpec::EMPTY };
    let changes =
        surface(&spec, &command(&["rm", "{x}"])).drift(&surface(&spec, &command(&["rm", "-r", "{x}"])));
    assert_eq!(
        changes[0].to_string(),
        r#"security: `unnamed` at /call/command/argv: `argv` was ["rm","{{x}}"] and is ["rm","-r","{{x}}"]"#
    );
}
