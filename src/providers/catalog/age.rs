//! The age of the prices, and the warning when they are old.

use jiff::civil::Date;

use crate::domain::time::{Timestamp, days_between};

use super::{Model, ModelCatalog};

/// The age in days above which prices are reported as old.
pub const OLD_AFTER_DAYS: i64 = 60;

/// The dates at which the prices of one file were read from their sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceTableAge {
    pub of: PriceTable,
    /// The newest date in the file; `None` if no price has one.
    pub newest: Option<Date>,
}

/// The owner of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceTable {
    ThisProgram,
    TheUser,
}

impl PriceTableAge {
    pub(super) fn of<'a>(of: PriceTable, models: impl IntoIterator<Item = &'a Model>) -> Self {
        let newest = models
            .into_iter()
            .flat_map(|model| &model.prices)
            .filter_map(|price| price.as_of)
            .max();
        Self { of, newest }
    }
}

impl ModelCatalog {
    /// Fresh prices of the user suppress them all.
    pub fn age_warnings(&self, now: Timestamp) -> Vec<String> {
        let ages = self.vintages.iter().filter_map(|vintage| {
            let day = vintage.newest?;
            Some((vintage.of, day, days_between(day, now.day())))
        });
        let is_fresh = |(of, _, days)| of == PriceTable::TheUser && days <= OLD_AFTER_DAYS;
        let is_kept_fresh = ages.clone().any(is_fresh);
        ages.filter(|(_, _, days)| *days > OLD_AFTER_DAYS)
            .filter_map(|(of, day, days)| match of {
                PriceTable::ThisProgram if is_kept_fresh => None,
                PriceTable::ThisProgram => Some(format!(
                    "the newest built-in price is of {day}, {days} days ago: update conclave, or \
                     put prices of your own into models.json"
                )),
                PriceTable::TheUser => Some(format!(
                    "the newest price in your models.json is of {day}, {days} days ago: check its \
                     prices and dates"
                )),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vintage(of: PriceTable, newest: Option<&str>) -> PriceTableAge {
        PriceTableAge {
            of,
            newest: newest.map(|day| day.parse().unwrap()),
        }
    }

    fn said(vintages: &[PriceTableAge]) -> Vec<String> {
        let catalog = ModelCatalog {
            models: Vec::new(),
            vintages: vintages.to_vec(),
        };
        catalog.age_warnings(serde_json::from_str("\"2027-02-01T12:00:00Z\"").unwrap())
    }

    #[test]
    fn prices_of_more_than_sixty_days_are_called_old_with_their_date() {
        assert_eq!(
            said(&[vintage(PriceTable::ThisProgram, Some("2026-12-03"))]),
            Vec::<String>::new(),
            "sixty days"
        );
        let old = said(&[
            vintage(PriceTable::ThisProgram, Some("2026-12-02")),
            vintage(PriceTable::TheUser, None),
        ]);
        assert_eq!(
            old,
            [
                "the newest built-in price is of 2026-12-02, 61 days ago: update conclave, or put \
                 prices of your own into models.json"
            ]
        );
    }

    #[test]
    fn a_users_own_file_is_judged_by_itself_and_a_fresh_one_speaks_for_all() {
        let built_in = vintage(PriceTable::ThisProgram, Some("2026-11-21"));
        assert_eq!(
            said(&[
                built_in.clone(),
                vintage(PriceTable::TheUser, Some("2027-01-31"))
            ]),
            Vec::<String>::new()
        );
        let both = said(&[built_in, vintage(PriceTable::TheUser, Some("2026-06-01"))]);
        assert_eq!(both.len(), 2);
        assert!(
            both[1]
                .starts_with("the newest price in your models.json is of 2026-06-01, 245 days ago"),
            "{both:?}"
        );
    }
}
