//! Plan files: TOML, read whole, with every problem named by line and key.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lease_core::{PhaseList, Plan, PlanName, PlanVersion};
use toml::de::DeTable;

use super::draft::{Does, Draft};
use super::entry::{Entries, Problems};
use super::error::{PlanError, PlanProblem};
use super::fill::Environment;
use super::meaning::meaning_of;
use super::phase::{self, Ready};
use super::runnable::RunnablePlan;
use super::uses::Uses;
use crate::step::{HttpPortal, Portal};

/// The largest plan file, in bytes.
const LARGEST_FILE: u64 = 1024 * 1024;

/// A plan file that was read and has nothing wrong.
#[derive(Debug)]
struct ReadPlan {
    plan: Plan,
    phases: Vec<(Draft, Ready)>,
}

/// Reads a plan file and makes its steps. `environment` is asked for the variables that it names.
///
/// # Errors
/// When the file cannot be read; or with all that is wrong in it, by line and key; or when it has calls
/// over TLS and the system has no trusted certificates.
pub fn load_plan(
    path: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<RunnablePlan, PlanError> {
    let unreadable = |source| PlanError::Read { path: path.to_owned(), source };
    let text = read_text(path).map_err(unreadable)?;
    let folder = folder_of(path).map_err(unreadable)?;
    let ReadPlan { plan, phases } = read(&text, &folder, environment)
        .map_err(|problems| PlanError::Invalid { path: path.to_owned(), problems })?;
    let tls =
        phases.iter().any(|(_, ready)| matches!(ready, Ready::Http(call) if call.url.scheme() == "https"));
    let portal = HttpPortal::new(tls).map_err(|source| PlanError::Http { path: path.to_owned(), source })?;
    let portal: Arc<dyn Portal> = Arc::new(portal);
    let steps = phases.into_iter().map(|(draft, ready)| draft.with(ready.into_step(&portal))).collect();
    Ok(RunnablePlan::new(plan, steps).expect("the plan was made of these phases"))
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LARGEST_FILE + 1).read_to_string(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|length| length <= LARGEST_FILE) {
        Ok(text)
    } else {
        Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB"))
    }
}

/// The folder that commands run in, as an absolute path, so that a worker that changes its own folder
/// changes nothing.
fn folder_of(path: &Path) -> io::Result<PathBuf> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.canonicalize(),
        Some(_) | None => std::env::current_dir(),
    }
}

fn read(text: &str, folder: &Path, environment: Environment<'_>) -> Result<ReadPlan, Vec<PlanProblem>> {
    let mut problems = Problems::new(text);
    let read = match DeTable::parse(text) {
        Ok(root) => {
            read_root(Entries::new(root.get_ref(), String::new(), 0), folder, environment, &mut problems)
        }
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            problems.add(at, "", format!("is no TOML: {}", error.message().replace('\n', ", ")));
            None
        }
    };
    match (read, problems.into_found()) {
        (Some(read), problems) if problems.is_empty() => Ok(read),
        (_, problems) => Err(problems),
    }
}

fn read_root(
    mut root: Entries<'_>,
    folder: &Path,
    environment: Environment<'_>,
    problems: &mut Problems<'_>,
) -> Option<ReadPlan> {
    let name = root.required("name", problems).and_then(|entry| {
        let name = PlanName::new(entry.text(problems)?);
        name.map_err(|error| entry.problem(error.to_string(), problems)).ok()
    });
    let version = root.required("version", problems).and_then(|entry| {
        let version = PlanVersion::new(entry.integer(problems)?);
        version.map_err(|error| entry.problem(error.to_string(), problems)).ok()
    });
    let listed = root.required("phase", problems);
    root.finish(problems);
    let listed = listed?;
    let tables = listed.tables(problems)?;
    if !(1..=PhaseList::LIMIT).contains(&tables.len()) {
        listed.problem(format!("there must be 1 to {}", PhaseList::LIMIT), problems);
        return None;
    }
    let count = tables.len();
    let mut phases: Vec<(Draft, Ready)> = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let place = table.place();
        if let Some((draft, ready)) = phase::read(table, folder, environment, problems) {
            // Behind a phase that could not be read, nobody knows what is missing.
            let all_read = phases.len() == index;
            if let Some(why) = out_of_place(&draft, &phases).filter(|_| all_read) {
                problems.add(place.1, place.0, why);
            }
            phases.push((draft, ready));
        }
    }
    let names = phases.iter().map(|(draft, _)| draft.name.clone()).collect();
    let names = PhaseList::new(names).ok().filter(|_| phases.len() == count)?;
    let plan = Plan::new(name?, version?, names, &meaning_of(phases.iter().map(|(draft, _)| draft)));
    Some(ReadPlan { plan, phases })
}

/// Why a phase cannot stand behind these: it has the name of one of them, or it could only fail, since
/// a supplier has one row in each table, and a purchase account only once it is set up.
fn out_of_place(draft: &Draft, before: &[(Draft, Ready)]) -> Option<String> {
    if before.iter().any(|(earlier, _)| earlier.name == draft.name) {
        return Some(format!("there is a phase {} already", draft.name));
    }
    let is_before = |uses| before.iter().any(|(earlier, _)| earlier.does == Does::Uses(uses));
    match draft.does {
        Does::Uses(uses @ (Uses::Register | Uses::OpenPurchasing)) if is_before(uses) => {
            Some(format!("{} is used by an earlier phase already", uses.as_str()))
        }
        Does::Uses(Uses::OpenPurchasing) if !is_before(Uses::Register) => {
            Some("open_purchasing needs an earlier phase that uses register".to_owned())
        }
        Does::Uses(_) | Does::Command { .. } | Does::Http { .. } => None,
    }
}
