//! Tests of rate limits that processes share.

use toolgen_runtime::layers::rate::{RateLimit, WindowLimit};
use toolgen_runtime::store::Expected;

use super::{homes, redis_at, spec};
use crate::prelude::*;

const HOUR: Duration = Duration::from_secs(3600);

/// Makes calls sequentially, and returns how many are allowed.
pub(crate) async fn burst(
    limit: &impl RateLimit,
    who: &Principal,
    tool: &'static str,
    calls: usize,
) -> usize {
    let (spec, mut passed) = (spec(tool), 0);
    for _ in 0..calls {
        passed += usize::from(limit.allow(who, &spec).await);
    }
    passed
}

#[tokio::test]
async fn shared_limit_behaves_like_the_memory_limit() {
    for home in homes() {
        let (store, name) = (home.open(), home.name());
        for (number, quota) in [None, Some(3), Some(25), Some(0)].into_iter().enumerate() {
            let mut who = Principal::new(format!("p{number}/x"));
            who.quota = quota;
            let limit = || WindowLimit::new().with_window(HOUR).with_per_tool(12).with_per_principal(20);
            let (shared, own) = (limit().shared(store.clone()), limit());
            for tool in ["x", "y", "z", "x"] {
                let (there, here) = (burst(&shared, &who, tool, 14).await, burst(&own, &who, tool, 14).await);
                assert_eq!(there, here, "{name}: {tool} of {who:?}");
            }
        }
        let limit = || WindowLimit::new().with_window(HOUR).with_per_tool(3);
        let none = limit().with_per_tool(0).shared(store.clone());
        assert_eq!(burst(&none, &Principal::new("p1"), "x", 3).await, 0, "{name}");
        // Other principals and windows have separate counts.
        for who in ["p9", "p"] {
            let limit = limit().shared(store.clone());
            assert_eq!(burst(&limit, &Principal::new(who), "x", 5).await, 3, "{name}");
        }
        let longer = limit().with_window(HOUR * 2).shared(store);
        assert_eq!(burst(&longer, &Principal::new("p9"), "x", 5).await, 3, "{name}");
    }
}

/// Times are measured around each request, so the assertions hold on slow machines as well.
#[tokio::test]
async fn shared_sliding_window_never_exceeds_its_limit() {
    for home in homes() {
        let name = home.name();
        let window = Duration::from_millis(640);
        let limit = WindowLimit::new().with_window(window).with_per_tool(4).shared(home.open());
        let (who, spec, start) = (Principal::new("ada"), spec("x"), Instant::now());
        // The times when each allowed call was sent, and when its response had arrived.
        let mut passed: Vec<(Duration, Duration)> = Vec::new();
        for number in 0..150_u64 {
            let sent = start.elapsed();
            let is_allowed = limit.allow(&who, &spec).await;
            let answered = start.elapsed();
            if is_allowed {
                // Calls that certainly count: sent within the window that ends with the response.
                let recent = passed.iter().filter(|(at, _)| *at + window > answered).count();
                assert!(recent < 4, "{name}: {passed:?} and one at {answered:?}");
                passed.push((sent, answered));
            } else {
                // Calls that may still count, including the part of the window that counts longer.
                let recent = passed.iter().filter(|(_, at)| *at + window * 66 / 64 >= sent).count();
                assert!(recent >= 4, "{name}: refused for too long at {sent:?}: {passed:?}");
            }
            tokio::time::sleep(Duration::from_millis(number * 7 % 23)).await;
        }
        assert!(passed.len() >= 8, "{name}: the window moved on: {passed:?}");
    }
}

#[tokio::test]
async fn redis_keys_have_the_namespace_and_expire() {
    let Some(server) = super::redis::Server::start() else { return };
    let limit = WindowLimit::new().with_window(Duration::from_millis(300)).shared(redis_at(&server.url()));
    assert_eq!(burst(&limit, &Principal::new("ada"), "x", 5).await, 5);
    let store = redis_at(&server.url());
    for key in ["a", "b"] {
        let ttl = Duration::from_millis(300);
        store.put("t", key, b"1", ttl, Expected::Any).await.unwrap();
    }
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    assert!(keys.len() >= 3 && keys.iter().all(|key| key.starts_with("tests:")), "{keys:?}");
    tokio::time::sleep(Duration::from_millis(700)).await;
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    assert!(keys.is_empty(), "{keys:?}");
    // Namespaces are independent.
    let hour = || WindowLimit::new().with_window(HOUR).with_per_tool(2);
    for namespace in ["tests", "other tests"] {
        let store = RedisStore::builder(server.url(), namespace).build().unwrap();
        assert_eq!(burst(&hour().shared(store), &Principal::new("ada"), "x", 3).await, 2);
    }
}
