//! Texts in constants, for errors at compile time.

/// A text of up to `N` bytes that is built in a constant. What does not fit is left out.
#[derive(Debug)]
pub struct ConstText<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> ConstText<N> {
    /// The empty text.
    pub const EMPTY: ConstText<N> = ConstText { bytes: [0; N], length: 0 };

    /// Returns the text with another after it.
    pub const fn and(mut self, text: &str) -> ConstText<N> {
        let text = text.as_bytes();
        let mut index = 0;
        while index < text.len() && self.length < N {
            // A truncated character would not be valid text.
            self.bytes[self.length] = if text[index].is_ascii() { text[index] } else { b'?' };
            self.length += 1;
            index += 1;
        }
        self
    }

    /// Returns the text as a string slice.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

/// Whether two texts are the same.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}
