# SPDX-License-Identifier: Apache-2.0
# Launch documents with a Flux that only answers what the hooks ask, a real mcastd, and nodes with NICs of
# mock-cxi: nodes ask and tell the broker nothing before the job (S5, G20); where a document is missing or
# not good they do as without (F23). At its end another program may report for them (F3).
# shellcheck shell=bash
fake_flux=$(dirname "$(readlink -f "$0")")/fake
. "$(dirname "$0")/nodes.sh"
[ "$(id -u)" = 0 ] || skip "only root may decode a launch document"
[ -x /usr/sbin/munged ] || skip "there is no munged"
export FAKE_FLUX=$dir/flux FLUX_JOB_USERID=5588 FLUX_JOB_RANKS=0-1
mkdir -p "$FAKE_FLUX/kvs"
# What runs as root is told nothing of the environment, so it knows where its KVS is.
cat >"$dir/bin/flux" <<SH
#!/bin/sh
FAKE_FLUX=$FAKE_FLUX FAKE_JOB=\$(cat "$dir/job") exec "$fake_flux/flux" "\$@"
SH
chmod +x "$dir/bin/flux"
hold=reports
start_munged
prepare

R='{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-95"}}],"nodelist":["n[0-1]"]}}'
begin() { # begin JOB: it is reserved, and published
    export FLUX_JOB_ID=$1
    # shellcheck disable=SC1091,SC2154
    FAKE_JOB=$(. "$hooks/jobid.sh" && jobid_read "$FLUX_JOB_ID" && echo "$jobid_kvs")
    echo "$FAKE_JOB" >"$dir/job"
    grant=$FAKE_FLUX/kvs/$FAKE_JOB.mcast
    export FAKE_JOB
    echo "$R" >"$FAKE_FLUX/kvs/$FAKE_JOB.R"
    echo '{}' >"$FAKE_FLUX/kvs/$FAKE_JOB.jobspec"
    "$hooks/prolog" 2>>"$dir/flux.log" || fail "the prolog fails"
}
on_nodes() { # on_nodes HOOK: as flux-imp runs it
    local rank
    for rank in 0 1; do
        FLUX_URI=local:///run/local-$rank "$etc/system/$1.d/mcast" 2>"$dir/said.$rank" || return 1
    done
}
end() { on_nodes epilog && "$hooks/epilog" 2>>"$dir/flux.log" && expect_clean; }
reports=/jobs/{}/nodes/

# ---- with a document, published with the reservation: no node needs the broker before the job
begin fLaunch1
grep -q '"launch": *"MCASTM\.' "$grant" || fail "no launch document is published: $(cat "$grant")"
token=$(grep -oE '"FI_CXI_COLL_MCAST_TOKEN": *"[^"]*"' "$grant" | cut -d'"' -f4)
[ -n "$token" ] || fail "the reservation is published without its token"
sed -i 's|^url = .*|url = unix:/nowhere|' "$dir"/node?.conf
on_nodes prolog || fail "nodes need the broker: $(cat "$dir"/said.*)"
services_are 4 2 || fail "there are $(services 0) and $(services 1) services"
told=$(MOCK_RANK=0 "$hooks/taskenv" fLaunch1 /fLaunch1)
for line in "export FI_CXI_COLL_MCAST_TOKEN=$token" "export SLINGSHOT_DEVICES=cxi0,cxi1,cxi2,cxi3" complete; do
    grep -qxF -- "$line" <<<"$told" || fail "taskenv does not say '$line': $told"
done
sed -i "s|^url = .*|url = $MCAST_URL|" "$dir"/node?.conf
begun=$(requests "$reports")
end
[ "$(requests "$reports")" = $((begun + 2)) ] || fail "nodes reported $(($(requests "$reports") - begun)) times, not twice"
until_it "the nodes' word frees the VNIs" nothing_held
services_are 0 0 || fail "services are left"

# ---- the document of another job, or a damaged one: the broker is asked, and the job starts
first=$(grep -o '"launch": *"[^"]*"' "$grant")
for other in "$first" '"launch": "MCASTM.AwQFAAA"'; do
    begin "fXther$((${other_jobs:-0} + 1))" && other_jobs=$((${other_jobs:-0} + 1))
    sed -i "s|\"launch\": *\"[^\"]*\"|$other|" "$grant"
    on_nodes prolog || fail "a node fails a job by its document: $(cat "$dir"/said.*)"
    grep -q "the broker is asked instead" "$dir/said.0" || fail "it is not said: $(cat "$dir/said.0")"
    services_are 4 2 || fail "there are $(services 0) and $(services 1) services"
    end
done
until_it "all VNIs are free" nothing_held

# ---- the broker is needed and away, with the job manager's plugin: the job ends in words, no node is drained
begin fAway1
sed -i 's|"launch": *"[^"]*"|"launch": "MCASTM.AwQFAAA"|' "$grant"
cp "$dir/node0.conf" "$dir/node0.conf.before"
sed -i 's|^url = .*|url = unix:/nowhere\nbusy_retry = 0s|' "$dir/node0.conf"
rm -f "$FAKE_FLUX/calls"
FLUX_MCAST_PUBLISHED=plugin on_nodes prolog || fail "a node fails, and would be drained: $(cat "$dir"/said.*)"
grep -q '^job raise --type=mcast --severity=0 fAway1 .*/nowhere.*submit the job again' "$FAKE_FLUX/calls" || fail "Flux is asked: $(cat "$FAKE_FLUX/calls")"
! grep -q '^resource drain' "$FAKE_FLUX/calls" || fail "a node is drained as the broker is away"
mv "$dir/node0.conf.before" "$dir/node0.conf"
end
until_it "all VNIs are free" nothing_held

# ---- without documents, by the site's wish or the broker's lack: as before
for way in none auto; do
    [ $way = none ] || { kill_broker && sed -i '/^munge_socket/d' "$dir/mcastd.conf" && start_broker; }
    MCAST_LAUNCH=$way begin fWith$way
    ! grep -q '"launch"' "$grant" || fail "a document is published with MCAST_LAUNCH=$way"
    on_nodes prolog || fail "a node fails without a document: $(cat "$dir"/said.*)"
    mcastctl show --json fWith$way | grep -q '"created"' || fail "nodes that have no document do not report"
    end
done

# ---- a job that has nothing here costs the broker nothing at its end; of one that may have had, it is asked
begin fNeverRan
asked=$(requests '/jobs/{')
for granted in '{}' '{"vnis":[]}' ''; do
    if [ -n "$granted" ]; then echo "$granted" >"$grant"; else rm "$grant"; fi
    on_nodes epilog
done
[ "$(requests '/jobs/{')" = "$asked" ] || fail "nodes ask for a job that has nothing"
echo '{"vnis":[1024]}' >"$grant"
on_nodes epilog
[ "$(requests '/jobs/{')" -gt "$asked" ] || fail "nodes do not ask for a job that they do not remember"
status=0
MOCK_RANK=0 mcast-node housekeeping --job fNeverRan --remembered || status=$?
[ $status = 3 ] || fail "housekeeping of a job that is not remembered ends with $status"
"$hooks/epilog" 2>>"$dir/flux.log"

# ---- a program reports for the node: what it cannot, the node does
echo "#!/bin/sh
echo \"\$@\" >>$dir/told && exit \$(cat $dir/status)" >"$dir/reporter"
chmod +x "$dir/reporter"
for status in 0 1; do
    echo $status >"$dir/status"
    job=fReport$((status + 1))
    begin $job
    on_nodes prolog
    number=$(grep -oE '"number": *[0-9]+' "$grant" | grep -oE '[0-9]+$')
    begun=$(requests "$reports")
    for rank in 0 1; do
        MOCK_RANK=$rank mcast-node epilog --job $job --reporter "$dir/reporter"
    done
    [ "$(requests "$reports")" = $((begun + 2 * status)) ] ||
        fail "with status $status nodes report $(($(requests "$reports") - begun)) times"
    grep -qx "elcap $job $number n1" "$dir/told" || fail "the program is told: $(cat "$dir/told")"
    services_are 0 0 || fail "services are left"
    MOCK_RANK=0 mcast-node tend
    [ "$(requests "$reports")" = $((begun + 2 * status)) ] || fail "what was told is reported once more"
    "$hooks/epilog" 2>>"$dir/flux.log"
done
expect_clean
