#!/bin/sh
# Screens a supplier against a list of blocked parties, one name a line; lines that begin with # are comments.
#
# A step gets one JSON document on standard input and answers with a JSON object on standard output. Exit 0: done.
# Exit 75: try again later. Anything else: the step has failed, and the end of standard error is the reason.
set -eu

list=$1
if [ ! -r "$list" ]; then
    echo "the list $list cannot be read right now" >&2
    exit 75
fi

# The document is one line of compact JSON in UTF-8, so a name stands in it as it is written.
document=$(cat)
names=$(grep -v -e '^#' -e '^[[:space:]]*$' "$list" || true)
count=$(printf '%s' "$names" | grep -c '' || true)

if [ -n "$names" ] && printf '%s' "$document" | grep -q -i -F -e "$names"; then
    echo "the supplier is on the list of blocked parties ($list)" >&2
    exit 1
fi

printf '{"screened_against": %d, "hit": false}\n' "$count"
