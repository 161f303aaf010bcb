//! RUN: an id, a unique beginning of one, or a supplier's key, as the run that is meant.

use lease_core::{RunReader, RunSelector, RunView};

use crate::error::Error;

/// The run that `text` means.
///
/// # Errors
/// When there is none, when there are several, or when the store does not answer.
pub(crate) async fn select(store: &dyn RunReader, text: &str) -> Result<RunView, Error> {
    let found = store.find(&RunSelector::new(text)).await.map_err(Error::store("look for the run"))?;
    let run = match found.as_slice() {
        [] => return Err(Error::NoSuchRun(text.to_owned())),
        [run] => *run,
        [first, second, ..] => {
            let (first, second) = (first.to_string(), second.to_string());
            return Err(Error::AmbiguousRun { text: text.to_owned(), first, second });
        }
    };
    let view = store.view(run).await.map_err(Error::store("read the run"))?;
    view.ok_or_else(|| Error::NoSuchRun(text.to_owned()))
}
