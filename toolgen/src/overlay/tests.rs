use std::path::Path;

use serde_json::json;

use super::*;

fn document(text: &str) -> Arc<Document> {
    Document::parse(Path::new("fix.overlay.yaml"), text, &mut Problems::new()).unwrap()
}

/// Applies actions to a tree, and returns the result and the problems.
fn applied(root: Value, actions: &str) -> (Value, String) {
    let mut root = root;
    let mut problems = Problems::new();
    let text = format!("overlay: 1.1.0\ninfo: {{title: t, version: '1'}}\nactions:\n{actions}");
    apply(&mut root, &document(&text), &mut problems);
    (root, problems.to_string())
}

#[test]
fn actions_apply_in_order() {
    let root = json!({"info": {"title": "a", "tags": ["x"]}, "list": [1, 2, 3, 4], "gone": {"a": 1}});
    let actions = "
- {target: $.info, update: {title: b, tags: [y], more: {n: 1}}}
- {target: $.info, update: {more: {m: 2}}}
- {target: '$.list[?@ > 2]', remove: true}
- {target: $.list, update: 9}
- {target: $.list, update: [10]}
- {target: $.info.title, update: c}
- {target: $.gone, copy: $.info.more}
- {target: $.info.more, remove: true}
";
    let expected = json!({"info": {"title": "c", "tags": ["x", "y"]}, "list": [1, 2, 9, 10], "gone": {"a": 1, "n": 1, "m": 2}});
    assert_eq!(applied(root, actions), (expected, String::new()));
}

#[test]
fn remove_action_ignores_other_keys() {
    let root = json!({"info": {"title": "a"}, "gone": {}, "list": [1]});
    let actions = "
- {target: $.gone, remove: true, update: {a: 1}}
- {target: $.list, remove: true, copy: $.nowhere}
";
    let expected = "\
fix.overlay.yaml:5:3: the action removes its target, so its `update` does nothing [W0504]; omit one of them
fix.overlay.yaml:6:3: the action removes its target, so its `copy` does nothing [W0504]; omit one of them";
    assert_eq!(applied(root, actions), (json!({"info": {"title": "a"}}), expected.to_owned()));
}

#[test]
fn invalid_action_changes_nothing_and_is_located() {
    let root = json!({"info": {"title": "a"}, "list": []});
    let actions = "
- {target: info, update: {}}
- {target: $.info}
- {target: $.nothing, update: {}}
- {target: $.info, update: {title: {}}}
- {target: $.info, update: [1]}
- {target: $.info, copy: $.*}
- {update: {}}
- {target: $, remove: true}
- {target: $.info, rmove: true}
- {target: $.info, remove: 'yes'}
- {target: $.info, update: null}
- {target: $.info, remove: null}
- {target: $.info, update: {title: b}, copy: $.list}
- {target: $.info, remove: false}
- {target: null, update: {title: b}}
- remove
";
    let expected = "\
fix.overlay.yaml:5:4: `target` is not a JSONPath: a query must start with `$`, the whole document \
at character 1 [E0502]; write a JSONPath, such as `$.paths['/pets'].get`
fix.overlay.yaml:6:3: the action does nothing: it has neither `update` nor `remove: true` nor `copy` [W0504]; add \
`update`, `remove: true` or `copy` (and at another place)
fix.overlay.yaml:7:4: the target is nowhere in the document, so the action does nothing [W0503]; compare the target with \
the document; names are case-sensitive
fix.overlay.yaml:8:20: the value does not fit the target at `/info`: `title`: it is a simple value, and the value an \
object [E0502]; remove the target first, or change what contains it
fix.overlay.yaml:9:20: the value does not fit the target at `/info`: it is an object, and the value an array [E0502]; \
remove the target first, or change what contains it
fix.overlay.yaml:10:20: `copy` must find one value, but finds 2 [E0502]; name the one value to copy
fix.overlay.yaml:11:3: the action needs `target`, a string [E0502]; write a JSONPath, such as `$.paths['/pets'].get` \
(and at another place)
fix.overlay.yaml:12:4: the whole document cannot be removed [E0502]; name the part to remove
fix.overlay.yaml:13:20: an action has no `rmove` [E0502]; did you mean `remove`?
fix.overlay.yaml:14:20: `remove` must be `true` or `false` [E0502]; write `remove: true` (and at another place)
fix.overlay.yaml:15:20: `update` has no value [E0502]; write the values to add, or `remove: true`
fix.overlay.yaml:17:3: an action does one thing, and this one has `update` and `copy` [E0502]; write an action for each; \
they apply in their order
fix.overlay.yaml:19:4: `target` has no value [E0502]; write a JSONPath, such as `$.paths['/pets'].get`";
    assert_eq!(applied(root.clone(), actions), (root, expected.to_owned()));
}

#[test]
fn overlay_growth_is_limited() {
    let root = |length| json!({"a": {}, "b": [1, 2, 3], "c": "x".repeat(length)});
    // Each action doubles the document: first its size, then its depth.
    let wide: String = (0..8).map(|_| "- {target: $.a, copy: $}\n- {target: $.b, copy: $}\n").collect();
    let deep: String =
        (0..14).map(|n| format!("- {{target: \"$.a{}\", copy: $}}\n", ".a".repeat((1 << n) - 1))).collect();
    let long =
        "- {target: $.b, update: [[], [], []]}\n- {target: '$.b[?length(@) == 0]', copy: $.c}\n".repeat(25);
    for (length, actions, message) in [
        (1 << 20, wide, "the overlay would add more than 1000000 values [E0502]"),
        (1, deep, "the document would be nested deeper than 512 levels [E0502]"),
        (1 << 20, long, "the overlay would add more than 1000000 values [E0502]"),
    ] {
        let (_, problems) = applied(root(length), &actions);
        assert!(problems.contains(message), "{problems:.500}");
    }
}

#[test]
fn invalid_overlay_is_reported() {
    for (text, code) in
        [("{}", "E0501"), ("overlay: 2.0.0", "E0501"), ("overlay: 1.0.0\nactions: []", "E0501")]
    {
        let mut problems = Problems::new();
        apply(&mut json!({}), &document(text), &mut problems);
        assert!(problems.to_string().contains(code), "{text}: {problems}");
    }
}
