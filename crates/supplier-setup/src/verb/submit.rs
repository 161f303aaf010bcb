//! `submit`: opens a run for each supplier in some files.

use std::sync::Arc;

use super::Context;
use crate::arguments::{PlanChoice, RecordFiles, SubmitArguments};
use crate::database::{Database, Schema};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::note;
use crate::output::plain::{count, plain};
use crate::output::records::{
    SubmitDocument, SubmitOutcome, all_invalid, invalid_line, invalid_total, warning_line,
};
use crate::plans;
use crate::submitting::{Submitted, submit_all};
use crate::worker_settings::plain_connections;
use supplier_runner::supplier::{Invalid, Sourced, SupplierRecord, read_files};

/// Records read from files: the good ones that may be submitted, and what is wrong with the rest.
pub(super) struct Records {
    /// To be submitted; none where a bad record holds up the others.
    pub(super) good: Vec<Sourced<SupplierRecord>>,
    /// Everything that is wrong.
    pub(super) invalid: Vec<Invalid>,
}

/// Reads files and says on standard error what was unexpected.
pub(super) fn read(files: &RecordFiles) -> Records {
    let reading = read_files(&files.files, files.format);
    for warning in &reading.warnings {
        note(&warning_line(warning));
    }
    let invalid = all_invalid(&reading);
    let held_up = !invalid.is_empty() && !files.skip_invalid;
    Records { good: if held_up { Vec::new() } else { reading.records }, invalid }
}

/// Says on standard error what is wrong with records.
pub(super) fn tell_invalid(invalid: &[Invalid], submitted_rest: bool) {
    for invalid in invalid {
        note(&invalid_line(invalid));
    }
    note(&format!("error: {}", invalid_total(invalid, submitted_rest)));
}

pub(super) async fn submit(context: &Context, arguments: SubmitArguments) -> Result<Exit, Error> {
    let SubmitArguments { records, plan, migrate } = arguments;
    let plan = plans::load_one(&plan.unwrap_or(PlanChoice::BuiltIn))?;
    let Records { good, mut invalid } = read(&records);
    let taken_rest = invalid.is_empty() || records.skip_invalid;
    let submitted = if taken_rest {
        let database =
            Database::open(&context.common, &plain_connections(), Schema::from_flag(migrate)).await?;
        plans::check_in_use(&*database.operator(), &[Arc::new(plan.clone())]).await?;
        submit_all(database.operator(), &plan.plan, good).await?
    } else {
        Submitted::default()
    };
    let exit = if invalid.is_empty() && submitted.conflicts.is_empty() { Exit::Done } else { Exit::BadInput };
    invalid.extend(submitted.conflicts.iter().cloned());
    if !context.common.json && !invalid.is_empty() {
        tell_invalid(&invalid, taken_rest);
    }
    show(context, &submitted, invalid, taken_rest);
    Ok(exit)
}

fn show(context: &Context, submitted: &Submitted, invalid: Vec<Invalid>, taken_rest: bool) {
    if context.common.json {
        let rows = submitted.runs.iter().map(|run| run.to_row()).collect();
        context.output.json(&SubmitDocument { submitted: rows, invalid });
        return;
    }
    for run in &submitted.runs {
        let key = plain(run.key.as_str());
        context.output.line(&format!("{:<8}  {}  {key}", run.outcome.word(), run.run));
    }
    if taken_rest {
        let total = u64::try_from(submitted.runs.len()).unwrap_or(u64::MAX);
        let new = submitted.runs.iter().filter(|run| run.outcome == SubmitOutcome::Opened).count();
        let suppliers = count(total, "supplier", "suppliers");
        context.output.line(&format!("{suppliers}: {new} opened, {} existing", submitted.runs.len() - new));
    }
}
