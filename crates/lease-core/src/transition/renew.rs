//! Renewing a lease. Keeps NO-LAZARUS: a lapsed lease is refused, whoever else wants the run.

use super::Decision;
use crate::lease::LeaseId;
use crate::run::{Hold, Run, Standing};
use crate::settings::Ttl;
use crate::timestamp::Timestamp;
use crate::verdict::RenewVerdict;

/// Makes a live lease last a whole TTL from `now`.
pub fn renew(run: &Run, lease: &LeaseId, ttl: Ttl, now: Timestamp) -> Decision<RenewVerdict> {
    match run.standing(lease, now) {
        Standing::Lost(why) => Decision::unchanged(RenewVerdict::Refused(why)),
        Standing::Held => {
            let renewed = Run { hold: extended(lease, ttl, now), ..run.clone() };
            Decision::changed(RenewVerdict::Renewed { yield_asked: run.paused }, renewed, Vec::new())
        }
    }
}

/// The hold of a lease that was found live at `now`.
pub(super) fn extended(lease: &LeaseId, ttl: Ttl, now: Timestamp) -> Hold {
    Hold::Held { fence: lease.fence, owner: lease.owner.clone(), expires_at: now.plus(ttl.as_duration()) }
}
