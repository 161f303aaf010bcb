//! `work`: a worker that claims runs and works on them until stopped.

use std::sync::Arc;

use lease_core::{Digest, Ending, RunId, RunKey};
use supplier_runner::plan::RunnablePlan;
use supplier_runner::worker::{RunStand, Take};

use super::Context;
use super::run::exit_of_ends;
use crate::arguments::WorkArguments;
use crate::database::{Database, Schema};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::plain::count;
use crate::output::{note, summary};
use crate::plans;
use crate::selected_run::select;
use crate::worker_settings::AllSettings;
use crate::working::{self, Worked};

pub(super) async fn work(context: &Context, arguments: WorkArguments) -> Result<Exit, Error> {
    let WorkArguments { drain, run, worker: flags } = arguments;
    let settings = AllSettings::of(&flags)?;
    let plans = plans::load(&flags.plans)?;
    let database = Database::open(&context.common, &settings.main, Schema::from_flag(flags.migrate)).await?;
    plans::check_in_use(&*database.operator(), &plans).await?;
    let (take, asked) = match run {
        Some(run) => {
            let (run, key) = one(&database, &run, &plans).await?;
            (Take::Only(run), vec![(run, key)])
        }
        None if drain => (Take::UntilNoneIsOpen, Vec::new()),
        None => (Take::Any, Vec::new()),
    };
    let known: Vec<Digest> = plans.iter().map(|plan| plan.plan.id.digest).collect();
    let worked = working::work(context, &database, settings, plans, take, asked).await?;
    if drain && !worked.report.stopped {
        tell_of_stranded(&database, &known).await;
    }
    if !context.common.json {
        context.output.line(&summary::of_work(&worked.report));
    }
    Ok(exit_of(&worked))
}

/// The one run that is asked for. A plan that was not given would be waited for without end.
async fn one(database: &Database, text: &str, plans: &[Arc<RunnablePlan>]) -> Result<(RunId, RunKey), Error> {
    let run = select(database.reader(), text).await?.run;
    if plans.iter().any(|plan| plan.plan.id.digest == run.plan.id.digest) {
        Ok((run.id, run.key))
    } else {
        Err(Error::PlanNotGiven { run: text.to_owned(), plan: run.plan.id })
    }
}

/// Says which open runs a drain left behind, because their plan was not given.
async fn tell_of_stranded(database: &Database, known: &[Digest]) {
    // What was done is done, whether or not this can be told.
    for stranded in database.reader().stranded(known).await.unwrap_or_default() {
        let runs = count(stranded.runs, "open run waits", "open runs wait");
        note(&format!("{runs} for a worker with plan {} (digest {})", stranded.plan, stranded.plan.digest));
    }
}

/// The exit code. A worker that was told to stop and drained is done, whatever happened to its runs.
fn exit_of(worked: &Worked) -> Exit {
    let Worked { report, signal, .. } = worked;
    if report.stopped_now {
        return signal.unwrap_or(Exit::Unexpected);
    }
    if report.stopped {
        return Exit::Done;
    }
    let mut exit = exit_of_ends(report);
    for (_, stand) in &report.asked {
        exit = exit.or(match stand {
            RunStand::Ended(Ending::Failed | Ending::Cancelled) => Exit::Failed,
            RunStand::Gone => Exit::BadInput,
            RunStand::Ended(Ending::Completed)
            | RunStand::Unfinished
            | RunStand::Waiting(_)
            | RunStand::Paused
            | RunStand::UnknownPlan(_) => Exit::Done,
        });
    }
    exit
}

#[cfg(test)]
mod tests {
    use supplier_runner::worker::{WorkReport, new_run_id};

    use super::*;

    #[test]
    fn a_worker_that_was_told_to_stop_and_drained_is_done() {
        let report = WorkReport { failed: 1, stopped: true, ..WorkReport::default() };
        let mut worked = Worked { report, completed_before: 0, signal: Some(Exit::Terminated) };
        assert_eq!(exit_of(&worked), Exit::Done);
        worked.report.stopped_now = true;
        assert_eq!(exit_of(&worked), Exit::Terminated);
    }

    #[test]
    fn a_drain_tells_of_failed_and_lost_runs() {
        let lost = WorkReport { lost: [(new_run_id(), 1)].into(), ..WorkReport::default() };
        let mut worked = Worked { report: lost, completed_before: 0, signal: None };
        assert_eq!(exit_of(&worked), Exit::LeaseLost);
        worked.report.failed = 1;
        assert_eq!(exit_of(&worked), Exit::Failed);
    }
}
