//! Properties of every list of calls and results, and of JSON that is not a response at all.

use proptest::collection::{hash_set, vec};
use proptest::prelude::*;
use serde_json::Map;

use crate::prelude::*;
use crate::wire::formats::{ROWS, Row};

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((".{0,6}", inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    vec(("[a-z_]{1,8}", json()), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

fn calls() -> impl Strategy<Value = Vec<ToolCall>> {
    let id = prop_oneof!["[a-zA-Z_][a-zA-Z0-9_-]{0,20}", "[1-9][0-9]{0,6}"];
    let ids = hash_set(id, 0..6).prop_map(|ids| {
        let mut ids: Vec<String> = ids.into_iter().collect();
        ids.sort();
        ids
    });
    (ids, vec(("[a-z][a-z0-9_-]{0,20}", object()), 6)).prop_map(|(ids, tools)| {
        ids.into_iter().zip(tools).map(|(id, (name, arguments))| ToolCall::new(id, name, arguments)).collect()
    })
}

fn outcome() -> impl Strategy<Value = Result<ToolResult, ToolError>> {
    let content = prop_oneof![
        ".{0,12}".prop_map(Content::Text),
        ("[A-Za-z0-9+/]{0,12}", prop_oneof![Just("image/png"), Just("image/tiff"), Just("")])
            .prop_map(|(data, mime_type)| Content::Image { data, mime_type: mime_type.to_owned() }),
        "[A-Za-z0-9+/]{0,12}".prop_map(|data| Content::Audio { data, mime_type: String::from("audio/wav") }),
    ];
    prop_oneof![
        (vec(content, 0..4), json()).prop_map(|(content, details)| {
            let result = ToolResult::empty().with_details(details);
            Ok(content.into_iter().fold(result, ToolResult::with_content))
        }),
        ".{0,12}".prop_map(|reason| Err(ToolError::failed(reason))),
        Just(Err(ToolError::Cancelled)),
        Just(Err(ToolError::NotFound { name: String::from("x"), suggestion: None })),
    ]
}

/// Replaces, removes or duplicates one value anywhere in another.
fn damage(value: &mut Value, steps: &[usize], with: Value) {
    let Some((step, rest)) = steps.split_first() else {
        *value = with;
        return;
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            let index = step % items.len();
            damage(&mut items[index], rest, with);
        }
        Value::Object(fields) if !fields.is_empty() => {
            let index = step % fields.len();
            let key = fields.keys().nth(index).unwrap().clone();
            if step % 5 == 4 {
                fields.remove(&key);
            } else {
                damage(fields.get_mut(&key).unwrap(), rest, with);
            }
        }
        _ => *value = with,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn vendor_calls_are_decoded_verbatim(calls in calls()) {
        for Row { format, written, .. } in ROWS {
            let read = format.tool_calls(&written(&calls)).unwrap();
            // For vendors that send arguments as a string, the string is preserved, and has the same value.
            let read: Vec<ToolCall> = read.into_iter().map(|mut call| {
                if let Value::String(text) = &call.arguments {
                    call.arguments = serde_json::from_str(text).unwrap();
                }
                call
            }).collect();
            prop_assert_eq!(&read, &calls, "{}", format);
        }
    }

    #[test]
    fn every_call_gets_exactly_one_response_in_order(calls in calls(), outcomes in vec(outcome(), 6)) {
        let responses: Vec<ToolResponse> =
            calls.iter().zip(outcomes).map(|(call, outcome)| ToolResponse::new(call, outcome)).collect();
        let ids: Vec<String> = calls.iter().map(|call| call.id.to_string()).collect();
        for Row { format, answered, .. } in ROWS {
            let replies = format.tool_results(&responses);
            prop_assert_eq!(&replies, &format.tool_results(&responses), "{}", format);
            if calls.is_empty() {
                prop_assert_eq!(replies.len(), 0);
            } else {
                prop_assert_eq!(answered(&replies), ids.clone(), "{}", format);
            }
        }
    }

    #[test]
    fn damaged_responses_never_panic_and_problems_have_locations(
        calls in calls(), steps in vec(0_usize..100, 0..8), with in json(),
    ) {
        for Row { format, written, .. } in ROWS {
            let mut response = written(&calls);
            damage(&mut response, &steps, with.clone());
            let problems = format.tool_calls(&response).map_or_else(|error| vec![error], |read| read.problems);
            for problem in &problems {
                // A location that exists, or that of a missing member in a value that exists.
                let parent = problem.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
                let is_there = response.pointer(parent).is_some() || parent.ends_with("functionCall");
                prop_assert!(is_there, "{} in {}", problem, response);
            }
        }
    }

    #[test]
    fn arbitrary_json_is_parsed_or_rejected(value in json(), key in "[a-z]{1,8}") {
        let mut wrapped = Map::new();
        for key in ["content", "choices", "output", "candidates", "parts", "tool_calls", &key] {
            wrapped.insert(key.to_owned(), value.clone());
            for format in WireFormat::ALL {
                drop(format.tool_calls(&value));
                drop(format.tool_calls(&Value::Object(wrapped.clone())));
            }
        }
    }
}
