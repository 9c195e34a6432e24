//! Splits shell commands into commands and words.

use std::collections::BTreeMap;
use std::mem::take;

/// Maximum length of a variable's value, in bytes. Nested values could double in length with every word.
const MAX_VALUE_BYTES: usize = 100;

/// State of splitting a script.
pub(super) struct Lexer<'v> {
    text: Vec<char>,
    position: usize,
    variables: &'v mut BTreeMap<String, String>,
    /// The current word; `None` between words.
    word: Option<String>,
    words: Vec<String>,
    /// Whether the next word is the file of a redirection, not an argument.
    next_is_redirect_target: bool,
    /// The end markers of the here-documents that start after this line.
    here_doc_markers: Vec<String>,
    /// The commands, each with at least one word.
    pub(super) commands: Vec<Vec<String>>,
    /// The contents of substitutions, which are scripts themselves.
    pub(super) substitutions: Vec<String>,
    /// All unquoted text, without white space.
    pub(super) unquoted: String,
}

impl<'v> Lexer<'v> {
    pub(super) fn new(text: &str, variables: &'v mut BTreeMap<String, String>) -> Lexer<'v> {
        Lexer {
            text: text.chars().collect(),
            position: 0,
            variables,
            word: None,
            words: Vec::new(),
            next_is_redirect_target: false,
            here_doc_markers: Vec::new(),
            commands: Vec::new(),
            substitutions: Vec::new(),
            unquoted: String::new(),
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
                '\'' => self.read_single_quoted(),
                '"' => self.read_double_quoted(),
                '`' => self.read_backticks(),
                '$' => self.read_dollar(),
                '<' | '>' => self.read_redirection(c),
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.position += 1;
                    }
                }
                ';' | '&' | '|' | '(' | ')' | '\n' => {
                    self.end_command();
                    self.unquoted.extend((c != '\n').then_some(c));
                    if c == '\n' {
                        self.skip_here_docs();
                    }
                }
                c if c.is_whitespace() => self.end_word(),
                c => {
                    self.unquoted.push(c);
                    self.push(c);
                }
            }
        }
        self.end_command();
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.position += 1;
        c
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.position).copied()
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if take(&mut self.next_is_redirect_target) {
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
        self.next_is_redirect_target = false;
        if !self.words.is_empty() {
            self.commands.push(take(&mut self.words));
        }
    }

    fn read_single_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '\'') {
            self.push(c);
        }
    }

    fn read_double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '"') {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '`' => self.read_backticks(),
                '$' => self.read_dollar(),
                c => self.push(c),
            }
        }
    }

    fn read_backticks(&mut self) {
        let start = self.position;
        while self.next().is_some_and(|c| c != '`') {}
        self.add_substitution(start);
    }

    fn read_dollar(&mut self) {
        match self.peek() {
            Some('(') => {
                self.position += 1;
                self.skip_parentheses();
            }
            Some('{') => {
                self.position += 1;
                let start = self.position;
                while self.next().is_some_and(|c| c != '}') {}
                self.expand_variable(start, self.position.saturating_sub(1));
            }
            _ => {
                let start = self.position;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.position += 1;
                }
                self.expand_variable(start, self.position);
            }
        }
    }

    fn expand_variable(&mut self, start: usize, end: usize) {
        let name: String = self.text.get(start..end).unwrap_or_default().iter().collect();
        if name.starts_with("IFS") {
            self.end_word();
            return;
        }
        let value = self.variables.get(&name).cloned().unwrap_or_else(|| format!("${name}"));
        self.word.get_or_insert_default().push_str(&value);
    }

    /// Skips to the end of a substitution whose parenthesis is open.
    fn skip_parentheses(&mut self) {
        let (start, mut depth, mut quote) = (self.position, 1, None);
        while let Some(c) = self.next() {
            match (c, quote) {
                ('\\', Some('"') | None) => self.position += 1,
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(end)) if c == end => quote = None,
                ('(', None) => depth += 1,
                (')', None) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        self.add_substitution(start);
    }

    /// Keeps the text from `start` to the last character.
    fn add_substitution(&mut self, start: usize) {
        self.word.get_or_insert_default();
        let end = self.position.saturating_sub(1).clamp(start, self.text.len());
        let text = self.text.get(start..end).unwrap_or_default().iter().collect();
        self.substitutions.push(text);
    }

    fn read_redirection(&mut self, c: char) {
        // Digits before a redirection are a file descriptor.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.peek() == Some('(') {
            self.position += 1;
            return self.skip_parentheses();
        }
        if c == '<' && self.text[self.position..].starts_with(&['<', '<']) {
            self.position += 2;
        } else if c == '<' && self.peek() == Some('<') {
            self.position += 1;
            return self.read_here_doc_marker();
        }
        while self.peek().is_some_and(|c| matches!(c, '>' | '&' | '|')) {
            self.position += 1;
        }
        self.next_is_redirect_target = true;
    }

    /// Reads the end marker of a here-document.
    fn read_here_doc_marker(&mut self) {
        while self.peek().is_some_and(|c| c == '-' || c == ' ') {
            self.position += 1;
        }
        let mut end = String::new();
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && !";&|()<>".contains(*c)) {
            self.position += 1;
            end.extend((!"'\"\\".contains(c)).then_some(c));
        }
        self.here_doc_markers.push(end);
    }

    /// Skips the here-documents that start on this line: they are the input of a program.
    fn skip_here_docs(&mut self) {
        for end in take(&mut self.here_doc_markers) {
            while self.position < self.text.len() {
                let start = self.position;
                while self.next().is_some_and(|c| c != '\n') {}
                let line: String = self.text[start..self.position.min(self.text.len())].iter().collect();
                if line.trim_start_matches('\t').trim_end_matches('\n') == end {
                    break;
                }
            }
        }
    }
}
