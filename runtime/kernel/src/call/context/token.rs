//! The state that a call shares with its copies and with the calls it makes: its cancellation token, and its secrets.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::base::sync::unpoisoned;
use crate::call::secrets::Secrets;

/// The token of a call, created on first use, since most calls finish without one.
#[derive(Default)]
pub(super) struct Link {
    parent: Option<Arc<Token>>,
    own: OnceLock<Arc<Token>>,
}

impl Link {
    /// The token that copies and child calls of this call share.
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

    /// The link for a call that this call makes.
    pub(super) fn child(&self) -> Link {
        Link { parent: Some(Arc::clone(self.shared())), own: OnceLock::new() }
    }

    /// The link of the same call under another token: it ends with this one, or when either token is cancelled.
    pub(super) fn and(&self, cancel: CancellationToken) -> Link {
        let parent = Some(Arc::clone(self.shared()));
        let token = Token { parent, own: OnceLock::from(cancel), ..Token::default() };
        Link { parent: None, own: OnceLock::from(Arc::new(token)) }
    }

    /// A link to another token. It ends with this one and redacts the same secrets, but is not cancelled with it.
    pub(super) fn with(&self, cancel: CancellationToken) -> Link {
        let above = match &self.parent {
            Some(parent) => Some(self.own.get().unwrap_or(parent)),
            // Not a call but, for instance, a turn, whose token may be replaced any number of times.
            None => self.own.get().and_then(|own| own.above.as_ref()),
        };
        let above = above.cloned();
        let token = Token { above, own: OnceLock::from(cancel), ..Token::default() };
        Link { parent: None, own: OnceLock::from(Arc::new(token)) }
    }

    /// A link to the same token.
    pub(super) fn copy(&self) -> Link {
        Link { parent: self.parent.clone(), own: OnceLock::from(Arc::clone(self.shared())) }
    }

    /// The token that ends the call when it fires.
    pub(super) fn caller(&self) -> &CancellationToken {
        self.parent.as_ref().unwrap_or_else(|| self.shared()).get()
    }

    /// Marks the call of this token as ended.
    pub(super) fn end(&self) {
        // A token that was never created is not shared.
        if let Some(token) = self.own.get() {
            token.over.store(true, Ordering::Release);
        }
    }

    /// Whether the call of this token, or one above it, has ended.
    pub(super) fn is_over(&self) -> bool {
        self.own.get().or(self.parent.as_ref()).is_some_and(|token| token.is_over())
    }

    /// The secrets of this call and of those above it, if there are any.
    pub(super) fn secrets(&self) -> Option<Arc<Secrets>> {
        self.own.get().or(self.parent.as_ref())?.secrets()
    }

    /// Adds secrets to those of this call and of the calls above it, whose results may repeat them. The turn itself
    /// may have any number of calls, so no secrets are added to it.
    pub(super) fn hide(&self, secrets: &Secrets) {
        let token = self.shared();
        token.hide(secrets);
        let mut above = token.outer();
        while let Some(token) = above.filter(|token| token.outer().is_some()) {
            token.hide(secrets);
            above = token.outer();
        }
    }

    /// Fires the token of this call alone.
    pub(super) fn stop(&self) {
        // A copy or a child may request the token later.
        if let Some(token) = self.own.get()
            && (token.own.get().is_some() || Arc::strong_count(token) > 1)
        {
            token.get().cancel();
        }
    }
}

/// A token that is created on first use.
#[derive(Default)]
struct Token {
    parent: Option<Arc<Token>>,
    /// The token that this one replaces.
    above: Option<Arc<Token>>,
    own: OnceLock<CancellationToken>,
    /// Whether the call has ended.
    over: AtomicBool,
    /// All secrets of the call, including those of the calls above it and of the calls it made.
    secrets: Mutex<Option<Arc<Secrets>>>,
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

    /// The token of the call above this one.
    fn outer(&self) -> Option<&Token> {
        self.parent.as_deref().or(self.above.as_deref())
    }

    fn secrets(&self) -> Option<Arc<Secrets>> {
        let own = unpoisoned(self.secrets.lock()).clone();
        own.or_else(|| self.outer()?.secrets())
    }

    fn hide(&self, secrets: &Secrets) {
        let all = self.secrets().map_or_else(|| secrets.clone(), |known| known.and(secrets));
        *unpoisoned(self.secrets.lock()) = Some(Arc::new(all));
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire) || self.outer().is_some_and(Token::is_over)
    }
}
