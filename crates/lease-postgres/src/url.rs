//! Database URLs. Nothing of a URL but the name of a parameter ever reaches an error or a log: any
//! other part of it may hold a password.

use std::str::FromStr as _;

use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use crate::settings::PgSettings;

/// The parameters that a URL may have. The driver logs one that it does not know, with its value, so
/// an unknown one is refused here first.
const PARAMETERS: &[&str] = &[
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// A database URL that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidUrl {
    /// It does not begin as it should.
    #[error("the database URL does not begin with postgres:// or postgresql://")]
    Scheme,
    /// It has a parameter that is not known.
    #[error("the database URL has an unknown parameter {0:?}")]
    Parameter(String),
    /// A part of it cannot be read.
    #[error("the database URL cannot be read: a port, an sslmode or an escaped character in it is not valid")]
    Unreadable,
}

/// Where to connect, and with which session settings.
pub(crate) fn connect_options(url: &str, settings: &PgSettings) -> Result<PgConnectOptions, InvalidUrl> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(InvalidUrl::Scheme);
    }
    if let Some(unknown) = unknown_parameter(url) {
        return Err(InvalidUrl::Parameter(unknown.to_owned()));
    }
    let options = PgConnectOptions::from_str(url).map_err(|_| InvalidUrl::Unreadable)?;
    Ok(options
        .application_name(&settings.application_name)
        .options(settings.of_session())
        .disable_statement_logging())
}

/// The same server and parameters with another database. A `dbname` parameter would win over the path,
/// so it goes.
pub(crate) fn on_database(url: &str, name: &str) -> String {
    let (url, query) = url.split('#').next().unwrap_or(url).split_once('?').unwrap_or((url, ""));
    let path = url.find("://").map(|scheme| scheme + 3);
    let path = path.and_then(|host| url[host..].find('/').map(|slash| host + slash)).unwrap_or(url.len());
    let kept: Vec<&str> =
        query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("dbname=")).collect();
    let mark = if kept.is_empty() { "" } else { "?" };
    format!("{}/{name}{mark}{}", &url[..path], kept.join("&"))
}

fn unknown_parameter(url: &str) -> Option<&str> {
    let (_, query) = url.split('#').next()?.split_once('?')?;
    let names = query.split('&').filter(|pair| !pair.is_empty());
    names
        .map(|pair| pair.split('=').next().unwrap_or(pair))
        .find(|name| !PARAMETERS.contains(name) && !name.starts_with("options["))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn read(url: &str) -> Result<PgConnectOptions, InvalidUrl> {
        let ttl = lease_core::Ttl::new(Duration::from_secs(10)).unwrap();
        connect_options(url, &PgSettings::for_ttl(ttl))
    }

    #[test]
    fn a_password_never_reaches_an_error() {
        let urls = [
            "mysql://u:geheim@h/db",
            "postgres://u:geheim@h:99999999/db",
            "postgres://u:geheim@h/db?sslmode=geheim",
            "postgres://u@h/db?pasword=geheim",
            "postgres://u:geheim@[h/db",
        ];
        for url in urls {
            let error = read(url).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("geheim"), "{shown}");
        }
        assert_eq!(
            read("postgres://u@h/db?pasword=geheim").unwrap_err(),
            InvalidUrl::Parameter("pasword".to_owned())
        );
    }

    #[test]
    fn a_url_keeps_everything_but_its_database() {
        let urls = [
            ("postgres://u:p@h:1/db?sslmode=require", "postgres://u:p@h:1/x?sslmode=require"),
            ("postgres:///db?host=/run/pg&dbname=other", "postgres:///x?host=/run/pg"),
            ("postgresql://h", "postgresql://h/x"),
        ];
        for (url, expected) in urls {
            assert_eq!(on_database(url, "x"), expected);
        }
    }

    #[test]
    fn a_url_is_read_with_its_escapes() {
        let options = read("postgresql://u%40x:p%2Fw@example.org:5433/the%20db?sslmode=require").unwrap();
        assert_eq!((options.get_host(), options.get_port()), ("example.org", 5433));
        assert_eq!((options.get_username(), options.get_database()), ("u@x", Some("the db")));
    }
}
