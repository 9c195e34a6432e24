//! Strings that are built in constants, for error messages at compile time.

/// A string of at most `N` bytes that is built in a constant. Longer text is truncated.
#[derive(Clone, Copy, Debug)]
pub struct ConstText<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> ConstText<N> {
    /// The empty string.
    pub const EMPTY: ConstText<N> = ConstText { bytes: [0; N], length: 0 };

    /// Appends a string.
    pub const fn and(mut self, text: &str) -> ConstText<N> {
        let text = text.as_bytes();
        let mut index = 0;
        while index < text.len() && self.length < N {
            let start = index;
            // Append whole characters only: a partial character is not valid UTF-8.
            index += 1;
            while index < text.len() && text[index] & 0xC0 == 0x80 {
                index += 1;
            }
            if self.length + (index - start) > N {
                return self;
            }
            let mut byte = start;
            while byte < index {
                self.bytes[self.length] = text[byte];
                self.length += 1;
                byte += 1;
            }
        }
        self
    }

    /// Appends an integer.
    pub const fn int(self, value: i128) -> ConstText<N> {
        let mut digits = [0; 40];
        let mut start = digits.len();
        let mut remaining = value.unsigned_abs();
        while remaining > 0 || start == digits.len() {
            start -= 1;
            digits[start] = b'0' + (remaining % 10) as u8;
            remaining /= 10;
        }
        let text = if value < 0 { self.and("-") } else { self };
        match core::str::from_utf8(digits.split_at(start).1) {
            Ok(digits) => text.and(digits),
            Err(_) => text,
        }
    }

    /// Returns the string as a slice.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

/// Whether two strings are equal.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}

#[cfg(test)]
mod tests {
    use super::ConstText;

    #[test]
    fn const_strings_end_at_a_character_boundary() {
        let text = ConstText::<80>::EMPTY.and("`ö`: ").int(-128).and(" to ").int(0).and(", ").int(i128::MIN);
        assert_eq!(text.as_str(), "`ö`: -128 to 0, -170141183460469231731687303715884105728");
        assert_eq!(ConstText::<3>::EMPTY.and("aöö").as_str(), "aö");
        assert_eq!(ConstText::<2>::EMPTY.and("aö").as_str(), "a");
    }
}
