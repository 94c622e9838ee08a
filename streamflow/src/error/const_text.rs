//! Texts of errors that may be found while compiling or in a run. The text is the same in both cases.

/// A text of limited length that a `const fn` can build.
pub(crate) struct Text {
    bytes: [u8; 1024],
    len: usize,
}

impl Text {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; 1024], len: 0 }
    }

    pub(crate) const fn add(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = text[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    pub(crate) const fn add_number(self, number: usize) -> Self {
        let text = if number >= 10 { self.add_number(number / 10) } else { self };
        let digit = [b'0' + (number % 10) as u8];
        match std::str::from_utf8(&digit) {
            Ok(digit) => text.add(digit),
            Err(_) => text,
        }
    }

    /// Returns the text. If the text was longer than the buffer, its end is missing.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.bytes[..self.len]).into_owned()
    }

    /// Panics with the text. The panic's location is the caller's.
    #[track_caller]
    #[allow(
        clippy::panic,
        reason = "it runs while compiling, where a panic is the error of a constant"
    )]
    pub(crate) const fn fail(&self) -> ! {
        let (text, _) = self.bytes.split_at(self.len);
        match std::str::from_utf8(text) {
            Ok(text) => panic!("{}", text),
            // The text is longer than the buffer, and its last character is cut, so it is no valid UTF-8.
            Err(_) => panic!("this graph is wrong, and the reason is too long to show"),
        }
    }

    pub(crate) const fn add_text(mut self, other: &Self) -> Self {
        let mut i = 0;
        while i < other.len && self.len < self.bytes.len() {
            self.bytes[self.len] = other.bytes[i];
            self.len += 1;
            i += 1;
        }
        self
    }
}
