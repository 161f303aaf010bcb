//! `http = { url = …, headers = { … } }` of a phase.

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::draft::Does;
use super::entry::{Entries, Entry, Problems};
use super::fill::{Environment, fill};
use crate::step::http::OWN_HEADERS;
use crate::step::secrets::Secrets;

/// The most headers of a call.
const MOST_HEADERS: usize = 32;

/// A call that is ready but for its wire.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) secrets: Secrets,
}

/// Reads a call and fills it in.
pub(super) fn read(
    http: &Entry<'_>,
    environment: Environment<'_>,
    problems: &mut Problems<'_>,
) -> Option<(Does, Call)> {
    let mut entries = http.table(problems)?;
    let mut secrets = Vec::new();
    let url = entries.required("url", problems);
    let headers = entries.optional("headers");
    entries.finish(problems);
    let read_headers = match headers {
        None => Some((BTreeMap::new(), HeaderMap::new())),
        Some(entry) => {
            entry.table(problems).and_then(|table| all_headers(&table, environment, &mut secrets, problems))
        }
    };
    let url = url?;
    let written = url.text(problems)?;
    let filled = match address(written, environment, &mut secrets) {
        Ok(filled) => filled,
        Err(why) => {
            url.problem(why, problems);
            return None;
        }
    };
    let (written_headers, headers) = read_headers?;
    let does = Does::Http { url: written.to_owned(), headers: written_headers };
    Some((does, Call { name: written.to_owned(), url: filled, headers, secrets: Secrets::new(secrets) }))
}

/// The address, filled in. What is said of a wrong one repeats no value.
fn address(written: &str, environment: Environment<'_>, secrets: &mut Vec<String>) -> Result<Url, String> {
    let filled = fill(written, environment, secrets).map_err(|why| why.to_string())?;
    let url = Url::parse(&filled).map_err(|why| format!("is no URL: {why}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("begins with neither http:// nor https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("holds a user or a password; use an Authorization header with ${NAME}".to_owned());
    }
    Ok(url)
}

type Headers = (BTreeMap<String, String>, HeaderMap);

fn all_headers(
    table: &Entries<'_>,
    environment: Environment<'_>,
    secrets: &mut Vec<String>,
    problems: &mut Problems<'_>,
) -> Option<Headers> {
    let mut written = BTreeMap::new();
    let mut headers = HeaderMap::new();
    let mut good = true;
    for (name, entry) in table.all() {
        let read = entry.text(problems).and_then(|text| {
            let header = header(name, text, environment, secrets);
            header.map_err(|why| entry.problem(why, problems)).ok().map(|header| (header, text))
        });
        match read {
            Some(((name, value), text)) => {
                if written.insert(name.as_str().to_owned(), text.to_owned()).is_some() {
                    entry.problem("stands twice: upper and lower case are the same in a header", problems);
                    good = false;
                }
                headers.insert(name, value);
            }
            None => good = false,
        }
    }
    if headers.len() > MOST_HEADERS {
        table.problem("", format!("has more than {MOST_HEADERS} headers"), problems);
        good = false;
    }
    good.then_some((written, headers))
}

fn header(
    name: &str,
    text: &str,
    environment: Environment<'_>,
    secrets: &mut Vec<String>,
) -> Result<(HeaderName, HeaderValue), String> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "is no header's name".to_owned())?;
    if OWN_HEADERS.contains(&name.as_str()) {
        return Err("is a header that every call has by itself".to_owned());
    }
    let filled = fill(text, environment, secrets).map_err(|why| why.to_string())?;
    let mut value =
        HeaderValue::from_str(&filled).map_err(|_| "is, when filled in, no header's value".to_owned())?;
    value.set_sensitive(true);
    Ok((name, value))
}
