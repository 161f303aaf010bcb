//! `mutants`: takes each guard of `xtask/mutants.toml` out, one at a time, in a copy of the repository, and
//! expects a test to fail. A mutant that no test kills fails the command.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use crate::chore::{Failure, cargo, root};
use crate::server::{Care, Options, PrivateServer};

/// How long the tests of one mutant may take after they are built: without its guard, something may wait
/// for ever.
const PATIENCE: Duration = Duration::from_secs(420);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only those whose guard has this in its name.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Not the first so many of the list: for going on where one broke off.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
}

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    suites: BTreeMap<String, Vec<String>>,
    mutant: Vec<Mutant>,
}

/// A guard that is taken out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    guard: String,
    file: PathBuf,
    take: String,
    put: String,
    #[serde(default)]
    all: bool,
    /// Further changes of the same file that go with it.
    #[serde(default)]
    also: Vec<Change>,
    tests: Vec<String>,
}

/// A text that stands in the file once, and what stands there instead.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    take: String,
    put: String,
}

/// What became of a mutant under one suite.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// This test failed, the first that did.
    Killed(String),
    /// Nothing noticed.
    Survived,
    /// It could not be built or run.
    Broken(String),
}

/// Tries all of them.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let list = read(&root().join("xtask/mutants.toml"))?;
    let wanted = |mutant: &&Mutant| arguments.only.as_ref().is_none_or(|only| mutant.guard.contains(only));
    let mutants: Vec<&Mutant> = list.mutant.iter().skip(arguments.skip).filter(wanted).collect();
    for mutant in &mutants {
        mutated(mutant, root())?;
    }
    let tree = Tree::copy()?;
    let server = PrivateServer::start(&Options { care: Care::Scratch, programs: None, log: None })?;
    let mut suites: Vec<&String> = mutants.iter().flat_map(|mutant| &mutant.tests).collect();
    suites.sort_unstable();
    suites.dedup();
    for suite in suites {
        let ended = tree.test(&server, suite_of(&list, suite)?)?;
        if ended != Ended::Survived {
            return Err(Failure::NotMeasured(format!("{suite} fails with every guard in place: {ended:?}")));
        }
        println!("{suite}: passes with every guard in place");
    }
    let mut left = 0;
    for mutant in mutants {
        let ended = tree.with(mutant, || {
            let mut ended = Ended::Survived;
            for suite in &mutant.tests {
                ended = tree.test(&server, suite_of(&list, suite)?)?;
                if ended != Ended::Survived {
                    break;
                }
            }
            Ok(ended)
        })?;
        let told = match &ended {
            Ended::Killed(test) => format!("killed by {test}"),
            Ended::Survived => "SURVIVED".to_owned(),
            Ended::Broken(why) => format!("NOT TRIED: {why}"),
        };
        left += usize::from(!matches!(ended, Ended::Killed(_)));
        println!("{:<66} {told}", mutant.guard);
    }
    if left > 0 { Err(Failure::Findings(left)) } else { Ok(ExitCode::SUCCESS) }
}

fn read(path: &Path) -> Result<List, Failure> {
    let text = fs::read_to_string(path).map_err(Failure::path(path))?;
    toml::from_str(&text).map_err(|error| Failure::NotMeasured(format!("{}: {error}", path.display())))
}

fn suite_of<'l>(list: &'l List, name: &str) -> Result<&'l [String], Failure> {
    let suite = list.suites.get(name).map(Vec::as_slice);
    suite.ok_or_else(|| Failure::NotMeasured(format!("there is no suite {name}")))
}

/// The file without the guard.
fn mutated(mutant: &Mutant, tree: &Path) -> Result<String, Failure> {
    let path = tree.join(&mutant.file);
    let text = fs::read_to_string(&path).map_err(Failure::path(&path))?;
    let also = mutant.also.iter().map(|change| (&change.take, &change.put, false));
    let changes = std::iter::once((&mutant.take, &mutant.put, mutant.all)).chain(also);
    changes.into_iter().try_fold(text, |text, (take, put, all)| {
        let found = text.matches(take).count();
        if found == 1 || (all && found > 1) {
            return Ok(text.replace(take, put));
        }
        let (guard, file) = (&mutant.guard, mutant.file.display());
        Err(Failure::NotMeasured(format!("{guard}: {take:?} stands {found} times in {file}")))
    })
}

/// A copy of the repository that may be changed.
struct Tree(PathBuf);

impl Tree {
    /// Copies every file that the repository has or is about to have. What was built for the last one is
    /// kept.
    fn copy() -> Result<Self, Failure> {
        let tree = root().join("target/mutants/tree");
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root())
            .output()
            .map_err(Failure::system("cannot list the repository's files"))?;
        for name in String::from_utf8_lossy(&listed.stdout).split('\0').filter(|name| !name.is_empty()) {
            let (from, to) = (root().join(name), tree.join(name));
            let text = fs::read(&from).map_err(Failure::path(&from))?;
            // An unchanged file keeps its time, and is not built again.
            if fs::read(&to).is_ok_and(|there| there == text) {
                continue;
            }
            let folder = to.parent().expect("every file lies in the tree");
            fs::create_dir_all(folder).map_err(Failure::path(folder))?;
            fs::copy(&from, &to).map_err(Failure::path(&to))?;
        }
        Ok(Self(tree))
    }

    /// Does something with a guard taken out, and puts it back.
    fn with<T>(&self, mutant: &Mutant, then: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let (path, text) = (self.0.join(&mutant.file), mutated(mutant, &self.0)?);
        let whole = fs::read(&path).map_err(Failure::path(&path))?;
        fs::write(&path, text).map_err(Failure::path(&path))?;
        let done = then();
        fs::write(&path, whole).map_err(Failure::path(&path))?;
        done
    }

    /// Builds and runs a suite.
    fn test(&self, server: &PrivateServer, suite: &[String]) -> Result<Ended, Failure> {
        let test = |more: &[&str]| {
            let mut test = cargo();
            test.arg("test").args(suite).args(more).current_dir(&self.0);
            test.env("CARGO_TARGET_DIR", root().join("target/mutants/build"));
            // Shorter stories: the first test that fails is all that is wanted.
            test.env("RUST_BACKTRACE", "0").env("PROPTEST_MAX_SHRINK_ITERS", "0").stdin(Stdio::null());
            test
        };
        let built = test(&["--no-run", "--quiet"]).output();
        let built = built.map_err(Failure::system("cannot run cargo"))?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr).into_owned();
            let error = said.lines().find(|line| line.starts_with("error")).unwrap_or("no error was told");
            return Ok(Ended::Broken(format!("it does not compile: {error}")));
        }
        let said = self.0.join("../said");
        let output = File::create(&said).map_err(Failure::path(&said))?;
        let mut test = test(&["--tests", "--no-fail-fast"]);
        server.tell(&mut test);
        test.env("DATABASE_URL", server.url());
        test.stdout(output).stderr(Stdio::null()).process_group(0);
        let child = test.spawn().map_err(Failure::system("cannot run cargo"))?;
        watch(child, &said)
    }
}

/// Waits for the first test that fails, or the end.
fn watch(mut child: Child, said: &Path) -> Result<Ended, Failure> {
    let group = Pid::from_child(&child);
    let give_up = Instant::now() + PATIENCE;
    let ended = loop {
        let status = child.try_wait().map_err(Failure::system("cannot wait for cargo"))?;
        let mut text = String::new();
        let read = File::open(said).and_then(|mut file| file.read_to_string(&mut text));
        read.map_err(Failure::path(said))?;
        if let Some(test) = first_failed(&text) {
            break Ended::Killed(test);
        }
        match status {
            Some(status) if status.success() => break Ended::Survived,
            Some(status) => break Ended::Broken(format!("cargo test: {status}, and no test failed")),
            None if Instant::now() >= give_up => {
                break Ended::Killed(format!("time: no end within {} s", PATIENCE.as_secs()));
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    // Nobody may be left of it.
    let _gone = kill_process_group(group, Signal::KILL);
    child.wait().map_err(Failure::system("cannot wait for cargo"))?;
    Ok(ended)
}

/// The first test that cargo says has failed.
fn first_failed(said: &str) -> Option<String> {
    let failed = said.lines().find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    failed.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_and_every_guard_stands_where_it_says() {
        let list = read(&root().join("xtask/mutants.toml")).map_err(|failure| failure.to_string()).unwrap();
        for mutant in &list.mutant {
            let text = mutated(mutant, root()).map_err(|failure| failure.to_string()).unwrap();
            let whole = fs::read_to_string(root().join(&mutant.file)).unwrap();
            assert_ne!(text, whole, "{}", mutant.guard);
            for suite in &mutant.tests {
                assert!(list.suites.contains_key(suite), "{}: {suite}", mutant.guard);
            }
        }
    }

    #[test]
    fn the_killer_is_the_first_test_that_failed() {
        let said = "running 2 tests\ntest a::b ... ok\ntest c::d ... FAILED\ntest e ... FAILED\n";
        assert_eq!(first_failed(said), Some("c::d".to_owned()));
        assert_eq!(first_failed("test a ... ok\n"), None);
    }
}
