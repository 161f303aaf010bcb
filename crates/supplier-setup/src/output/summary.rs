//! What a worker's time came to, in one line.

use lease_core::Ending;
use supplier_runner::worker::{RunStand, WorkReport};

use super::plain::count;

/// The summary of `run`: `before` runs were completed before it looked at them.
pub(crate) fn of_run(report: &WorkReport, before: u64) -> String {
    let asked = number(report.asked.len());
    let stands = |stands: fn(&RunStand) -> bool| number(report.count(stands));
    let completed = stands(|stand| *stand == RunStand::Ended(Ending::Completed));
    if asked > 0 && before == asked {
        return format!("{}: nothing to do, all completed before", count(asked, "supplier", "suppliers"));
    }
    let elsewhere = completed.saturating_sub(before).saturating_sub(report.completed);
    // Its own last save may have landed after it had given up on the answer.
    let given_up = report.asked.iter().filter(|(run, stand)| {
        let completed = *stand == RunStand::Ended(Ending::Completed);
        completed && report.lost.contains_key(run) && !report.recovered.contains(run)
    });
    let given_up = number(given_up.count()).min(elsewhere);
    let parts = [
        (report.completed, "completed here"),
        (before, "completed before"),
        (given_up, "completed after this worker lost the lease"),
        (elsewhere - given_up, "completed by other workers"),
        (stands(|stand| *stand == RunStand::Ended(Ending::Failed)), "failed"),
        (stands(|stand| *stand == RunStand::Ended(Ending::Cancelled)), "cancelled"),
        (stands(|stand| matches!(stand, RunStand::Waiting(_))), "waiting for an approval"),
        (stands(|stand| *stand == RunStand::Paused), "paused"),
        (stands(|stand| matches!(stand, RunStand::UnknownPlan(_))), "waiting for a worker with another plan"),
        (stands(|stand| *stand == RunStand::Unfinished), "not finished"),
        (stands(|stand| *stand == RunStand::Gone), "gone"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .enumerate()
        .filter(|(place, (number, _))| *place == 0 || *number > 0)
        .map(|(_, (number, what))| format!("{number} {what}"))
        .collect();
    format!("{}: {}{}", count(asked, "supplier", "suppliers"), parts.join(", "), lost_leases(report))
}

/// The summary of `work`.
pub(crate) fn of_work(report: &WorkReport) -> String {
    let WorkReport { completed, failed, .. } = report;
    format!("{completed} completed, {failed} failed{}", lost_leases(report))
}

fn lost_leases(report: &WorkReport) -> String {
    let lost: u64 = report.lost.values().sum();
    if lost == 0 { String::new() } else { format!("; {} lost", count(lost, "lease", "leases")) }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use supplier_runner::worker::new_run_id;

    use super::*;

    fn report(completed: u64, stands: &[RunStand]) -> WorkReport {
        let asked = stands.iter().map(|stand| (new_run_id(), stand.clone())).collect();
        WorkReport { completed, asked, ..WorkReport::default() }
    }

    #[test]
    fn the_summary_names_what_there_is_and_nothing_else() {
        let done = RunStand::Ended(Ending::Completed);
        let all = report(2, &[done.clone(), done.clone()]);
        assert_eq!(of_run(&all, 0), "2 suppliers: 2 completed here");
        let mut mixed = report(1, &[done.clone(), done.clone(), done.clone(), RunStand::Paused]);
        mixed.lost.insert(new_run_id(), 1);
        assert_eq!(
            of_run(&mixed, 1),
            "4 suppliers: 1 completed here, 1 completed before, 1 completed by other workers, 1 paused; 1 lease lost"
        );
    }

    /// TRUTH: the last save may have been its own, heard of by nobody.
    #[test]
    fn truth_a_run_whose_lease_was_lost_here_was_not_surely_completed_by_others() {
        let done = RunStand::Ended(Ending::Completed);
        let mut late = report(0, &[done.clone(), done]);
        late.lost.insert(late.asked[0].0, 1);
        assert_eq!(
            of_run(&late, 0),
            "2 suppliers: 0 completed here, 1 completed after this worker lost the lease, \
             1 completed by other workers; 1 lease lost"
        );
    }

    #[test]
    fn a_second_run_of_the_same_file_has_nothing_to_do() {
        let done = RunStand::Ended(Ending::Completed);
        assert_eq!(of_run(&report(0, &[done]), 1), "1 supplier: nothing to do, all completed before");
    }
}
