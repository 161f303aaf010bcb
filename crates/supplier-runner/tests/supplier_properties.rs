//! Properties of normalisation: it is idempotent, records survive the way through a run's input, and no
//! file whatsoever makes the reader panic.

use proptest::prelude::*;
use serde_json::{Map, Value};
use supplier_runner::supplier::{
    Bic, Categories, Country, Currency, Email, Format, Iban, LegalName, Lei, SpendingLimit, SupplierKey,
    SupplierRecord, TaxId, read_stream,
};

/// The last two have check digits that do not match.
const TAX_IDS: [(&str, &str); 12] = [
    ("DE", "DE136695976"),
    ("FR", "40303265045"),
    ("ES", "ESX2482300W"),
    ("GR", "GR094259216"),
    ("BE", "428759497"),
    ("CH", "CHE107787577MWST"),
    ("GB", "XI980780684"),
    ("JP", "T7000012050002"),
    ("US", "US123456789"),
    ("NZ", "49091850"),
    ("DE", "DE123456789"),
    ("FR", "12345678901"),
];
const IBANS: [&str; 3] = ["DE89370400440532013000", "GB29NWBK60161331926819", "NO9386011117947"];
const CURRENCIES: [&str; 4] = ["EUR", "JPY", "KWD", "CLF"];

/// Text with white space, combining marks and characters of many scripts.
fn words() -> impl Strategy<Value = String> {
    "[ \t]{0,2}[a-zA-ZäÉßñ\u{301}\u{308}\u{212B}\u{1E9B}\u{AC00}\u{11A8}0-9 &.]{0,12}[^\\p{Cc}]{0,6}[ ]{0,2}"
}

/// The same identifier with spaces, hyphens and lower case strewn in.
fn messy(text: &'static str) -> impl Strategy<Value = String> {
    proptest::collection::vec((any::<bool>(), "[ \u{A0}\u{2011}-]{0,2}"), text.len()).prop_map(move |mess| {
        let pairs = text.chars().zip(mess);
        pairs
            .map(|(c, (lower, gap))| format!("{gap}{}", if lower { c.to_ascii_lowercase() } else { c }))
            .collect()
    })
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map("[a-zé]{1,4}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

prop_compose! {
    fn input()(
        tax in proptest::sample::select(&TAX_IDS[..]),
        iban in proptest::sample::select(&IBANS[..]).prop_flat_map(messy),
        currency in proptest::sample::select(&CURRENCIES[..]).prop_flat_map(messy),
        name in words().prop_filter("a name", |name| !name.trim().is_empty()),
        limit in proptest::option::of(0_u64..1_000_000_000),
        days in proptest::option::of(0_u16..=365),
        categories in proptest::collection::vec(words(), 0..5),
        contact in proptest::option::of(words()),
        extra in proptest::option::of(json()),
    )(
        tax_id in messy(tax.1),
        country in Just(tax.0), iban in Just(iban), currency in Just(currency), name in Just(name),
        limit in Just(limit), days in Just(days), categories in Just(categories),
        contact in Just(contact), extra in Just(extra),
    ) -> Map<String, Value> {
        let mut input = Map::new();
        for (field, value) in [
            ("key", name.as_str()), ("legal_name", &name), ("country", country), ("tax_id", &tax_id),
            ("iban", &iban), ("bic", "deut de ff"), ("currency", &currency),
            ("email", "Ap@Acme.Example"), ("lei", "529900c4as9gtxa88s02"),
        ] {
            input.insert(field.to_owned(), value.into());
        }
        let optional = [
            ("spending_limit", limit.map(Value::from)),
            ("payment_terms_days", days.map(Value::from)),
            ("categories", Some(categories.into())),
            ("contact", contact.map(Value::from)),
            ("extra", extra),
        ];
        for (field, value) in optional {
            if let Some(value) = value {
                input.insert(field.to_owned(), value);
            }
        }
        input
    }
}

proptest! {
    #[test]
    fn a_record_read_back_from_its_input_is_the_same(input in input()) {
        // Odd characters may be refused, but only as such.
        match SupplierRecord::from_input(&input) {
            Ok(record) => {
                let written = record.to_input();
                let again = SupplierRecord::from_input(&written);
                prop_assert_eq!(again.as_ref().map(SupplierRecord::to_input), Ok(written));
                prop_assert_eq!(again, Ok(record));
            }
            Err(errors) => {
                for error in errors {
                    prop_assert!(error.to_string().contains("control character"), "{}", error);
                }
            }
        }
    }

    #[test]
    fn normalising_text_twice_is_normalising_it_once(raw in "\\PC{0,40}") {
        if let Ok(key) = SupplierKey::new(&raw) {
            prop_assert_eq!(SupplierKey::new(key.as_str()), Ok(key));
        }
        if let Ok(name) = LegalName::new(&raw) {
            prop_assert_eq!(LegalName::new(name.as_str()), Ok(name));
        }
        if let Ok(categories) = Categories::new(raw.split(';')) {
            let again = Categories::new(categories.as_slice().iter().map(String::as_str));
            prop_assert_eq!(again, Ok(categories));
        }
    }

    #[test]
    fn normalising_an_address_twice_is_normalising_it_once(
        local in "[a-zA-Zé.+]{1,8}", domain in "[a-zA-ZéİẞΣ-]{1,8}\\.[a-zA-ZÉ]{2,4}",
    ) {
        if let Ok(email) = Email::new(&format!("{local}@{domain}")) {
            prop_assert_eq!(Email::new(email.as_str()), Ok(email));
        }
    }

    #[test]
    fn normalising_an_identifier_twice_is_normalising_it_once(raw in "[A-Za-z0-9 .*+/é-]{0,24}") {
        if let Ok(iban) = Iban::new(&raw) {
            prop_assert_eq!(Iban::new(iban.as_str()), Ok(iban));
        }
        if let Ok(bic) = Bic::new(&raw) {
            prop_assert_eq!(Bic::new(bic.as_str()), Ok(bic));
        }
        if let Ok(lei) = Lei::new(&raw) {
            prop_assert_eq!(Lei::new(lei.as_str()), Ok(lei));
        }
        if let Ok(currency) = Currency::new(&raw) {
            prop_assert_eq!(Currency::new(currency.code()), Ok(currency));
        }
    }

    #[test]
    fn normalising_a_tax_number_twice_is_normalising_it_once(
        country in "[A-Z]{2}", prefix in "([A-Z]{2,3})?", number in "[A-Z]{0,3}[0-9]{2,14}[A-Z]?[0-9]{0,2}",
    ) {
        if let Ok(country) = Country::new(&country) {
            for raw in [number.clone(), format!("{prefix}{number}"), format!("{country}{number}")] {
                if let Ok(id) = TaxId::new(country, &raw) {
                    prop_assert_eq!(TaxId::new(country, id.as_str()), Ok(id));
                }
            }
        }
    }

    #[test]
    fn an_amount_keeps_its_value(units in 0_u64..=u64::MAX / 100, minor in 0_u32..100) {
        let euro = Currency::new("EUR").unwrap();
        let text = format!("{units}.{minor:02}");
        let limit = SpendingLimit::new(&text, euro).unwrap();
        prop_assert_eq!(limit.to_string(), text);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..200),
            "[\\[\\]{}\",:\\\\\r\na1 \u{FEFF}é-]{0,120}".prop_map(String::into_bytes),
        ],
    ) {
        for format in [Format::Csv, Format::Json, Format::Ndjson] {
            let reading = read_stream("file", &bytes[..], format);
            let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
            for invalid in &reading.invalid {
                prop_assert!((1..=lines as u64).contains(&invalid.line), "{}", invalid);
            }
        }
    }

    #[test]
    fn json_text_is_read_as_serde_json_reads_it(extra in json()) {
        let mut record: Map<String, Value> = Map::new();
        record.insert("extra".to_owned(), extra);
        for (field, value) in [
            ("key", "s-1"), ("legal_name", "A"), ("country", "DE"), ("tax_id", "136695976"),
            ("iban", IBANS[0]), ("bic", "DEUTDEFF"), ("currency", "EUR"), ("email", "a@b.example"),
        ] {
            record.insert(field.to_owned(), value.into());
        }
        let text = serde_json::to_string_pretty(&record).unwrap();
        let reading = read_stream("file", text.as_bytes(), Format::Json);
        let read: Vec<_> = reading.records.into_iter().map(|record| record.value).collect();
        prop_assert_eq!(Ok(read), SupplierRecord::from_input(&record).map(|record| vec![record]));
    }
}
