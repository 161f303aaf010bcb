#!/bin/bash
# A step of the chaos run: writes down, outside the database, that it began and ended. Most are quick, some outlast a
# lease, and some ask to be tried again.
chance=$(((16#${RUN_ID: -4} + FENCING_TOKEN * 7919) % 100))
line() {
    local at=${EPOCHREALTIME/[.,]/}
    printf '{"what":"%s","at_us":%s,"pid":%s,"run":"%s","phase":"%s","fence":%s,"key":"%s"}\n' \
        "$1" "$at" "$PPID" "$RUN_ID" "$PHASE" "$FENCING_TOKEN" "$IDEMPOTENCY_KEY" >>steps.jsonl
}
line began
IFS= read -r -d '' _
if ((chance < 4)); then
    sleep 4.5
elif ((chance < 14)); then
    sleep 0.6
elif ((chance >= 97)); then
    line again
    exit 75
fi
line ended
printf '{"done_by": %s}\n' "$FENCING_TOKEN"
