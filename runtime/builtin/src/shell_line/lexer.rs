//! Splits shell commands into commands and words.

use std::collections::BTreeMap;
use std::mem::take;

/// Maximum length of a variable's value, in bytes. Nested values could double in length with every word.
const MAX_VALUE_BYTES: usize = 100;

/// State of splitting a script.
pub(super) struct Lexer<'v> {
    text: Vec<char>,
    at: usize,
    variables: &'v mut BTreeMap<String, String>,
    /// The current word; `None` between words.
    word: Option<String>,
    words: Vec<String>,
    /// Whether the next word is the file of a redirection, not an argument.
    redirected: bool,
    /// The end markers of the here-documents that start after this line.
    documents: Vec<String>,
    /// The commands, each with at least one word.
    pub(super) commands: Vec<Vec<String>>,
    /// The contents of substitutions, which are scripts themselves.
    pub(super) inner: Vec<String>,
    /// All unquoted text, without white space.
    pub(super) bare: String,
}

impl<'v> Lexer<'v> {
    pub(super) fn new(text: &str, variables: &'v mut BTreeMap<String, String>) -> Lexer<'v> {
        Lexer {
            text: text.chars().collect(),
            at: 0,
            variables,
            word: None,
            words: Vec::new(),
            redirected: false,
            documents: Vec::new(),
            commands: Vec::new(),
            inner: Vec::new(),
            bare: String::new(),
        }
    }

    /// Splits the complete text.
    pub(super) fn run(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '\'' => self.quoted(),
                '"' => self.double_quoted(),
                '`' => self.backticks(),
                '$' => self.dollar(),
                '<' | '>' => self.redirection(c),
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                ';' | '&' | '|' | '(' | ')' | '\n' => {
                    self.end_command();
                    self.bare.extend((c != '\n').then_some(c));
                    if c == '\n' {
                        self.skip_documents();
                    }
                }
                c if c.is_whitespace() => self.end_word(),
                c => {
                    self.bare.push(c);
                    self.push(c);
                }
            }
        }
        self.end_command();
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += 1;
        c
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if take(&mut self.redirected) {
            return;
        }
        if let Some((name, value)) = word.split_once('=')
            && super::is_name(name)
            && value.len() <= MAX_VALUE_BYTES
        {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
        self.words.push(word);
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirected = false;
        if !self.words.is_empty() {
            self.commands.push(take(&mut self.words));
        }
    }

    fn quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '\'') {
            self.push(c);
        }
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '"') {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '`' => self.backticks(),
                '$' => self.dollar(),
                c => self.push(c),
            }
        }
    }

    fn backticks(&mut self) {
        let start = self.at;
        while self.next().is_some_and(|c| c != '`') {}
        self.substitution(start);
    }

    fn dollar(&mut self) {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.parentheses();
            }
            Some('{') => {
                self.at += 1;
                let start = self.at;
                while self.next().is_some_and(|c| c != '}') {}
                self.variable(start, self.at.saturating_sub(1));
            }
            _ => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                self.variable(start, self.at);
            }
        }
    }

    fn variable(&mut self, start: usize, end: usize) {
        let name: String = self.text.get(start..end).unwrap_or_default().iter().collect();
        if name.starts_with("IFS") {
            self.end_word();
            return;
        }
        let value = self.variables.get(&name).cloned().unwrap_or_else(|| format!("${name}"));
        self.word.get_or_insert_default().push_str(&value);
    }

    /// Skips to the end of a substitution whose parenthesis is open.
    fn parentheses(&mut self) {
        let (start, mut open, mut quote) = (self.at, 1, None);
        while let Some(c) = self.next() {
            match (c, quote) {
                ('\\', Some('"') | None) => self.at += 1,
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(end)) if c == end => quote = None,
                ('(', None) => open += 1,
                (')', None) => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        self.substitution(start);
    }

    /// Keeps the text from `start` to the last character.
    fn substitution(&mut self, start: usize) {
        self.word.get_or_insert_default();
        let end = self.at.saturating_sub(1).clamp(start, self.text.len());
        let text = self.text.get(start..end).unwrap_or_default().iter().collect();
        self.inner.push(text);
    }

    fn redirection(&mut self, c: char) {
        // The digits before it are a file descriptor.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.peek() == Some('(') {
            self.at += 1;
            return self.parentheses();
        }
        if c == '<' && self.text[self.at..].starts_with(&['<', '<']) {
            self.at += 2;
        } else if c == '<' && self.peek() == Some('<') {
            self.at += 1;
            return self.document();
        }
        while self.peek().is_some_and(|c| matches!(c, '>' | '&' | '|')) {
            self.at += 1;
        }
        self.redirected = true;
    }

    /// Reads the end marker of a here-document.
    fn document(&mut self) {
        while self.peek().is_some_and(|c| c == '-' || c == ' ') {
            self.at += 1;
        }
        let mut end = String::new();
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && !";&|()<>".contains(*c)) {
            self.at += 1;
            end.extend((!"'\"\\".contains(c)).then_some(c));
        }
        self.documents.push(end);
    }

    /// Skips the here-documents that start here: they are the input of a program.
    fn skip_documents(&mut self) {
        for end in take(&mut self.documents) {
            while self.at < self.text.len() {
                let start = self.at;
                while self.next().is_some_and(|c| c != '\n') {}
                let line: String = self.text[start..self.at.min(self.text.len())].iter().collect();
                if line.trim_start_matches('\t').trim_end_matches('\n') == end {
                    break;
                }
            }
        }
    }
}
