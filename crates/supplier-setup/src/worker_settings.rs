//! A worker's flags as settings, refused as a whole where they do not fit each other (case 14).

use std::time::Duration;

use lease_core::{LeaseSettings, LossLimit, Ttl, WorkerName};
use lease_postgres::PgSettings;
use supplier_runner::worker::WorkerSettings;

use crate::arguments::WorkerFlags;
use crate::error::Error;

/// The longest worker name, in bytes.
const NAME_LIMIT: usize = 64;
/// The name under which connections stand in `pg_stat_activity`.
const APPLICATION_NAME: &str = "supplier-setup";
/// The connections for heartbeats: one for all of them, one for a lease whose row is waited for, and
/// one for the question why a lease is lost.
const HEARTBEAT_CONNECTIONS: u32 = 3;
/// The shortest lease a worker takes: opening a connection, a claim and a renewal have to fit into it
/// on a busy machine, and a shorter one would only look like a database that is out of reach.
const SHORTEST_TTL: Duration = Duration::from_millis(100);
/// The default TTL: verbs that hold no lease get its limits.
const USUAL_TTL: Duration = Duration::from_secs(120);

/// Everything that is set for a worker.
#[derive(Debug)]
pub(crate) struct AllSettings {
    /// The worker's own.
    pub(crate) worker: WorkerSettings,
    /// Those of the connections for claims, saves and reads.
    pub(crate) main: PgSettings,
    /// Those of the heartbeats' connections.
    pub(crate) heartbeat: PgSettings,
}

impl AllSettings {
    /// Checks the flags against each other.
    ///
    /// # Errors
    /// With the rule that they break.
    pub(crate) fn of(flags: &WorkerFlags) -> Result<Self, Error> {
        let ttl = Ttl::new(flags.ttl)?;
        if ttl.as_duration() < SHORTEST_TTL {
            return Err(Error::TtlTooShort { ttl: ttl.as_duration(), shortest: SHORTEST_TTL });
        }
        let heartbeat = flags.heartbeat.unwrap_or(ttl.as_duration() / 3);
        let margin = flags.margin.unwrap_or(LeaseSettings::default_margin(ttl));
        let worker = WorkerSettings {
            name: flags.name.as_deref().map_or_else(default_name, name_of)?,
            lease: LeaseSettings::new(ttl, heartbeat, margin)?,
            concurrency: flags.concurrency,
            poll: flags.poll,
            grace: flags.grace,
            loss_limit: LossLimit::new(flags.loss_limit).ok_or(Error::LossLimit(flags.loss_limit))?,
        };
        worker.check()?;
        let limits = PgSettings::for_ttl(ttl);
        let main = PgSettings {
            statement_timeout: flags.statement_timeout.unwrap_or(limits.statement_timeout),
            lock_timeout: flags.lock_timeout.unwrap_or(limits.lock_timeout),
            max_connections: flags.connections.unwrap_or_else(|| default_connections(flags.concurrency)),
            application_name: APPLICATION_NAME.to_owned(),
            ..limits
        };
        main.check(ttl)?;
        let heartbeat = PgSettings {
            max_connections: HEARTBEAT_CONNECTIONS,
            application_name: format!("{APPLICATION_NAME} heartbeat"),
            ..main.clone()
        };
        Ok(Self { worker, main, heartbeat })
    }
}

/// The settings of connections for verbs that hold no lease.
pub(crate) fn plain_connections() -> PgSettings {
    let ttl = Ttl::new(USUAL_TTL).expect("two minutes are a ttl");
    PgSettings { application_name: APPLICATION_NAME.to_owned(), ..PgSettings::for_ttl(ttl) }
}

/// One for each run that may wait for a lock, one for claims, and one for what operators ask.
fn default_connections(concurrency: usize) -> u32 {
    u32::try_from(concurrency).unwrap_or(u32::MAX).saturating_add(2)
}

fn name_of(name: &str) -> Result<WorkerName, Error> {
    WorkerName::new(name).map_err(Error::WorkerName)
}

/// Host name and process id. Two workers never share it at the same time on one host; where hosts
/// share a name, owners still differ by their random part.
fn default_name() -> Result<WorkerName, Error> {
    let host = rustix::system::uname();
    let suffix = format!(".{}", std::process::id());
    let host = cleaned(&host.nodename().to_string_lossy(), NAME_LIMIT - suffix.len());
    name_of(&format!("{host}{suffix}"))
}

/// A text as a part of a worker's name: what a name cannot have becomes `-`.
pub(crate) fn cleaned(text: &str, limit: usize) -> String {
    let fits = |letter: char| letter.is_ascii_graphic() && letter != '#';
    let shown: String =
        text.chars().take(limit).map(|letter| if fits(letter) { letter } else { '-' }).collect();
    if shown.is_empty() { "-".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};
    use lease_core::SettingsError;

    use super::*;

    fn settings(flags: &[&str]) -> Result<AllSettings, Error> {
        let command = WorkerFlags::augment_args(clap::Command::new("work"));
        let matches = command.get_matches_from([&["work"], flags].concat());
        AllSettings::of(&WorkerFlags::from_arg_matches(&matches).unwrap())
    }

    fn refused(flags: &[&str]) -> SettingsError {
        match settings(flags) {
            Err(Error::LeaseSettings(rule)) => rule,
            other => panic!("{flags:?} gave {other:?}"),
        }
    }

    #[test]
    fn case_14_flags_that_do_not_fit_are_refused_by_rule() {
        assert_eq!(refused(&["--ttl", "0"]), SettingsError::Ttl(Duration::ZERO));
        assert!(matches!(settings(&["--ttl", "99ms"]), Err(Error::TtlTooShort { .. })));
        assert!(settings(&["--ttl", "100ms"]).is_ok());
        assert_eq!(refused(&["--heartbeat", "0"]), SettingsError::HeartbeatZero);
        assert!(matches!(refused(&["--heartbeat", "2m"]), SettingsError::HeartbeatTooLong { .. }));
        assert!(matches!(refused(&["--margin", "3m"]), SettingsError::MarginTooLong { .. }));
        assert!(matches!(refused(&["--statement-timeout", "3m"]), SettingsError::LimitTooLong { .. }));
        assert!(matches!(refused(&["--lock-timeout", "0"]), SettingsError::LimitTooLong { .. }));
        assert!(matches!(settings(&["--concurrency", "0"]), Err(Error::WorkerSettings(_))));
        assert!(matches!(settings(&["--loss-limit", "0"]), Err(Error::LossLimit(0))));
        assert!(matches!(settings(&["--name", "a b"]), Err(Error::WorkerName(_))));
    }

    #[test]
    fn the_defaults_fit_and_short_leases_get_short_limits() {
        let usual = settings(&[]).unwrap();
        assert_eq!(usual.worker.lease.heartbeat(), Duration::from_secs(40));
        assert_eq!(usual.main.max_connections, 10);
        let short = settings(&["--ttl", "500ms", "--concurrency", "1"]).unwrap();
        assert!(short.main.statement_timeout < Duration::from_millis(500));
        assert_eq!(short.main.max_connections, 3);
    }

    #[test]
    fn any_host_name_makes_a_name() {
        assert_eq!(cleaned("büro 1#x", 60), "b-ro-1-x");
        assert_eq!(cleaned("", 60), "-");
        assert_eq!(cleaned(&"x".repeat(100), 57).len(), 57);
        assert!(default_name().is_ok());
    }
}
