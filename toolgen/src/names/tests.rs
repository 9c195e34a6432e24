use super::*;

fn named(operations: &[(&str, &str, &str)]) -> Vec<String> {
    let titles: Vec<String> = operations.iter().map(|(_, method, path)| format!("{method} {path}")).collect();
    let candidates = operations.iter().zip(&titles);
    let candidates: Vec<NameCandidate<'_>> = candidates
        .map(|(&(id, ..), title)| NameCandidate { id, fallback: "fallback".to_owned(), title })
        .collect();
    tool_names(&candidates)
}

#[test]
fn valid_ids_are_kept() {
    for id in ["listPets", "a__b", "a-b_", "x", &"y".repeat(64)] {
        assert_eq!(named(&[(id, "GET", "/")]), [id]);
    }
}

#[test]
fn invalid_ids_are_converted() {
    for (id, name) in [
        ("repos/list-tags", "repos_list-tags"),
        ("Pets.List all  pets!", "Pets_List_all_pets"),
        ("_hidden", "hidden"),
        ("2fa/enable", "op_2fa_enable"),
        ("naïve", "na_ve"),
    ] {
        assert_eq!(named(&[(id, "GET", "/")]), [name]);
    }
}

#[test]
fn missing_id_uses_the_fallback() {
    assert_eq!(named(&[("", "GET", "/")]), ["fallback"]);
    assert_eq!(named(&[("日本", "GET", "/")]), ["fallback"]);
}

#[test]
fn collision_suffix_does_not_depend_on_order() {
    let forward = named(&[("get", "GET", "/a"), ("Get", "GET", "/b"), ("other", "GET", "/c")]);
    let mut backward = named(&[("other", "GET", "/c"), ("Get", "GET", "/b"), ("get", "GET", "/a")]);
    backward.reverse();
    assert_eq!(forward, backward);
    assert_eq!(forward[2], "other");
    assert!(forward[0].starts_with("get_") && forward[1].starts_with("Get_"), "{forward:?}");
    assert_ne!(forward[0].to_lowercase(), forward[1].to_lowercase());
}

#[test]
fn long_name_keeps_a_stem() {
    let long = "a".repeat(80);
    let name = &named(&[(&long, "GET", "/")])[0];
    assert_eq!(name.len(), 64);
    assert!(name.starts_with("aaaa") && name.ends_with(&hash8(&long)), "{name}");
    let spaced = with_namespace("ns", &"b".repeat(64));
    assert!(spaced.len() == 64 && spaced.starts_with("ns__bbb"), "{spaced}");
    assert_eq!(with_namespace("my ns", "x"), "my_ns__x");
}

#[test]
fn long_name_loses_words() {
    for (id, name) in [
        (
            "delete_users_by_id_user_connections_by_id_connection_accounts_by_id_account",
            "delete_users_id_connections_id_connection_accounts_id_account",
        ),
        (
            "beta_get_environment_stats_v1_environments__environment_id__work_stats_get",
            "beta_get_environment_stats_v1__environment_id__work_stats_get",
        ),
        (
            "GetInternationalScheduledPaymentsInternationalScheduledPaymentIdPaymentDetails",
            "GetInternationalScheduledPaymentsPaymentIdPaymentDetails",
        ),
        (
            "actions/set-github-actions-default-workflow-permissions-organization-wide",
            "actions_set-github-default-permissions-organization-wide",
        ),
    ] {
        let long = &named(&[(id, "GET", "/")])[0];
        assert!(long.len() <= 64 && long == name, "{long}");
    }
    // A short name does not change because of a long one.
    let long = "get_the_permissions_of_a_team_by_its_id_and_that_of_its_organization";
    let short = "get_permissions_of_a_team_by_its_id_and_that_of_its_organization";
    let names = named(&[(long, "GET", "/a"), (short, "GET", "/b")]);
    assert_eq!(names[1], short);
    assert!(names[0].ends_with(&hash8(long)), "{names:?}");
}

#[test]
fn colliding_names_get_words_of_the_path() {
    let candidate = |id, fallback: &str, title| NameCandidate { id, fallback: fallback.to_owned(), title };
    let names = tool_names(&[
        candidate("getPet", "get_pets_by_id", "GET /pets/{id}"),
        candidate("getPet", "get_v2_pets_by_id", "GET /v2/pets/{id}"),
        candidate("list", "get_dogs", "GET /dogs"),
        candidate("List", "get_dogs", "GET /Dogs"),
    ]);
    assert_eq!(names[..2], ["getPet_by_id", "getPet_v2_by_id"]);
    assert!(names[2].starts_with("list_") && names[2] != "list_get_dogs", "{names:?}");
}

#[test]
fn hashes_are_sha256() {
    assert_eq!(hash8("abc"), "ba7816bf");
}

#[test]
fn operators_in_keys_become_words() {
    let keys = [
        "StartTime",
        "StartTime<",
        "StartTime>",
        "StartTime<=",
        "StartTime>=",
        "StartTime!=",
        "price[<]",
        "+1",
        "-1",
    ];
    let names =
        ["StartTime", "StartTime_lt", "StartTime_gt", "StartTime_lte", "StartTime_gte", "StartTime_ne"];
    let by_name = portable_keys(keys);
    assert_eq!(keys.map(|key| by_name[key].as_str())[..6], names);
    assert_eq!(keys.map(|key| by_name[key].as_str())[6..], ["price_lt", "plus_1", "minus_1"]);
    let keys = ["type", "@type", "$type", "name*", "name", "top", "created[gte]", "created", "a=b"];
    let by_name = portable_keys(keys);
    let names =
        ["type", "at_type", "dollar_type", "name_star", "name", "top", "created_gte", "created", "a_b"];
    assert_eq!(keys.map(|key| by_name[key].as_str()), names);
    // Balanced brackets are not comparisons.
    assert_eq!(portable_keys(["array<any>"])["array<any>"], "array_any");
    // If the word is already taken, the suffix distinguishes the keys.
    let by_name = portable_keys(["at", "at<", "at_lt", "type", "@type", "at_type"]);
    assert!(by_name["at<"].starts_with("at_lt_") && by_name["@type"].starts_with("type_"), "{by_name:?}");
    assert_eq!([&by_name["at_lt"], &by_name["at_type"]], ["at_lt", "at_type"]);
}

#[test]
fn keys_are_portable_and_unique() {
    let keys = ["filter[x]", "filter_x", "$top", "@type", "type", "9a", "日本", "a.b", "a-b"];
    let renamed = portable_keys(keys);
    assert!(renamed.values().all(|name| is_portable_key(name)), "{renamed:?}");
    let mut names: Vec<&String> = renamed.values().collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), keys.len(), "{renamed:?}");
    assert_eq!(renamed["filter_x"], "filter_x");
    assert_eq!(renamed["type"], "type");
    assert_eq!(renamed["$top"], "top");
    assert!(renamed["a.b"].starts_with("a_b_"));
}
