//! Processes that left their step's process group, found by the environment they inherited.
//!
//! A step's shell may well call `timeout`, which makes a group of its own, or `setsid`. On Linux such
//! a process still carries the run, the phase and the fencing token it was started for in its
//! environment, and no other step of any worker has the same three. What escapes even so: a process
//! with a cleared environment *and* a group of its own, or one of another user; and on other systems
//! whatever left the group.

/// The variables that tell one attempt of one phase from every other, as they stand in an
/// environment.
const MARKED_BY: [&str; 3] = ["RUN_ID", "PHASE", "FENCING_TOKEN"];

/// The entries that every process of a step inherits; none, if the environment has not all of them.
pub(super) fn marks(environment: &[(String, String)]) -> Vec<String> {
    let entry = |name: &&str| {
        environment.iter().find(|(found, _)| found == name).map(|(name, value)| format!("{name}={value}"))
    };
    MARKED_BY.iter().map(entry).collect::<Option<_>>().unwrap_or_default()
}

/// Ends every process with these marks.
#[cfg(target_os = "linux")]
pub(super) fn end(marks: &[String]) {
    /// A process could have started another one while the list was read, so it is read again until
    /// it holds nobody new. This many times at most.
    const ROUNDS: usize = 32;
    if marks.is_empty() {
        return;
    }
    let mut ended = std::collections::HashSet::new();
    for _ in 0..ROUNDS {
        let before = ended.len();
        for process in linux::processes() {
            if !ended.contains(&process) && linux::end_if_marked(process, marks) {
                ended.insert(process);
            }
        }
        if ended.len() == before {
            return;
        }
    }
}

/// Ends nobody: this system shows no environments.
#[cfg(not(target_os = "linux"))]
pub(super) fn end(_marks: &[String]) {}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// Everybody else.
    pub(super) fn processes() -> impl Iterator<Item = i32> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(move |number| *number != own)
    }

    /// Ends the process if it has all the marks. The handle is opened before the look, so that the
    /// signal reaches the very process that was looked at, or nobody.
    pub(super) fn end_if_marked(process: i32, marks: &[String]) -> bool {
        let Some(handle) = Pid::from_raw(process).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
        else {
            return false;
        };
        let Ok(environment) = fs::read(format!("/proc/{process}/environ")) else { return false };
        let has = |mark: &String| environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
        marks.iter().all(has) && pidfd_send_signal(handle, Signal::KILL).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_marked_by_run_phase_and_token_and_by_nothing_less() {
        let entry = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let whole = [("RUN_ID", "r"), ("HOME", "/"), ("FENCING_TOKEN", "7"), ("PHASE", "p")].map(entry);
        assert_eq!(marks(&whole), ["RUN_ID=r", "PHASE=p", "FENCING_TOKEN=7"]);
        assert_eq!(marks(&whole[..3]), Vec::<String>::new());
    }
}
