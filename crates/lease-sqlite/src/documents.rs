//! Rows of the caller's own tables, read as documents.

use lease_core::stored::{self, BadValue};
use lease_core::{Document, StoreError};

use crate::request::Ask;
use crate::row::get;
use crate::store::SqliteStore;

impl SqliteStore {
    /// What a query of the caller's own returns: rows with one text column `document`, each a JSON
    /// object.
    ///
    /// # Errors
    /// Where the store does not answer, or a row is no such document.
    ///
    /// # Cancel safety
    /// It only reads; dropping the future has no effect.
    pub async fn documents(&self, query: &'static str) -> Result<Vec<Document>, StoreError> {
        let rows = self.rows(Ask::new(query)).await?;
        let document = |row| stored::document("document", &get::<String>(row, "document")?);
        Ok(rows.iter().map(document).collect::<Result<_, BadValue>>()?)
    }
}
