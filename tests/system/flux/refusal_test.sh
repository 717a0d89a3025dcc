# SPDX-License-Identifier: Apache-2.0
# With the job manager's plugin a node's prolog runs by itself on each rank. A node that refuses a job ends
# it with the cause and the next step as the exception's note, and is drained with the same words where the
# fault is its own; nothing else is drained (F7, F9, F10, F14).
# shellcheck shell=bash
nodes=4
. "$(dirname "$0")/nodes.sh"
plugin=$build/lib/flux/mcast.so
[ -e "$plugin" ] || skip "the plugin was not built (PKG_CONFIG_PATH=$FLUX_PREFIX/lib/pkgconfig)"
export FLUX_MCAST_PUBLISHED=plugin FLUX_EXEC_PATH=$build/libexec/flux/cmd
hold=reports
documents=
if [ "$(id -u)" = 0 ] && [ -x /usr/sbin/munged ]; then documents=yes && start_munged; fi
prepare
cat >"$dir/etc/flux.toml" <<CONF
[job-manager]
plugins = [{ load = "perilog.so" }, { load = "$plugin", conf = { cluster = "elcap" } }]
[job-manager.prolog]
command = ["$etc/system/prolog.d/mcast"]
per-rank = true
[job-manager.epilog]
command = ["$etc/system/epilog.d/mcast"]
per-rank = true
CONF
start_flux 4

drained() { flux resource drain -n -o '{ranks} {reason}'; }
# refused WORDS OPTIONS…: the job's exception has them, it has none of another type, and its tasks do not start
refused() {
    local words=$1 said
    shift
    ! said=$(flux run "$@" true 2>&1) || fail "'$*' is not refused"
    id=$(flux job last)
    flux job wait-event --quiet --timeout=180 "$id" clean >/dev/null || fail "it does not end: $(flux job eventlog "$id")"
    [[ $said == *"type=mcast severity=0 "*"$words"* ]] || fail "'$*' is told: $said"
    [[ $(flux jobs -no '{exception.type}: {exception.note}' "$id") == "mcast: "*"$words"* ]] || fail "flux jobs has another note: $(flux jobs -no '{exception.note}' "$id")"
    ! flux job eventlog "$id" | grep ' exception ' | grep -qv 'type="mcast"' || fail "it has other exceptions: $(flux job eventlog "$id")"
    ! flux job eventlog "$id" | grep -q ' start$' || fail "it was started"
}

echo "# a node that is at fault"
nics 1 0
refused "the node has 0 NICs" -N4
refused_note=$(flux jobs -no '{exception.note}' "$id")
[[ $refused_note == *"(on n1, which is drained now: submit the job again, it gets another node)" ]] || fail "the next step is not said: $refused_note"
[[ $(drained) == "1 mcast: "*"0 NICs"* ]] || fail "drained is: $(drained)"
until_it "what the others made is undone" services_are 0 0 0 0
explained=$(flux mcast explain "$id")
[[ $explained == *"-> it is the node that is at fault"*"submit the job again"* ]] || fail "it is explained: $explained"
flux run -N3 true || fail "the other nodes take no job"

flux resource undrain 1

echo "# two at once: each is drained, or looked at by the next job"
nics 1 0
nics 2 0
refused "the node has 0 NICs" -N4
[ -n "$(drained)" ] || fail "no node is drained"
nics 1 2
nics 2 2
flux resource undrain "$(flux resource drain -n -o '{ranks}')"

echo "# a NIC that makes no service"
nics 3 2 '[fault broken]\ncall = alloc_svc\nnic = cxi1\nerrno = EIO\n'
refused "cxi1" -N4
[[ $(drained) == "3 mcast: "*cxi1* ]] || fail "drained is: $(drained)"
nics 3 2
until_it "the half that was made is undone" services_are 0 0 0 0
flux resource undrain 3

echo "# a job that a node cannot have is no fault of the node"
echo 'traffic_classes = bulk_data' >>"$dir/node1.conf"
refused "none of the job's traffic classes is allowed on this node" -N4
[ -z "$(drained)" ] || fail "drained is: $(drained)"
sed -i '$d' "$dir/node1.conf"

echo "# nor is an option that is not understood: no node waits for what does not come"
refused "-o mcast.hwcol is none of" -N4 -o mcast.hwcol=on
[ -z "$(drained)" ] || fail "drained is: $(drained)"

echo "# no mcast-node on a node, and it says nothing"
cp "$dir/bin/mcast-node" "$dir/mcast-node"
# shellcheck disable=SC2016  # for the script
sed -i '2a[ "${FLUX_URI##*-} $1" != "2 prolog" ] || exit 127' "$dir/bin/mcast-node"
refused "(on n2, which is drained now" -N4
[[ $(drained) == "2 mcast: mcast-node prolog ended with 127 and said nothing" ]] || fail "drained is: $(drained)"
cp "$dir/mcast-node" "$dir/bin/mcast-node"
flux resource undrain 2

# Without documents the reservation is in the KVS, and the broker is not needed.
if [ "$documents" ]; then
    echo "# the broker is needed, and no way leads there from one node: the first job ends, the second drains that node"
    cp "$dir/node3.conf" "$dir/node3.conf.before"
    sed -i 's|^url = .*|url = unix:/nowhere\nbusy_retry = 0s|; s|^launch_user = .*|launch_user = no_such_user|' "$dir/node3.conf"
    refused "cannot reach mcastd at /nowhere" -N4
    [ -z "$(drained)" ] || fail "a broker that may be away for all drains $(drained)"
    read -r boot ms job <"$dir/spool3/unreached"
    echo "$boot $((ms - 60000)) $job" >"$dir/spool3/unreached" # as if a minute ago
    refused "this node, or all nodes, cannot reach the broker" -N4
    [[ $(drained) == "3 mcast: this node, or all nodes, cannot reach the broker, "*/nowhere*dry-run* ]] || fail "drained is: $(drained)"
    mv "$dir/node3.conf.before" "$dir/node3.conf"
    flux resource undrain 3
    echo 0 >"$dir/spool3/missed" # its turn to ask what it missed, which is that there is nothing of both
    MOCK_RANK=3 mcast-node tend || fail "tend fails where all is mended"
fi

echo "# a broker that is away, and jobs that may start without: nodes do not wait for what is not published"
flux jobtap remove mcast.so
flux jobtap load "$plugin" cluster=elcap optional=true patience=1
kill_broker
flux run -N4 true || fail "a job that may start without ends: $(flux jobs -no '{exception.note}' "$(flux job last)")"
[ -z "$(drained)" ] || fail "a broker that is away drains $(drained)"
start_broker
flux jobtap remove mcast.so
flux jobtap load "$plugin" cluster=elcap

flux run -N4 true || fail "all is as it was, and a job fails"
expect_clean
until_it "all VNIs are free" nothing_held
