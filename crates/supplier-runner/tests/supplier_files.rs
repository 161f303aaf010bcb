//! Supplier files as users give them: the examples, every format, and what can go wrong (cases 23 and
//! 25).

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use supplier_runner::supplier::{Format, ReadProblem, Reading, read_files, read_stream};

const RECORD: &str = r#"{"key": "s-1", "legal_name": "Café GmbH", "country": "DE", "tax_id": "DE136695976",
 "iban": "DE89370400440532013000", "bic": "DEUTDEFF", "currency": "EUR", "email": "ap@cafe.example"}"#;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn read(text: &str, format: Format) -> Reading {
    read_stream("file", text.as_bytes(), format)
}

fn record_with(changes: &[(&str, Value)]) -> Map<String, Value> {
    let mut record: Map<String, Value> = serde_json::from_str(RECORD).expect("the record above is JSON");
    for (name, value) in changes {
        record.insert((*name).to_owned(), value.clone());
    }
    record
}

fn to_text(record: &Map<String, Value>) -> String {
    serde_json::to_string(record).expect("a map is always JSON")
}

fn shown(reading: &Reading) -> Vec<String> {
    reading.invalid.iter().map(ToString::to_string).collect()
}

fn warnings(reading: &Reading) -> Vec<String> {
    reading.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn the_example_file_has_40_good_suppliers_from_at_least_15_countries() {
    let reading = read_files(&[example("suppliers.csv")], None);
    assert!(reading.is_clean(), "{:?} {:?}", shown(&reading), reading.unreadable);
    assert_eq!(warnings(&reading), Vec::<String>::new());
    assert_eq!(reading.records.len(), 40);
    let countries: BTreeSet<_> = reading.records.iter().map(|record| record.value.country()).collect();
    assert!(countries.len() >= 15, "{countries:?}");
    assert!(reading.records.iter().filter(|record| record.value.lei().is_some()).count() >= 3);
}

#[test]
fn the_bad_example_file_has_every_kind_of_error_once() {
    let file = example("suppliers-bad.csv");
    let reading = read_files(std::slice::from_ref(&file), None);
    assert_eq!(reading.records.len(), 1, "only the row to compare with is good");
    assert_eq!(warnings(&reading), Vec::<String>::new());
    let name = format!("{}:", file.display());
    let shown = shown(&reading);
    let errors: Vec<_> = shown.iter().filter_map(|error| error.strip_prefix(&name)).collect();
    let start = [
        (3, "key: is missing"),
        (4, "key: is longer than 128 characters"),
        (5, "legal_name: is missing"),
        (6, "legal_name: has a control character (U+0007)"),
        (7, "country: \"XX\" is not an ISO 3166-1 alpha-2 code"),
        (8, "tax_id: \"DE12345678\" is not a tax number of DE (DE and 9 digits)"),
        (9, "tax_id: \"FR40303265045\" is not a tax number of DE"),
        (10, "iban: check digits do not match"),
        (11, "iban: \"0532013000\" is not an IBAN"),
        (12, "iban: \"XX\" is not a country with IBANs"),
        (13, "iban: does not have the form of an IBAN of DE"),
        (14, "bic: \"EXABDE\" is not a BIC"),
        (15, "bic: letters 5 and 6 are \"XX\", which is no country"),
        (16, "currency: \"EURO\" is not an ISO 4217 currency code"),
        (17, "currency: \"XAU\" is not a currency that payments are made in"),
        (18, "currency: \"HRK\" has been replaced by \"EUR\""),
        (19, "email: \"rechnung@nordlicht\" is not an e-mail address: the domain has no dot"),
        (20, "lei: check digits do not match"),
        (21, "lei: \"529900EXAMPLE\" is not an LEI"),
        (22, "payment_terms_days: \"400\" is not a whole number of days from 0 to 365"),
        (23, "spending_limit: \"NaN\" is not a plain decimal number such as 25000.00"),
        (24, "spending_limit: must not be below zero"),
        (25, "spending_limit: has more decimals (3) than EUR (2)"),
        (26, "spending_limit: has more than 18 digits before the decimal point"),
        (27, "contact: is longer than 256 characters"),
        (28, "categories[1]: has a control character (U+000A)"),
        (30, "categories: has more than 64 entries"),
        (31, "country: is missing"),
        (31, "bic: \"?\" is not a BIC"),
        (31, "email: \"nobody\" is not an e-mail address: there is no @"),
        (32, "key: is used for another record at "),
        (33, "record: has 3 values, the header has 13 columns"),
        (34, "record: has text after a closing quote; double a quote within quotes"),
        (35, "legal_name: is not valid UTF-8"),
        (36, "record: has a quoted value that is not closed"),
    ];
    assert_eq!(errors.len(), start.len(), "{errors:#?}");
    for (error, (line, start)) in errors.iter().zip(start) {
        assert!(error.starts_with(&format!("{line}: {start}")), "{error} is not {line}: {start}");
    }
}

#[test]
fn the_same_suppliers_are_the_same_content_in_every_format() {
    let csv = read_files(&[example("suppliers.csv")], None);
    let inputs: Vec<_> = csv.records.iter().map(|record| record.value.to_input()).collect();
    let folder = tempfile::tempdir().unwrap();
    let array = serde_json::to_string_pretty(&inputs).unwrap();
    let lines: String = inputs.iter().map(|input| to_text(input) + "\n").collect();
    for (name, text) in [("a.json", array), ("a.ndjson", lines)] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let reading = read_files(&[example("suppliers.csv"), path], None);
        assert!(reading.is_clean(), "{name}: {:?}", shown(&reading));
        assert_eq!((reading.records.len(), reading.warnings.len()), (40, 40));
        assert!(warnings(&reading)[0].contains("is the same record as at "));
    }
}

#[test]
fn messy_and_tidy_spelling_are_the_same_record_case_23() {
    let messy = record_with(&[
        ("legal_name", " Cafe\u{301} GmbH ".into()),
        ("country", "de".into()),
        ("tax_id", "136 695 976".into()),
        ("iban", "de89 3704 0044 0532 0130 00".into()),
        ("bic", "deutdeff".into()),
        ("lei", "".into()),
        ("contact", Value::Null),
    ]);
    let reading = read(&format!("[{RECORD},\n{}]", to_text(&messy)), Format::Json);
    assert!(reading.is_clean(), "{:?}", shown(&reading));
    assert_eq!(reading.records.len(), 1);
    assert_eq!(warnings(&reading), ["file:3: key: is the same record as at file:1, taken once"]);
}

#[test]
fn another_record_under_the_same_key_is_refused_and_names_the_first_case_23() {
    let other = record_with(&[("legal_name", "Other".into())]);
    let bad = record_with(&[("key", "s-2".into()), ("iban", "DE00".into())]);
    let good = record_with(&[("key", "s-2".into())]);
    let lines: Vec<_> = [record_with(&[]), other.clone(), other, bad, good].iter().map(to_text).collect();
    let reading = read(&lines.join("\n"), Format::Ndjson);
    let shown = shown(&reading);
    assert_eq!(reading.records.len(), 1);
    assert_eq!(shown[0], "file:2: key: is used for another record at file:1");
    assert_eq!(shown[1], "file:3: key: is used for another record at file:1");
    assert!(shown[2].starts_with("file:4: iban: "));
    assert_eq!(shown[3], "file:5: key: is used for another record at file:4");
}

#[test]
fn a_json_error_has_the_line_of_its_field_and_hides_no_other() {
    let text = "[\n{\"key\": \"s-1\",\n\"iban\": \"DE88370400440532013000\",\n\"iban\": \"x\",\n\"bic\": \"?\"},\n5]";
    let reading = read(text, Format::Json);
    let shown = shown(&reading);
    assert_eq!(shown[0], "file:4: iban: is given twice");
    assert!(shown.contains(&"file:2: legal_name: is missing".to_owned()));
    assert!(shown.iter().any(|error| error.starts_with("file:5: bic: \"?\" is not a BIC")));
    assert_eq!(shown.iter().filter(|error| error.contains(": iban: ")).count(), 1);
    assert_eq!(shown.last().map(String::as_str), Some("file:6: record: is not a JSON object"));
}

#[test]
fn a_tax_id_whose_check_digits_do_not_match_is_taken_and_warned_about_once() {
    let made_up = record_with(&[("tax_id", "DE123456789".into())]);
    let too_short = record_with(&[("key", "s-2".into()), ("tax_id", "DE12345678".into())]);
    let warning = "tax_id: check digits do not match; is there a typing error?";
    let again = "key: is the same record as at file:1, taken once";
    let lines: Vec<_> = [&made_up, &too_short, &made_up].map(to_text).into();
    let reading = read(&lines.join("\n"), Format::Ndjson);
    assert_eq!(warnings(&reading), [format!("file:1: {warning}"), format!("file:3: {again}")]);
    assert_eq!(
        shown(&reading),
        ["file:2: tax_id: \"DE12345678\" is not a tax number of DE (DE and 9 digits)"]
    );
    assert_eq!(reading.records[0].value.tax_id().as_str(), "DE123456789");

    let text = to_text(&made_up).replace("\"tax_id\"", "\n\"tax_id\"");
    assert_eq!(warnings(&read(&text, Format::Json)), [format!("file:2: {warning}")]);
    let csv = "key,legal_name,country,tax_id,iban,bic,currency,email\n\
               s-1,A,DE,DE123456789,DE89370400440532013000,DEUTDEFF,EUR,a@b.example\n";
    let reading = read(csv, Format::Csv);
    assert!(reading.is_clean());
    assert_eq!(warnings(&reading), [format!("file:2: {warning}")]);
}

#[test]
fn unknown_fields_are_kept_and_warned_about_once_for_each_file() {
    let number: Value = serde_json::from_str("12345678901234567890.123456789").unwrap();
    let first = record_with(&[("plant", number.clone())]);
    let second = record_with(&[("key", "s-2".into()), ("plant", number.clone())]);
    let reading = read(&format!("{}\n{}", to_text(&first), to_text(&second)), Format::Ndjson);
    let expected = ["file:1: plant: is not a field of a supplier record; kept as given"];
    assert_eq!(warnings(&reading), expected);
    assert_eq!(reading.records[1].value.to_input()["plant"], number);
    let csv = "key,legal_name,country,tax_id,iban,bic,currency,email,plant\n\
               s-1,A,DE,DE136695976,DE89370400440532013000,DEUTDEFF,EUR,a@b.example,Essen\n";
    let reading = read(csv, Format::Csv);
    assert_eq!(warnings(&reading), expected);
    assert_eq!(reading.records[0].value.unknown()["plant"], "Essen");
}

#[test]
fn nul_and_deep_nesting_are_refused_with_their_path_case_25() {
    let start = RECORD.strip_suffix('}').unwrap();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let text =
        format!("{start}, \"a\": {{\"b\": [\"\\u0000\"]}},\n\"contact\": \"x\\u0000\",\n\"c\": {deep}}}");
    let shown = shown(&read(&text, Format::Json));
    assert!(shown[0].starts_with("file:4: c[0][0]"), "{shown:?}");
    assert!(shown[0].ends_with("…: is nested more than 64 levels deep"));
    assert_eq!(shown[1], "file:3: contact: has a control character (U+0000)");
    assert_eq!(shown[2], "file:2: a.b[0]: holds a NUL character (\\u0000)");
    assert_eq!(shown.len(), 3);
}

#[test]
fn a_csv_file_without_a_required_column_is_reported_once() {
    let reading = read("key,legal_name\n1,A\n2,B\n", Format::Csv);
    let shown = shown(&reading);
    assert_eq!(shown.len(), 6);
    assert_eq!(shown[0], "file:1: country: has no column in the header");
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    std::fs::create_dir(in_folder("folder.csv")).unwrap();
    std::fs::write(in_folder("plain.txt"), RECORD).unwrap();
    std::fs::write(in_folder("utf16.csv"), b"\xFF\xFEk\0e\0y\0").unwrap();
    std::fs::write(in_folder("good.json"), RECORD).unwrap();
    let names = ["missing.csv", "folder.csv", "plain.txt", "utf16.csv", "good.json"];
    let mut paths = names.map(in_folder).to_vec();
    paths.push("-".into());
    let reading = read_files(&paths, None);
    assert_eq!(reading.records.len(), 1);
    assert!(!reading.is_clean());
    let errors: Vec<_> =
        reading.unreadable.iter().map(|error| format!("{error}: {}", error.source().unwrap())).collect();
    assert!(errors[0].contains("missing.csv: No such file"), "{errors:?}");
    assert!(errors[1].contains("folder.csv: ") && errors[1].contains("directory"), "{errors:?}");
    assert!(matches!(reading.unreadable[2].problem, ReadProblem::UnknownFormat));
    assert!(matches!(reading.unreadable[3].problem, ReadProblem::Utf16));
    assert!(matches!(reading.unreadable[4].problem, ReadProblem::StdinWithoutFormat));
    let forced = read_files(&[in_folder("plain.txt")], Some(Format::Json));
    assert_eq!(forced.records.len(), 1);
}
