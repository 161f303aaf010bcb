//! Arguments of `transfer`.

use clap::Args;

use crate::database_url::DatabaseUrl;

/// `transfer`
#[derive(Debug, Args)]
pub(crate) struct TransferArguments {
    /// The file that the runs are in: sqlite://PATH
    #[arg(long, value_name = "URL")]
    pub(crate) from: DatabaseUrl,
    /// The database that they go to, migrated: postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) to: DatabaseUrl,
}
