//! An e-mail address, by a practical rule: what ordinary mail systems take.
//!
//! Narrower than RFC 5321: no quoted local part, no address in brackets. The local part is kept as
//! given, since its case may count; the domain is lower-cased.

use std::fmt;

use super::text::{self, nfc};
use super::value_error::{ValueError, quoted};

/// The longest address, in bytes (RFC 5321, less the brackets of its path).
const MAX_BYTES: usize = 254;
/// The longest local part, in bytes (RFC 5321).
const MAX_LOCAL_BYTES: usize = 64;
/// The longest label of a domain, in characters (RFC 1035).
const MAX_LABEL_CHARS: usize = 63;

/// `local@domain`: at most 254 bytes, no spaces or control characters, a domain of two labels or
/// more.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    /// Reads an address.
    ///
    /// # Errors
    /// When it is not of that form, with the first thing that is wrong.
    pub fn new(raw: &str) -> Result<Self, ValueError> {
        let text = text::words(raw, MAX_BYTES)?;
        let refuse = |reason| ValueError::NotAnEmail { value: quoted(&text), reason };
        let Some((local, domain)) = text.rsplit_once('@') else {
            return Err(refuse("there is no @"));
        };
        let domain = nfc(&domain.to_lowercase());
        check_local(local).map_err(refuse)?;
        check_domain(&domain).map_err(refuse)?;
        let address = format!("{local}@{domain}");
        if address.len() > MAX_BYTES {
            return Err(refuse("it is longer than 254 bytes"));
        }
        Ok(Self(address))
    }

    /// The address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_local(local: &str) -> Result<(), &'static str> {
    let dots_wrong = local.starts_with('.') || local.ends_with('.') || local.contains("..");
    if local.is_empty() {
        Err("nothing stands before the @")
    } else if local.len() > MAX_LOCAL_BYTES {
        Err("the part before the @ is longer than 64 bytes")
    } else if dots_wrong {
        Err("a dot is in the wrong place")
    } else if local.chars().any(|c| c.is_whitespace() || "\"(),:;<>@[\\]".contains(c)) {
        Err("the part before the @ has a space or a character that needs quotes")
    } else {
        Ok(())
    }
}

fn check_domain(domain: &str) -> Result<(), &'static str> {
    let right_label = |label: &str| {
        !label.is_empty()
            && label.chars().count() <= MAX_LABEL_CHARS
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    let Some((_, last)) = domain.rsplit_once('.') else {
        return Err("the domain has no dot");
    };
    if !domain.split('.').all(right_label) || last.chars().all(|c| c.is_ascii_digit()) {
        return Err("the domain is not well-formed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_part_is_kept_and_the_domain_lower_cased() {
        let email = Email::new(" Zoë.O'Brien+AP@Müller-Söhne.Example ").unwrap();
        assert_eq!(email.as_str(), "Zoë.O'Brien+AP@müller-söhne.example");
    }

    #[test]
    fn what_is_no_address_is_refused_with_its_reason() {
        for raw in [
            "acme.example",
            "@acme.example",
            "a@b",
            "a b@acme.example",
            "a@b@acme.example",
            "a..b@acme.example",
            ".a@acme.example",
            "a@acme..example",
            "a@-acme.example",
            "a@acme.example.",
            "a@10.0.0.1",
            "<a@acme.example>",
            "a@ac me.example",
            "a@acme.ex_ample",
        ] {
            assert!(matches!(Email::new(raw), Err(ValueError::NotAnEmail { .. })), "{raw}");
        }
    }

    #[test]
    fn lengths_are_limited() {
        let at = "@acme.example";
        assert!(Email::new(&format!("{}{at}", "a".repeat(64))).is_ok());
        assert!(Email::new(&format!("{}{at}", "a".repeat(65))).is_err());
        let domain = vec!["d".repeat(50); 5].join(".");
        assert!(Email::new(&format!("a@{domain}")).is_err());
    }
}
