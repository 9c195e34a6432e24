//! The client for vendors' APIs, with a local fake of each vendor that sends recorded replies.

mod faults;
mod limits;

use std::fs;
use std::path::Path;

use toolgen_runtime::agent::agent_loop::{AgentEvent, LoopRun, ModelError};
use toolgen_runtime::agent::model::RequestError;
use toolgen_runtime::agent::{Agent, Model};
use toolgen_runtime::engine::http::{RetryPolicy, Secret};
use toolgen_test_support::http::{Reply, Server, json as whole, ok};

use crate::conversation::recorded::{self, Framing};
use crate::prelude::*;

type Run = LoopRun<ModelError<RequestError>>;

const KEY: &str = "sk-secret-key-0123456789";

/// A vendor, and what its API is called.
struct Case {
    /// The name of its recordings.
    name: &'static str,
    model: fn(&str) -> Model,
    framing: Framing,
    media_type: &'static str,
    /// The targets of whole and streamed requests.
    targets: [&'static str; 2],
    key: (&'static str, &'static str),
}

fn cases() -> Vec<Case> {
    const SSE: &str = "text/event-stream";
    let bearer = ("authorization", "Bearer sk-secret-key-0123456789");
    vec![
        Case {
            name: "anthropic",
            model: |url| Model::anthropic("claude-sonnet-5-5").with_base_url(url),
            framing: Framing::Sse,
            media_type: SSE,
            targets: ["/v1/messages"; 2],
            key: ("x-api-key", KEY),
        },
        Case {
            name: "openai-responses",
            model: |url| Model::openai("gpt-5.1").with_base_url(format!("{url}/v1/")),
            framing: Framing::Sse,
            media_type: SSE,
            targets: ["/v1/responses"; 2],
            key: bearer,
        },
        Case {
            name: "openai-chat",
            model: |url| Model::compatible("qwen3", format!("{url}/v1")),
            framing: Framing::Decorated,
            media_type: SSE,
            targets: ["/v1/chat/completions"; 2],
            key: bearer,
        },
        Case {
            name: "gemini",
            model: |url| Model::gemini("gemini-2.5-flash").with_base_url(url),
            framing: Framing::Sse,
            media_type: SSE,
            targets: [
                "/v1beta/models/gemini-2.5-flash:generateContent",
                "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            ],
            key: ("x-goog-api-key", KEY),
        },
        Case {
            name: "bedrock",
            model: |url| Model::bedrock("us.anthropic.claude-v1:0").with_base_url(url),
            framing: Framing::Frames,
            media_type: "application/vnd.amazon.eventstream",
            targets: [
                "/model/us.anthropic.claude-v1%3A0/converse",
                "/model/us.anthropic.claude-v1%3A0/converse-stream",
            ],
            key: bearer,
        },
    ]
}

impl Case {
    fn model(&self, server: &str) -> Model {
        let retries = RetryPolicy::default().initial_delay(Duration::from_millis(1));
        (self.model)(server).with_key(Secret::new(KEY)).with_retries(retries)
    }

    /// The replies of a model that makes a wrong call, corrects it, and answers.
    fn replies(&self) -> Vec<Reply> {
        let path = format!("../examples/agent-loop/replies/{}.json", self.name);
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let replies: Vec<Value> = serde_json::from_str(&text).unwrap();
        replies.iter().map(whole).collect()
    }

    /// The last of these replies.
    fn answer(&self) -> Reply {
        self.replies().pop().unwrap()
    }

    /// A streamed reply: the model thinks, writes text and makes two calls.
    fn stream(&self) -> Vec<u8> {
        let recorded = self.recorded();
        recorded::bytes(self.framing, &recorded.events)
    }

    fn recorded(&self) -> recorded::Recorded {
        recorded::all().into_iter().find(|recorded| recorded.name == self.name).unwrap()
    }
}

/// Tells the weather of a city.
#[tool(read_only, undocumented)]
fn forecast(city: &str, day: Day) -> String {
    match day {
        Day::Today => format!("{city}: snow"),
        Day::Tomorrow => format!("{city}: sun"),
    }
}

#[derive(toolgen_runtime::ToolInput)]
#[serde(rename_all = "lowercase")]
enum Day {
    Today,
    Tomorrow,
}

fn tools() -> Toolbox {
    Toolbox::new(toolset![forecast]).unwrap()
}

/// Runs a model that answers at once.
async fn ask(model: Model) -> Run {
    Agent::new(model, &tools()).run("What will the weather be like?").await
}

/// Runs a streamed model for one turn, and returns the events and the run.
async fn watch(model: Model) -> (Vec<AgentEvent>, Run) {
    let tools = tools();
    let mut agent = Agent::new(model, &tools).with_limits(LoopOptions::new().with_max_iterations(1));
    let mut stream = agent.stream("What will the weather be like?");
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    (events, stream.finish().await)
}

#[tokio::test]
async fn agent_of_each_vendor_corrects_its_call() {
    for case in cases() {
        let server = Server::in_turn(case.replies());
        let tools = tools();
        let mut agent = Agent::new(case.model(&server.url), &tools).with_system("Be brief.");
        let run = agent.run("What will the weather be like?").await;
        assert_eq!(run.iterations, 3, "{}: {run:?}", case.name);
        assert_eq!(run.transcript.system(), Some("Be brief."));
        assert!(run.text().unwrap().starts_with("Tomorrow will be sunny"), "{}", case.name);
        let seen = server.seen();
        for request in &seen {
            assert_eq!((request.method(), request.target()), ("POST", case.targets[0]), "{}", case.name);
            assert_eq!(request.header(case.key.0), Some(case.key.1), "{}", case.name);
            assert_eq!(request.header("content-type"), Some("application/json"));
            assert!(request.text().contains("Be brief.") && !request.text().contains(KEY));
        }
        // The model reads the message about its wrong call.
        assert!(seen[1].text().contains("did you mean"), "{}", seen[1].text());
    }
}

#[tokio::test]
async fn streamed_turn_is_the_whole_turn() {
    for case in cases() {
        let stream = case.stream();
        let media_type = case.media_type;
        let server = Server::start(move |_| ok(media_type, &stream));
        let (events, run) = watch(case.model(&server.url)).await;
        assert_eq!(server.only().target(), case.targets[1], "{}", case.name);
        let turn = run.transcript.turns().next().unwrap();
        let recorded = case.recorded();
        let expected = ModelTurn::from(recorded.format.turn(&recorded.whole).unwrap());
        assert_eq!(turn, &expected, "{}", case.name);
        let text: String = events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, expected.text, "{}", case.name);
        let calls = events.iter().filter(|event| matches!(event, AgentEvent::Call { .. })).count();
        let results = events.iter().filter(|event| matches!(event, AgentEvent::Result(_))).count();
        assert_eq!((calls, results), (expected.calls.len(), expected.calls.len()), "{}", case.name);
    }
}

#[tokio::test]
async fn events_are_a_readable_protocol() {
    let case = &cases()[0];
    let server = Server::in_turn(case.replies());
    let tools = tools();
    let written = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&written);
    let limits = LoopOptions::new().on_event(move |event| log.lock().unwrap().push_str(&event.to_string()));
    // The fake does not stream, so the model must not ask for a stream.
    let model = |transcript: Transcript| {
        let mut model = case.model(&server.url);
        async move {
            use toolgen_runtime::agent::agent_loop::LanguageModel;
            model.offer(&Toolbox::new(toolset![forecast]).unwrap()).unwrap();
            model.next(&transcript).await
        }
    };
    Agent::new(model, &tools).with_limits(limits).run("What will the weather be like?").await.text().unwrap();
    assert_eq!(
        *written.lock().unwrap(),
        "\n> forecast {\"city\":\"Oslo\",\"day\":\"tommorow\"}\n\
         x forecast Invalid arguments: /day: expected one of \"today\", \"tomorrow\", got the string \"tommorow\"; did \
         you mean \"tomorrow\"?\n\
         \n> forecast {\"city\":\"Oslo\",\"day\":\"tomorrow\"}\n< forecast Oslo: sun\n\
         Tomorrow will be sunny in Oslo, at 6 °C.\n"
    );
}
