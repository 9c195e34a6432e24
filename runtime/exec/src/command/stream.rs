//! Reports the lines of a program while it runs.

use std::sync::{Arc, Mutex};

use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::secrets::Secrets;

/// Maximum size of the lines that are held back, in bytes.
const MAX_PENDING_BYTES: usize = 64 << 10;

/// Reports the lines of a program as updates of its call. Clones share the lines that are held back.
///
/// A secret of the call may span several lines, and may be cut at the end of a chunk of a long line. Text that may
/// begin a secret is therefore held back until more arrives.
#[derive(Clone)]
pub(super) struct Stream {
    ctx: ToolContext,
    pending: Arc<Mutex<String>>,
}

impl Stream {
    pub(super) fn new(ctx: &ToolContext) -> Stream {
        Stream { ctx: ctx.clone(), pending: Arc::default() }
    }

    /// Reports a line, or a chunk of a long line.
    pub(super) fn line(&self, line: &str) {
        let Some(secrets) = self.ctx.secrets() else { return self.ctx.update(ToolResult::text(line)) };
        let displayed = {
            let mut pending = unpoisoned(self.pending.lock());
            pending.push_str(line);
            pending.push('\n');
            let end =
                if pending.len() > MAX_PENDING_BYTES { pending.len() } else { secrets.unfinished(&pending) };
            let end = pending[..end].rfind('\n').map_or(0, |last| last + 1);
            let unfinished = pending.split_off(end);
            std::mem::replace(&mut *pending, unfinished)
        };
        self.show(&secrets, displayed);
    }

    /// Reports the text that is still held back, because the stream has ended.
    pub(super) fn end(&self) {
        let pending = std::mem::take(&mut *unpoisoned(self.pending.lock()));
        if let Some(secrets) = self.ctx.secrets() {
            self.show(&secrets, pending);
        }
    }

    fn show(&self, secrets: &Secrets, mut lines: String) {
        secrets.hide_in_text(&mut lines);
        for line in lines.split_terminator('\n') {
            self.ctx.update(ToolResult::text(line));
        }
    }
}
