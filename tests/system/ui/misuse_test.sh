#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# misuse_test.sh BUILD: who has no key gets nothing of the broker from mcastctl ui, nor does a page of
# another site, whatever name it goes by; and who has it changes nothing and sees no token (B5, B8).
build=$1
export PATH=$build/bin:$PATH
# shellcheck source=tests/system/rig/fixture.sh
source "$(dirname "$0")/../rig/fixture.sh"
# shellcheck source=tests/system/ui/fixture.sh
source "$(dirname "$0")/fixture.sh"

prepare
mcastctl reserve --uid "$(id -u)" --nodes 'elcap[1-4]' f1 >"$dir/out/job"
start_ui

address=$(ui_address)
base=${address%%/#*}
first=${address##*#}
port=${base##*:}

# asks STATUS CODE CURL-OPTIONS…: the answer's status, and the stable word in it
asks() {
    local status=$1 code=$2 got
    shift 2
    got=$(curl -sS -m 120 -o "$dir/answer" -D "$dir/head" -w '%{http_code}' "$@") || fail "curl $*"
    [ "$got" = "$status" ] || { cat "$dir/answer" >&2 && fail "$got instead of $status: $*"; }
    [ -z "$code" ] || grep -q "\"code\": *\"$code\"" "$dir/answer" ||
        { cat "$dir/answer" >&2 && fail "not $code: $*"; }
    grep -qi '^cache-control: no-store' "$dir/head" || fail "it may be cached: $*"
    grep -qi "^content-security-policy: default-src 'none'" "$dir/head" || fail "no policy: $*"
    ! grep -qi '^access-control\|^set-cookie' "$dir/head" || fail "it shares with others: $*"
}

# ---- without the key, and as another user of this machine ----
asks 403 wrong-key "$base/v1/status"
asks 403 wrong-key "$base/v1/status" -H "Mcast-Key: $first" # of the address, which is for one thing
asks 403 wrong-key "$base/v1/status?key=$first"
asks 403 wrong-key "$base/session"
asks 403 wrong-key "$base/session" -H "Mcast-Key: ${first%?}"
if [ "$(id -u)" = 0 ]; then
    got=$(setpriv --reuid 65534 --regid 65534 --clear-groups curl -sS "$base/v1/jobs")
    [[ $got == *wrong-key* ]] || fail "another user gets: $got"
fi

# ---- once only ----
asks 200 "" "$base/session" -H "Mcast-Key: $first"
grep -q '"write": *false' "$dir/answer" || fail "the page may write without --write"
key=$(sed -n 's/.*"key": *"\([0-9a-f]*\)".*/\1/p' "$dir/answer")
if [ ${#key} != 64 ] || [ "$key" = "$first" ]; then fail "no key of a session"; fi
asks 403 wrong-key "$base/session" -H "Mcast-Key: $first"
[ "$(ui_address)" != "$address" ] || fail "no new address is printed"
mine=(-H "Mcast-Key: $key")
asks 200 "" "$base/v1/status" "${mine[@]}"
grep -q '"fabric_manager"' "$dir/answer" || fail "no status"
asks 200 "" "$base/v1/jobs?limit=1" "${mine[@]}"
grep -q '"f1"' "$dir/answer" || fail "no job"
asks 200 "" "$base/v1/events?follow=0" "${mine[@]}"
grep -q '^event: ' "$dir/answer" || fail "no events"
asks 200 "" "http://localhost:$port/v1/history" "${mine[@]}"

# ---- another site's page: by its own name, and by one that leads here (DNS rebinding) ----
asks 403 other-site "$base/v1/status" "${mine[@]}" -H "Origin: http://example.org"
asks 403 other-site "$base/v1/status" "${mine[@]}" -H "Origin: null"
asks 403 other-site "$base/v1/status" "${mine[@]}" -H "Origin: http://127.0.0.1:1"
asks 403 other-site "$base/v1/status" "${mine[@]}" -H "Origin: https://127.0.0.1:$port"
asks 403 other-site "$base/v1/status" "${mine[@]}" -H "Sec-Fetch-Site: cross-site"
asks 403 other-site "$base/v1/status" "${mine[@]}" -H "Sec-Fetch-Site: same-site"
asks 200 "" "$base/v1/status" "${mine[@]}" -H "Origin: $base" -H "Sec-Fetch-Site: same-origin"
for host in "example.org:$port" "127.0.0.1.example.org:$port" "localhost.example.org" "127.0.0.1:$port@x" ""; do
    asks 421 other-host "$base/v1/status" "${mine[@]}" -H "Host:${host:+ $host}"
    asks 421 other-host "$base/" -H "Host:${host:+ $host}"
done

# ---- nothing is changed, and no body is read ----
for method in POST PUT DELETE PATCH OPTIONS HEAD; do
    head=(-X "$method")
    [ "$method" != HEAD ] || head=(-I)
    asks 405 "" "${head[@]}" "${mine[@]}" "$base/v1/clusters/elcap/jobs/f1"
done
asks 405 get-only -X GET -d '{}' "${mine[@]}" "$base/v1/status"
# A body without an end is not read: the connection is closed, with the answer or before it is read.
curl -s -m 20 -o /dev/null "${mine[@]}" -H "Expect:" -X POST -T - "$base/v1/status" </dev/zero || [ $? != 28 ] ||
    fail "a body without an end is read"
mcastctl show f1 >/dev/null || fail "the job is gone"

# ---- what has a token or a key is not passed on ----
for path in clusters/elcap/jobs/f1 clusters/elcap/jobs/f1/env reservation 'nodes/../clusters/elcap/jobs/f1' \
    'clusters/elcap/jobs/f1?x=/topology' 'clusters/elcap/jobs/f1%2Fenv' clusters//jobs//topology; do
    asks 404 no-such-page --path-as-is "${mine[@]}" "$base/v1/$path"
done
asks 404 no-such-page "${mine[@]}" "$base/openapi.json"
asks 200 "" "$base/"
! grep -q "$key\|$first" "$dir/answer" || fail "a key is in the page"

# ---- the broker's own refusals are passed on, and its absence is told ----
asks 422 invalid "$base/v1/jobs?limit=0" "${mine[@]}"
kill_broker
asks 502 no-connection "$base/v1/status" "${mine[@]}"
start_broker
asks 200 "" "$base/v1/status" "${mine[@]}"

# ---- on loopback alone; more connections than it has room for end nothing ----
ss -Hltn "sport = :$port" | awk '$4 !~ /^127\.0\.0\.1:/ {bad = 1} END {exit bad}' || fail "it listens elsewhere"
lines=()
for _ in $(seq 100); do
    exec {line}<>"/dev/tcp/127.0.0.1/$port"
    lines+=("$line")
done
for line in "${lines[@]}"; do
    exec {line}>&-
done
answers() { curl -s -m 5 "${mine[@]}" "$base/v1/status" | grep -q fabric_manager; }
until_it "there is room again" answers

# ---- --write: the page's own release of a job, and nothing else ----
start_ui --write
open_session
number=$(mcastctl --json show f1 | sed -n 's/.*"number": *\([0-9]*\).*/\1/p')
job="$base/v1/clusters/elcap/jobs/f1?number=$number"
own=(-H "Origin: $base" -H "Sec-Fetch-Site: same-origin")
asks 403 wrong-key -X DELETE "${own[@]}" "$job"
asks 403 wrong-key -X DELETE "${own[@]}" -H "Mcast-Key: ${key%?}" "$job"
asks 403 other-site -X DELETE "${mine[@]}" "$job"
for origin in http://example.org null http://127.0.0.1:1 "https://127.0.0.1:$port"; do
    asks 403 other-site -X DELETE "${mine[@]}" -H "Origin: $origin" "$job"
done
asks 403 other-site -X DELETE "${mine[@]}" -H "Origin: $base" -H "Sec-Fetch-Site: cross-site" "$job"
asks 421 other-host -X DELETE "${mine[@]}" "${own[@]}" -H "Host: rebound.example:$port" "$job"
asks 405 get-only -X DELETE "${mine[@]}" "${own[@]}" -d '{}' "$job"
for method in POST PUT PATCH OPTIONS; do
    asks 405 get-only -X "$method" "${mine[@]}" "${own[@]}" "$job"
done
for path in clusters/elcap/jobs/f1 clusters/elcap/jobs/f1/env 'clusters/elcap/jobs/f1?x=1' vnis/pool nodes/elcap1 clusters/elcap/jobs; do
    asks 405 get-only --path-as-is -X DELETE "${mine[@]}" "${own[@]}" "$base/v1/$path"
done
asks 400 invalid --path-as-is -X DELETE "${mine[@]}" "${own[@]}" "${job%f1*}..%2F..%2Felcap?number=1"
# Of another one that has the name nothing is taken.
asks 409 other-reservation -X DELETE "${mine[@]}" "${own[@]}" "${job%=*}=$((number + 1))"
mcastctl show f1 | grep -q active || fail "the job was released by who may not"
asks 200 "" -X DELETE "${mine[@]}" "${own[@]}" "$job"
grep -q '"state": *"releasing"' "$dir/answer" || fail "the broker's answer is not told"
! grep -qi 'token\|env' "$dir/answer" || fail "more than the state is told"
asks 404 not-found -X DELETE "${mine[@]}" "${own[@]}" "${job%f1*}unknown?number=1"

# ---- --write gives nobody more than the broker does ----
if [ "$(id -u)" = 0 ]; then
    mcastctl reserve --uid 65534 --nodes elcap1 f2 >>"$dir/out/job"
    chmod a+x "$dir"
    : >"$dir/ui.out"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$(command -v mcastctl)" ui --write >>"$dir/ui.out" 2>>"$dir/ui.log" &
    others="$! $others"
    until_it "mcastctl ui of another user listens" ui_listens
    open_session
    asks 403 "" -X DELETE "${mine[@]}" -H "Origin: $base" "$base/v1/clusters/elcap/jobs/f2?number=2"
    mcastctl show f2 | grep -q active || fail "who may not release did so"
fi
