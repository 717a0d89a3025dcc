#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# agree.sh MCASTCTL MCAST_REPLAY MCASTD MOCK_FM LOG: `mcastctl plan` says of a part of a log what the
# real broker does with it: which jobs are denied, and what all of them have at once.
set -eu
mcastctl=$1 replay=$2 mcastd=$3 mock_fm=$4 log=$5
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-agree.XXXXXX")
trap 'rm -rf "$dir"' EXIT

gzip -dc "$log" | sed -n '1,1500p' >"$dir/part.swf"
for setting in 128,300 256,700; do
    size=${setting%,*} addresses=${setting#*,}
    "$replay" --mcastd "$mcastd" --mock-fm "$mock_fm" --connections 1 --min-nodes "$size" \
        --addresses "$addresses" --report "$dir/broker" "$dir/part.swf"
    # The broker of the replay is asked without a pause, so no call takes time here either.
    "$mcastctl" plan --json --config /dev/null --min-nodes "$size" --addresses "$addresses" \
        --total-addresses 4086 --system-nodes 4360 --pool 1024-1535 --call-time 0 --hold 0 \
        "$dir/part.swf" | python3 -c '
import json, sys
setting = json.load(sys.stdin)["settings"][0]
for job in setting["denied_jobs"]:
    print("denied", job)
print("ineligible", setting["jobs"]["ineligible"])
print("addresses", setting["addresses"]["peak"])
print("vnis", setting["vnis"]["peak"])' >"$dir/plan"
    diff -u "$dir/broker" "$dir/plan" || {
        echo "mcastctl plan and the broker do not agree on min_nodes $size, $addresses addresses (above)"
        exit 1
    }
    grep -q ^denied "$dir/plan" || {
        echo "no job was denied addresses with min_nodes $size, $addresses addresses: nothing was compared"
        exit 1
    }
    echo "agreed on $(grep -c ^denied "$dir/plan") denied jobs; $(tail -n 3 "$dir/plan" | tr '\n' ' ')"
done
