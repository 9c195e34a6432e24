//! Handlers for what tools request: effects, input and questions.
//!
//! A tool returns a [`Control`](crate::call::control::Control) along with its content. [`Effect`]s go to the
//! [`EffectHandler`] of their name, [`InputRequest`]s to the [`InputHandler`]; both are set on the
//! [`ToolboxBuilder`](crate::toolbox::ToolboxBuilder). The time that handlers take does not count towards the tool's
//! timeout. A result that is an error requests nothing.
//!
//! [`Effect`]: crate::call::control::Effect
//! [`InputRequest`]: crate::call::control::InputRequest

mod effect;
mod input;
mod question;

pub use effect::{EFFECT_FAILED, EFFECT_UNHANDLED, EffectHandler};
pub use input::{InputHandler, InputQuestion, InputReply, MAX_INPUT_ATTEMPTS, MAX_INPUT_ROUNDS};
pub(crate) use question::Questions;
pub use question::{ASK_QUESTION, Answerer, AskQuestion, Question};
