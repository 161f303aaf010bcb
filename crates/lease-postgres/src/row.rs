//! One macro: a private struct for the columns of a statement's answer.

/// Declares a struct whose fields are read from the columns of the same names. After `with`: a field
/// that is a struct of such columns itself.
macro_rules! row {
    (
        $(#[$meta:meta])*
        $name:ident { $($field:ident: $type:ty,)+ }
        $(with $part:ident: $row:ty)?
    ) => {
        $(#[$meta])*
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)+
            $(pub(crate) $part: $row,)?
        }

        impl<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow> for $name {
            fn from_row(row: &'r sqlx::postgres::PgRow) -> Result<Self, sqlx::Error> {
                use sqlx::Row as _;
                Ok(Self {
                    $($field: row.try_get(stringify!($field))?,)+
                    $($part: sqlx::FromRow::from_row(row)?,)?
                })
            }
        }
    };
}

pub(crate) use row;
