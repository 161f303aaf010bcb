//! Rows of the caller's own tables, read as documents.

use lease_core::{Document, StoreError};

use crate::row::row;
use crate::store::PgStore;
use lease_core::stored::{self, BadValue};

row! {
    /// One column, a JSON object as text.
    DocumentRow {
        document: String,
    }
}

impl PgStore {
    /// What a query of the caller's own returns: rows with one text column `document`, each a JSON
    /// object.
    ///
    /// # Errors
    /// Where the store does not answer, or a row is no such document.
    ///
    /// # Cancel safety
    /// It only reads; dropping the future has no effect.
    pub async fn documents(&self, query: &'static str) -> Result<Vec<Document>, StoreError> {
        let rows: Vec<DocumentRow> = self.connections.all(sqlx::query(query)).await?;
        let document = |DocumentRow { document }| stored::document("document", &document);
        Ok(rows.into_iter().map(document).collect::<Result<_, BadValue>>()?)
    }
}
