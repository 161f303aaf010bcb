//! `check`: reads records and plans and says what is wrong with them; needs no database.

use std::error::Error as _;
use std::path::Path;

use lease_core::PlanId;
use serde::Serialize;
use supplier_runner::plan::{PlanError, PlanProblem};
use supplier_runner::supplier::{Invalid, read_files};

use super::Context;
use crate::arguments::{CheckArguments, PlanChoice};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::note;
use crate::output::plain::count;
use crate::output::records::{CheckDocument, all_invalid, invalid_line, warning_line};
use crate::plans;

/// The field that stands for a plan as a whole.
const WHOLE_PLAN: &str = "plan";

/// A plan that was checked and is fine.
#[derive(Debug, Serialize)]
struct CheckedPlan {
    name: String,
    version: u32,
    digest: String,
}

/// The result: that of the records, with the plans beside it.
#[derive(Debug, Serialize)]
struct WholeDocument<'a> {
    #[serde(flatten)]
    records: CheckDocument<'a>,
    plans: Vec<CheckedPlan>,
}

pub(super) fn check(context: &Context, arguments: &CheckArguments) -> Result<Exit, Error> {
    let reading = read_files(&arguments.files, arguments.format);
    let mut invalid = all_invalid(&reading);
    let mut fine_plans = Vec::new();
    for choice in &arguments.plans {
        match plans::load_one(choice) {
            Ok(plan) => fine_plans.push(plan.plan.id),
            Err(Error::Plan(PlanError::Invalid { path, problems })) => {
                invalid.extend(problems.iter().map(|problem| plan_problem(&path, problem)));
            }
            Err(Error::Plan(error)) => invalid.push(whole_plan(choice, &error)),
            Err(error) => return Err(error),
        }
    }
    let exit = if invalid.is_empty() { Exit::Done } else { Exit::BadInput };
    if context.common.json {
        let records = CheckDocument { records: reading.records.len(), invalid, warnings: &reading.warnings };
        context
            .output
            .json(&WholeDocument { records, plans: fine_plans.iter().map(CheckedPlan::of).collect() });
        return Ok(exit);
    }
    for warning in &reading.warnings {
        note(&warning_line(warning));
    }
    for invalid in &invalid {
        context.output.line(&invalid_line(invalid));
    }
    let fine = count(u64::try_from(reading.records.len()).unwrap_or(u64::MAX), "record", "records");
    let errors = count(u64::try_from(invalid.len()).unwrap_or(u64::MAX), "error", "errors");
    if !invalid.is_empty() {
        context.output.line(&format!("{errors}; {fine} fine"));
    } else if !arguments.files.is_empty() {
        context.output.line(&format!("{fine} fine"));
    }
    for plan in &fine_plans {
        context.output.line(&format!("plan {plan} fine (digest {})", plan.digest));
    }
    Ok(exit)
}

/// What is wrong with a plan, in the form of what is wrong with records.
fn plan_problem(path: &Path, problem: &PlanProblem) -> Invalid {
    let PlanProblem { line, key, problem } = problem;
    let field = if key.is_empty() { WHOLE_PLAN } else { key };
    Invalid {
        file: path.display().to_string(),
        line: u64::try_from(*line).unwrap_or(u64::MAX),
        field: field.to_owned(),
        error: problem.clone(),
    }
}

/// A plan file that could not be read at all.
fn whole_plan(choice: &PlanChoice, error: &PlanError) -> Invalid {
    let file = match choice {
        PlanChoice::BuiltIn => PlanChoice::BUILT_IN.to_owned(),
        PlanChoice::File(path) => path.display().to_string(),
    };
    let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    Invalid { file, line: 0, field: WHOLE_PLAN.to_owned(), error: why }
}

impl CheckedPlan {
    fn of(plan: &PlanId) -> Self {
        Self { name: plan.name.to_string(), version: plan.version.get(), digest: plan.digest.to_string() }
    }
}
