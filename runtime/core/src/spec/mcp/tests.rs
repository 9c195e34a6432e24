//! Descriptors as tools.

use serde_json::json;

use super::*;
use crate::base::frozen::List;
use crate::schema::dialect::{Dialect, JSON_SCHEMA, OPENAI};
use crate::schema::shape::decode::decode_owned;
use crate::schema::shape::render::{Rendered, canonical as shown, render_input};

fn server(transport: McpTransport) -> Frozen<McpServer> {
    McpServer { alias: "shop".into(), transport, ..McpServer::EMPTY }.into()
}

fn program() -> Frozen<McpServer> {
    let argv = vec![Text::from("shop-server")].into();
    server(McpTransport::Stdio { argv, env: List::EMPTY, inherit: List::EMPTY, work_dir: Text::EMPTY })
}

fn remote() -> Frozen<McpServer> {
    let url = Text::from("https://Shop.example.com:8443/mcp");
    server(McpTransport::Http { url, headers: List::EMPTY, bearer: Text::EMPTY })
}

fn find_orders() -> Value {
    json!({
        "name": "find.orders",
        "title": "Find orders",
        "description": " Finds the orders of a customer. ",
        "inputSchema": {
            "type": "object",
            "properties": {
                "customer": {"type": "integer", "minimum": 1},
                "since": {"$ref": "#/$defs/Day"},
                "until": {"$ref": "#/properties/since"},
            },
            "required": ["customer"],
            "$defs": {"Day": {"type": "string", "format": "date"}},
        },
        "outputSchema": {
            "type": "object",
            "properties": {"orders": {"type": "array", "items": {"$ref": "#/$defs/Order"}}},
            "required": ["orders"],
            "$defs": {"Order": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
        "execution": {"taskSupport": "forbidden"},
    })
}

#[test]
fn a_descriptor_becomes_a_tool() {
    let tool = tool(&program(), &find_orders(), true).unwrap();
    assert_eq!(tool.spec.name.as_str(), "shop__find_orders");
    assert_eq!(tool.spec.description, *"Finds the orders of a customer.");
    assert_eq!((tool.spec.label.as_str(), tool.spec.category.as_str()), ("Find orders", "shop"));
    let Call::Mcp(plan) = &tool.call else { panic!("{:?}", tool.call) };
    assert_eq!((plan.tool.as_str(), plan.descriptor.as_str()), ("find.orders", &*canonical(&find_orders())));
    let names: Vec<&str> = tool.spec.defs.iter().map(|def| def.name.as_str()).collect();
    assert_eq!(names, ["Day", "Order", "since"]);
    let input = shown(tool.spec.input.shape());
    assert!(input.contains(r##""until":{"$ref":"#/$defs/since"}"##), "{input}");
    assert!(shown(tool.spec.output.unwrap().shape()).contains("#/$defs/Order"));
}

#[test]
fn only_what_is_pinned_is_believed() {
    let unpinned = tool(&program(), &find_orders(), false).unwrap();
    assert_eq!(unpinned.spec.effects, Effects::UNDECLARED);
    let Call::Mcp(plan) = &unpinned.call else { panic!("{:?}", unpinned.call) };
    assert_eq!(plan.descriptor, Text::EMPTY);

    let local = tool(&program(), &find_orders(), true).unwrap().spec.effects;
    let expected = Effects { network: Network::Any, files: Files::Read, spawns: true, ..Effects::NONE };
    assert_eq!(local, expected);
    let network = Network::Hosts(vec![Text::from("shop.example.com:8443")].into());
    let distant = tool(&remote(), &find_orders(), true).unwrap().spec.effects;
    assert_eq!(distant, Effects { network: network.clone(), ..Effects::NONE });

    let mut silent = find_orders();
    silent["annotations"] = json!({"readOnlyHint": "yes", "destructiveHint": null});
    let effects = tool(&remote(), &silent, true).unwrap().spec.effects;
    assert_eq!(effects, Effects { network, files: Files::None, spawns: false, ..Effects::UNDECLARED });
}

#[test]
fn one_broken_descriptor_costs_one_tool() {
    let list = [json!(7), json!({"name": "x"}), find_orders(), json!({"inputSchema": {}}), find_orders()];
    let messages = |list: &[Value]| {
        let all = tools(&program(), list, true);
        all.into_iter().map(|one| one.err().map(|why| why.to_string())).collect::<Vec<_>>()
    };
    let found = messages(&list);
    for (found, part) in
        found.iter().zip(["not an object", "schema of its arguments", "same name", "no name", "same name"])
    {
        assert!(found.as_deref().unwrap().contains(part), "{found:?}");
    }
    assert_eq!(messages(&list[..3])[2], None);
    let mut huge = find_orders();
    huge["_meta"] = json!({"x": "y".repeat(MAX_DESCRIPTOR)});
    assert!(messages(&[huge])[0].as_deref().unwrap().contains("larger than 512 KiB"));
    let nameless: Frozen<McpServer> = McpServer { alias: "No_Alias".into(), ..McpServer::EMPTY }.into();
    let why = tool(&nameless, &find_orders(), true).unwrap_err();
    assert!(why.to_string().contains("`No_Alias` is not a valid alias of a server"), "{why}");
}

#[test]
fn arguments_are_always_an_object() {
    let input = |schema: Value| {
        let list = [json!({"name": "x", "inputSchema": schema})];
        let one = tools(&program(), &list, true).remove(0).unwrap();
        (shown(one.tool.spec.input.shape()), one.problems.len())
    };
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let plain = input(object.clone());
    assert_eq!(input(json!({"$ref": "#/$defs/All", "$defs": {"All": object}})), plain);
    let mut beside = object.clone();
    beside["not"] = json!({"required": ["b"]});
    assert_eq!(
        input(beside),
        (r#"{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"not":{"required":["b"]}}]}"#.to_owned(), 0)
    );
    assert_eq!(input(json!({"oneOf": [object, {"type": "object"}]})), plain);
    let (open, problems) =
        input(json!({"oneOf": [{"type": "object"}, {"type": "object", "minProperties": 1}]}));
    assert_eq!((&*open, problems), (r#"{"type":"object"}"#, 1));
}

/// Returns what a provider reads of a schema of arguments, and the keywords that its schema does not say.
fn as_seen(schema: &Value, dialect: &Dialect) -> (Value, Vec<&'static str>) {
    let one = tool(&program(), &json!({"name": "x", "inputSchema": schema}), true).unwrap().spec;
    let Rendered { schema, losses } = render_input(&one.input, &one.defs, dialect).unwrap();
    (schema, losses.iter().map(|loss| loss.keyword).collect())
}

#[test]
fn the_arguments_of_all_alternatives_are_listed_with_the_rules() {
    let id = json!({"type": "integer"});
    let name = json!({"type": "string"});
    let either = json!([{"properties": {"id": id}, "required": ["id"]}, {"properties": {"name": name}, "required": ["name"]}]);
    let both = json!({"id": id, "name": name});
    let one_of_them = json!([{"required": ["id"]}, {"required": ["name"]}]);
    for schema in [
        json!({"type": "object", "oneOf": either}),
        json!({"anyOf": either}),
        json!({"type": "object", "properties": both, "oneOf": one_of_them}),
        json!({"type": "object", "properties": both, "additionalProperties": false, "oneOf": either}),
        json!({"anyOf": [{"$ref": "#/$defs/ById"}, {"$ref": "#/$defs/ByName"}],
            "$defs": {"ById": either[0], "ByName": either[1]}}),
        json!({"$ref": "#/$defs/All", "$defs": {"All": {"type": "object", "anyOf": either}}}),
    ] {
        let (seen, losses) = as_seen(&schema, &JSON_SCHEMA);
        assert_eq!((&seen["type"], &seen["properties"]), (&json!("object"), &both), "{schema}: {seen}");
        let choice = seen.get("anyOf").or_else(|| seen.get("oneOf")).and_then(Value::as_array).unwrap();
        let asked: Vec<&Value> = choice.iter().map(|one| &one["required"]).collect();
        assert_eq!((asked, losses), (vec![&json!(["id"]), &json!(["name"])], Vec::new()), "{seen}");
        let (seen, losses) = as_seen(&schema, &OPENAI);
        assert_eq!(seen["properties"], both, "{seen}");
        let told = seen["description"].as_str().unwrap();
        assert!(told.contains("of these sets of fields: `id`, or `name`"), "{told}");
        assert!(losses.contains(&"anyOf") || losses.contains(&"oneOf"), "{losses:?}");
    }
}

#[test]
fn rules_about_arguments_stay_and_name_what_else_may_be_given() {
    let base = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    for (rules, listed) in [
        (json!({"dependentRequired": {"a": ["b"]}}), "b"),
        (json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}), "b"),
        (
            json!({"if": {"required": ["a"]}, "then": {"properties": {"c": {"type": "integer"}}}, "else": {"required": ["b"]}}),
            "c",
        ),
        (json!({"not": {"required": ["a", "b"]}}), "b"),
        (json!({"allOf": [{"properties": {"c": {"type": "integer"}}, "required": ["c"]}]}), "c"),
        (
            json!({"anyOf": [{"properties": {"c": {"type": "integer"}}, "required": ["c"], "additionalProperties": false}, {"required": ["b"]}]}),
            "c",
        ),
    ] {
        let mut schema = base.clone();
        schema.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
        let (seen, losses) = as_seen(&schema, &JSON_SCHEMA);
        assert!(seen["properties"].get(listed).is_some() && losses.is_empty(), "{schema}: {seen}");
        let (seen, losses) = as_seen(&schema, &OPENAI);
        assert!(seen["properties"].get(listed).is_some(), "{schema}: {seen}");
        let is_plain = rules.get("allOf").is_some();
        assert_eq!(
            (losses.is_empty(), seen.get("description").is_none()),
            (is_plain, is_plain),
            "{schema}: {seen}"
        );
    }
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "oneOf": [
        {"properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false},
        {"properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false},
    ]});
    let one = tool(&program(), &json!({"name": "x", "inputSchema": schema}), true).unwrap().spec;
    let takes =
        |given: Value| decode_owned(given, &one.input, &one.defs, &JSON_SCHEMA, &mut Vec::new()).is_ok();
    assert!(takes(json!({"q": "x", "id": 1})) && takes(json!({"name": "x"})));
    assert!(!takes(json!({"q": "x"})) && !takes(json!({"id": 1, "other": 2})) && !takes(json!({"id": "x"})));
    let told = crate::spec::docs::detail(&one);
    assert!(told.contains("- id (integer, optional)") && told.contains("Rules: give"), "{told}");
}

#[test]
fn tools_of_a_list_share_schemas_that_are_equal() {
    let of = |name: &str, size: i32| {
        let schema = json!({"type": "object", "properties": {"page": {"$ref": "#/$defs/Page"}},
            "$defs": {"Page": {"type": "integer", "maximum": size}, "Same": {"type": "string"}}});
        json!({"name": name, "inputSchema": schema})
    };
    let names = |list: &[Value]| {
        let all = tools(&program(), list, true);
        let defs = &all[0].as_ref().unwrap().tool.spec.defs;
        defs.iter().map(|def| def.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[of("a", 1), of("b", 1)]), ["Page", "Same"]);
    let apart = names(&[of("a", 1), of("b", 2)]);
    assert_eq!(apart.len(), 3, "{apart:?}");
    let mut turned = names(&[of("b", 2), of("a", 1)]);
    turned.sort();
    assert_eq!(apart, turned);
}

#[test]
fn a_schema_that_is_nothing_but_itself_ends() {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}});
    let one = tools(&program(), &[json!({"name": "x", "inputSchema": schema})], true).remove(0).unwrap();
    let messages: Vec<&str> = one.problems.iter().map(|problem| &*problem.message).collect();
    assert_eq!(messages, ["the schema `B` is part of itself; that part is left out"]);
    let shown: Vec<String> = one.tool.spec.defs.iter().map(|def| shown(def.schema.shape())).collect();
    assert_eq!(shown, [r##"{"$ref":"#/$defs/B"}"##, r#"{"type":"string"}"#]);
}

#[test]
fn what_is_odd_in_a_schema_is_told_of_its_own_tool_and_called_what_it_is() {
    let cycle = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}}});
    let dangling = json!({"type": "object", "properties": {"a/b": {"$ref": "#/$defs/None"}, "c": {"default": {"$ref": "#/x"}}}});
    let list = [
        ("cycle", cycle),
        ("dangling", dangling),
        ("text", json!({"type": "string"})),
        ("fine", json!({"type": "object"})),
    ];
    let list = list.map(|(name, schema)| json!({"name": name, "inputSchema": schema}));
    let told: Vec<String> = tools(&program(), &list, true)
        .into_iter()
        .map(|one| {
            one.unwrap().problems.iter().map(|one| format!("{} {}", one.pointer, one.message)).collect()
        })
        .collect();
    assert_eq!(
        told,
        [
            "/inputSchema the schema `A` is part of itself; that part is left out",
            "/inputSchema/properties/a~1b/$ref the reference `#/$defs/None` leads nowhere, so any value is accepted here",
            "/inputSchema this is the schema of a text, and arguments are an object, so any are accepted",
            "",
        ]
    );
}

#[test]
fn what_a_descriptor_lacks_is_called_what_it_is() {
    for (descriptor, part) in [
        (json!({"name": 7, "inputSchema": {}}), "the name is not a text"),
        (json!({"name": "x", "inputSchema": []}), "the schema of the arguments is not an object"),
        (json!({"name": "x", "inputSchema": null}), "the schema of the arguments is not an object"),
    ] {
        let why = tool(&program(), &descriptor, true).unwrap_err();
        assert!(why.to_string().contains(part), "{why}");
    }
}

#[test]
fn keys_that_providers_refuse_are_renamed_and_come_back() {
    let schema = json!({"type": "object", "required": ["user-id", "$top"], "properties": {
        "user-id": {"type": "integer"}, "$top": true,
        "where": {"type": "object", "properties": {"a b": {"type": "string"}}, "required": ["a b"]}}});
    let tool = tool(&program(), &json!({"name": "x", "inputSchema": schema}), true).unwrap();
    let given = json!({"user_id": 7, "_top": 1, "where": {"a_b": "c"}});
    let decoded =
        decode_owned(given, tool.spec.input.shape(), &tool.spec.defs, &JSON_SCHEMA, &mut Vec::new()).unwrap();
    assert_eq!(decoded, json!({"user-id": 7, "$top": 1, "where": {"a b": "c"}}));
}

#[test]
fn a_descriptor_that_is_listed_again_is_one() {
    let mut other = find_orders();
    other["description"] = json!("Something else.");
    let again: Value = serde_json::from_str(&canonical(&find_orders())).unwrap();
    let list = [find_orders(), json!({"name": "x"}), again, other.clone(), other, json!({"name": "x"})];
    let places: Vec<usize> = distinct(&list).into_iter().map(|(at, _)| at).collect();
    assert_eq!(places, [0, 1, 3]);
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(distinct(&[deep.clone(), deep]).len(), 2);
}
