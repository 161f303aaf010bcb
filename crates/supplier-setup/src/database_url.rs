//! The database's URL: kept so that no password in it reaches output or logs.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use url::Url;

use crate::error::Error;

/// What a URL of a file begins with.
const FILE: &str = "sqlite://";

/// A URL as given. Shown without user, password and parameters.
#[derive(Clone)]
pub(crate) struct DatabaseUrl(String);

/// What kind of place a URL names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A PostgreSQL server.
    Server,
    /// An SQLite file.
    File(PathBuf),
}

impl DatabaseUrl {
    /// The URL of a file.
    pub(crate) fn of_file(path: &Path) -> Self {
        Self(format!("{FILE}{}", path.display()))
    }

    /// What kind of place it names.
    pub(crate) fn place(&self) -> Place {
        self.file().map_or(Place::Server, Place::File)
    }

    /// The file that it names, as the text stands there.
    fn file(&self) -> Option<PathBuf> {
        let path = self.0.strip_prefix(FILE)?;
        (!path.is_empty()).then(|| PathBuf::from(path))
    }

    /// The whole text, to connect with and for nothing else.
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }

    /// Checks that this version can use it.
    ///
    /// # Errors
    /// When it is no URL, or one of another kind of database.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let scheme = self.0.split_once(':').map_or("", |(scheme, _)| scheme);
        match scheme {
            "postgres" | "postgresql" if Url::parse(&self.0).is_ok() => Ok(()),
            "postgres" | "postgresql" => Err(Error::UnreadableUrl),
            "sqlite" if self.file().is_some() => Ok(()),
            "sqlite" => Err(Error::UnreadableUrl),
            _ => Err(Error::ForeignUrl),
        }
    }
}

/// Host, port and database. A socket's folder is shown, as it says where to look.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file().is_some() {
            return f.write_str(&self.0);
        }
        let Ok(url) = Url::parse(&self.0) else { return f.write_str("an unreadable URL") };
        let folder = url.query_pairs().find(|(name, _)| name == "host").map(|(_, value)| value.into_owned());
        let host = folder.or_else(|| url.host_str().map(ToOwned::to_owned)).unwrap_or_default();
        write!(f, "{}://{host}", url.scheme())?;
        if let Some(port) = url.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(url.path())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

impl FromStr for DatabaseUrl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// A text in which URLs stand without what is before their `@` and after their `?`. For text that the
/// program did not write itself: wrong arguments are quoted back, and foreign errors say what they
/// like.
pub(crate) fn without_passwords(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let (before, after) = rest.split_at(start + 3);
        shown.push_str(before);
        // A password may hold a raw '/', '?' or quote: what counts is the last '@' of the word.
        let word = after.find(char::is_whitespace).unwrap_or(after.len());
        let host = after[..word].rfind('@').map_or(0, |at| at + 1);
        if host > 0 {
            shown.push_str("…@");
        }
        let parameters = after[host..word].find('?').map_or(word, |mark| host + mark);
        shown.push_str(&after[host..parameters]);
        if parameters < word {
            shown.push_str("?…");
        }
        rest = &after[word..];
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> DatabaseUrl {
        text.parse().unwrap()
    }

    #[test]
    fn no_way_of_showing_a_url_shows_its_password() {
        let secret = url("postgres://buyer:hunter2@db.example:5433/buyer?password=hunter2&sslmode=require");
        assert_eq!(secret.to_string(), "postgres://db.example:5433/buyer");
        assert!(!format!("{secret:?}").contains("hunter2"));
        assert_eq!(url("postgres:///buyer?host=/run/pg").to_string(), "postgres:///run/pg/buyer");
    }

    #[test]
    fn quoted_urls_lose_their_passwords() {
        let shown = without_passwords("unexpected 'postgres://u:hun/t?er2@h/d' and http://plain/x");
        assert_eq!(shown, "unexpected 'postgres://…@h/d' and http://plain/x");
        let shown = without_passwords("'postgres://u@h/d?password=hunter2' found");
        assert_eq!(shown, "'postgres://…@h/d?… found");
        assert_eq!(without_passwords("a://"), "a://");
    }

    #[test]
    fn only_urls_of_servers_and_files_are_taken() {
        assert!(url("postgres://h/d").check().is_ok());
        assert!(url("postgresql:///d?host=/tmp").check().is_ok());
        assert!(url("sqlite://x.db").check().is_ok());
        assert_eq!(url("sqlite:///tmp/x.db").place(), Place::File("/tmp/x.db".into()));
        assert!(matches!(url("sqlite://").check(), Err(Error::UnreadableUrl)));
        assert!(matches!(url("mysql://h/d").check(), Err(Error::ForeignUrl)));
        assert!(matches!(url("postgres://h:notaport/d").check(), Err(Error::UnreadableUrl)));
    }
}
