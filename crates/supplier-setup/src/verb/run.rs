//! `run`: submits the suppliers in some files and works until none of them can go further here.

use lease_core::Ending;
use supplier_runner::worker::{RunStand, Take, WorkReport};

use super::Context;
use super::submit::{Records, read, tell_invalid};
use crate::arguments::RunArguments;
use crate::database::{Database, Schema};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::summary;
use crate::plans;
use crate::submitting::submit_all;
use crate::worker_settings::AllSettings;
use crate::working::{self, Worked};

pub(super) async fn run(context: &Context, arguments: RunArguments) -> Result<Exit, Error> {
    let RunArguments { records: files, worker: flags } = arguments;
    let settings = AllSettings::of(&flags)?;
    let plans = plans::load(&flags.plans)?;
    let Records { good, invalid } = read(&files);
    if !invalid.is_empty() {
        tell_invalid(&invalid, files.skip_invalid);
        if !files.skip_invalid {
            return Ok(Exit::BadInput);
        }
    }
    let database = Database::open(&context.common, &settings.main, Schema::from_flag(flags.migrate)).await?;
    plans::check_in_use(&*database.operator(), &plans).await?;
    let first = plans.first().expect("there is always a plan");
    let submitted = submit_all(database.operator(), &first.plan, good).await?;
    if !submitted.conflicts.is_empty() {
        tell_invalid(&submitted.conflicts, true);
    }
    let bad_input = !invalid.is_empty() || !submitted.conflicts.is_empty();
    let asked: Vec<_> = submitted.runs.into_iter().map(|run| (run.run, run.key)).collect();
    let take = Take::AsFarAsPossible(asked.iter().map(|(run, _)| *run).collect());
    let worked = working::work(context, &database, settings, plans, take, asked).await?;
    if !context.common.json {
        context.output.line(&summary::of_run(&worked.report, worked.completed_before));
    }
    let exit = exit_of(&worked);
    Ok(if bad_input { exit.or(Exit::BadInput) } else { exit })
}

/// The exit code: the first of the list that applies.
fn exit_of(worked: &Worked) -> Exit {
    let Worked { report, signal, .. } = worked;
    let stopped = signal.unwrap_or(Exit::Unexpected);
    if report.stopped_now {
        return stopped;
    }
    let mut exit = exit_of_ends(report);
    for (_, stand) in &report.asked {
        exit = exit.or(match stand {
            RunStand::Ended(Ending::Completed) => Exit::Done,
            RunStand::Ended(Ending::Failed | Ending::Cancelled) => Exit::Failed,
            RunStand::Waiting(_) | RunStand::Paused | RunStand::UnknownPlan(_) => Exit::LeftForOthers,
            RunStand::Gone => Exit::BadInput,
            // It only ends with such runs when it was told to stop.
            RunStand::Unfinished => stopped,
        });
    }
    exit
}

/// What went wrong, failed and was lost here.
pub(super) fn exit_of_ends(report: &WorkReport) -> Exit {
    let ends = [
        (report.broken > 0, Exit::Unexpected),
        (report.failed > 0, Exit::Failed),
        (report.lost_for_good(), Exit::LeaseLost),
    ];
    let refused = report.store_error.clone().map_or(Exit::Done, |error| Error::of_claims(&error).exit());
    ends.into_iter().filter(|(is_so, _)| *is_so).fold(refused, |exit, (_, other)| exit.or(other))
}

#[cfg(test)]
mod tests {
    use supplier_runner::worker::new_run_id;

    use super::*;

    fn worked(stands: &[RunStand], signal: Option<Exit>) -> Worked {
        let asked = stands.iter().map(|stand| (new_run_id(), stand.clone())).collect();
        let report = WorkReport { asked, stopped: signal.is_some(), ..WorkReport::default() };
        Worked { report, completed_before: 0, signal }
    }

    #[test]
    fn the_first_code_of_the_list_wins() {
        let done = RunStand::Ended(Ending::Completed);
        let failed = RunStand::Ended(Ending::Failed);
        assert_eq!(exit_of(&worked(std::slice::from_ref(&done), None)), Exit::Done);
        assert_eq!(exit_of(&worked(&[done.clone(), RunStand::Paused], None)), Exit::LeftForOthers);
        assert_eq!(exit_of(&worked(&[RunStand::Paused, failed], None)), Exit::Failed);
        let mut lost = worked(&[RunStand::Paused, done], None);
        lost.report.lost.insert(lost.report.asked[0].0, 1);
        assert_eq!(exit_of(&lost), Exit::LeaseLost);
        lost.report.lost = [(lost.report.asked[1].0, 1)].into();
        assert_eq!(exit_of(&lost), Exit::LeftForOthers, "who took over completed it");
    }

    #[test]
    fn a_run_that_was_stopped_says_by_which_signal_unless_all_was_done() {
        let stopped = Some(Exit::Terminated);
        assert_eq!(exit_of(&worked(&[RunStand::Unfinished], stopped)), Exit::Terminated);
        assert_eq!(exit_of(&worked(&[RunStand::Ended(Ending::Completed)], stopped)), Exit::Done);
    }
}
