//! The token by which a call is stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// The token of a call, as far as somebody asked for it: most calls are over before.
#[derive(Default)]
pub(super) struct Link {
    parent: Option<Arc<Token>>,
    own: OnceLock<Arc<Token>>,
}

impl Link {
    /// What copies and calls of this call share.
    fn shared(&self) -> &Arc<Token> {
        self.own.get_or_init(|| Arc::new(Token { parent: self.parent.clone(), ..Token::default() }))
    }

    pub(super) fn is_cancelled(&self) -> bool {
        match (self.own.get(), &self.parent) {
            (Some(token), _) | (None, Some(token)) => token.is_cancelled(),
            (None, None) => false,
        }
    }

    pub(super) fn get(&self) -> &CancellationToken {
        self.shared().get()
    }

    /// That of a call that this call makes.
    pub(super) fn child(&self) -> Link {
        Link { parent: Some(Arc::clone(self.shared())), own: OnceLock::new() }
    }

    /// The same token.
    pub(super) fn copy(&self) -> Link {
        Link { parent: self.parent.clone(), own: OnceLock::from(Arc::clone(self.shared())) }
    }

    /// The token whose firing ends the call.
    pub(super) fn caller(&self) -> &CancellationToken {
        self.parent.as_ref().unwrap_or_else(|| self.shared()).get()
    }

    /// Notes that the call of this token is answered.
    pub(super) fn end(&self) {
        // Where there is no token nobody shares it.
        if let Some(token) = self.own.get() {
            token.over.store(true, Ordering::Release);
        }
    }

    /// The call of this token, or one above it, is answered.
    pub(super) fn is_over(&self) -> bool {
        self.own.get().or(self.parent.as_ref()).is_some_and(|token| token.is_over())
    }

    /// Fires the token of this call alone.
    pub(super) fn stop(&self) {
        // Who shares it may ask for the token later.
        if let Some(token) = self.own.get()
            && (token.own.get().is_some() || Arc::strong_count(token) > 1)
        {
            token.get().cancel();
        }
    }
}

/// A token that is made when it is asked for.
#[derive(Default)]
struct Token {
    parent: Option<Arc<Token>>,
    own: OnceLock<CancellationToken>,
    /// The call is answered.
    over: AtomicBool,
}

impl Token {
    fn get(&self) -> &CancellationToken {
        self.own.get_or_init(|| {
            self.parent.as_ref().map_or_else(CancellationToken::new, |parent| parent.get().child_token())
        })
    }

    fn is_cancelled(&self) -> bool {
        self.own.get().is_some_and(CancellationToken::is_cancelled)
            || self.parent.as_ref().is_some_and(|parent| parent.is_cancelled())
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire) || self.parent.as_ref().is_some_and(|parent| parent.is_over())
    }
}

impl From<CancellationToken> for Link {
    fn from(token: CancellationToken) -> Self {
        let token = Token { own: OnceLock::from(token), ..Token::default() };
        Link { parent: None, own: OnceLock::from(Arc::new(token)) }
    }
}
