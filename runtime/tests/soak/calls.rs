//! The calls of the soak test, and the valid results of each.

use toolgen_runtime::call::blocked::Blocked;
use toolgen_runtime::{Principal, Session, ToolCall};

use crate::prelude::*;
use crate::random::Random;

/// The prefix of the IDs of calls that a hook stops.
pub(crate) const SKIPPED: &str = "skip-";

/// A call, how it is cancelled, and its valid results.
pub(crate) struct Case {
    pub(crate) call: ToolCall,
    pub(crate) turn: Turn,
    pub(crate) give_up: GiveUp,
    expected: Vec<Expected>,
}

/// How the caller cancels the call.
pub(crate) enum GiveUp {
    Never,
    /// The token fires after this time; zero is before the call.
    Cancel(Duration),
    /// The future is dropped after this number of polls.
    Drop(u32),
}

/// A valid result.
enum Expected {
    Text(String),
    /// A text that was truncated and continues on another page.
    Cut(String),
    Code(&'static str),
}

/// The result of an identical call that has failed before.
const REPEATED: Expected = Expected::Code("REPEATED_FAILURE");

impl Case {
    /// Returns an error if the result is invalid.
    pub(crate) fn judge(&self, response: &ToolResponse) -> Result<(), String> {
        if response.id != self.call.id || response.name != self.call.name {
            return Err(format!(
                "{} {} was answered as {} {}",
                self.call.id, self.call.name, response.id, response.name
            ));
        }
        let right = self.expected.iter().any(|expected| match (expected, &response.outcome) {
            (Expected::Text(text), Ok(result)) => result.to_text() == *text,
            (Expected::Cut(start), Ok(result)) => {
                let text = result.to_text();
                text.starts_with(start) && text.len() < 1 << 11 && text.contains("[Result cut: ")
            }
            (Expected::Code(code), Err(error)) => error.code() == *code,
            _ => false,
        });
        let message = || format!("{} {}: {:?}", self.call.name, self.call.arguments, response.outcome);
        right.then_some(()).ok_or_else(message)
    }
}

/// Generates the calls of one task.
pub(crate) struct Calls {
    random: Random,
    session: Session,
}

impl Calls {
    pub(crate) fn new(random: Random) -> Calls {
        Calls { random, session: Session::new("first") }
    }

    /// Generates the call with this number.
    pub(crate) fn make(&mut self, number: u64) -> Case {
        if self.random.below(500) == 0 {
            self.session = Session::new(format!("session-{number}"));
        }
        let n = self.random.below(1 << 40);
        let kind = self.random.below(100);
        let mut case = match kind {
            0..=29 => good(n, kind),
            30..=41 => self.failing(n),
            42..=53 => refused(n, self.random.below(7)),
            54..=65 => self.malformed(n),
            66..=75 => self.given_up(n),
            76..=83 => self.dropped(n),
            84..=91 => self.asked(n),
            _ => self.depending(n),
        };
        let prefix = if self.random.below(40) == 0 { SKIPPED } else { "c-" };
        case.call.id = format!("{prefix}{number}").into();
        if prefix == SKIPPED {
            case.expected.push(Expected::Code("SKIPPED"));
        }
        case
    }

    fn failing(&mut self, n: u64) -> Case {
        let arguments = json!({"n": n});
        match self.random.below(6) {
            0 => case("fail", arguments, [Expected::Code("EXECUTION_ERROR")]),
            1 => case("half_fail", arguments, [Expected::Text(half_failed(n))]),
            2 => case("panics", arguments, [Expected::Code("EXECUTION_ERROR")]),
            3 if n.is_multiple_of(8) => {
                case("blocking_panics", arguments, [Expected::Code("EXECUTION_ERROR")])
            }
            3 => case("bottomless", json!({}), [Expected::Code("DEPTH_EXCEEDED"), REPEATED]),
            4 => {
                let down = Expected::Code("SERVICE_UNAVAILABLE");
                case(
                    "flaky",
                    arguments,
                    [Expected::Code("EXECUTION_ERROR"), Expected::Text(n.to_string()), down],
                )
            }
            _ => case("hang", arguments, [Expected::Code("TIMEOUT")]),
        }
    }

    fn malformed(&mut self, n: u64) -> Case {
        match self.random.below(6) {
            0 => case("no_such_tool", json!({"n": n}), [Expected::Code("TOOL_NOT_FOUND")]),
            1 => case("ehco", json!({"n": n}), [Expected::Code("TOOL_NOT_FOUND")]),
            2 => case("echo", json!(format!("{{\"n\": {n}")), [Expected::Code("INVALID_INPUT")]),
            3 => case("echo", json!({"n": format!("{n}")}), [Expected::Code("INVALID_PARAMS")]),
            4 => case("echo", json!({}), [Expected::Code("MISSING_PARAMETER"), REPEATED]),
            _ => {
                let mut cut = case("echo", json!({"n": n}), [Expected::Code("TRUNCATED")]);
                cut.call.blocked = Some(Blocked::Truncated);
                cut
            }
        }
    }

    fn given_up(&mut self, n: u64) -> Case {
        let expected = || [Expected::Text(n.to_string()), Expected::Code("CANCELLED")];
        let mut case = match self.random.below(3) {
            0 => case("later", json!({"n": n, "turns": self.random.below(4)}), expected()),
            1 => case("slow", json!({"n": n, "millis": self.random.below(3)}), expected()),
            _ => case("nested", json!({"n": n}), expected()),
        };
        case.give_up = GiveUp::Cancel(Duration::from_millis(self.random.below(3)));
        case
    }

    fn dropped(&mut self, n: u64) -> Case {
        let mut case = match self.random.below(3) {
            0 => case("later", json!({"n": n, "turns": 3}), [Expected::Text(n.to_string())]),
            1 => case("slow", json!({"n": n, "millis": 2}), [Expected::Text(n.to_string())]),
            _ => case("blocking", json!({"n": n}), [Expected::Text(n.to_string())]),
        };
        case.give_up = GiveUp::Drop(1 + u32::try_from(self.random.below(3)).unwrap());
        case
    }

    /// Generates calls that middleware handles; see `layers`.
    fn asked(&mut self, n: u64) -> Case {
        let text = |n: u64| Expected::Text(n.to_string());
        let expected = match (n % 6, n % 4) {
            (2, _) => text(n + 1),
            (3, 3) => Expected::Code("APPROVAL_REQUIRED"),
            (4, 0) | (5, _) => text(n),
            _ => Expected::Code("PERMISSION_DENIED"),
        };
        case("guarded", json!({"n": n}), [expected])
    }

    fn depending(&mut self, n: u64) -> Case {
        let missing = || Expected::Code("DEPENDENCY_NOT_MET");
        match self.random.below(8) {
            0 => {
                let mut case = case("open", json!({}), [Expected::Text(String::new())]);
                case.turn = case.turn.with_session(self.session.clone());
                case
            }
            1 if n.is_multiple_of(2) => {
                case("account", json!({"account": n}), [Expected::Text(n.to_string())])
            }
            1 => case("account", json!({"account": n}), [missing()]),
            2 => case("opened", json!({"n": n}), [missing()]),
            _ => {
                let known = self.session.has_called("open");
                let expected = if known { Expected::Text(n.to_string()) } else { missing() };
                let mut case = case("opened", json!({"n": n}), [expected]);
                case.turn = case.turn.with_session(self.session.clone());
                case
            }
        }
    }
}

fn case(name: &str, arguments: Value, expected: impl Into<Vec<Expected>>) -> Case {
    Case {
        call: ToolCall::new("", name, arguments),
        turn: Turn::new("turn"),
        give_up: GiveUp::Never,
        expected: expected.into(),
    }
}

fn good(n: u64, kind: u64) -> Case {
    let (name, arguments) = match kind {
        0..=7 => ("echo", json!({"n": n})),
        8 | 9 => return case("big", json!({"n": n}), [Expected::Cut(format!("{n} {n} "))]),
        // As some vendors send them.
        10..=14 => ("echo", json!(format!("{{\"n\": {n}}}"))),
        15..=22 => ("later", json!({"n": n, "turns": 2})),
        23..=26 => ("nested", json!({"n": n})),
        27 => ("blocking", json!({"n": n})),
        _ => ("slow", json!({"n": n, "millis": 1})),
    };
    let mut case = case(name, arguments, [Expected::Text(n.to_string())]);
    if n.is_multiple_of(3) {
        case.turn = case.turn.with_principal(Principal::new("reader").with_scopes(["read"]));
    }
    case
}

fn refused(n: u64, kind: u64) -> Case {
    let denied = || [Expected::Code("PERMISSION_DENIED")];
    let echo = |expected: Expected, principal: Principal| {
        let mut case = case("echo", json!({"n": n}), [expected]);
        case.turn = case.turn.with_principal(principal);
        case
    };
    match kind {
        0 => case("unlisted", json!({}), denied()),
        1 => case("writes", json!({}), denied()),
        2 => case("secret_plans", json!({}), denied()),
        3 => echo(Expected::Code("PERMISSION_DENIED"), Principal::new("nobody")),
        4 => {
            let principal = Principal::new("clerk").with_scopes(["read"]).with_tools(["later"]);
            echo(Expected::Code("PERMISSION_DENIED"), principal)
        }
        _ => {
            let principal = Principal::new("eager").with_scopes(["read"]).with_quota(0);
            echo(Expected::Code("RATE_LIMITED"), principal)
        }
    }
}

fn half_failed(n: u64) -> String {
    format!("{{\"success\":false,\"error\":\"not {n}\"}}")
}
