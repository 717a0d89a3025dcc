#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# inherit.sh MCASTCTL: mcastctl env --inherit, evaluated by a shell (F16, F17); no broker is there.
set -eu
mcastctl=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset MCAST_URL
wrong() {
    printf '%s\n' "$*"
    exit 1
}
inherit() { "$mcastctl" env --inherit --format sh "$@" 2>"$folder/err"; }

: >"$folder/ca.pem"
export FI_CXI_HWCOLL_MIN_NODES=64 FI_CXI_HWCOLL_ADDRS_PER_JOB=23
export FI_CXI_COLL_JOB_ID=elcap-f2Rs8sydSxmd FI_CXI_COLL_JOB_STEP_ID=0
export FI_CXI_COLL_MCAST_TOKEN="sess-it's" FI_CXI_COLL_FABRIC_MGR_CACERT="$folder/ca.pem"
export FI_CXI_COLL_FABRIC_MGR_URL=https://fmn:8000/fabric/collectives/multicasts
before=$(env | grep ^FI_CXI_ | grep -v JOB_STEP_ID | LC_ALL=C sort)

# Level by level, as the steps of nested instances do.
for step in /ƒA /fA/ƒB fC; do
    lines=$(inherit --step "$step") || wrong "$(cat "$folder/err")"
    eval "$lines"
    [ ! -s "$folder/err" ] || wrong "$(cat "$folder/err")"
done
[ "$FI_CXI_COLL_JOB_STEP_ID" = /fA/fB/fC ] || wrong "the step is $FI_CXI_COLL_JOB_STEP_ID"
after=$(env | grep ^FI_CXI_ | grep -v JOB_STEP_ID | LC_ALL=C sort)
[ "$before" = "$after" ] || wrong "changed: $before; $after"

# A CA that is gone: the system's store, and a warning.
rm "$folder/ca.pem"
eval "$(inherit --step /fA/fD)"
[ "$FI_CXI_COLL_FABRIC_MGR_CACERT" = yes ] || wrong "the CA is $FI_CXI_COLL_FABRIC_MGR_CACERT"
grep -q "warning: there is no file or folder $folder/ca.pem" "$folder/err" || wrong "no warning"

# Half of it, or no step: nothing is printed, and it says why.
for misuse in "--step 0 f1" "" "--step /fA/../fB"; do
    status=0
    # shellcheck disable=SC2086 # words
    lines=$(inherit $misuse) || status=$?
    [ "$status:$lines" = 2: ] || wrong "'$misuse': $status, $lines"
    [ -s "$folder/err" ] || wrong "'$misuse': not said why"
done
status=0
lines=$(unset FI_CXI_COLL_MCAST_TOKEN && inherit --step 0) || status=$?
[ "$status:$lines" = 2: ] || wrong "half: $status, $lines"
grep -q "FI_CXI_COLL_MCAST_TOKEN is not set, and others" "$folder/err" || wrong "half: not said"

# Lines of an outer job's are not to become variables of their own.
status=0
lines=$(FI_CXI_COLL_FABRIC_MGR_URL=$(printf 'http://x\nPATH=/tmp') "$mcastctl" env --inherit --step 0 2>"$folder/err") ||
    status=$?
[ "$status:$lines" = 1: ] || wrong "line break: $status, $lines"
grep -q "FI_CXI_COLL_FABRIC_MGR_URL has a line break" "$folder/err" || wrong "line break: not said"

# No hardware collectives: what is left of an outer job's is unset.
unset FI_CXI_COLL_JOB_ID FI_CXI_COLL_MCAST_TOKEN FI_CXI_COLL_FABRIC_MGR_URL
eval "$(inherit --step /fA)"
left=$(env | grep ^FI_CXI_ || true)
[ -z "$left" ] || wrong "left: $left"
