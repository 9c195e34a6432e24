//! Tests of the Rust types of documents with difficult names and structures.
//!
//! The first test is that the modules compile, without warnings and with the default recursion limit.

#![deny(warnings)]

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolgen_runtime::{TypedItems, TypedTool};

/// Chains of a hundred types, and a ring of twenty.
pub mod deep {
    toolgen_runtime::include_tools!("deep");
}

/// Names of Rust or of generated code, and structures of every kind.
pub mod hard {
    toolgen_runtime::include_tools!("types");
}

use hard::types::*;

/// Deserializes a value, checks the round trip, and returns it.
#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned + Clone + Debug + PartialEq>(json: Value) -> T {
    let value: T = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&value).unwrap(), json);
    assert_eq!(value.clone(), value);
    value
}

fn is_send_and_sync<T: Send + Sync + 'static>() {}

#[test]
fn recursive_types_hold_values() {
    let ring: Ring = round_trip(json!({
        "name": "a",
        "next": {"next": {"back": {"name": "b"}, "all": {"k": {}}}, "rings": [{"name": "c"}, {"name": "d"}]},
    }));
    assert_eq!(ring.next.unwrap().rings.unwrap().len(), 2);
    let turn = Turn { name: "a".to_owned(), next: None };
    assert_eq!(turn.into_arguments().unwrap(), json!({"name": "a"}));
}

#[test]
fn deeply_nested_types_compile() {
    is_send_and_sync::<deep::Object0>();
    is_send_and_sync::<deep::List0>();
    is_send_and_sync::<deep::Map0>();
    is_send_and_sync::<deep::Ring0>();
    let nest = |wrap: fn(Value) -> Value, levels: usize, end: Value| {
        (0..levels).fold(end, |inner, _| json!({"next": wrap(inner)}))
    };
    round_trip::<deep::Object0>(nest(|inner| inner, 99, json!({"next": 7, "n99": 1})));
    round_trip::<deep::List0>(nest(|inner| json!([inner]), 99, json!({"next": 7, "n99": 1})));
    round_trip::<deep::Map0>(nest(|inner| json!({"k": inner}), 99, json!({"next": 7, "n99": 1})));
    round_trip::<deep::Ring0>(nest(|inner| inner, 60, json!({"n0": 5, "other": [{"n3": 1}]})));
}

#[test]
fn tools_named_like_generated_items_are_reachable() {
    let of = |tool: &toolgen_runtime::Tool| tool.spec.name.to_string();
    assert_eq!(of(ToolCall::tool()), "Tool");
    assert_eq!(of(Tools::tool()), "TOOLS");
    assert_eq!(of(Types::tool()), "types");
    assert_eq!(of(Self_::tool()), "Self");
    assert_eq!(of(ToolTool::tool()), "TOOL_Tool");
    let names: Vec<_> = hard::TOOLS.iter().map(|tool| of(tool)).collect();
    let constants = [hard::TOOL_TOOLS_2, hard::TOOL_TYPES, hard::TOOL_SELF, hard::TOOL_TOOL_2];
    assert!(constants.iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
}

#[test]
fn schemas_named_like_generated_items_have_types() {
    let x = json!({"x": 1});
    let all: serde_json::Map<_, _> =
        ('a'..='r').map(|key| (key.to_string(), json!({"x": u32::from(key)}))).collect();
    let names: Names = round_trip(Value::Object(all));
    assert_eq!(names.a, Some(OptionData { x: 97 }));
    assert_eq!((names.k.unwrap().x, names.l.unwrap().x, names.m.unwrap().x), (107, 108, 109));
    round_trip::<StringData>(x.clone());
    round_trip::<S>(x.clone());
    round_trip::<D>(x);
}

#[test]
fn every_key_has_a_field() {
    let keys = "type Type TYPE self crate fn async value fields extra 1 +1 a-b a_b größe 价格".split(' ');
    let keys: Vec<&str> = keys.chain(["\"quoted\\\"", "a\nb"]).collect();
    let mut all: serde_json::Map<_, _> = keys.iter().map(|key| ((*key).to_owned(), json!(key))).collect();
    all.insert("further".to_owned(), json!(7));
    let fields: FieldsData = round_trip(Value::Object(all));
    assert_eq!(fields.type_2.as_deref(), Some("Type"));
    assert_eq!(fields.fn_.as_deref(), Some("fn"));
    assert_eq!(fields.extra.as_deref(), Some("extra"));
    assert_eq!(fields.extra_2["further"], 7);
    let wrong = serde_json::from_value::<FieldsData>(json!({"further": "x"})).unwrap_err().to_string();
    assert!(wrong.ends_with("at /further"), "{wrong}");
}

#[test]
fn every_enum_string_has_a_variant() {
    let texts = "+1 -1 > >= Etc/GMT+0 Etc/GMT-0 Other other self Self 价格 \" 1.5 15".split(' ');
    let texts: Vec<&str> = texts.chain(["", " "]).collect();
    let read: Vec<_> = texts.iter().map(|text| round_trip::<SignsSign>(json!(text))).collect();
    assert!(read.iter().all(|sign| !matches!(sign, SignsSign::Other(_))), "{read:?}");
    assert!((0..read.len()).all(|at| !read[..at].contains(&read[at])), "{read:?}");
    assert_eq!(read[..4], [SignsSign::Plus1, SignsSign::Minus1, SignsSign::Gt, SignsSign::GtEq]);
    assert_eq!(read[14], SignsSign::Empty);
    assert_eq!(round_trip::<SignsSign>(json!("new")), SignsSign::Other("new".to_owned()));
    // A type that is only sent needs no variant for unknown values.
    let (ChooseOnlyGiven::A | ChooseOnlyGiven::A2 | ChooseOnlyGiven::Other2) = ChooseOnlyGiven::A;
    let choose = Choose { only_given: Some(ChooseOnlyGiven::A2) };
    assert_eq!(choose.into_arguments().unwrap(), json!({"only_given": "A"}));
}

#[test]
fn null_differs_from_absence() {
    let nulls: Nulls = round_trip(json!({
        "must": 1, "may_be_null": null, "both": null, "reference": null, "list": ["a", null],
    }));
    assert_eq!((nulls.may_be_null, nulls.may_miss, nulls.both), (None, None, Some(None)));
    assert_eq!(nulls.reference, Some(None));
    let nulls: Nulls = round_trip(json!({"must": 1, "may_be_null": 2, "both": 3, "reference": {"x": 1}}));
    assert_eq!(nulls.both, Some(Some(3)));
    let lenient: Nulls = serde_json::from_value(json!({"must": 1, "may_miss": null})).unwrap();
    assert_eq!((lenient.may_be_null, lenient.both), (None, None));
    let wrong = serde_json::from_value::<Nulls>(json!({"must": null})).unwrap_err().to_string();
    assert!(wrong.ends_with("at /must"), "{wrong}");
    let change = Change {
        id: "i".to_owned(),
        must: 1,
        may_be_null: None,
        may_miss: None,
        both: Some(None),
        reference: None,
        list: None,
    };
    let expected = json!({"id": "i", "must": 1, "may_be_null": null, "both": null});
    assert_eq!(change.into_arguments().unwrap(), expected);
}

#[test]
fn unions_distinguish_their_variants() {
    let unions: Unions = round_trip(json!({
        "tagged": {"kind": "square", "side": 2.5}, "kinds": [true], "fields": {"a": 1, "b": 2}, "pair": ["a", 1],
        "unclear": {"b": 1},
    }));
    assert_eq!(unions.tagged, Some(UnionsTagged::Square(UnionsTaggedSquare { side: 2.5 })));
    assert_eq!(unions.kinds, Some(UnionsKinds::List(vec![true])));
    assert_eq!(unions.fields, Some(UnionsFields::B(UnionsFieldsB { a: 1, b: 2 })));
    assert_eq!(unions.pair, Some(("a".to_owned(), 1)));
    assert_eq!(unions.unclear, Some(UnionsUnclear::B(UnionsUnclearB { b: Some(1) })));
    assert_eq!(round_trip::<UnionsKinds>(json!({"x": 1})), UnionsKinds::Option(OptionData { x: 1 }));
    assert_eq!(
        round_trip::<UnionsFields>(json!({"a": 1})),
        UnionsFields::Object(UnionsFieldsObject { a: 1 })
    );
    // A value that matches no variant is kept verbatim.
    for unknown in [json!({"kind": "line"}), json!({"kind": "circle", "r": "wide"}), json!(null)] {
        assert_eq!(round_trip::<UnionsTagged>(unknown.clone()), UnionsTagged::Other(unknown));
    }
    let arguments = Unite { unclear: Some(UniteUnclear::A(UniteUnclearA { a: Some(1) })), unions: None };
    assert_eq!(arguments.into_arguments().unwrap(), json!({"unclear": {"a": 1}}));
    // The document has the same schema in two places: it is one type.
    let same: UnionsUnclear = UniteUnclear::B(UniteUnclearB { b: None });
    assert_eq!(same, UnionsUnclear::B(UnionsUnclearB { b: None }));
}

#[test]
fn read_only_and_write_only_fields_are_separated() {
    let account: Account = round_trip(json!({"id": 7, "name": "a", "family": [{"name": "b"}]}));
    assert_eq!(account.id, Some(7));
    let open = OpenAccount { name: "a".to_owned(), password: "p".to_owned(), family: Some(vec![account]) };
    assert_eq!(open.into_arguments().unwrap()["family"][0]["id"], 7);
}

#[test]
fn named_numbers_are_enums() {
    let call: SetLevel = round_trip(json!({"sort": "-1", "level": 7, "levels": [10, 20, 30]}));
    assert_eq!(call.sort, Some(SetLevelSort::Descending));
    assert_eq!((call.level, call.level.as_i64()), (SetLevelLevel::Self_, 7));
    assert_eq!(call.levels, Some(vec![Level::Low, Level::High, Level::Other(30)]));
    assert_eq!((Level::from(20), Level::High.to_string()), (Level::High, "20".to_owned()));
    assert_eq!(SetLevelLevel::ALL, [SetLevelLevel::Idle, SetLevelLevel::Running, SetLevelLevel::Self_]);
    let wrong = SetLevelLevel::try_from(2).unwrap_err().to_string();
    assert_eq!(wrong, "2 is not one of the allowed numbers: 0, 1, 7");
}

#[test]
fn response_headers_have_types() {
    let read: SetLevelHeaders = serde_json::from_value(
        json!({"x-total-count": 3, "x-partial": true, "x-level": "mid", "etag": "v1", "x-list": "a, b"}),
    )
    .unwrap();
    let SetLevelHeaders { x_total_count, x_partial, x_level, etag, x_list } = read;
    assert_eq!((x_total_count, x_partial, etag.as_deref()), (Some(3), Some(true), Some("v1")));
    assert_eq!(
        (x_level, x_list.as_deref()),
        (Some(SetLevelHeadersXLevel::Other("mid".to_owned())), Some("a, b"))
    );
    fn output<A: TypedTool<Output = T>, T>(_: &A) {}
    output::<_, ()>(&DropLevel::new());
    output::<_, Value>(&Sloppy::new());
    let messages = |tool: &toolgen_runtime::Tool| {
        tool.call.http().unwrap().headers.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(messages(SetLevel::tool()), ["X-Total-Count", "X-Partial", "X-Level", "ETag", "X-List"]);
}

#[test]
fn page_and_sequence_items_have_types() {
    fn item<A: TypedItems<Item = T>, T>(_: &A) {}
    item::<_, ListThingsItem>(&ListThings::new());
    item::<_, WatchThingsItem>(&WatchThings::new());
    let whole: Things = round_trip(json!({"page": 1, "items": [{"name": "a"}]}));
    let first: &ListThingsItem = &whole.items.unwrap()[0];
    assert_eq!(first.name.as_deref(), Some("a"));
    assert_eq!(round_trip::<WatchThingsItem>(json!({"seen": 2})).seen, Some(2));
}

#[test]
fn types_convert_from_common_values() {
    let drawing =
        Draw::new("plan", [Figure::from(Disc::new(1.5)), Tile::new(2.0).into(), Blob::new("splash").into()])
            .with_layers(["front", "back"])
            .with_labels([("a", "b")])
            .with_notes([("x", 1)])
            .with_sizes([1.5])
            .with_key("k")
            .with_type("t")
            .with_places([("x", 1)])
            .with_owner("o")
            .with_rights([("ch", ["publish"])])
            .with_tags(["a", "b"]);
    let figures = json!([{"form": "disc", "r": 1.5}, {"form": "tile", "side": 2.0}, {"form": "splash"}]);
    let (labels, notes) = (json!({"a": "b"}), json!({"x": 1}));
    assert_eq!(
        serde_json::to_value(&drawing).unwrap(),
        json!({
            "title": "plan", "shapes": figures, "layers": ["front", "back"], "labels": labels, "notes": notes, "sizes": [1.5],
            "key": "k", "type": "t", "places": {"x": 1}, "owner": "o", "rights": {"ch": ["publish"]}, "tags": ["a", "b"],
        })
    );
    let figures: [Figure; 0] = [];
    let empty = Draw::new("plan", figures).null_sizes().null_key().null_type().null_places().null_owner();
    assert_eq!(
        serde_json::to_value(&empty).unwrap(),
        json!({"title": "plan", "shapes": [], "sizes": null, "key": null, "type": null, "places": null, "owner": null})
    );
    assert_eq!(DrawTitle::from(7), DrawTitle::Integer(7));
    assert_eq!(DrawTitle::from("x"), DrawTitle::from("x".to_owned()));
    let titles: Vec<String> = vec!["x".to_owned()];
    assert_eq!(DrawTitle::from(["x"]), DrawTitle::Titles(titles.clone()));
    assert_eq!(DrawTitle::from(titles.clone()), DrawTitle::Titles(titles));
    assert_eq!(Nest::from([true, false]), Nest::from(vec![Nest::from(true), Nest::from(false)]));
}
