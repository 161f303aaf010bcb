//! The five steps: A claims and stalls, its lease runs out, B claims, A wakes up and its late save is
//! refused, B completes the run.

use std::time::Duration;

use lease_core::{
    AttemptOutcome, Document, Hold, Phase, Priority, Receipt, RunId, RunKey, RunView, Status, Submit,
    SubmitVerdict, Timestamp,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use supplier_runner::plan::built_in;
use supplier_runner::worker::new_run_id;
use tokio::time::{Instant, sleep};

use super::line::Line;
use super::player::Player;
use super::telling::Telling;
use crate::database::Database;
use crate::database_url::DatabaseUrl;
use crate::error::Error;
use crate::reason;

/// How long the leases of the demonstration last.
const TTL: Duration = Duration::from_secs(2);
/// How often the database is asked whether the lease has run out.
const LOOK: Duration = Duration::from_millis(50);
/// The supplier that is set up.
const KEY: &str = "DEMO-1";

/// The run that is fought over.
pub(super) struct Story<'a> {
    database: &'a Database,
    url: DatabaseUrl,
    run: RunId,
}

/// What may not change while the late save is turned away.
#[derive(Debug, PartialEq)]
struct Untouched {
    run: (Phase, Status, Hold),
    receipts: Vec<Receipt>,
    rows: Vec<(&'static str, Vec<Document>)>,
}

impl<'a> Story<'a> {
    /// Submits the supplier.
    pub(super) async fn submit(database: &'a Database, url: DatabaseUrl) -> Result<Self, Error> {
        let input = json!({
            "key": KEY, "legal_name": "Nordlicht Werkzeugbau GmbH", "country": "DE", "tax_id": "DE136695976",
            "iban": "DE89370400440532013000", "bic": "DEUTDEFFXXX", "currency": "EUR",
            "email": "rechnung@nordlicht.example",
        });
        let submit = Submit {
            id: new_run_id(),
            key: RunKey::new(KEY).expect("a short key"),
            plan: built_in().plan,
            priority: Priority::default(),
            input: Document::from_value(input).expect("a small object"),
        };
        let verdict =
            database.operator().submit(&submit).await.map_err(Error::store("submit the supplier"))?;
        match verdict {
            SubmitVerdict::Opened => Ok(Self { database, url, run: submit.id }),
            SubmitVerdict::Existing { .. }
            | SubmitVerdict::KeyConflict { .. }
            | SubmitVerdict::PlanConflict { .. } => {
                unreachable!("the database was made a moment ago")
            }
        }
    }

    /// Tells it from beginning to end.
    pub(super) async fn tell(&self, telling: &mut Telling) -> Result<(), Error> {
        telling.say("1. Worker A claims the run and stalls.");
        let mut first = Player::start(&self.url, self.run, "A", TTL, true)?;
        let (fence_a, owner_a) = claimed(first.hear().await?, "submitted", telling);
        telling.fact("A's claim has number 1.", &fence_a, &1);
        told(
            &first.hear().await?,
            &Line::Saved { phase: "validated".to_owned() },
            "A saves phase `validated`.",
            telling,
        );
        let waits = Line::Waiting { phase: "registered".to_owned() };
        told(&first.hear().await?, &waits, "A is in the middle of phase `registered`.", telling);
        first.signal(Signal::STOP)?;
        telling.say("   A is stopped there (SIGSTOP), as if its machine had frozen.\n");

        telling.say("2. Nobody renews the lease, and it runs out.");
        let lapsed = self.until_lapsed(telling).await?;
        let held_by = held(&lapsed);
        telling.fact("No one has claimed the run since.", &held_by, &Some((fence_a, owner_a)));
        telling.say("");

        telling.say("3. Worker B takes over.");
        let mut second = Player::start(&self.url, self.run, "B", TTL, false)?;
        let (fence_b, owner_b) = claimed(second.hear().await?, "validated", telling);
        telling.fact("B's claim has number 2, one higher.", &fence_b, &2);
        told(&second.hear().await?, &waits, "B is at phase `registered`, and renews its lease.", telling);
        telling.say("");

        self.late_save(first, (fence_b, &owner_b), telling).await?;

        telling.say("5. B saves, and the run is completed.");
        second.go_on().await?;
        for phase in ["registered", "purchasing_enabled"] {
            let saved = Line::Saved { phase: phase.to_owned() };
            told(&second.hear().await?, &saved, &format!("B saves phase `{phase}`."), telling);
        }
        told(&second.hear().await?, &Line::Completed, "B is done.", telling);
        telling.fact("B's process ends with exit code 0.", &second.end().await?, &Some(0));
        self.at_the_end(telling).await
    }

    /// A wakes up, and sends the save that it still believes in.
    async fn late_save(
        &self,
        mut first: Player,
        (fence_b, owner_b): (u64, &str),
        telling: &mut Telling,
    ) -> Result<(), Error> {
        telling.say("4. A wakes up (SIGCONT) and still has its result.");
        let before = self.untouched().await?;
        first.signal(Signal::CONT)?;
        first.go_on().await?;
        if let Line::Lost { reason, past_deadline_ms } = first.hear().await? {
            telling.say(&format!(
                "   Its own time was up {past_deadline_ms} ms ago, so it drops the step. Any other worker would stop here."
            ));
            telling.fact(
                "It learns that claim 2 took over.",
                &taken_over(&reason),
                &(fence_b, owner_b.to_owned()),
            );
        } else {
            telling.fact("A knows that its lease is lost.", &false, &true);
        }
        telling.say("   This one sends its save all the same.");
        let late = first.hear().await?;
        if let Line::LateSave { phase, rows, landed, reason, past_deadline_ms } = late {
            telling.say(&format!(
                "   Sent {past_deadline_ms} ms past its deadline: phase `{phase}`, a receipt, and {rows} row for the set-up table."
            ));
            telling.fact("The database refuses the save.", &landed, &false);
            let words = words(&reason);
            let fact = format!("The reason it gives: {words}.");
            telling.fact(&fact, &taken_over(&reason), &(fence_b, owner_b.to_owned()));
        } else {
            telling.fact("A sends its late save.", &late, &Line::Completed);
        }
        let after = self.untouched().await?;
        for ((table, rows), (_, rows_before)) in after.rows.iter().zip(&before.rows) {
            telling.fact(
                &format!("{table}: {} rows before, {} after.", rows_before.len(), rows.len()),
                rows,
                rows_before,
            );
        }
        telling.fact("No receipt was added or changed.", &after.receipts, &before.receipts);
        let run = |state: &Untouched| (state.run.0.clone(), state.run.1, state.run.2.fence());
        telling.fact("The run's phase, status and number are as before.", &run(&after), &run(&before));
        let blocked = Line::Blocked { recorded: true };
        told(
            &first.hear().await?,
            &blocked,
            "A records its attempt as blocked, and leaves the run alone.",
            telling,
        );
        telling.fact("A's process ends with exit code 75: a lease was lost.", &first.end().await?, &Some(75));
        telling.say("");
        Ok(())
    }

    /// What stands in the database when all is done.
    async fn at_the_end(&self, telling: &mut Telling) -> Result<(), Error> {
        let view = self.view().await?;
        telling.fact("The run is completed.", &view.run.status, &Status::Completed);
        let receipts: Vec<(String, u64)> =
            self.receipts().await?.iter().map(|r| (r.phase.to_string(), r.fence.get())).collect();
        let expected = [("validated", 1), ("registered", 2), ("purchasing_enabled", 2)];
        let expected: Vec<(String, u64)> = expected.map(|(phase, fence)| (phase.to_owned(), fence)).to_vec();
        telling.fact(
            "There is one receipt for each phase: `validated` from A (1), the others from B (2).",
            &receipts,
            &expected,
        );
        for (table, rows) in self.rows().await? {
            let fences: Vec<Option<u64>> =
                rows.iter().map(|row| row.fields().get("fence").and_then(Value::as_u64)).collect();
            telling.fact(&format!("{table} has one row, written with number 2."), &fences, &vec![Some(2)]);
        }
        let attempts =
            self.database.reader().attempts(self.run).await.map_err(Error::store("read the attempts"))?;
        let outcomes: Vec<_> = attempts.iter().map(lease_core::Attempt::outcome).collect();
        let expected = vec![Some(AttemptOutcome::Blocked), Some(AttemptOutcome::Completed)];
        telling.fact("A's attempt is blocked, not failed; B's is completed.", &outcomes, &expected);
        Ok(())
    }

    async fn until_lapsed(&self, telling: &mut Telling) -> Result<RunView, Error> {
        let give_up = Instant::now() + TTL * 3;
        loop {
            let view = self.view().await?;
            let lapsed = expiry(&view).is_some_and(|expiry| expiry <= view.now);
            if lapsed || Instant::now() >= give_up {
                if let Some(expiry) = expiry(&view) {
                    telling.say(&format!(
                        "   It was good until {}; the database's clock says {}.",
                        time(expiry),
                        time(view.now)
                    ));
                }
                telling.fact("By the database's clock the lease has run out.", &lapsed, &true);
                return Ok(view);
            }
            sleep(LOOK).await;
        }
    }

    async fn untouched(&self) -> Result<Untouched, Error> {
        let RunView { run, .. } = self.view().await?;
        let (receipts, rows) = (self.receipts().await?, self.rows().await?);
        Ok(Untouched { run: (run.phase, run.status, run.hold), receipts, rows })
    }

    async fn view(&self) -> Result<RunView, Error> {
        let view = self.database.reader().view(self.run).await.map_err(Error::store("read the run"))?;
        Ok(view.expect("nothing deletes the run"))
    }

    async fn receipts(&self) -> Result<Vec<Receipt>, Error> {
        self.database.reader().receipts(self.run).await.map_err(Error::store("read the receipts"))
    }

    async fn rows(&self) -> Result<Vec<(&'static str, Vec<Document>)>, Error> {
        self.database.supplier_rows().await
    }
}

/// Takes in a claim, and tells of it.
fn claimed(line: Line, after: &str, telling: &mut Telling) -> (u64, String) {
    if let Line::Claimed { fence, owner, from } = line {
        let at = if from == "submitted" {
            "begins with the first phase"
        } else {
            "goes on after the last receipt"
        };
        telling.say(&format!("   {owner} has it, with number {fence}, and {at}."));
        telling.fact(&format!("The last phase saved is `{from}`."), &from.as_str(), &after);
        (fence, owner)
    } else {
        telling.fact("The worker gets the run.", &line, &Line::Completed);
        (0, String::new())
    }
}

/// Tells of something that a worker said, which has to be this.
fn told(said: &Line, expected: &Line, fact: &str, telling: &mut Telling) {
    telling.fact(fact, said, expected);
}

/// The number and the owner that a reason names.
fn taken_over(reason: &Value) -> (u64, String) {
    let fence = reason.get("by_fence").and_then(Value::as_u64).unwrap_or(0);
    (fence, reason.get("by_owner").and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn words(reason: &Value) -> String {
    Document::from_value(reason.clone())
        .map_or_else(|_| reason.to_string(), |document| reason::in_words(&document))
}

fn held(view: &RunView) -> Option<(u64, String)> {
    match &view.run.hold {
        Hold::Held { fence, owner, .. } => Some((fence.get(), owner.as_str().to_owned())),
        Hold::Never | Hold::Ended { .. } => None,
    }
}

fn expiry(view: &RunView) -> Option<Timestamp> {
    match &view.run.hold {
        Hold::Held { expires_at, .. } => Some(*expires_at),
        Hold::Never | Hold::Ended { .. } => None,
    }
}

/// The time of day with milliseconds.
fn time(instant: Timestamp) -> String {
    let text = instant.to_string();
    text.get(11..23).map_or(text.clone(), ToOwned::to_owned)
}
