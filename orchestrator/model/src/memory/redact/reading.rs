//! The ways to read a place of a text: as it stands, or as what a browser, a shell or JSON writes
//! for a character, encodings inside encodings included. Knows no secrets.

/// How many encodings deep: a JSON text in an address in an attribute.
pub(super) const DEPTH: u8 = 3;

/// How many ways to read a place are kept. There are more only where somebody wrote backslashes
/// upon backslashes.
const MOST: usize = 10;

/// Longest number in an HTML entity, leading zeros included.
const ENTITY_DIGITS: usize = 8;

/// Bytes that may stand at a place, and where the text goes on behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    bytes: [u8; 4],
    length: u8,
    pub(super) end: usize,
}

impl Reading {
    const fn of_byte(byte: u8, end: usize) -> Self {
        Self {
            bytes: [byte, 0, 0, 0],
            length: 1,
            end,
        }
    }

    fn of_char(c: char, end: usize) -> Self {
        let mut bytes = [0; 4];
        let length = c.encode_utf8(&mut bytes).len() as u8;
        Self { bytes, length, end }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    const fn ascii(&self) -> Option<u8> {
        if self.length == 1 && self.bytes[0].is_ascii() {
            Some(self.bytes[0])
        } else {
            None
        }
    }
}

/// The ways to read a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Readings {
    all: [Reading; MOST],
    length: usize,
}

impl Readings {
    const NONE: Self = Self {
        all: [Reading::of_byte(0, 0); MOST],
        length: 0,
    };

    pub(super) fn iter(&self) -> impl Iterator<Item = Reading> {
        self.all.into_iter().take(self.length)
    }

    fn add(&mut self, reading: Reading) {
        if self.length < MOST && !self.all[..self.length].contains(&reading) {
            self.all[self.length] = reading;
            self.length += 1;
        }
    }

    /// A byte that was encoded as such, or a character of Latin-1, as old scripts have it.
    fn add_byte(&mut self, byte: u8, end: usize) {
        self.add(Reading::of_byte(byte, end));
        if !byte.is_ascii() {
            self.add(Reading::of_char(char::from(byte), end));
        }
    }

    fn add_char(&mut self, code: u32, end: usize) {
        if let Some(c) = char::from_u32(code) {
            self.add(Reading::of_char(c, end));
        }
    }
}

/// Whether a place with this byte can be read as something else.
pub(super) const fn is_ambiguous(byte: u8) -> bool {
    matches!(byte, b'%' | b'\\' | b'&' | b'+' | b'\'')
}

/// A text whose encodings may be so many deep.
#[derive(Clone, Copy)]
pub(super) struct Encoded<'t> {
    text: &'t [u8],
    depth: u8,
}

impl<'t> Encoded<'t> {
    pub(super) const fn new(text: &'t [u8]) -> Self {
        Self { text, depth: DEPTH }
    }

    /// Every way to read the place; none at the end of the text.
    pub(super) fn read(self, at: usize) -> Readings {
        let mut found = Readings::NONE;
        let Some(&byte) = self.text.get(at) else {
            return found;
        };
        found.add(Reading::of_byte(byte, at + 1));
        let Some(depth) = self.depth.checked_sub(1).filter(|_| is_ambiguous(byte)) else {
            return found;
        };
        // What an encoding is written with may be encoded itself.
        let inner = Self { depth, ..self };
        for reading in inner.read(at).iter() {
            found.add(reading);
            match reading.ascii() {
                Some(b'+') => found.add(Reading::of_byte(b' ', reading.end)),
                Some(b'%') => inner.percent(reading.end, &mut found),
                Some(b'\\') => inner.backslash(reading.end, &mut found),
                Some(b'&') => inner.entity(reading.end, &mut found),
                Some(b'\'') => inner.quote(reading.end, &mut found),
                Some(_) | None => {}
            }
        }
        found
    }

    /// Behind `%`: two digits, or `u` and four, as JavaScript's `escape` writes.
    fn percent(self, at: usize, found: &mut Readings) {
        self.hex(at, 2, &mut |byte, end| found.add_byte(byte as u8, end));
        self.skip(at, b"u", &mut |at| self.utf16(at, b"%u", found));
    }

    /// Behind a backslash, in JSON, JavaScript, regular expressions and shells.
    fn backslash(self, at: usize, found: &mut Readings) {
        for reading in self.read(at).iter() {
            let end = reading.end;
            match reading.ascii() {
                Some(b'n') => found.add(Reading::of_byte(b'\n', end)),
                Some(b'r') => found.add(Reading::of_byte(b'\r', end)),
                Some(b't') => found.add(Reading::of_byte(b'\t', end)),
                Some(b'b') => found.add(Reading::of_byte(0x08, end)),
                Some(b'f') => found.add(Reading::of_byte(0x0c, end)),
                Some(b'x') => self.hex(end, 2, &mut |byte, end| found.add_byte(byte as u8, end)),
                Some(b'u') => {
                    self.utf16(end, b"\\u", found);
                    self.braced(end, found);
                }
                Some(byte) if !byte.is_ascii_alphanumeric() => {
                    found.add(Reading::of_byte(byte, end));
                }
                Some(_) | None => {}
            }
        }
    }

    /// Behind `\u` or `%u`: a character, or the first half of one whose other half follows.
    fn utf16(self, at: usize, prefix: &[u8], found: &mut Readings) {
        self.hex(at, 4, &mut |unit, end| match unit {
            0xd800..0xdc00 => self.skip(end, prefix, &mut |at| {
                self.hex(at, 4, &mut |low, end| {
                    if let 0xdc00..0xe000 = low {
                        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        found.add_char(code, end);
                    }
                });
            }),
            _ => found.add_char(unit, end),
        });
    }

    /// Behind `\u`: a number in braces.
    fn braced(self, at: usize, found: &mut Readings) {
        self.skip(at, b"{", &mut |at| {
            for digits in 1..=6 {
                self.hex(at, digits, &mut |code, end| {
                    self.skip(end, b"}", &mut |end| found.add_char(code, end));
                });
            }
        });
    }

    /// Behind `&`: the entities that browsers write, and numbers.
    fn entity(self, at: usize, found: &mut Readings) {
        const NAMED: [(&[u8], char); 6] = [
            (b"amp;", '&'),
            (b"lt;", '<'),
            (b"gt;", '>'),
            (b"quot;", '"'),
            (b"apos;", '\''),
            (b"nbsp;", '\u{a0}'),
        ];
        for (name, c) in NAMED {
            self.skip(at, name, &mut |end| found.add(Reading::of_char(c, end)));
        }
        for (prefix, radix) in [(&b"#"[..], 10), (b"#x", 16), (b"#X", 16)] {
            self.skip(at, prefix, &mut |at| self.number(at, radix, found));
        }
    }

    fn number(self, mut at: usize, radix: u32, found: &mut Readings) {
        let mut code = 0_u32;
        for _ in 0..ENTITY_DIGITS {
            let digit = self.read(at).iter().find_map(|reading| {
                let digit = char::from(reading.ascii()?).to_digit(radix)?;
                Some((digit, reading.end))
            });
            let Some((digit, end)) = digit else {
                return;
            };
            code = code.saturating_mul(radix).saturating_add(digit);
            at = end;
            self.skip(at, b";", &mut |end| found.add_char(code, end));
        }
    }

    /// Behind `'`: how shells write that character between such.
    fn quote(self, at: usize, found: &mut Readings) {
        for rest in [&br"\''"[..], br#""'"'"#] {
            self.skip(at, rest, &mut |end| {
                found.add(Reading::of_byte(b'\'', end));
            });
        }
    }

    /// Every place at which the text goes on behind a word that stands there in some way.
    fn skip(self, mut at: usize, mut word: &[u8], found: &mut dyn FnMut(usize)) {
        while let Some((first, rest)) = word.split_first() {
            match self.plain(at) {
                None => {
                    for reading in self.read(at).iter() {
                        if reading.ascii() == Some(*first) {
                            self.skip(reading.end, rest, found);
                        }
                    }
                    return;
                }
                Some(byte) if byte == *first => (at, word) = (at + 1, rest),
                Some(_) => return,
            }
        }
        found(at);
    }

    /// The byte at a place that can be read in one way only.
    fn plain(self, at: usize) -> Option<u8> {
        let byte = self.text.get(at).copied().unwrap_or(0xff);
        (self.depth == 0 || !is_ambiguous(byte)).then_some(byte)
    }

    /// Every number of so many hexadecimal digits that stands there.
    fn hex(self, at: usize, digits: u8, found: &mut dyn FnMut(u32, usize)) {
        self.hex_behind(at, digits, 0, found);
    }

    fn hex_behind(
        self,
        mut at: usize,
        digits: u8,
        mut number: u32,
        found: &mut dyn FnMut(u32, usize),
    ) {
        for left in (0..digits).rev() {
            let digit_of = |byte: u8| char::from(byte).to_digit(16);
            match self.plain(at).map(digit_of) {
                Some(Some(digit)) => (at, number) = (at + 1, number << 4 | digit),
                Some(None) => return,
                None => {
                    for reading in self.read(at).iter() {
                        if let Some(digit) = reading.ascii().and_then(digit_of) {
                            self.hex_behind(reading.end, left, number << 4 | digit, found);
                        }
                    }
                    return;
                }
            }
        }
        found(number, at);
    }
}
