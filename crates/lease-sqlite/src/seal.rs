//! The seal of a file whose runs move to another store. Keeps ONE-HOLDER across the two: once it is on,
//! nothing can be claimed or saved here, whatever program asks.

use lease_core::stored::invalid;
use lease_core::{StoreError, Timestamp};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use uuid::Uuid;

use crate::connections::Use;
use crate::error::{self, Sealed};
use crate::row::get;
use crate::sql;
use crate::store::SqliteStore;
use crate::transaction::Outcome;
use crate::write;

/// A seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// The transfer.
    pub transfer: Uuid,
    /// Where the runs go, without any password.
    pub destination: String,
    /// Whether they have arrived there.
    pub moved: bool,
    /// Since when, by the store's clock.
    pub since: Timestamp,
}

/// Why a file cannot be sealed now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{owner} holds the run of {key}; stop its worker, or wait until its lease is over")]
pub struct LiveLease {
    key: String,
    owner: String,
}

impl SqliteStore {
    /// The seal, if there is one.
    ///
    /// # Errors
    /// Where the store does not answer.
    pub async fn sealed(&self) -> Result<Option<Seal>, StoreError> {
        self.rows(sqlx::query(sql::SEALED)).await?.first().map(seal).transpose()
    }

    /// Seals the file for a transfer, unless a lease is live. A file that is sealed stays so; the seal
    /// that is on it is the answer.
    ///
    /// # Errors
    /// `NotApplied` while a lease is live; otherwise as for any request.
    pub async fn seal(&self, transfer: Uuid, destination: &str) -> Result<Seal, StoreError> {
        let destination = destination.to_owned();
        Ok(self
            .transaction(Use::Write, move |connection| {
                Box::pin(async move {
                    if let Some(seal) = read(connection).await? {
                        return Ok(Outcome::RollBack(seal));
                    }
                    let live = sqlx::query(sql::LIVE_LEASE).fetch_optional(&mut *connection).await;
                    if let Some(row) = live.map_err(error::before_commit)? {
                        let live = LiveLease { key: get(&row, "key")?, owner: get(&row, "owner")? };
                        return Err(StoreError::NotApplied(Box::new(live)));
                    }
                    write(connection, transfer, &destination, "moving").await?;
                    let seal =
                        read(connection).await?.ok_or(lease_core::stored::BadValue::Missing("transfer"))?;
                    Ok(Outcome::Commit(seal))
                })
            })
            .await?
            .0)
    }

    /// Notes that the runs have arrived: the seal stays for ever.
    ///
    /// # Errors
    /// Where there is no answer, or another seal is on the file.
    pub async fn seal_moved(&self, seal: &Seal) -> Result<(), StoreError> {
        let seal = seal.clone();
        self.transaction(Use::Write, move |connection| {
            Box::pin(async move {
                write(connection, seal.transfer, &seal.destination, "moved").await?;
                Ok(Outcome::Commit(()))
            })
        })
        .await?;
        Ok(())
    }

    /// Takes the seal of a transfer off again that brought nothing.
    ///
    /// # Errors
    /// Where there is no answer, or that seal is not on the file, or the runs have arrived.
    pub async fn unseal(&self, transfer: Uuid) -> Result<(), StoreError> {
        self.transaction(Use::Write, move |connection| {
            Box::pin(async move {
                write::execute_one(connection, sqlx::query(sql::UNSEAL).bind(transfer.to_string())).await?;
                Ok(Outcome::Commit(()))
            })
        })
        .await?;
        Ok(())
    }
}

async fn read(connection: &mut SqliteConnection) -> Result<Option<Seal>, StoreError> {
    let row = sqlx::query(sql::SEALED).fetch_optional(connection).await.map_err(error::before_commit)?;
    row.as_ref().map(seal).transpose()
}

async fn write(
    connection: &mut SqliteConnection,
    transfer: Uuid,
    destination: &str,
    state: &'static str,
) -> Result<(), StoreError> {
    let ask = sqlx::query(sql::SEAL).bind(transfer.to_string()).bind(destination.to_owned()).bind(state);
    write::execute_one(connection, ask).await
}

fn seal(row: &SqliteRow) -> Result<Seal, StoreError> {
    Ok(Seal {
        transfer: get::<String>(row, "transfer")?.parse().map_err(invalid("transfer"))?,
        destination: get(row, "destination")?,
        moved: get::<String>(row, "state")? == "moved",
        since: Timestamp::from_micros(get(row, "sealed_us")?),
    })
}

/// The error of a write that the seal refused.
pub(crate) async fn sealed(connection: &mut SqliteConnection) -> StoreError {
    match read(connection).await {
        Ok(Some(seal)) => StoreError::Unexpected(Box::new(Sealed { destination: seal.destination })),
        Ok(None) => StoreError::Unexpected("a trigger refused the write".into()),
        Err(error) => error,
    }
}
