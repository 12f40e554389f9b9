//! Decodes the characters of a JSON string, whose escapes may arrive in pieces.

/// The decoder of one string.
#[derive(Clone, Debug, Default)]
pub(super) struct StringDecoder {
    escape: EscapeState,
    /// The first half of a character outside the basic plane.
    high: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
enum EscapeState {
    #[default]
    None,
    Begun,
    Unicode {
        digits: u32,
        value: u32,
    },
}

impl StringDecoder {
    /// Returns the characters that this one completes, and whether it ends the string.
    pub(super) fn take(&mut self, c: char) -> (std::vec::IntoIter<char>, bool) {
        let mut decoded = Vec::new();
        let mut ended = false;
        match (self.escape, c) {
            (EscapeState::None, '"') => {
                decoded.extend(self.lone_half());
                ended = true;
            }
            (EscapeState::None, '\\') => self.escape = EscapeState::Begun,
            (EscapeState::None, c) => {
                decoded.extend(self.lone_half());
                decoded.push(c);
            }
            (EscapeState::Begun, 'u') => {
                self.escape = EscapeState::Unicode {
                    digits: 0,
                    value: 0,
                }
            }
            (EscapeState::Begun, c) => {
                self.escape = EscapeState::None;
                decoded.extend(self.lone_half());
                decoded.push(match c {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    c => c,
                });
            }
            (EscapeState::Unicode { digits, value }, c) => match c.to_digit(16) {
                Some(digit) if digits == 3 => {
                    self.escape = EscapeState::None;
                    decoded.extend(self.unit(value * 16 + digit));
                }
                Some(digit) => {
                    self.escape = EscapeState::Unicode {
                        digits: digits + 1,
                        value: value * 16 + digit,
                    }
                }
                None => {
                    // An invalid escape: the character stands for itself.
                    self.escape = EscapeState::None;
                    decoded.extend(self.lone_half());
                    decoded.push(char::REPLACEMENT_CHARACTER);
                    let (rest, end) = self.take(c);
                    decoded.extend(rest);
                    ended = end;
                }
            },
        }
        (decoded.into_iter(), ended)
    }

    /// Takes one UTF-16 unit.
    fn unit(&mut self, unit: u32) -> Vec<char> {
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let point = 0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
                vec![char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)]
            }
            (before, 0xD800..=0xDBFF) => {
                self.high = Some(unit);
                before
                    .map(|_| char::REPLACEMENT_CHARACTER)
                    .into_iter()
                    .collect()
            }
            (before, unit) => {
                let lone = before.map(|_| char::REPLACEMENT_CHARACTER);
                lone.into_iter()
                    .chain([char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)])
                    .collect()
            }
        }
    }

    /// Returns a replacement for the first half of a character whose second half is missing.
    pub(super) fn lone_half(&mut self) -> Option<char> {
        self.high.take().map(|_| char::REPLACEMENT_CHARACTER)
    }
}
