//! `command = […]` and `env = […]` of a phase.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::draft::Does;
use super::entry::{Entry, Problems};
use super::fill::{Environment, variable_for_command};
use crate::step::command::{CommandStep, SystemProcesses};
use crate::step::secrets::Secrets;

/// What every command gets of the worker's environment: where programs are, where its home is, and the
/// locale.
const ALWAYS: [&str; 17] = [
    "PATH",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
];

/// Reads a command. What it runs must be there: a worker that cannot start it would fail every run
/// it takes.
pub(super) fn read(
    command: &Entry<'_>,
    env: Option<&Entry<'_>>,
    folder: &Path,
    environment: Environment<'_>,
    problems: &mut Problems<'_>,
) -> Option<(Does, CommandStep)> {
    let variables = env.map_or(Some(Vec::new()), |env| variables(env, environment, problems));
    let words = command.texts(problems)?;
    let Some((name, arguments)) = words.split_first().filter(|(name, _)| !name.trim().is_empty()) else {
        command.problem("is empty: the first entry is the program", problems);
        return None;
    };
    if words.iter().any(|word| word.contains('\0')) {
        command.problem("holds a NUL character (\\u0000)", problems);
        return None;
    }
    let program = match found(name, folder, environment) {
        Ok(program) => program,
        Err(why) => {
            command.problem(why, problems);
            return None;
        }
    };
    let variables = variables?;
    let always = ALWAYS.iter().filter_map(|name| Some(((*name).to_owned(), environment(name)?)));
    let always = always.filter(|(name, _)| variables.iter().all(|(named, _)| named != name));
    let step = CommandStep {
        name: (*name).to_owned(),
        program,
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        folder: folder.to_owned(),
        environment: always.chain(variables.iter().cloned()).collect(),
        secrets: Secrets::new(variables.iter().map(|(_, value)| value.clone())),
        runner: Arc::new(SystemProcesses),
    };
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    let env: BTreeSet<String> = variables.into_iter().map(|(name, _)| name).collect();
    Some((Does::Command { words, env }, step))
}

fn variables(
    env: &Entry<'_>,
    environment: Environment<'_>,
    problems: &mut Problems<'_>,
) -> Option<Vec<(String, String)>> {
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut good = true;
    for name in env.texts(problems)? {
        match variable_for_command(name, environment) {
            Ok(_) if variables.iter().any(|(named, _)| named == name) => {
                env.problem(format!("names {name} twice"), problems);
                good = false;
            }
            Ok(value) => variables.push((name.to_owned(), value)),
            Err(why) => {
                env.problem(why.to_string(), problems);
                good = false;
            }
        }
    }
    good.then_some(variables)
}

/// The program: a path with a `/` is relative to the plan's folder, a bare name is looked up.
fn found(name: &str, folder: &Path, environment: Environment<'_>) -> Result<OsString, String> {
    if name.contains('/') {
        let path: PathBuf = folder.join(name);
        return match path.metadata() {
            Err(error) => Err(format!("{name}: {error}")),
            Ok(file) if !file.is_file() => Err(format!("{name} is not a file")),
            Ok(file) if file.permissions().mode() & 0o111 == 0 => Err(format!("{name} may not be executed")),
            Ok(_) => Ok(path.into_os_string()),
        };
    }
    let paths = environment("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&paths).any(|path| path.join(name).is_file());
    if is_there { Ok(name.into()) } else { Err(format!("no program {name} in PATH")) }
}
