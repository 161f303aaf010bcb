//! `${NAME}` in a plan, and which variables a plan may name.

/// How a plan's reader asks for a variable.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Variables through which the database would be reached: a step has no business there, since what it
/// wrote would go past the lease.
const OF_THE_DATABASE: [&str; 6] =
    ["DATABASE_URL", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGSSLKEY"];
/// Variables that every command gets, set for it.
const SET_BY_THE_RUNNER: [&str; 4] = ["RUN_ID", "PHASE", "FENCING_TOKEN", "IDEMPOTENCY_KEY"];

/// Why a variable cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoVariable {
    /// No closing brace.
    #[error("has a \"${{\" without its \"}}\"")]
    Unclosed,
    /// Not letters, digits and `_`.
    #[error("names {0:?}, which is no variable's name")]
    Name(String),
    /// Not to be handed on.
    #[error("names {0}, and a step never gets the way to the database")]
    Database(String),
    /// Not in the environment.
    #[error("names {0}, which is not set")]
    Unset(String),
    /// Made by the runner.
    #[error("names {0}, which every command gets anyway")]
    Given(String),
}

/// The value of a variable that a plan names.
pub(super) fn variable(name: &str, environment: Environment<'_>) -> Result<String, NoVariable> {
    let first_fits = name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    if !first_fits || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(NoVariable::Name(name.to_owned()));
    }
    if OF_THE_DATABASE.contains(&name) {
        return Err(NoVariable::Database(name.to_owned()));
    }
    environment(name).ok_or_else(|| NoVariable::Unset(name.to_owned()))
}

/// The value of a variable that a command is to get.
pub(super) fn variable_for_command(name: &str, environment: Environment<'_>) -> Result<String, NoVariable> {
    if SET_BY_THE_RUNNER.contains(&name) {
        return Err(NoVariable::Given(name.to_owned()));
    }
    variable(name, environment)
}

/// The text with every `${NAME}` replaced; the values go to `secrets` as well.
pub(super) fn fill(
    text: &str,
    environment: Environment<'_>,
    secrets: &mut Vec<String>,
) -> Result<String, NoVariable> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, from_name)) = rest.split_once("${") {
        let (name, after) = from_name.split_once('}').ok_or(NoVariable::Unclosed)?;
        let value = variable(name, environment)?;
        filled.push_str(before);
        filled.push_str(&value);
        secrets.push(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        ["TOKEN", "DATABASE_URL"].contains(&name).then(|| format!("<{name}>"))
    }

    fn filled(text: &str) -> Result<String, NoVariable> {
        fill(text, &environment, &mut Vec::new())
    }

    #[test]
    fn every_name_is_filled_in_and_its_value_kept_as_a_secret() {
        let mut secrets = Vec::new();
        let filled = fill("a ${TOKEN} $x {TOKEN}${TOKEN}", &environment, &mut secrets);
        assert_eq!(filled, Ok("a <TOKEN> $x {TOKEN}<TOKEN>".to_owned()));
        assert_eq!(secrets, ["<TOKEN>", "<TOKEN>"]);
    }

    #[test]
    fn what_cannot_be_filled_in_is_refused_by_name() {
        assert_eq!(filled("${TOKEN"), Err(NoVariable::Unclosed));
        assert_eq!(filled("${}"), Err(NoVariable::Name(String::new())));
        assert_eq!(filled("${a b}"), Err(NoVariable::Name("a b".to_owned())));
        assert_eq!(filled("${HOST}"), Err(NoVariable::Unset("HOST".to_owned())));
    }

    #[test]
    fn no_step_gets_the_database_nor_another_token_than_its_own() {
        assert_eq!(filled("${DATABASE_URL}"), Err(NoVariable::Database("DATABASE_URL".to_owned())));
        let password = variable_for_command("PGPASSWORD", &environment);
        assert_eq!(password, Err(NoVariable::Database("PGPASSWORD".to_owned())));
        let token = variable_for_command("FENCING_TOKEN", &environment);
        assert_eq!(token, Err(NoVariable::Given("FENCING_TOKEN".to_owned())));
    }
}
