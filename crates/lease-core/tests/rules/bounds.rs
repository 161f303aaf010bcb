//! Values with a bound, each tried at it and past it, and words that survive being stored.

use std::str::FromStr;

use lease_core::{
    AttemptOutcome, Document, Effect, EffectKind, Effects, EffectsError, Ending, FailureKind, InvalidWho,
    LeaseEnd, LossLimit, OwnerId, Refused, RunSelector, Status, StoreError, Who,
};

#[test]
fn a_name_and_a_reason_are_kept_up_to_their_limits() {
    assert!(Who::new("é".repeat(200), Some("x".repeat(Who::REASON_LIMIT))).is_ok());
    for name in [String::new(), "é".repeat(201), "a\nb".to_owned()] {
        assert_eq!(Who::new(name.clone(), None), Err(InvalidWho::By(name)));
    }
    for reason in ["x".repeat(Who::REASON_LIMIT + 1), "a\0b".to_owned()] {
        assert_eq!(Who::new("ops", Some(reason)), Err(InvalidWho::Reason));
    }
}

#[test]
fn a_loss_limit_is_at_least_one_and_fits_a_column() {
    assert_eq!(LossLimit::new(0), None);
    assert_eq!(LossLimit::new(1).map(LossLimit::get), Some(1));
    assert_eq!(LossLimit::new(i32::MAX.unsigned_abs()).map(LossLimit::get), Some(i32::MAX.unsigned_abs()));
    assert_eq!(LossLimit::new(i32::MAX.unsigned_abs() + 1), None);
    assert_eq!(LossLimit::DEFAULT.get(), 5);
}

#[test]
fn a_save_carries_at_most_32_effects_of_plainly_named_kinds() {
    for kind in ["a", "supplier.setup-v2_x", &"x".repeat(64)] {
        assert!(EffectKind::new(kind).is_ok(), "{kind}");
    }
    for kind in ["", "Setup", "a b", "é", &"x".repeat(65)] {
        assert_eq!(EffectKind::new(kind), Err(EffectsError::Kind(kind.to_owned())));
    }
    let effect = Effect { kind: EffectKind::new("setup").unwrap(), body: Document::default() };
    assert!(!Effects::new(vec![effect.clone(); Effects::LIMIT]).unwrap().is_empty());
    assert_eq!(Effects::new(vec![effect; Effects::LIMIT + 1]), Err(EffectsError::Count(33)));
    assert!(Effects::none().is_empty());
}

#[test]
fn a_selector_is_looked_for_as_the_beginning_of_an_id_only_where_it_can_be_one() {
    let prefix = |text: &str| RunSelector::new(text).id_prefix();
    assert_eq!(prefix("018F").as_deref(), Some("018f"));
    assert_eq!(prefix(&"a".repeat(36)).map(|text| text.len()), Some(36));
    for text in ["018", "ACME-1", "018f%", &"a".repeat(37)] {
        assert_eq!(prefix(text), None, "{text}");
    }
}

#[test]
fn a_kind_of_failure_is_a_plain_word() {
    assert_eq!(FailureKind::new("bank says: no").as_str(), "bank_says__no");
    assert_eq!(FailureKind::new(&"x".repeat(70)).as_str().len(), 64);
}

#[test]
fn an_owner_read_back_is_taken_as_it_is_up_to_a_length() {
    assert!(OwnerId::from_stored("x".repeat(256)).is_ok());
    assert!(OwnerId::from_stored("x".repeat(257)).is_err());
}

#[test]
fn every_stored_word_is_read_back_as_what_it_was_and_no_other_is_read_at_all() {
    fn survive<T: Copy + PartialEq + std::fmt::Debug + FromStr>(all: &[T], word: fn(T) -> &'static str) {
        for value in all {
            assert_eq!(word(*value).parse().ok(), Some(*value));
            assert!(word(*value).to_uppercase().parse::<T>().is_err());
        }
        assert!("".parse::<T>().is_err());
    }
    survive(Status::ALL, Status::as_str);
    survive(LeaseEnd::ALL, LeaseEnd::as_str);
    survive(AttemptOutcome::ALL, AttemptOutcome::as_str);
    survive(Ending::ALL, Ending::as_str);
    survive(Refused::ALL, Refused::as_str);
}

/// TRUTH: what is not known is called unknown. Each error says what its sender may do and believe.
#[test]
fn truth_each_error_of_a_store_says_whether_to_try_again_and_whether_it_may_have_landed() {
    type Kind = fn(Box<dyn std::error::Error + Send + Sync>) -> StoreError;
    let kinds: [(Kind, bool, bool); 6] = [
        (StoreError::Unreachable, true, false),
        (StoreError::NotApplied, true, false),
        (StoreError::Unknown, true, true),
        (StoreError::Schema, false, false),
        (StoreError::Corrupt, false, true),
        (StoreError::Unexpected, false, false),
    ];
    for (kind, again, landed) in kinds {
        let error = kind("cause".into());
        assert_eq!((error.may_try_again(), error.may_have_landed()), (again, landed), "{error}");
    }
}
