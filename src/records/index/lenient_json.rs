//! JSON values that treat an unexpected type as missing instead of as an error.
//!
//! Text without escapes is borrowed from the document; unknown fields are skipped unparsed.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

/// A whole number that is not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Whole(pub(super) Option<u64>);

/// Any number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Number(pub(super) Option<f64>);

impl Number {
    /// Returns the number where it is from 0 to 1.
    pub(super) fn share(self) -> Option<f64> {
        self.0.filter(|share| (0.0..=1.0).contains(share))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Flag(pub(super) Option<bool>);

/// A list; members of an unexpected type stay members.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct List<T>(pub(super) Option<Vec<T>>);

impl<T> List<T> {
    /// Returns the members; none of a missing list.
    pub(super) fn all(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Object<T>(pub(super) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A name: text, or the first key of an object such as `{ "refused": "…" }`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct VariantName<'a>(pub(super) Option<Cow<'a, str>>);

/// Objects under the keys `round_1`, `round_2` and so on; of two with one number, the last.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ByRound<T>(pub(super) Vec<(u8, T)>);

impl<T> ByRound<T> {
    pub(super) fn of(&self, round: u8) -> Option<&T> {
        self.0
            .iter()
            .find(|(number, _)| *number == round)
            .map(|(_, value)| value)
    }
}

impl<T> Default for ByRound<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Converts a value of each JSON type; by default, every type counts as missing.
trait LenientValue<'de>: Default {
    fn text(_: &str) -> Self {
        Self::default()
    }

    fn borrowed(text: &'de str) -> Self {
        Self::text(text)
    }

    fn whole(_: u64) -> Self {
        Self::default()
    }

    fn number(_: f64) -> Self {
        Self::default()
    }

    fn flag(_: bool) -> Self {
        Self::default()
    }

    fn list<A: SeqAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
        while members.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn object<A: MapAccess<'de>>(mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: LenientValue<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::flag(flag))
    }

    #[expect(clippy::cast_precision_loss, reason = "such numbers are small")]
    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::whole(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(text))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::borrowed(text))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::list(members)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<T, A::Error> {
        T::object(entries)
    }
}

fn read<'de, T: LenientValue<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(LenientVisitor(PhantomData))
}

impl<'de: 'a, 'a> LenientValue<'de> for Text<'a> {
    fn text(text: &str) -> Self {
        Self(Some(Cow::Owned(text.to_owned())))
    }

    fn borrowed(text: &'de str) -> Self {
        Self(Some(Cow::Borrowed(text)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl<'de: 'a, 'a> LenientValue<'de> for VariantName<'a> {
    fn text(text: &str) -> Self {
        Self(Some(Cow::Owned(text.to_owned())))
    }

    fn borrowed(text: &'de str) -> Self {
        Self(Some(Cow::Borrowed(text)))
    }

    fn object<A: MapAccess<'de>>(mut entries: A) -> Result<Self, A::Error> {
        let first = entries.next_entry::<Text<'de>, IgnoredAny>()?;
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self(first.and_then(|(Text(name), _)| name)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for VariantName<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl LenientValue<'_> for Whole {
    fn whole(number: u64) -> Self {
        Self(Some(number))
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl LenientValue<'_> for Number {
    #[expect(clippy::cast_precision_loss, reason = "such numbers are small")]
    fn whole(number: u64) -> Self {
        Self(Some(number as f64))
    }

    fn number(number: f64) -> Self {
        Self(Some(number))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl LenientValue<'_> for Flag {
    fn flag(flag: bool) -> Self {
        Self(Some(flag))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> LenientValue<'de> for List<T> {
    fn list<A: SeqAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
        let mut list = Vec::new();
        while let Some(member) = members.next_element()? {
            list.push(member);
        }
        Ok(Self(Some(list)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> LenientValue<'de> for Object<T> {
    fn object<A: MapAccess<'de>>(entries: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(|object| Self(Some(object)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

/// The number in a key such as `round_2`.
#[derive(Default)]
struct RoundKey(Option<u8>);

impl LenientValue<'_> for RoundKey {
    fn text(text: &str) -> Self {
        Self(
            text.strip_prefix("round_")
                .and_then(|number| number.parse().ok()),
        )
    }
}

impl<'de> Deserialize<'de> for RoundKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> LenientValue<'de> for ByRound<T> {
    fn object<A: MapAccess<'de>>(mut entries: A) -> Result<Self, A::Error> {
        let mut rounds: Vec<(u8, T)> = Vec::new();
        while let Some(RoundKey(number)) = entries.next_key()? {
            let Some(number) = number else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            if let Object(Some(round)) = entries.next_value::<Object<T>>()? {
                rounds.retain(|(other, _)| *other != number);
                rounds.push((number, round));
            }
        }
        Ok(Self(rounds))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByRound<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}
