//! One supplier: checked values in their normal form.
//!
//! [`SupplierRecord::to_input`] and [`SupplierRecord::from_input`] are inverse: reading what was
//! written gives the same record. Two records are the same content if they are equal.

use serde_json::{Map, Value};

use super::bic::Bic;
use super::categories::Categories;
use super::contact::Contact;
use super::country::Country;
use super::currency::Currency;
use super::email::Email;
use super::fields::Fields;
use super::iban::Iban;
use super::key::SupplierKey;
use super::legal_name::LegalName;
use super::lei::Lei;
use super::payment_terms::PaymentTermsDays;
use super::spending_limit::SpendingLimit;
use super::tax_id::TaxId;
use super::unknown;
use super::value_error::{FieldError, ValueError};

/// A supplier's record.
#[derive(Debug, Clone, PartialEq)]
pub struct SupplierRecord {
    key: SupplierKey,
    legal_name: LegalName,
    country: Country,
    tax_id: TaxId,
    iban: Iban,
    bic: Bic,
    currency: Currency,
    email: Email,
    lei: Option<Lei>,
    payment_terms_days: Option<PaymentTermsDays>,
    spending_limit: Option<SpendingLimit>,
    contact: Option<Contact>,
    categories: Categories,
    unknown: Map<String, Value>,
}

impl SupplierRecord {
    /// Reads a record from a run's input or from a file's object, normalising every value.
    ///
    /// # Errors
    /// All that is wrong with it: one error per bad field.
    pub fn from_input(input: &Map<String, Value>) -> Result<Self, Vec<FieldError>> {
        let mut fields = Fields::new(input);
        let key = fields.required("key", SupplierKey::new);
        let legal_name = fields.required("legal_name", LegalName::new);
        let country = fields.required("country", Country::new);
        // A tax number cannot be judged without its country, nor an amount without its currency.
        let tax_id =
            fields.required("tax_id", |text| country.map(|country| TaxId::new(country, text)).transpose());
        let iban = fields.required("iban", Iban::new);
        let bic = fields.required("bic", Bic::new);
        let currency = fields.required("currency", Currency::new);
        let email = fields.required("email", Email::new);
        let lei = fields.optional("lei", Lei::new);
        let payment_terms_days = fields.optional_number("payment_terms_days", PaymentTermsDays::new);
        let spending_limit = fields.optional_number("spending_limit", |text| {
            currency.map(|currency| SpendingLimit::new(text, currency)).transpose()
        });
        let contact = fields.optional("contact", Contact::new);
        let categories = categories(&mut fields);
        let unknown = unknown::keep(input).unwrap_or_else(|errors| {
            fields.extend(errors);
            Map::new()
        });

        let errors = fields.into_errors();
        if !errors.is_empty() {
            return Err(errors);
        }
        let (Some(key), Some(legal_name), Some(country), Some(Some(tax_id)), Some(iban)) =
            (key, legal_name, country, tax_id, iban)
        else {
            return Err(errors);
        };
        let (Some(bic), Some(currency), Some(email), Some(categories)) = (bic, currency, email, categories)
        else {
            return Err(errors);
        };
        Ok(Self {
            key,
            legal_name,
            country,
            tax_id,
            iban,
            bic,
            currency,
            email,
            lei,
            payment_terms_days,
            spending_limit: spending_limit.flatten(),
            contact,
            categories,
            unknown,
        })
    }

    /// The record as a run's input: absent values are left out, the terms are a number, the limit is
    /// text (so that every reader has it exactly), the categories are an array.
    #[must_use]
    pub fn to_input(&self) -> Map<String, Value> {
        let Self {
            key,
            legal_name,
            country,
            tax_id,
            iban,
            bic,
            currency,
            email,
            lei,
            payment_terms_days,
            spending_limit,
            contact,
            categories,
            unknown,
        } = self;
        let mut input = unknown.clone();
        let mut put = |name: &str, value: Value| drop(input.insert(name.to_owned(), value));
        put("key", key.as_str().into());
        put("legal_name", legal_name.as_str().into());
        put("country", country.code().into());
        put("tax_id", tax_id.as_str().into());
        put("iban", iban.as_str().into());
        put("bic", bic.as_str().into());
        put("currency", currency.code().into());
        put("email", email.as_str().into());
        if let Some(lei) = lei {
            put("lei", lei.as_str().into());
        }
        if let Some(terms) = payment_terms_days {
            put("payment_terms_days", terms.days().into());
        }
        if let Some(limit) = spending_limit {
            put("spending_limit", limit.to_string().into());
        }
        if let Some(contact) = contact {
            put("contact", contact.as_str().into());
        }
        if !categories.is_empty() {
            put("categories", categories.as_slice().into());
        }
        input
    }

    /// The buyer's own id.
    #[must_use]
    pub fn key(&self) -> &SupplierKey {
        &self.key
    }

    /// The registered name.
    #[must_use]
    pub fn legal_name(&self) -> &LegalName {
        &self.legal_name
    }

    /// The supplier's country.
    #[must_use]
    pub fn country(&self) -> Country {
        self.country
    }

    /// The tax number in that country; its check digits may not match.
    #[must_use]
    pub fn tax_id(&self) -> &TaxId {
        &self.tax_id
    }

    /// The account that is paid to.
    #[must_use]
    pub fn iban(&self) -> &Iban {
        &self.iban
    }

    /// The account's bank.
    #[must_use]
    pub fn bic(&self) -> &Bic {
        &self.bic
    }

    /// The currency that is paid in.
    #[must_use]
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// Where mail goes.
    #[must_use]
    pub fn email(&self) -> &Email {
        &self.email
    }

    /// The legal entity identifier.
    #[must_use]
    pub fn lei(&self) -> Option<&Lei> {
        self.lei.as_ref()
    }

    /// The payment term.
    #[must_use]
    pub fn payment_terms_days(&self) -> Option<PaymentTermsDays> {
        self.payment_terms_days
    }

    /// How much may be ordered, in [`SupplierRecord::currency`].
    #[must_use]
    pub fn spending_limit(&self) -> Option<SpendingLimit> {
        self.spending_limit
    }

    /// Who to ask.
    #[must_use]
    pub fn contact(&self) -> Option<&Contact> {
        self.contact.as_ref()
    }

    /// What is bought; may be empty.
    #[must_use]
    pub fn categories(&self) -> &Categories {
        &self.categories
    }

    /// Fields that are not a record's own, kept as given.
    #[must_use]
    pub fn unknown(&self) -> &Map<String, Value> {
        &self.unknown
    }
}

fn categories(fields: &mut Fields<'_>) -> Option<Categories> {
    let words = fields.list("categories")?;
    match Categories::new(words) {
        Ok(categories) => Some(categories),
        Err((None, error)) => fields.gather("categories", Err(error)),
        Err((Some(place), error)) => fields.gather(format!("categories[{place}]"), Err(error)),
    }
}

/// The key of an object that may be no good record.
pub(super) fn key_of(input: &Map<String, Value>) -> Result<SupplierKey, ValueError> {
    let text = input.get("key").and_then(Value::as_str);
    text.map_or(Err(ValueError::Missing), SupplierKey::new)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tax_id::CheckDigits;
    use super::*;

    fn input() -> Map<String, Value> {
        let value = json!({
            "key": " s-1 ", "legal_name": "Cafe\u{301} GmbH", "country": "de",
            "tax_id": "136 695 976", "iban": "de89 3704 0044 0532 0130 00", "bic": "deutdeff",
            "currency": "eur", "email": "ap@Cafe.Example", "lei": "", "payment_terms_days": "30",
            "spending_limit": 2500.5, "contact": null, "categories": "beans; cups;;beans",
            "colour": "blue",
        });
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_record_is_normalised_and_absent_values_are_left_out() {
        let record = SupplierRecord::from_input(&input()).unwrap();
        let expected = json!({
            "key": "s-1", "legal_name": "Café GmbH", "country": "DE", "tax_id": "DE136695976",
            "iban": "DE89370400440532013000", "bic": "DEUTDEFF", "currency": "EUR",
            "email": "ap@cafe.example", "payment_terms_days": 30, "spending_limit": "2500.50",
            "categories": ["beans", "cups"], "colour": "blue",
        });
        assert_eq!(Value::Object(record.to_input()), expected);
        assert_eq!(SupplierRecord::from_input(&record.to_input()), Ok(record));
    }

    #[test]
    fn every_bad_field_is_named_once() {
        let mut input = input();
        for (name, value) in [
            ("country", json!("XX")),
            ("iban", json!("DE88370400440532013000")),
            ("bic", json!(7)),
            ("email", json!(null)),
            ("categories", json!(["a", "b\u{7}"])),
            ("note", json!("\0")),
        ] {
            input.insert(name.to_owned(), value);
        }
        let errors = SupplierRecord::from_input(&input).unwrap_err();
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            errors,
            [
                "country: \"XX\" is not an ISO 3166-1 alpha-2 code",
                "iban: check digits do not match",
                "bic: must be text, in quotes",
                "email: is missing",
                "categories[1]: has a control character (U+0007)",
                "note: holds a NUL character (\\u0000)",
            ]
        );
    }

    #[test]
    fn a_tax_number_whose_check_digits_do_not_match_is_taken_and_kept() {
        let mut input = input();
        input.insert("tax_id".to_owned(), json!("DE 123 456 789"));
        let record = SupplierRecord::from_input(&input).unwrap();
        assert_eq!(record.tax_id().as_str(), "DE123456789");
        assert_eq!(record.tax_id().check_digits(), CheckDigits::Mismatch);
        assert_eq!(SupplierRecord::from_input(&record.to_input()), Ok(record));
    }

    #[test]
    fn an_amount_is_judged_by_its_currency() {
        let mut input = input();
        input.insert("currency".to_owned(), json!("JPY"));
        let errors = SupplierRecord::from_input(&input).unwrap_err();
        assert_eq!(errors[0].to_string(), "spending_limit: has more decimals (1) than JPY (0)");
    }
}
