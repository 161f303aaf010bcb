//! The seal of a file whose runs move to another store. Keeps ONE-HOLDER across the two: once it is on,
//! nothing can be claimed or saved here, whatever program asks.

use lease_core::stored::invalid;
use lease_core::{StoreError, Timestamp};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use uuid::Uuid;

use crate::connections::Use;
use crate::error::{self, Sealed};
use crate::request::{self, Ask};
use crate::row::get;
use crate::sql;
use crate::store::SqliteStore;
use crate::transaction::{Outcome, Transaction};

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
        self.rows(Ask::new(sql::SEALED)).await?.first().map(seal).transpose()
    }

    /// Seals the file for a transfer, unless a lease is live. A file that is sealed stays so; the seal
    /// that is on it is the answer.
    ///
    /// # Errors
    /// `NotApplied` while a lease is live; otherwise as for any request.
    pub async fn seal(&self, transfer: Uuid, destination: &str) -> Result<Seal, StoreError> {
        let destination = destination.to_owned();
        Ok(self
            .transaction(Use::Write, move |transaction| {
                Box::pin(async move {
                    if let Some(seal) = read(transaction).await? {
                        return Ok(Outcome::RollBack(seal));
                    }
                    if let Some(row) = transaction.read(Ask::new(sql::LIVE_LEASE)).await?.first() {
                        let live = LiveLease { key: get(row, "key")?, owner: get(row, "owner")? };
                        return Err(StoreError::NotApplied(Box::new(live)));
                    }
                    write(transaction, transfer, &destination, "moving");
                    let seal =
                        read(transaction).await?.ok_or(lease_core::stored::BadValue::Missing("transfer"))?;
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
        self.transaction(Use::Write, move |transaction| {
            Box::pin(async move {
                write(transaction, seal.transfer, &seal.destination, "moved");
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
        self.transaction(Use::Write, move |transaction| {
            Box::pin(async move {
                transaction.write_one(Ask::new(sql::UNSEAL).bind(transfer.to_string()));
                Ok(Outcome::Commit(()))
            })
        })
        .await?;
        Ok(())
    }
}

async fn read(transaction: &mut Transaction) -> Result<Option<Seal>, StoreError> {
    transaction.read(Ask::new(sql::SEALED)).await?.first().map(seal).transpose()
}

fn write(transaction: &mut Transaction, transfer: Uuid, destination: &str, state: &'static str) {
    transaction.write_one(Ask::new(sql::SEAL).bind(transfer.to_string()).bind(destination).bind(state));
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
    let rows = request::rows(connection, Ask::new(sql::SEALED)).await.map_err(error::before_commit);
    match rows.and_then(|rows| rows.first().map(seal).transpose()) {
        Ok(Some(seal)) => StoreError::Unexpected(Box::new(Sealed { destination: seal.destination })),
        Ok(None) => StoreError::Unexpected("a trigger refused the write".into()),
        Err(error) => error,
    }
}
