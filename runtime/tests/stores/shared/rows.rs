//! Tests of rows and counters in every store.

use tokio::task::JoinSet;
use toolgen_runtime::store::{Expected, Row};

use super::homes;
use crate::prelude::*;

const HOUR: Duration = Duration::from_secs(3600);

fn text(row: &Row) -> (&str, &str) {
    (&row.key, std::str::from_utf8(&row.value).unwrap())
}

#[tokio::test]
async fn put_requires_the_expected_version_and_is_visible_everywhere() {
    for home in homes() {
        let (one, other, name) = (home.open(), home.open(), home.name());
        assert_eq!(one.get("t", "a").await.unwrap(), None, "{name}");
        let first = one.put("t", "a", b"1", HOUR, Expected::Absent).await.unwrap().unwrap();
        assert_ne!(first, 0, "{name}");
        assert_eq!(other.put("t", "a", b"x", HOUR, Expected::Absent).await.unwrap(), None, "{name}");
        let row = other.get("t", "a").await.unwrap().unwrap();
        assert_eq!((text(&row), row.version), (("a", "1"), first), "{name}");
        assert!(row.left <= HOUR && row.left > HOUR - Duration::from_secs(60), "{name}: {row:?}");
        let second = other.put("t", "a", b"2", HOUR, Expected::Version(first)).await.unwrap().unwrap();
        for stale in [Expected::Version(first), Expected::Absent, Expected::Version(0)] {
            assert_eq!(one.put("t", "a", b"x", HOUR, stale).await.unwrap(), None, "{name}: {stale:?}");
            assert!(!one.delete("t", "a", stale).await.unwrap(), "{name}: {stale:?}");
        }
        let third = one.put("t", "a", b"3", HOUR, Expected::Any).await.unwrap().unwrap();
        assert_eq!(text(&other.get("t", "a").await.unwrap().unwrap()), ("a", "3"), "{name}");
        // The same key in another table is another row.
        assert_eq!(one.get("u", "a").await.unwrap(), None, "{name}");
        assert_eq!(one.put("t", "b", b"x", HOUR, Expected::Version(third)).await.unwrap(), None, "{name}");

        assert!(one.delete("t", "a", Expected::Version(third)).await.unwrap(), "{name}");
        assert!(!other.delete("t", "a", Expected::Any).await.unwrap(), "{name}: it is gone");
        let again = other.put("t", "a", b"4", HOUR, Expected::Absent).await.unwrap().unwrap();
        assert!(![first, second, third].contains(&again), "{name}: a version is used once");
        assert!(other.delete("t", "a", Expected::Any).await.unwrap(), "{name}");
    }
}

#[tokio::test]
async fn scan_finds_rows_by_key_prefix_in_order() {
    for home in homes() {
        let (one, other, name) = (home.open(), home.open(), home.name());
        let odd = ["a", "a%", "a/b c", "a\u{2603}", "a_", "b:1", "B"];
        for key in odd.iter().rev() {
            one.put("t", key, key.as_bytes(), HOUR, Expected::Absent).await.unwrap().unwrap();
        }
        one.put("tt", "a", b"", HOUR, Expected::Absent).await.unwrap();
        let keys = async |prefix: &str| -> Vec<String> {
            let rows = other.scan("t", prefix).await.unwrap();
            assert!(rows.iter().all(|row| row.key.as_bytes() == row.value && row.version > 0), "{name}");
            rows.into_iter().map(|row| row.key).collect()
        };
        assert_eq!(keys("").await, ["B", "a", "a%", "a/b c", "a_", "a\u{2603}", "b:1"], "{name}");
        assert_eq!(keys("a_").await, ["a_"], "{name}");
        assert_eq!(keys("x").await, [""; 0], "{name}");
        // More rows than one request returns, and bytes that are not UTF-8.
        for number in 0..450 {
            let key = format!("n{number:04}");
            one.put("many", &key, &[0xff, 0, number as u8], HOUR, Expected::Absent).await.unwrap();
        }
        let many = other.scan("many", "n").await.unwrap();
        assert_eq!(many.len(), 450, "{name}");
        assert!(many.is_sorted_by_key(|row| row.key.clone()), "{name}");
        assert_eq!(many[7].value, [0xff, 0, 7], "{name}");
    }
}

#[tokio::test]
async fn expired_rows_behave_like_deleted_rows() {
    for home in homes() {
        let (one, other, name) = (home.open(), home.open(), home.name());
        let soon = Duration::from_millis(1);
        for (key, ttl) in [("short", soon), ("zero", Duration::ZERO), ("long", Duration::MAX)] {
            one.put("t", key, b"1", ttl, Expected::Absent).await.unwrap().unwrap();
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(other.get("t", "short").await.unwrap(), None, "{name}");
        let left: Vec<_> = other.scan("t", "").await.unwrap().into_iter().map(|row| row.key).collect();
        assert_eq!(left, ["long"], "{name}");
        assert!(!other.delete("t", "short", Expected::Any).await.unwrap(), "{name}");
        assert!(other.put("t", "short", b"2", HOUR, Expected::Absent).await.unwrap().is_some(), "{name}");
        // Writing the row again extends its lifetime.
        let version = one.put("t", "zero", b"", soon, Expected::Absent).await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
        let late = one.put("t", "zero", b"", HOUR, Expected::Version(version)).await.unwrap();
        assert_eq!(late, None, "{name}: it is over");
        assert_eq!(text(&one.get("t", "short").await.unwrap().unwrap()), ("short", "2"), "{name}");
    }
}

#[tokio::test]
async fn one_writer_per_version_succeeds_without_lost_updates() {
    for home in homes() {
        let mut writers = JoinSet::new();
        for _ in 0..8 {
            let store = home.open();
            writers.spawn(async move {
                for _ in 0..25 {
                    loop {
                        let row = store.get("t", "sum").await.unwrap();
                        let sum: u32 = row.as_ref().map_or(0, |row| text(row).1.parse().unwrap());
                        let (value, known) = ((sum + 1).to_string(), row.map(|row| row.version));
                        let put = store.put("t", "sum", value.as_bytes(), HOUR, Expected::known(known));
                        if put.await.unwrap().is_some() {
                            break;
                        }
                    }
                }
            });
        }
        writers.join_all().await;
        assert_eq!(text(&home.open().get("t", "sum").await.unwrap().unwrap()).1, "200", "{}", home.name());
    }
}

#[tokio::test]
async fn counters_are_incremented_together_or_not_at_all() {
    for home in homes() {
        let (one, other, name) = (home.open(), home.open(), home.name());
        let both = [("x", 2), ("all", 3)];
        for (store, counted) in [(&one, true), (&other, true), (&one, false), (&other, false)] {
            assert_eq!(store.count("c", &both, HOUR).await.unwrap(), counted, "{name}");
        }
        assert!(
            one.count("c", &[("y", 2), ("all", 3)], HOUR).await.unwrap(),
            "{name}: 2 of all were counted"
        );
        assert!(!one.count("c", &[("z", 2), ("all", 3)], HOUR).await.unwrap(), "{name}");
        assert!(one.count("c", &[("z", 1)], HOUR).await.unwrap(), "{name}: z was not counted before");
        assert!(one.count("d", &[("z", 1)], HOUR).await.unwrap(), "{name}: of another table");
        assert!(one.scan("c", "").await.unwrap().is_empty(), "{name}: counters are no rows");
    }
}

#[tokio::test]
async fn debug_output_shows_no_stored_values() {
    for home in homes() {
        let store = home.open();
        store.put("t", "key", b"a secret", HOUR, Expected::Any).await.unwrap();
        let printed = format!("{store:?} {:?}", store.get("t", "key").await.unwrap());
        assert!(!printed.contains("secret") && !printed.contains("hunter2"), "{printed}");
    }
}
