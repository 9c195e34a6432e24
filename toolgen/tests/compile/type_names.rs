//! The names of generated types: titles name what has no name, and no name is a number of ours where the document has words.

use serde_json::{Value, json};
use toolgen::Options;
use toolgen::emit::{self, ModuleStyle};

use crate::support::program_of;

/// The text of the module of a document with these operations' schemas of results, and these components.
fn module(results: &[(&str, Value)], components: &Value) -> String {
    let answer =
        |schema: &Value| json!({"description": "", "content": {"application/json": {"schema": schema}}});
    let paths: serde_json::Map<String, Value> = results
        .iter()
        .map(|(id, schema)| {
            (format!("/{id}"), json!({"get": {"operationId": id, "responses": {"200": answer(schema)}}}))
        })
        .collect();
    text(&json!({"paths": paths, "components": {"schemas": components}}))
}

fn text(document: &Value) -> String {
    let program = program_of(document, &Options::default().types(true));
    emit::module(&program, &ModuleStyle { types: true, ..ModuleStyle::new("api.json") })
}

/// The names of the types in a module, sorted.
fn names(module: &str) -> Vec<&str> {
    let kinds = ["pub struct ", "pub enum ", "pub type "];
    let item = |line: &'_ str| kinds.iter().find_map(|kind| line.strip_prefix(kind).map(str::len));
    let mut names: Vec<&str> = module
        .lines()
        .map(str::trim_start)
        .filter_map(|line| Some(&line[line.len() - item(line)?..]))
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
        .collect();
    names.sort_unstable();
    names
}

/// The variants of an enum in a module.
fn variants<'m>(module: &'m str, of: &str) -> Vec<&'m str> {
    let start = format!("pub enum {of} {{");
    let body = module.split_once(&start).unwrap().1.split_once("\n    }").unwrap().0;
    let words = body.lines().map(str::trim_start).filter(|line| line.starts_with(|c: char| c.is_uppercase()));
    words.filter_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()).next()).collect()
}

fn object(title: &str, field: &str) -> Value {
    json!({"type": "object", "title": title, "properties": {field: {"type": "string"}}})
}

#[test]
fn a_title_of_a_few_words_names_a_type() {
    let pet = json!({"type": "object", "properties": {
        "owner": object("Pet owner", "name"),
        "parents": {"type": "array", "items": object("ParentSummary", "id")},
        "home_address": object("Home Address", "street"),
        "mood": object("Mood", "calm"),
        "state": object("The state of the pet.", "asleep"),
    }});
    let text = module(&[("getPet", pet)], &json!({}));
    let titled =
        ["GetPet", "GetPetOutput", "GetPetOutputHomeAddress", "GetPetOutputMood", "GetPetOutputState"];
    assert_eq!(names(&text), [&titled[..], &["ParentSummary", "PetOwner"]].concat());
    assert!(!text.contains("x-title"), "a model is told no titles");
}

#[test]
fn a_title_that_is_not_unique_or_that_somebody_has_names_nothing() {
    let results = [
        (
            "getPet",
            json!({"properties": {"vet": object("Short form", "name"), "shop": object("Tool result", "a")}}),
        ),
        (
            "getShop",
            json!({"properties": {"boss": object("Short form", "id"), "seller": object("Get pet", "b")}}),
        ),
    ];
    let text = module(&results, &json!({}));
    let mut expected = vec!["GetPet", "GetPetOutput", "GetPetOutputVet", "GetShop", "GetShopOutput"];
    expected.extend(["GetShopOutputBoss", "GetShopOutputSeller", "ToolResult"]);
    assert_eq!(names(&text), expected);
}

#[test]
fn titles_that_repeat_the_operation_name_nothing_and_components_keep_their_names() {
    let union = json!({"title": "Response Get Pet", "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"type": "string"}]});
    let text = module(&[("get_pet", union)], &json!({"Cat": object("House cat", "name")}));
    assert_eq!(names(&text), ["Cat", "GetPet", "GetPetOutput"]);
}

#[test]
fn other_schemas_do_not_rename_types() {
    let pet =
        ("getPet", json!({"properties": {"owner": object("Pet owner", "name"), "tag": object("", "a")}}));
    let before = module(std::slice::from_ref(&pet), &json!({}));
    let shop =
        ("addShop", json!({"properties": {"owner": object("Shop owner", "name2"), "tag": object("", "b")}}));
    let after = module(&[shop, pet], &json!({"Unused": object("Pet owner", "other")}));
    let after = names(&after);
    assert!(names(&before).iter().all(|name| after.contains(name)), "{before}");
}

#[test]
fn titles_and_what_tells_them_apart_name_variants() {
    let kinds = json!({"properties": {
        "context": {"type": "integer", "oneOf": [{"title": "GUILD", "const": 0}, {"title": "BOT_DM", "const": 1}]},
        "level": {"oneOf": [{"const": 1}, {"const": 2}]},
        "target": {"oneOf": [object("Bank Account", "number"), object("Card", "number")]},
        "search": {"oneOf": [
            {"properties": {"name": {"const": "web"}, "type": {"const": "web_new"}, "size": {"type": "integer"}}},
            {"properties": {"name": {"const": "web"}, "type": {"const": "web_old"}}},
        ]},
    }});
    let text = module(&[("get", kinds)], &json!({}));
    assert_eq!(variants(&text, "GetOutputContext"), ["Guild", "BotDm", "Other"]);
    assert_eq!(variants(&text, "GetOutputTarget"), ["BankAccount", "Card", "Other"]);
    assert_eq!(variants(&text, "GetOutputSearch"), ["WebWebNew", "WebWebOld", "Other"]);
}

#[test]
fn failures_are_named_by_their_statuses() {
    let answer = |field: &str| json!({"description": "", "content": {"application/json": {"schema": object("", field)}}});
    let responses =
        json!({"200": {"description": ""}, "404": answer("a"), "422": answer("b"), "5XX": answer("c")});
    let text = text(&json!({"paths": {"/a": {"get": {"operationId": "getPet", "responses": responses}}}}));
    assert_eq!(variants(&text, "GetPetError"), ["NotFound", "UnprocessableContent", "ServerError", "Other"]);
    assert!(names(&text).contains(&"GetPetErrorNotFound"));
}

#[test]
fn a_place_whose_name_is_taken_gets_a_word_not_a_number() {
    let components = json!({"PetTag": object("", "a"), "Pet": {"properties": {"tag": object("", "b")}}});
    let both =
        json!({"oneOf": [{"$ref": "#/components/schemas/Pet"}, {"$ref": "#/components/schemas/PetTag"}]});
    let text = module(&[("debug", both)], &components);
    assert_eq!(names(&text), ["DebugCall", "DebugCallOutput", "Pet", "PetTag", "PetTagValue"]);
}

/// The documentation of the variants of an enum in a module.
fn told<'m>(module: &'m str, of: &str) -> Vec<&'m str> {
    let body = module.split_once(&format!("pub enum {of} {{")).unwrap().1.split_once("\n    }").unwrap().0;
    let lines = body.lines().filter_map(|line| line.trim().strip_prefix("/// "));
    let is_value = |line: &str| line.starts_with('`') && !line.contains(": ");
    lines.filter(|line| !is_value(line) && !line.ends_with(" that the document does not list.")).collect()
}

#[test]
fn names_that_documents_give_values_name_variants() {
    let result = json!({"properties": {
        "state": {"type": "integer", "enum": [0, 1], "x-enum-varnames": ["IDLE", "running-now"], "x-enum-descriptions": ["Nothing to do.", "Busy."]},
        "order": {"type": "string", "enum": ["+", "-", null], "x-enumNames": ["Up", "Down"], "x-enumDescriptions": {"+": "Smallest first."}},
        "sku": {"type": "string", "enum": ["S1", "S2"], "x-ms-enum": {"name": "skuName", "values": [{"value": "S1", "name": "Standard", "description": "One."}, {"value": "S2"}]}},
        "same": {"type": "integer", "enum": [0, 1], "x-enum-varnames": ["No", "Yes"]},
        "plain": {"type": "integer", "enum": [0, 1]},
    }});
    let text = module(&[("get", result)], &json!({}));
    assert_eq!(variants(&text, "GetOutputState"), ["Idle", "RunningNow", "Other"]);
    assert_eq!(told(&text, "GetOutputState"), ["`0`: Nothing to do.", "`1`: Busy."]);
    assert_eq!(variants(&text, "GetOutputOrder"), ["Up", "Down", "Other"]);
    assert_eq!(told(&text, "GetOutputOrder"), ["`+`: Smallest first."]);
    assert_eq!(variants(&text, "SkuName"), ["Standard", "S2", "Other"]);
    assert_eq!(variants(&text, "GetOutputSame"), ["No", "Yes", "Other"]);
    assert!(text.contains("pub plain: Option<i64>"), "{text}");
}

#[test]
fn names_that_do_not_fit_the_values_name_nothing() {
    let named = |names: Value| json!({"type": "integer", "enum": [1, 2], "x-enum-varnames": names});
    let results = json!({"properties": {
        "a": named(json!(["One"])), "b": named(json!(["One", "one"])), "c": named(json!(["One", "2"])), "d": named(json!({"3": "Three"})),
    }});
    let text = module(&[("get", results)], &json!({}));
    assert_eq!(names(&text), ["Get", "GetOutput"]);
}

#[test]
fn a_type_that_operations_share_has_the_name_of_none_of_them() {
    let owner =
        json!({"type": "object", "properties": {"name": {"type": "string"}, "home": object("", "street")}});
    let with = |fields: Value| json!({"type": "object", "properties": fields});
    let document = |renamed: &str| {
        module(
            &[
                (renamed, with(json!({"owner": owner, "age": {"type": "integer"}}))),
                ("listPets", with(json!({"owner": owner, "count": {"type": "integer"}}))),
            ],
            &json!({}),
        )
    };
    let text = document("getPet");
    assert!(text.contains("pub struct Owner {") && text.contains("pub struct OwnerHome {"), "{text}");
    assert!(text.contains("pub type GetPetOutputOwner = Owner;"), "{text}");
    assert!(text.contains("pub type GetPetOutputOwnerHome = OwnerHome;"), "{text}");
    assert!(text.contains("`owner` of several types."), "{text}");
    let renamed = document("fetchPet");
    let list = |text: &str| {
        text.split_once("pub struct ListPetsOutput {").unwrap().1.split_once('}').unwrap().0.to_owned()
    };
    assert_eq!(list(&renamed), list(&text));
}

#[test]
fn a_key_that_several_types_have_does_not_name_one_of_them() {
    let result = |first: &str, other: &str| json!({"type": "object", "properties": {"owner": object("", first), other: {"type": "integer"}}});
    let results = [
        ("getPet", "pets", result("a", "n")),
        ("listPets", "pets", result("a", "m")),
        ("getShop", "shops", result("b", "n")),
        ("openShop", "shops", result("b", "n")),
    ];
    let operations: serde_json::Map<String, Value> = results
        .iter()
        .map(|(id, tag, schema)| {
            let answer = json!({"description": "", "content": {"application/json": {"schema": schema}}});
            let operation = json!({"operationId": id, "tags": [tag], "responses": {"200": answer}});
            (format!("/{id}"), json!({"get": operation}))
        })
        .collect();
    let text = text(&json!({ "paths": operations }));
    assert!(text.contains("pub struct PetsOwner {"), "{text}");
    // Equal results, too: their names end in the same words.
    assert!(text.contains("pub type GetShopOutput = ShopOutput;"), "{text}");
    assert!(text.contains("pub struct ShopOutputOwner {"), "{text}");
}

#[test]
fn what_operations_of_several_tags_answer_is_named_after_none() {
    let body = |schema: Value| json!({"application/json": {"schema": schema}});
    let failure = body(json!({"type": "object", "properties": {"message": {"type": "string"}}}));
    let headers = json!({"X-Left": {"schema": {"type": "integer"}}});
    let operation = |id: &str, tag: &str| {
        json!({"get": {"operationId": id, "tags": [tag], "responses": {
            "200": {"description": "", "headers": headers, "content": body(json!({"type": "integer"}))},
            "default": {"description": "", "content": failure},
        }}})
    };
    let text =
        text(&json!({"paths": {"/a": operation("getPet", "pets"), "/b": operation("getShop", "shops")}}));
    for name in ["SharedError", "SharedHeaders"] {
        assert!(text.contains(&format!("pub struct {name} {{")), "{text}");
    }
    assert!(text.contains("pub type GetPetHeaders = SharedHeaders;"), "{text}");
    assert!(text.contains("pub type GetShopError = SharedError;"), "{text}");
}

#[test]
fn the_base_of_a_hierarchy_does_not_repeat_the_name_of_its_union() {
    let kind = json!({"type": "string"});
    let dog = json!({"properties": {"barks": {"type": "boolean"}}});
    let module = module(
        &[("pet", json!({"$ref": "#/components/schemas/Pet"}))],
        &json!({
            "Pet": {"type": "object", "required": ["kind"], "properties": {"kind": kind}, "discriminator": {"propertyName": "kind"}},
            "Dog": {"allOf": [{"$ref": "#/components/schemas/Pet"}, dog]},
        }),
    );
    assert_eq!(names(&module), ["Dog", "Pet", "PetData", "PetDataBase"]);
    assert_eq!(variants(&module, "PetData"), ["Base", "Dog", "Other"]);
}

#[test]
fn a_field_reads_like_its_own_place_whatever_else_is_equal() {
    let with = |key: &str, schema: Value| json!({"type": "object", "properties": {key: schema}});
    let state = json!({"type": "string", "enum": ["open", "closed"]});
    let list = json!({"type": "array", "items": object("", "name")});
    let text = module(
        &[
            (
                "getIssue",
                json!({"type": "object", "properties": {"state": state, "number": {"type": "integer"}}}),
            ),
            ("getPet", with("owner", object("", "name"))),
            ("getShop", with("seller", object("", "name"))),
            ("listShops", with("sellers", list)),
            ("useCampaign", json!({"$ref": "#/components/schemas/Campaign"})),
        ],
        &json!({"CampaignState": state, "Campaign": with("state", json!({"$ref": "#/components/schemas/CampaignState"}))}),
    );
    for part in [
        "pub state: Option<GetIssueOutputState>,",
        "pub type GetIssueOutputState = CampaignState;",
        "pub state: Option<CampaignState>,",
        "pub owner: Option<GetPetOutputOwner>,",
        "pub seller: Option<GetShopOutputSeller>,",
        "pub type GetShopOutputSeller = GetPetOutputOwner;",
        "pub sellers: Option<Vec<ListShopsOutputSellersItem>>,",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn unions_of_simple_values_have_plain_names() {
    let union = json!({"oneOf": [{"type": "integer"}, {"type": "string"}]});
    let nullable = json!({"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]});
    let lists = json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    let text = module(
        &[
            ("getIssue", json!({"properties": {"title": union, "milestone": nullable, "labels": lists}})),
            ("getPet", json!({"properties": {"name": union, "names": lists}})),
        ],
        &json!({}),
    );
    for part in [
        "pub enum IntegerOrString {",
        "pub title: Option<IntegerOrString>,",
        "pub milestone: Option<Option<IntegerOrString>>,",
        "pub name: Option<IntegerOrString>,",
        "pub labels: Option<StringOrStringList>,",
        "pub type GetIssueOutputTitle = IntegerOrString;",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}
