# SPDX-License-Identifier: Apache-2.0
# The hooks with a Flux that only answers what they ask, and a real mcastd: runs everywhere.
# shellcheck shell=bash
fake_flux=$(dirname "$(readlink -f "$0")")/fake
. "$(dirname "$0")/fixture.sh"
export FAKE_FLUX=$dir/flux FAKE_JOB=job.0000.0001.2345.6789
mkdir -p "$FAKE_FLUX/kvs"

# ---- ids: decimal, F58 in both spellings, and the KVS folder that Flux keeps the job in (RFC 19), as flux job id says
cat >"$dir/ids" <<'LIST'
0 f1 job.0000.0000.0000.0000
57 fz job.0000.0000.0000.0039
58 f21 job.0000.0000.0000.003a
4882466697 f8SSvFJ job.0000.0001.2304.8789
483115368448 fDh4FYZ5 job.0000.0070.7beb.8000
6731191091817518 fuZZybuNNy job.0017.e9fb.8df1.6c2e
9223372036854775807 fNQm6nKp8qFC job.7fff.ffff.ffff.ffff
LIST
cat >"$dir/ids.sh" <<SH
. "$hooks/jobid.sh"
while read -r dec f58 kvs; do
    for given in \$dec \$f58 ƒ\${f58#f}; do
        jobid_read "\$given" || { echo "\$given is refused"; continue; }
        [ "\$jobid_dec \$jobid_plain \$jobid_kvs" = "\$dec \$f58 \$kvs" ] ||
            echo "\$given is \$jobid_dec \$jobid_plain \$jobid_kvs, not \$dec \$f58 \$kvs"
    done
done
for given in '' f ƒ fO fl f0 12x -1 0x1f 'f1;' 'f\$(id)' job.0000; do
    ! jobid_read "\$given" || echo "'\$given' is taken for \$jobid_plain"
done
SH
for shell in sh bash; do
    wrong=$($shell "$dir/ids.sh" <"$dir/ids")
    [ -z "$wrong" ] || fail "$shell: $wrong"
done

# ---- one job through its hooks
prepare
job=f8Sb1Bz
export FLUX_JOB_ID=ƒ${job#f} FLUX_JOB_USERID=5588 FLUX_JOB_RANKS=4-5
# shellcheck disable=SC1091,SC2154
FAKE_JOB=$(. "$hooks/jobid.sh" && jobid_read "$FLUX_JOB_ID" && echo "$jobid_kvs")
R='{"version":1,"execution":{"R_lite":[{"rank":"4-5","children":{"core":"0-95"}}],"nodelist":["elcap[4-5]"]}}'
wish() { # wish OPTIONS: the job's R and jobspec, with these shell options
    echo "$R" >"$FAKE_FLUX/kvs/$FAKE_JOB.R"
    echo "{\"attributes\":{\"system\":{\"shell\":{\"options\":$1}}}}" >"$FAKE_FLUX/kvs/$FAKE_JOB.jobspec"
    rm -f "$FAKE_FLUX/kvs/$FAKE_JOB.mcast" "$FAKE_FLUX/memo" "$FAKE_FLUX/calls"
}
asked() { grep -qE -- "$1" "$FAKE_FLUX/calls" 2>/dev/null; }

wish '{"mcast":{"vnis":2,"hwcoll":"on"}}'
"$hooks/prolog" -- touch "$dir/on-the-ranks" 2>"$dir/flux.log" || fail "the prolog fails"
grep -q "\"job\": *\"$job\"" "$FAKE_FLUX/kvs/$FAKE_JOB.mcast" || fail "nothing is published"
shown=$(mcastctl show "$job")
for line in "elcap\[4-5\]" "5588" "Cores per node +96" "VNIs +1024,1025" "reserved, 23 addresses"; do
    grep -qE "$line" <<<"$shown" || fail "'$line' is not reserved: $shown"
done
memo_is_there() { [ -s "$FAKE_FLUX/memo" ]; }
until_it "the memo is made" memo_is_there
token=$(grep -oE '"FI_CXI_COLL_MCAST_TOKEN": *"[^"]*"' "$FAKE_FLUX/kvs/$FAKE_JOB.mcast" | cut -d'"' -f4)
[ -n "$token" ] || fail "the reservation is published without its token"
! grep -qF "$token" "$FAKE_FLUX/memo" "$FAKE_FLUX/calls" || fail "the token is in the memo or on a command line"
asked '^exec .*--rank=4-5 touch ' || fail "the ranks are not prepared: $(cat "$FAKE_FLUX/calls")"
[ -e "$dir/on-the-ranks" ] || fail "what prepares the ranks is not run"

# ---- what its tasks are told, and nothing half
told=$("$hooks/taskenv" "$job" "/$job")
for line in "export FI_CXI_COLL_JOB_STEP_ID=/$job" "export FI_CXI_COLL_MCAST_TOKEN=$token" \
    "unset SLINGSHOT_VNIS" complete; do
    grep -qxF -- "$line" <<<"$told" || fail "taskenv does not say '$line': $told"
done
echo '{' >"$FAKE_FLUX/kvs/$FAKE_JOB.mcast"
! told=$("$hooks/taskenv" "$job" "/$job") || fail "taskenv takes what is no reservation"
[[ $told == "error "* && $told != *complete* ]] || fail "taskenv says so: $told"

"$hooks/epilog" 2>>"$dir/flux.log"
expect_clean

# ---- nothing wanted: nothing reserved
wish '{"mcast":"off"}'
"$hooks/prolog" 2>>"$dir/flux.log" || fail "the prolog of mcast=off fails"
[ "$(cat "$FAKE_FLUX/kvs/$FAKE_JOB.mcast")" = '{}' ] || fail "something is published for mcast=off"
[ ! -e "$FAKE_FLUX/memo" ] || fail "mcast=off has a memo"
none_active || fail "something is reserved for mcast=off"
told=$("$hooks/taskenv" "$job" "/$job")
[ "$(grep -c '^unset ' <<<"$told")" = 15 ] || fail "not all is unset: $told"

# ---- a node whose view of the KVS is behind waits for what it was told of; another has nothing to do
rm "$FAKE_FLUX/kvs/$FAKE_JOB.mcast"
mkdir "$dir/bin" "$dir/exec"
# It is told nothing of the environment here, so it knows where its KVS is.
cat >"$dir/bin/flux" <<SH
#!/bin/sh
env | grep -vE '^(PATH|PWD|OLDPWD|SHLVL|_)=' >>"$dir/told"
FAKE_FLUX=$FAKE_FLUX FAKE_JOB=$FAKE_JOB exec "$fake_flux/flux" "\$@"
SH
printf '#!/bin/sh\ntouch "%s"\n' "$dir/was-run" | tee "$dir/exec/flux-job" >"$dir/exec/ssh"
chmod +x "$dir/bin/flux" "$dir/exec/flux-job" "$dir/exec/ssh"
on_node() { # on_node NAME=VALUE…: the node's prolog, as flux-imp runs it
    env FLUX_EXEC_PATH="$dir/exec" FLUX_SSH="$dir/exec/ssh" FLUX_CONNECTOR_PATH="$dir/exec" \
        PATH="$dir/bin:$PATH" "$@" "${hook:-$etc/system/prolog.d/mcast}"
}
on_node FLUX_URI=local:///run/flux/local || fail "a node fails a job that nobody reserved for"
on_node FLUX_URI=ssh://elsewhere || fail "a node fails a job when it does not know its broker"
on_node FLUX_MCAST_PUBLISHED=1 &
node=$!
rm -f "$FAKE_FLUX/calls"
looked() { asked '^job info .* mcast$'; }
until_it "the node looks" looked
echo '{}' >"$FAKE_FLUX/kvs/$FAKE_JOB.mcast"
wait "$node" || fail "a node does not wait for what is published"
# Where its view of the KVS stands still, it has it move on; and still nothing more is told.
rm "$FAKE_FLUX/kvs/$FAKE_JOB.mcast"
on_node FLUX_MCAST_PUBLISHED=1 &
node=$!
nudged() { asked "^kvs put $FAKE_JOB.mcast_waits=1\$"; }
until_it "the node has Flux commit something" nudged
echo '{}' >"$FAKE_FLUX/kvs/$FAKE_JOB.mcast"
wait "$node" || fail "a node does not wait for what is published late"
# It waits as long as the job manager's plugin does, not for three looks, and not for a job that is refused or
# cancelled.
sed 's/:+300}/:+3}/' "$etc/system/prolog.d/mcast" >"$dir/impatient"
grep -q ':+3}' "$dir/impatient" || fail "the node's prolog counts otherwise"
chmod +x "$dir/impatient"
looked_on() { [ "$(grep -cs '^job info .* mcast$' "$FAKE_FLUX/calls")" -gt 5 ] 2>/dev/null; }
for last in 'exception type="cancel" severity=0 note=""' 'prolog-finish description="mcast" status=0'; do
    rm -f "$FAKE_FLUX/kvs/$FAKE_JOB.mcast" "$FAKE_FLUX/calls"
    printf '1700000000.0 %s\n' 'prolog-start description="job-manager.prolog"' 'prolog-start description="mcast"' \
        'exception type="x" severity=7 note="its owner says severity=0 " userid=5588' >"$FAKE_FLUX/events"
    hook=$dir/impatient on_node FLUX_MCAST_PUBLISHED=plugin &
    node=$!
    until_it "the node waits for the plugin" looked_on
    [[ $last == exception* ]] || echo '{}' >"$FAKE_FLUX/kvs/$FAKE_JOB.mcast"
    echo "1700000001.0 $last" >>"$FAKE_FLUX/events"
    wait "$node" || fail "after '$last' the node fails"
    ! asked '^(job raise|resource drain)' || fail "after '$last' the node is drained"
done
rm "$FAKE_FLUX/events"
# What user flux says, root does not run; only the broker's socket is taken from it.
[ ! -e "$dir/was-run" ] || fail "root runs what the environment names"
told() { [ "$(sort -u "$dir/told")" = FLUX_URI=local:///run/flux/local ] || fail "$1: root's programs are told: $(cat "$dir/told")"; }
told sh
# Nor does it lose PATH by a value that reads as what a shell exports.
for shell in sh bash; do
    rm -f "$dir/told"
    on_node FLUX_URI=local:///run/flux/local FLUX_AAA=$'x\nexport asroot_keep=1\nexport PATH=1\nexport UID\ndeclare -x PATH' \
        "$shell" || fail "$shell: a node fails a job for what the environment says"
    told "$shell"
done

# ---- refused: the words go to the user, as one argument, and the prolog fails
refused() { # refused WORDS
    ! "$hooks/prolog" 2>>"$dir/flux.log" || fail "the prolog does not refuse: $1"
    asked "^job raise --type=mcast --severity=0 $FLUX_JOB_ID .*$1" ||
        fail "'$1' is not said: $(cat "$FAKE_FLUX/calls")"
}
wish "{\"mcast\":{\"vnis\":\"\$(touch $dir/was-run); --uid 0\"}}" && refused "-o mcast.vnis is a number from 0 to 4"
[ ! -e "$dir/was-run" ] || fail "a user's words are run"
wish '{"mcast":{"tc":"low_latency;id"}}' && refused "-o mcast.tc is one or more of best_effort, low_latency, bulk_data and dedicated_access"
wish '{"mcast":{"tc":"dedicated_access"}}' && refused "dedicated_access"
wish '{}' && echo '{}' >"$FAKE_FLUX/kvs/$FAKE_JOB.R" && refused "R names no nodes"
wish '{}' && touch "$FAKE_FLUX/kvs-is-full" && refused "cannot be written to Flux's KVS"
rm "$FAKE_FLUX/kvs-is-full"
"$hooks/epilog"
expect_clean

# ---- no mcastd: said, or done without, as the site wants it; one that comes back is waited for
kill_broker
wish '{}'
! "$hooks/prolog" --patience 0 2>>"$dir/flux.log" || fail "the prolog passes without mcastd"
asked "^job raise .*mcastd.sock" || fail "who cannot be reached is not said: $(cat "$FAKE_FLUX/calls")"
"$hooks/prolog" --patience 0 --optional 2>>"$dir/flux.log" || fail "--optional makes no difference"
"$hooks/prolog" --patience 120 2>>"$dir/flux.log" &
prolog=$!
until_it "it is said what the job waits for" grep -q "waits for up to 120 s: .*mcastd.sock" "$dir/flux.log"
start_broker
wait "$prolog" || fail "the prolog does not wait for mcastd"
kill_broker
"$hooks/epilog" || fail "an epilog fails"
start_broker
expect_clean

# ---- a lost reservation becomes an exception, once, also when it was lost while nobody looked
for lost in f2Lost f3over; do
    mcastctl reserve --uid 1 --nodes 'elcap[1-2]' --hwcoll required "$lost" >/dev/null
done
fm_asks -X POST "$url/mock/forget" >/dev/null
kill_broker
start_broker
both_lost() { [ "$(mcastctl events | grep -c ' !lost ')" = 2 ]; }
until_it "mcastd finds out" both_lost
# Flux is not there yet, then it is.
rm -f "$FAKE_FLUX/calls"
cat >"$FAKE_FLUX/raise" <<'SH'
echo "flux-job: flux_open: Connection refused" >&2 && exit 1
SH
setsid "$hooks/raise-lost" --cluster elcap --state "$dir/last-event" >>"$dir/flux.log" 2>&1 &
others="-$! $others"
again() { asked '^job raise ' && [ "$(grep -c '^job raise ' "$FAKE_FLUX/calls")" -ge 2 ]; }
until_it "it asks again" again
[ "$(grep -c 'Flux cannot be told yet: .*Connection refused' "$dir/flux.log")" = 1 ] || fail "it is not said once that Flux is away"
cat >"$FAKE_FLUX/raise" <<'SH'
case $* in *f2Lost*) exit 0 ;; *) echo "flux-job: raise: job is inactive" >&2 && exit 1 ;; esac
SH
raised() { asked "^job raise --type=mcast --severity=0 f2Lost mcast: .*" && asked "f3over"; }
until_it "the exceptions are raised" raised
seen_to() { [ "$(cat "$dir/last-event" 2>/dev/null)" = "$(mcastctl events | tail -1 | awk '{print $1}')" ]; }
until_it "what was seen to is remembered" seen_to

# ---- what would be refused again and again ends the service, with a sentence; mcastd's absence does not
ends_with() { # ends_with STATUS WORDS COMMAND…
    local status=0 wanted=$1 words=$2 said
    shift 2
    said=$("$@" 2>&1) || status=$?
    [[ $status:$said == "$wanted:"*"$words"* ]] || fail "'$*' ends with $status: $said"
}
ends_with 2 "must be unix:/path" env MCAST_URL=ftp://elsewhere "$hooks/raise-lost" --cluster elcap --state "$dir/other"
cat >"$FAKE_FLUX/raise" <<'SH'
echo "flux-job: f2Lost: guests can only raise exceptions on their own jobs" >&2 && exit 1
SH
ends_with 1 "exceptions are for Flux's owner to raise, not for" "$hooks/raise-lost" --cluster elcap --state "$dir/other"
# Another user's programs must be in reach of his.
if [ "$(id -u)" = 0 ] && runuser -u nobody -- test -x "$hooks/raise-lost"; then
    chmod 711 "$dir"
    mkdir -m 777 "$dir/nobodys"
    ends_with 1 "must be among the users of [cluster \"elcap\"]" \
        runuser -u nobody -- "$hooks/raise-lost" --cluster elcap --state "$dir/nobodys/last-event"
fi
kill_broker
setsid "$hooks/raise-lost" --cluster elcap --state "$dir/third" >"$dir/flux.log" 2>&1 &
others="-$! $others"
until_it "it says that mcastd is away" grep -q "mcastd.sock" "$dir/flux.log"
rm "$FAKE_FLUX/raise"
start_broker
caught_up() { [ "$(cat "$dir/third" 2>/dev/null)" = "$(mcastctl events | tail -1 | awk '{print $1}')" ]; }
until_it "it goes on when mcastd is there" caught_up

# ---- the ledger is an older copy : what is new in it has numbers that were seen to
echo 4000000000 >"$dir/fourth"
setsid "$hooks/raise-lost" --cluster elcap --state "$dir/fourth" >"$dir/fourth.log" 2>&1 &
others="-$! $others"
caught_up_again() { [ "$(cat "$dir/fourth" 2>/dev/null)" = "$(mcastctl events | tail -1 | awk '{print $1}')" ]; }
until_it "it begins anew where mcastd has no such event" caught_up_again
grep -q "there is no event 4000000000" "$dir/fourth.log" || fail "it does not say why: $(cat "$dir/fourth.log")"

# ---- F24: the events of what was lost are no longer kept, but the list still shows it
kill_broker
sed -i 's/^key_file = .*/&\nevents_keep = 1/' "$dir/mcastd.conf"
start_broker
for ((i = 0; i < 300; i++)); do
    mcastctl reserve --uid 1 --node-count 1 --vnis 0 "f$i" >/dev/null
done
! mcastctl events | grep -q ' !lost ' || fail "the event of the loss is still kept"
rm -f "$FAKE_FLUX/calls"
echo 2 >"$dir/fifth"
setsid "$hooks/raise-lost" --cluster elcap --state "$dir/fifth" >"$dir/fifth.log" 2>&1 &
others="-$! $others"
until_it "what was lost unseen is ended" asked "^job raise --type=mcast --severity=0 f2Lost mcast: the fabric manager no longer has"
caught_up_at_last() { [ "$(cat "$dir/fifth")" = "$(mcastctl events | tail -1 | awk '{print $1}')" ]; }
until_it "it goes on behind the gap" caught_up_at_last
[ "$(grep -c '^job raise .* f2Lost ' "$FAKE_FLUX/calls")" = 1 ] || fail "it is ended more than once"
