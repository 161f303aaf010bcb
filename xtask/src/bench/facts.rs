//! What a program printed as `NAME=VALUE`, one a line.

use std::str::FromStr;

use crate::chore::Failure;

/// Values by name, in the order in which they came.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts(Vec<(String, String)>);

impl Facts {
    /// Reads them. Other lines are passed over.
    pub(super) fn read(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// All of them.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// One of them.
    pub(super) fn text(&self, name: &str) -> Result<&str, Failure> {
        let found = self.pairs().find(|(found, _)| *found == name);
        found.map(|(_, value)| value).ok_or_else(|| Failure::NotMeasured(format!("no {name} was printed")))
    }

    /// One that is a number.
    pub(super) fn number<N: FromStr>(&self, name: &str) -> Result<N, Failure> {
        let value = self.text(name)?;
        value.parse().map_err(|_| Failure::NotMeasured(format!("{name} is printed as {value}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_hold_the_sign_between_name_and_value() {
        let facts = Facts::read("a=1\nreceipt={\"b\": \"x=y\"}\n\nnothing\n");
        assert_eq!(facts.number::<u32>("a").unwrap(), 1);
        assert_eq!(facts.text("receipt").unwrap(), "{\"b\": \"x=y\"}");
        assert!(facts.text("nothing").is_err());
    }
}
