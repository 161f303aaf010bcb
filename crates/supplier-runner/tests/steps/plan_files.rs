//! Plan files: what they mean, and what is said of a wrong one.

use std::time::Duration;

use lease_core::Digest;
use supplier_runner::plan::{PlanError, PlanProblem, RetryPolicy, built_in};

use crate::world::World;

const SCREENING: &str = r#"name = "supplier-setup-with-screening"
version = 3

[[phase]]
name = "validated"
uses = "validate"

[[phase]]
name = "screened"
command = ["sh", "-c", "echo ${NOT_FILLED_IN}"]
env = ["PORTAL_TOKEN"]
timeout = "10m"
retry = { attempts = 3, first = "2s", longest = "1m" }

[[phase]]
name = "bank_confirmed"
uses = "approval"

[[phase]]
name = "registered"
uses = "register"

[[phase]]
name = "announced"
http = { url = "http://127.0.0.1:8080/suppliers", headers = { Authorization = "Bearer ${PORTAL_TOKEN}" } }
"#;

fn digest(text: &str) -> Digest {
    World::new().plan(text).unwrap().plan.id.digest
}

/// The problems of a text, each as it is shown.
fn problems(text: &str) -> Vec<String> {
    let error = World::new().plan(text).unwrap_err();
    let PlanError::Invalid { problems, .. } = &error else { panic!("{error:?}") };
    problems.iter().map(PlanProblem::to_string).collect()
}

/// The problems of a phase that says this from line 5 on.
fn phase_problems(phase: &str) -> Vec<String> {
    problems(&format!("name = \"p\"\nversion = 1\n[[phase]]\nname = \"a\"\n{phase}\n"))
}

#[test]
fn a_plan_file_becomes_its_phases_with_limits_and_retries() {
    let plan = World::new().plan(SCREENING).unwrap();
    assert_eq!(plan.plan.id.to_string(), "supplier-setup-with-screening 3");
    let names: Vec<&str> = plan.phases().iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["validated", "screened", "bank_confirmed", "registered", "announced"]);
    let screened = &plan.phases()[1];
    assert_eq!(screened.timeout, Duration::from_secs(600));
    let (first, longest) = (Duration::from_secs(2), Duration::from_secs(60));
    assert_eq!(screened.retry, RetryPolicy { attempts: 3, first, longest });
    let announced = &plan.phases()[4];
    assert_eq!((announced.timeout, announced.retry), (Duration::from_secs(900), RetryPolicy::default()));
    let quick: Vec<bool> = plan.phases().iter().map(|phase| phase.step.is_quick()).collect();
    assert_eq!(quick, [true, false, true, true, false]);
}

#[test]
fn a_file_that_says_what_the_built_in_plan_says_is_the_same_plan() {
    let text = r#"
        version = 1   # the same by any other layout
        name = "supplier-setup"
        [[phase]]
        uses = "validate"
        name = "validated"
        [[phase]]
        name = "registered"
        uses = "register"
        timeout = "900s"
        [[phase]]
        name = "purchasing_enabled"
        uses = "open_purchasing"
        retry = { longest = "5m" }
    "#;
    assert_eq!(World::new().plan(text).unwrap().plan, built_in().plan);
}

/// Case 34: every change of what a plan means is another plan, whatever its version says.
#[test]
fn case_34_the_digest_follows_the_meaning_and_nothing_else() {
    let before = digest(SCREENING);
    for (from, to) in [
        ("version = 3", "version = 4"),
        ("name = \"screened\"", "name = \"checked\""),
        ("\"sh\", \"-c\"", "\"sh\", \"-e\", \"-c\""),
        ("env = [\"PORTAL_TOKEN\"]", "env = [\"PORTAL_TOKEN\", \"HOME\"]"),
        ("\"10m\"", "\"11m\""),
        ("attempts = 3", "attempts = 4"),
        ("first = \"2s\"", "first = \"3s\""),
        ("longest = \"1m\"", "longest = \"2m\""),
        ("uses = \"approval\"", "uses = \"validate\""),
        ("8080", "8081"),
        ("Authorization", "X-Token"),
        ("Bearer ${PORTAL_TOKEN}", "Basic ${PORTAL_TOKEN}"),
    ] {
        assert!(SCREENING.contains(from), "{from}");
        assert_ne!(digest(&SCREENING.replace(from, to)), before, "{from} -> {to}");
    }
    for (from, to) in [
        ("\n\n", "\n# a comment\n\n\n"),
        ("\"10m\"", "\"600s\""),
        ("Authorization", "authorization"),
        ("attempts = 3, first = \"2s\"", "first = \"2s\", attempts = 3"),
    ] {
        assert!(SCREENING.contains(from), "{from}");
        assert_eq!(digest(&SCREENING.replace(from, to)), before, "{from} -> {to}");
    }
}

#[test]
fn the_digest_is_taken_before_anything_is_filled_in() {
    let world = World::new();
    let [one, other] = ["one-token", "other-token"].map(|token| world.plan_with(SCREENING, token).unwrap());
    assert_eq!(one.plan, other.plan);
    assert!(!format!("{one:?}").contains("one-token"));
}

#[test]
fn every_problem_is_named_by_line_and_key() {
    let text = "name = \"P\"\nverion = 1\n\n[[phase]]\nname = \"a\"\nuses = \"validate\"\ntimeout = \"soon\"\n\n[[phase]]\nname = \"a\"\nuses = \"register\"\n[[phase]]\nname = \"b\"\nuses = \"x\"\nretry = { attempts = 0, frist = \"1s\" }\n";
    assert_eq!(
        problems(text),
        [
            "line 1: name: plan name \"P\" is not 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter",
            "line 1: version: is missing",
            "line 2: verion: is no key here; there are name, version, phase",
            "line 7: phase[0].timeout: must be a duration like \"500ms\", \"2m\" or \"1h30m\"",
            "line 14: phase[2].uses: \"x\" is no built-in step; there are validate, register, open_purchasing, approval",
            "line 15: phase[2].retry.attempts: must be 1 to 1000",
            "line 15: phase[2].retry.frist: is no key here; there are attempts, first, longest",
        ]
    );
}

#[test]
fn a_phase_says_exactly_one_thing_to_do() {
    let nothing = "line 3: phase[0]: says not what to do: one of uses, command and http";
    assert_eq!(phase_problems(""), [nothing]);
    let both = "line 3: phase[0]: says more than one thing to do: one of uses, command and http";
    assert_eq!(phase_problems("uses = \"validate\"\ncommand = [\"true\"]"), [both]);
    assert_eq!(phase_problems("command = [\"true\"]\nhttp = { url = \"http://a\" }"), [both]);
    let env = "line 6: phase[0].env: goes with a command only";
    assert_eq!(phase_problems("uses = \"validate\"\nenv = []"), [env]);
}

#[test]
fn times_and_retries_have_bounds() {
    let range = "must be between \"1ms\" and \"7days\"";
    let one = |line: &str, key: &str, why: &str| vec![format!("{line}: phase[0].{key}: {why}")];
    assert_eq!(phase_problems("uses = \"approval\"\ntimeout = \"0s\""), one("line 6", "timeout", range));
    assert_eq!(phase_problems("uses = \"approval\"\ntimeout = \"8days\""), one("line 6", "timeout", range));
    let text = phase_problems("uses = \"approval\"\ntimeout = 30");
    assert_eq!(text, one("line 6", "timeout", "must be text, in quotes"));
    let order = phase_problems("uses = \"approval\"\nretry = { first = \"10m\" }");
    assert_eq!(order, one("line 6", "retry.first", "10m is longer than the longest, 5m"));
    let tries = phase_problems("uses = \"approval\"\nretry = { attempts = 1001 }");
    assert_eq!(tries, one("line 6", "retry.attempts", "must be 1 to 1000"));
}

#[test]
fn a_command_must_be_there_and_name_variables_it_may_have() {
    let at = |line: u8, key: &str, why: &str| vec![format!("line {line}: phase[0].{key}: {why}")];
    let empty = "is empty: the first entry is the program";
    assert_eq!(phase_problems("command = []"), at(5, "command", empty));
    assert_eq!(phase_problems("command = [\" \"]"), at(5, "command", empty));
    assert_eq!(phase_problems("command = \"true\""), at(5, "command", "must be a list of texts, in [ ]"));
    assert_eq!(phase_problems("command = [1]"), at(5, "command", "must be a list of texts, each in quotes"));
    let missing = "./steps/no.sh: No such file or directory (os error 2)";
    assert_eq!(phase_problems("command = [\"./steps/no.sh\"]"), at(5, "command", missing));
    let no_script = phase_problems("command = [\"./plan.toml\"]");
    assert_eq!(no_script, at(5, "command", "./plan.toml may not be executed"));
    let unknown = phase_problems("command = [\"no-such-program-9\"]");
    assert_eq!(unknown, at(5, "command", "no program no-such-program-9 in PATH"));
    for (name, why) in [
        ("NO_SUCH_VARIABLE_9", "names NO_SUCH_VARIABLE_9, which is not set"),
        ("DATABASE_URL", "names DATABASE_URL, and a step never gets the way to the database"),
        ("PGPASSWORD", "names PGPASSWORD, and a step never gets the way to the database"),
        ("RUN_ID", "names RUN_ID, which every command gets anyway"),
        ("a=b", "names \"a=b\", which is no variable's name"),
    ] {
        let found = phase_problems(&format!("command = [\"true\"]\nenv = [\"{name}\"]"));
        assert_eq!(found, at(6, "env", why));
    }
}

#[test]
fn a_call_must_have_an_address_and_headers_that_can_be_sent() {
    let url = |url: &str| phase_problems(&format!("http = {{ url = \"{url}\" }}"));
    let header =
        |header: &str| phase_problems(&format!("http = {{ url = \"http://a/\", headers = {{ {header} }} }}"));
    let at = |key: &str, why: &str| vec![format!("line 5: phase[0].http.{key}: {why}")];
    assert_eq!(phase_problems("http = {}"), at("url", "is missing"));
    assert_eq!(url("suppliers"), at("url", "is no URL: relative URL without a base"));
    assert_eq!(url("ftp://a/"), at("url", "begins with neither http:// nor https://"));
    let user = "holds a user or a password; use an Authorization header with ${NAME}";
    assert_eq!(url("http://u:p@a/"), at("url", user));
    assert_eq!(url("http://a/${NO_SUCH_9}"), at("url", "names NO_SUCH_9, which is not set"));
    let database = "names DATABASE_URL, and a step never gets the way to the database";
    assert_eq!(url("http://a/${DATABASE_URL}"), at("url", database));
    assert_eq!(header("\"a b\" = \"c\""), at("headers.a b", "is no header's name"));
    let own = "is a header that every call has by itself";
    assert_eq!(header("Fencing-Token = \"9\""), at("headers.Fencing-Token", own));
    assert_eq!(header("A = \"${PORTAL_TOKEN\""), at("headers.A", "has a \"${\" without its \"}\""));
    assert_eq!(header("A = \"${BROKEN}\""), at("headers.A", "is, when filled in, no header's value"));
    let twice = "stands twice: upper and lower case are the same in a header";
    assert_eq!(header("A = \"1\", a = \"2\""), at("headers.a", twice));
}

#[test]
fn phases_that_could_only_fail_are_refused() {
    let text = |first: &str, second: &str| {
        problems(&format!(
            "name = \"p\"\nversion = 1\n[[phase]]\nname = \"a\"\nuses = \"{first}\"\n[[phase]]\nname = \"b\"\nuses = \"{second}\"\n"
        ))
    };
    let twice = "line 6: phase[1]: register is used by an earlier phase already";
    assert_eq!(text("register", "register"), [twice]);
    let early = "line 6: phase[1]: open_purchasing needs an earlier phase that uses register";
    assert_eq!(text("validate", "open_purchasing"), [early]);
    let name = "[[phase]]\nname = \"a\"\nuses = \"validate\"\n";
    let same = problems(&format!("name = \"p\"\nversion = 1\n{name}{name}"));
    assert_eq!(same, ["line 6: phase[1]: there is a phase a already"]);
}

#[test]
fn what_is_no_toml_or_no_file_is_said_so() {
    let broken = problems("name = \"p\"\nversion = \n");
    assert!(broken[0].starts_with("line 2: is no TOML: "), "{broken:?}");
    let twice = problems("name = \"p\"\nname = \"q\"\n");
    assert!(twice[0].starts_with("line 2: is no TOML: duplicate key"), "{twice:?}");
    assert_eq!(problems("name = \"p\"\nversion = 1\nphase = []\n"), ["line 3: phase: there must be 1 to 64"]);
    let world = World::new();
    let missing = supplier_runner::plan::load_plan(&world.path("none.toml"), &|_| None).unwrap_err();
    assert!(matches!(missing, PlanError::Read { .. }));
    let error = world.plan("name = 1").unwrap_err().to_string();
    assert!(
        error.contains("plan.toml: line 1: name: must be text, in quotes; line 1: version: is missing"),
        "{error}"
    );
}
