//! Chat tools, with which agents exchange messages.

use std::collections::BTreeMap;
use std::sync::Mutex;

use toolgen_runtime::BoxFuture;
use toolgen_runtime::builtin::{self, ChatMessage, ChatService};

use crate::Bench;
use crate::prelude::*;

/// A chat in memory, with the position of each reader.
#[derive(Default)]
struct Room(Mutex<(Vec<ChatMessage>, BTreeMap<String, usize>)>);

impl ChatService for Room {
    fn post<'a>(&'a self, author: &'a str, text: &'a str) -> BoxFuture<'a, Result<(), String>> {
        let message = if text == "spam" { Err("no spam".to_owned()) } else { Ok(()) };
        if message.is_ok() {
            let mut room = self.0.lock().unwrap();
            let time = format!("t{}", room.0.len());
            room.0.push(ChatMessage::new(time, author, text));
        }
        Box::pin(std::future::ready(message))
    }

    fn read<'a>(&'a self, reader: &'a str) -> BoxFuture<'a, Result<Vec<ChatMessage>, String>> {
        let (messages, read) = &mut *self.0.lock().unwrap();
        let from = read.insert(reader.to_owned(), messages.len()).unwrap_or_default();
        Box::pin(std::future::ready(Ok(messages[from..].to_vec())))
    }
}

fn bench(room: &Arc<Room>, agent: &str) -> Bench {
    let mut bench = Bench::new(builtin::chat()).limits(EffectLimits::PLANNING);
    let chat = Arc::clone(room) as Arc<dyn ChatService>;
    bench.context = bench.context.clone().with_service(chat).with_agent_id(agent);
    bench
}

#[tokio::test]
async fn agents_read_messages_of_other_agents() {
    let room = Arc::default();
    let (alice, bob) = (bench(&room, "alice"), bench(&room, "bob"));
    let posted = alice.result("chat_post", json!({"message": "hello"})).await.details;
    assert_eq!(posted, json!({"success": true, "message": "hello"}));
    let read = bob.result("chat_read", json!({})).await.details;
    let expected = json!({
        "success": true, "message": "Found 1 new message(s)", "count": 1,
        "messages": [{"timestamp": "t0", "author": "alice", "text": "hello"}],
    });
    assert_eq!(read, expected);
    let again = bob.result("chat_read", json!({})).await.details;
    assert_eq!(again, json!({"success": true, "message": "No new messages", "count": 0}));
    let refused = bob.call("chat_post", json!({"message": "spam"})).await;
    assert_eq!((refused.text().as_str(), refused.is_error()), ("failed to post chat message: no spam", true));
    assert!(bob.text("chat_post", json!({"message": ""})).await.contains("/message"));
}

#[tokio::test]
async fn chat_requires_a_service_and_an_agent_id() {
    let mut bench = bench(&Arc::default(), "alice");
    bench.context = ToolboxContext::new();
    for name in ["chat_post", "chat_read"] {
        let error = bench.toolbox().get(name).err().unwrap().to_string();
        assert_eq!(error, format!("failed to create tool '{name}': {name} tool requires a chat service"));
    }
    let room: Arc<dyn ChatService> = Arc::new(Room::default());
    bench.context = bench.context.clone().with_service(room);
    assert_eq!(bench.text("chat_read", json!({})).await, "agent_id not found in context");
}

#[test]
fn messages_round_trip() {
    let message = ChatMessage::new("t", "a", "b");
    let written = serde_json::to_value(&message).unwrap();
    assert_eq!(written, json!({"timestamp": "t", "author": "a", "text": "b"}));
    assert_eq!(serde_json::from_value::<ChatMessage>(written).unwrap(), message);
}
