//! Tests of discriminated unions, maps with typed keys, and modules by tags, with `documents/tagged.yaml`.

#![deny(warnings)]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolgen_runtime::TypedTool;
use toolgen_runtime::schema::dialect::JSON_SCHEMA;
use toolgen_runtime::schema::shape::decode::decode;

/// Modules by tags.
pub mod by_tag {
    toolgen_runtime::include_tools!("tagged");
}

use by_tag::{events, pets, scores, shapes, vehicles};

/// Deserializes a value, checks the round trip, and returns it.
#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned + Clone + Debug + PartialEq>(json: Value) -> T {
    let value: T = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&value).unwrap(), json);
    value
}

#[test]
fn default_variant_accepts_any_other_tag() {
    use by_tag::{Animal, Cat, Pet};
    let lizard: Pet = round_trip(json!({"kind": "lizard", "name": "Lu"}));
    assert!(matches!(lizard, Pet::Animal(Animal { ref name, .. }) if name == "Lu"), "{lizard:?}");
    let none: Pet = round_trip(json!({"name": "Bo"}));
    assert!(matches!(none, Pet::Animal(_)), "{none:?}");
    // A value that matches no variant is kept.
    let strange: Pet = round_trip(json!({"kind": "cat", "lives": "many"}));
    assert!(matches!(strange, Pet::Other(_)), "{strange:?}");
    let kitten: Pet = round_trip(json!({"kind": "kitten", "lives": 9}));
    assert!(matches!(kitten, Pet::Cat(Cat { lives: 9, .. })), "several values mean one schema: {kitten:?}");
}

#[test]
fn variant_without_the_tag_property_is_serialized_with_it() {
    use by_tag::{Animal, Cat, Dog, Pet};
    let dog: Pet = round_trip(json!({"kind": "dog", "trick": "roll"}));
    assert!(matches!(dog, Pet::Dog(_)), "{dog:?}");
    let written = |pet: Pet| pets::AddPet::new(pet).into_arguments().unwrap()["pet"].clone();
    assert_eq!(written(Pet::Dog(Dog::new())), json!({"kind": "dog"}));
    assert_eq!(written(Pet::Cat(Cat::new(9))), json!({"kind": "cat", "lives": 9}), "the first of its values");
    assert_eq!(written(Pet::Cat(Cat::new(9).with_kind("kitten"))), json!({"kind": "kitten", "lives": 9}));
    assert_eq!(
        written(Pet::Animal(Animal::new("Lu"))),
        json!({"name": "Lu"}),
        "any value means it, and none"
    );
}

#[test]
fn variants_may_be_unions() {
    use vehicles::{Car, Vehicle};
    let electric: Vehicle = round_trip(json!({"type": "electric", "range": 300}));
    assert!(matches!(electric, Vehicle::Car(Car::Electric(_))), "{electric:?}");
    let petrol: Vehicle = round_trip(json!({"type": "petrol", "tank": 50}));
    assert!(matches!(petrol, Vehicle::Car(Car::Petrol(_))), "{petrol:?}");
    let bike: Vehicle = round_trip(json!({"type": "Bike", "gears": 7}));
    assert!(matches!(bike, Vehicle::Bike(_)), "{bike:?}");
    use events::{Call, Event};
    let video: Event = round_trip(json!({"event": "call", "medium": "video", "width": 640}));
    assert!(matches!(video, Event::Call(Call::Video(_))), "{video:?}");
    let message: Event = round_trip(json!({"event": "message", "text": "hi"}));
    assert!(matches!(message, Event::Message(_)), "{message:?}");
}

#[test]
fn subtypes_are_distinguished_by_their_property() {
    let get = |json: Value| round_trip::<<shapes::GetShape as TypedTool>::Output>(json);
    let circle = get(json!({"form": "round", "radius": 1.5, "name": "c"}));
    assert!(matches!(circle, shapes::Shape::Circle(_)), "{circle:?}");
    let square = get(json!({"form": "square", "side": 2.5}));
    assert!(matches!(square, shapes::Shape::Square(_)), "{square:?}");
    let base = get(json!({"form": "shape", "name": "s"}));
    assert!(!matches!(base, shapes::Shape::Other(_)), "{base:?}");
}

#[test]
fn keys_have_their_documented_types() {
    use scores::{Scores, SetScores, SetScoresByRoundKey, Team};
    let got: Scores = round_trip(json!({
        "by_team": {"red": 1, "green": 2},
        "by_match": {"67e55044-10b1-426f-9247-bb680e5fe0c8": 1},
        "by_name": {"x": 1},
        "by_day": {"2026-01-31": ["a"]},
        "any": {"a": 1, "z": [2]},
        "some": [1, 2],
    }));
    let teams: BTreeMap<Team, i64> = got.by_team.unwrap();
    assert_eq!(teams.get(&Team::Red), Some(&1));
    assert_eq!(teams.get(&Team::Other("green".to_owned())), Some(&2), "an unknown key is kept");
    let days: scores::Days = got.by_day.unwrap();
    assert_eq!(days.keys().map(ToString::to_string).collect::<Vec<_>>(), ["2026-01-31"]);
    let matches: BTreeMap<String, i64> = got.by_match.unwrap();
    assert_eq!(
        (matches.len(), got.some.unwrap().len()),
        (1, 2),
        "strings are not UUIDs unless `text_types` is set"
    );
    let set = SetScores::new().with_by_round(BTreeMap::from([(SetScoresByRoundKey::Last, 3)]));
    assert_eq!(set.into_arguments().unwrap(), json!({"by_round": {"last": 3}}));
    let wrong =
        serde_json::from_value::<SetScores>(json!({"by_round": {"middle": 3}})).unwrap_err().to_string();
    assert!(
        wrong.contains("\"middle\" is not one of the allowed strings: first, last at /by_round/middle"),
        "{wrong}"
    );
    let wrong = by_tag::TOOLS.iter().find(|tool| tool.spec.name.as_str() == scores::TOOL_SET_SCORES).unwrap();
    let given = json!({"by_round": {"middle": 3}});
    let problems = decode(&given, &wrong.spec.input, &wrong.spec.defs, &JSON_SCHEMA);
    assert!(problems.is_err(), "a model's keys are checked, too");
}

#[test]
fn tools_and_types_of_a_tag_are_in_its_module() {
    let names = |tools: &[&toolgen_runtime::Tool]| -> Vec<String> {
        tools.iter().map(|tool| tool.spec.name.to_string()).collect()
    };
    assert_eq!(names(by_tag::TOOLS).len(), 7);
    assert_eq!(names(pets::TOOLS), ["addPet"]);
    assert_eq!(names(by_tag::pets_2::TOOLS).len() + names(scores::TOOLS).len(), 2);
    let shared: Vec<by_tag::Pet> = <<by_tag::pets_2::ListMore as TypedTool>::Output>::default();
    assert!(shared.is_empty());
    assert!(std::ptr::eq(by_tag::GetHealth::tool(), &raw const by_tag::GET_HEALTH));
}
