//! Tests of the schemas of types with `#[derive(ToolInput)]`: descriptions of values, defaults, and no bounds that only
//! come from the size of an integer type.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_runtime::schema::shape::decode::decode;
use toolgen_runtime::spec::docs::detail;
use toolgen_runtime::{AgentTool, FunctionTool, ToolInput, tool};
use toolgen_test_support::rows;

fn schema(tool: &FunctionTool) -> Value {
    tool.spec().schema(&JSON_SCHEMA).unwrap().schema
}

/// How loud it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize, ToolInput)]
#[serde(rename_all = "lowercase")]
enum Volume {
    /// For the night.
    #[default]
    Quiet,
    /// For the day.
    Loud,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
#[serde(default)]
struct Settings {
    /// In percent.
    level: u8,
    /// The volume at noon.
    volume: Volume,
    #[serde(default = "other_each_time")]
    stamp: u64,
    note: Option<String>,
    #[serde(skip)]
    hidden: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { level: 7, volume: Volume::Loud, stamp: 0, note: None, hidden: 1 }
    }
}

fn other_each_time() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolInput)]
struct Player {
    #[serde(flatten)]
    settings: Settings,
    #[serde(default)]
    tags: Vec<String>,
    #[arg(default = Volume::Quiet)]
    #[serde(default)]
    before: Volume,
    #[serde(default = "two_hundred")]
    #[arg(range = 1..=100)]
    share: u32,
}

fn two_hundred() -> u32 {
    200
}

/// Plays a song.
#[tool]
fn play(
    /// How loud to play.
    volume: Volume,
    /// How loud at first.
    #[arg(default)]
    first: Option<Volume>,
    /// With what.
    player: Player,
) -> String {
    format!("{volume:?} {first:?} {player:?}")
}

#[test]
fn field_description_keeps_the_variant_docs() {
    let schema = schema(&play::tool());
    let listed = "- `quiet`: For the night.\n- `loud`: For the day.";
    let arguments = &schema["properties"];
    assert_eq!(arguments["volume"]["description"], format!("How loud to play.\n{listed}"));
    assert_eq!(arguments["volume"]["enum"], json!(["quiet", "loud"]));
    assert_eq!(arguments["first"]["description"], format!("How loud at first.\n{listed}"));
    let player = &schema["$defs"]["Player"]["properties"];
    assert_eq!(player["volume"]["description"], format!("The volume at noon.\n{listed}"));
    assert_eq!(player["before"]["description"], format!("How loud it is.\n{listed}"));
}

#[test]
fn field_defaults_are_in_the_schema() {
    let tool = play::tool();
    let schema = schema(&tool);
    let player = &schema["$defs"]["Player"]["properties"];
    let message = |field: &str| player[field].get("default").cloned();
    assert_eq!(message("level"), Some(json!(7)));
    assert_eq!(message("volume"), Some(json!("loud")));
    assert_eq!(message("tags"), Some(json!([])));
    assert_eq!(message("before"), Some(json!("quiet")));
    // A default that changes, an empty one, and one that is invalid for the field.
    assert_eq!((message("stamp"), message("note"), message("share")), (None, None, None));
    let documentation = detail(tool.spec());
    assert!(
        documentation.contains("- volume (string, required): How loud to play. - `quiet`: For"),
        "{documentation}"
    );
}

#[test]
fn default_variant_is_in_the_schema_without_serialize() {
    #[derive(Clone, Copy, Debug, Default, ToolInput)]
    #[serde(rename_all = "snake_case")]
    enum Speed {
        #[default]
        Normal,
        NextDay,
        Within {
            hours: u8,
        },
    }

    #[derive(Clone, Debug, Default, ToolInput)]
    struct Parcel {
        #[serde(default)]
        speed: Speed,
        #[arg(default = Some(Speed::NextDay))]
        at_most: Option<Speed>,
        #[arg(default = Speed::Within { hours: 2 })]
        or: Speed,
    }

    /// Sends a parcel.
    #[tool]
    fn send(
        /// How fast.
        #[arg(default = Speed::NextDay)]
        speed: Speed,
        /// What.
        parcel: Parcel,
    ) -> String {
        let hours = if let Speed::Within { hours } = parcel.or { hours } else { 0 };
        format!("{speed:?} {:?} {:?} {hours}", parcel.speed, parcel.at_most)
    }

    let schema = schema(&send::tool());
    assert_eq!(schema["properties"]["speed"]["default"], json!("next_day"));
    let parcel = &schema["$defs"]["Parcel"]["properties"];
    assert_eq!(parcel["speed"]["default"], json!("normal"));
    assert_eq!(parcel["at_most"]["default"], json!("next_day"));
    // It is not a unit variant, and the type does not implement `Serialize`.
    assert_eq!(parcel["or"].get("default"), None);
}

#[test]
fn integer_width_is_enforced_but_not_in_the_schema() {
    #[derive(Debug, Serialize, ToolInput)]
    struct Numbers {
        a: i64,
        b: u32,
        #[arg(range = 1..)]
        c: u16,
        #[arg(range = ..=10)]
        d: i16,
        e: std::num::NonZeroU64,
        f: f32,
    }

    /// Takes numbers.
    #[tool]
    fn take(
        /// All of them.
        numbers: Numbers,
    ) -> String {
        format!("{numbers:?}")
    }

    let tool = take::tool();
    let fields = schema(&tool)["$defs"]["Numbers"]["properties"].clone();
    let expected = json!({
        "a": {"type": "integer"},
        "b": {"type": "integer", "minimum": 0},
        "c": {"type": "integer", "minimum": 1},
        "d": {"type": "integer", "maximum": 10},
        "e": {"type": "integer", "minimum": 1},
        "f": {"type": "number"},
    });
    assert_eq!(fields, expected);
    for (key, wrong) in
        [("b", json!(4_294_967_296_u64)), ("c", json!(65_536)), ("d", json!(-32_769)), ("f", json!(1e39))]
    {
        let mut numbers = json!({"a": 0, "b": 0, "c": 1, "d": 0, "e": 1, "f": 0});
        numbers[key] = wrong;
        let fits =
            decode(&json!({ "numbers": numbers }), &tool.spec().input, &tool.spec().defs, &JSON_SCHEMA);
        assert!(fits.is_err(), "{key}");
    }
}

#[test]
fn macros_know_all_runtime_dialects() {
    let source = include_str!("../../../tool-macros/src/dialects.rs");
    let list = source.split("DIALECTS: &[&str] = &[").nth(1).unwrap().split(']').next().unwrap();
    let known: Vec<String> = list.split('"').skip(1).step_by(2).map(|name| name.replace('_', "-")).collect();
    let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name).collect();
    assert_eq!(known, names);
}

#[test]
fn enum_problem_refers_to_the_intended_variant() {
    /// The default form of serde.
    #[derive(Debug, Serialize, Deserialize, ToolInput)]
    #[serde(rename_all = "snake_case")]
    enum Delivery {
        Normal,
        Slow,
        NextDay { before: u8 },
        Courier(String),
    }

    /// Distinguished by a property.
    #[derive(Debug, Serialize, Deserialize, ToolInput)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Way {
        Cash,
        Card { number: String },
        Bank { iban: String },
    }

    /// Distinguished by a property, with the content in another.
    #[derive(Debug, Serialize, Deserialize, ToolInput)]
    #[serde(tag = "t", content = "c", rename_all = "snake_case")]
    enum Sign {
        Stop,
        Speed(u8),
    }

    /// Sends.
    #[tool(undocumented)]
    fn send(
        e: Option<Delivery>,
        way: Option<Way>,
        sign: Option<Sign>,
        #[arg(default = 1)] count: u8,
    ) -> String {
        format!("{e:?} {way:?} {sign:?} {count:?}")
    }

    let tool = send::tool();
    let all = "/e: expected one of \"normal\", \"slow\" or an object with one of `next_day`, `courier`, ";
    let cases = rows! {
        {"e": {"next_day": {"before": 300}}}, "/e/next_day/before: must be from 0 to 255, got 300";
        {"e": {"next_day": {}}}, "/e/next_day/before: missing: expected an integer";
        {"e": {"courier": 5}}, "/e/courier: expected a string, got the number 5";
        {"e": "next_day"}, (all.to_owned() + "got the string \"next_day\"; send the object {\"next_day\": …}");
        {"way": {"type": "gold"}}, "/way/type: expected one of \"cash\", \"card\", \"bank\", got the string \"gold\"";
        {"count": null}, "/count: expected an integer, got null; omit it instead";
        {"way": {"type": "bank"}}, "/way/iban: missing: expected a string";
        {"sign": {"t": "spede", "c": 5}},
            "/sign/t: expected one of \"stop\", \"speed\", got the string \"spede\"; did you mean \"speed\"?";
        {"sign": {"t": "speed", "c": 300}}, "/sign/c: must be from 0 to 255, got 300";
    };
    for (arguments, expected) in cases {
        let problems = decode(&arguments, &tool.spec().input, &tool.spec().defs, &JSON_SCHEMA).unwrap_err();
        let messages: Vec<String> =
            problems.iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect();
        assert_eq!(json!(messages), json!([expected]), "{arguments}");
    }
}
