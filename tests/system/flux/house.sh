# Sourced by the tests of this folder: mock-fm, mcastd and a Flux instance with our hooks, in a folder of
# their own. Usage of each test: TEST.sh BUILD. One that needs no Flux sets fake_flux to a folder with
# another program of that name.
# shellcheck shell=bash disable=SC2034  # the tests use what is set here
set -euo pipefail
build=$(readlink -f "$1")
[ -n "${fake_flux:-}" ] || [ -x "${FLUX_PREFIX:-/none}/bin/flux" ] || {
    echo "skipped: FLUX_PREFIX names no installation of flux-core"
    exit 77
}
PATH=$build/bin:${fake_flux:-${FLUX_PREFIX:-}/bin}:/usr/local/bin:/usr/bin:/bin
hooks=$build/libexec/mcastd/flux
etc=$build/etc/flux

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-flux.XXXXXX")
# As if our pieces lay in Flux's own folders; the shells have this from their job's environment.
# (the names of nodes and their cores are made up, so nothing can be bound to a core)
export FLUX_RC_EXTRA=$etc FLUX_SHELL_RC_PATH=$etc/shell/lua.d
export no_proxy='*' MCAST_URL="unix:$dir/mcastd.sock" MCAST_CLUSTER=elcap LC_ALL=C.UTF-8
# An instance of somebody around this one would be taken for the outer job.
unset "${!FI_CXI_@}" "${!SLINGSHOT_@}" "${!SLURM_@}" FLUX_URI FLUX_JOB_ID FLUX_JOB_ID_PATH
broker='' fm='' instance='' service=''

fail() {
    echo "$(basename "$0"): $*" >&2
    for log in mcastd mock-fm flux; do
        [ ! -s "$dir/$log.log" ] || { echo "---- end of $log.log" && tail -n 40 "$dir/$log.log"; } >&2
    done
    exit 1
}

# shellcheck disable=SC2317  # called by the trap
tidy_up() {
    local status=$? pid
    trap - EXIT
    # A service of several programs is a group of its own.
    for pid in ${service:+-$service} $instance $broker $fm; do
        kill -- "$pid" 2>/dev/null || true
    done
    wait
    if [ -n "${MCAST_KEEP:-}" ]; then echo "kept: $dir" >&2; else rm -rf "$dir"; fi
    exit $status
}
trap tidy_up EXIT
trap 'exit 130' INT TERM

until_it() { # until_it WHAT COMMAND…: asks again until it holds, for at most two minutes
    local what=$1 end=$((SECONDS + 120))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "$what: not within two minutes"
        sleep 0.05
    done
}

link_is_up() {
    kill -0 "$broker" 2>/dev/null || fail "mcastd has ended"
    [[ $(mcastctl --json status 2>/dev/null) =~ \"link\":\ ?\"up\" ]]
}

start_fm() {
    local port=0
    [ ! -s "$dir/port" ] || port=$(cat "$dir/port")
    rm -f "$dir/port.new"
    mock-fm --listen "127.0.0.1:$port" --port-file "$dir/port.new" --auth basic --authdir "$dir" \
        --state "$dir/fm.state" >>"$dir/mock-fm.log" 2>&1 &
    fm=$!
    until_it "mock-fm writes its port" test -s "$dir/port.new"
    cp "$dir/port.new" "$dir/port"
    url=http://127.0.0.1:$(cat "$dir/port")
}

launch_broker() {
    mcastd --config "$dir/mcastd.conf" >>"$dir/mcastd.log" 2>&1 &
    broker=$!
}

start_broker() {
    launch_broker
    until_it "mcastd reaches the fabric manager" link_is_up
}

kill_broker() {
    kill -9 "$broker"
    wait "$broker" 2>/dev/null || true
    broker=
}

# prepare: mock-fm and mcastd; jobs of two nodes are eligible for multicast addresses.
prepare() {
    (umask 077 && head -c 18 /dev/urandom | base64 >"$dir/passwd")
    start_fm
    cat >"$dir/mcastd.conf" <<CONF
[broker]
socket = $dir/mcastd.sock
sync_grace = 1s
[state]
path = $dir/state.db
key_file = $dir/state.key
[fm]
url = $url
auth = basic
authdir = $dir
[hwcoll]
min_nodes = 2
addresses_per_job = 8
[vni]
hold = ${hold:-1s}
[cluster "elcap"]
users = $(id -un)
${list:+list_command = /bin/false
list_every = 1s}
CONF
    (cd "$dir" && mcastd --config "$dir/mcastd.conf" --make-key >>"$dir/mcastd.log" 2>&1)
    start_broker
    mkdir -p "$dir/etc"
    flux_conf "\"$hooks/prolog\"" "\"$hooks/epilog\""
}

# flux_conf PROLOG EPILOG: the instance's configuration, with these commands ('"a", "b"').
flux_conf() {
    cat >"$dir/etc/flux.toml" <<CONF
[job-manager]
plugins = [{ load = "perilog.so" }]
[job-manager.prolog]
command = [$1]
[job-manager.epilog]
command = [$2]
CONF
}

# start_flux SIZE [OPTIONS…]: an instance that this script talks to, through FLUX_URI.
start_flux() {
    local size=$1
    shift
    # Nodes with names and cores of their own, whatever this host is, or those that a test pretends.
    flux R encode --hosts="n[0-$((size - 1))]" --cores=0-63 >"$dir/R"
    [ -n "${pretended:-}" ] ||
        printf '[resource]\npath = "%s"\nnoverify = true\n' "$dir/R" >>"$dir/etc/flux.toml"
    # shellcheck disable=SC2016 # that shell expands it
    flux start --test-size="$size" \
        --test-hosts="n[0-$((size - 1))]" --config-path="$dir/etc" "$@" \
        sh -c 'flux getattr local-uri >"$1.new" && mv "$1.new" "$1" && exec sleep inf' sh "$dir/uri" \
        >>"$dir/flux.log" 2>&1 &
    instance=$!
    until_it "Flux starts" test -s "$dir/uri"
    FLUX_URI=$(cat "$dir/uri")
    export FLUX_URI
}

fm_asks() { curl -sS --fail-with-body -u "cxi:$(cat "$dir/passwd")" "$@"; }
# Who cannot be asked holds something, as far as is known.
fm_holds_nothing() {
    local state
    state=$(fm_asks "$url/mock/state") && ! grep -q '"jobID"' <<<"$state"
}
none_active() {
    local list
    list=$(mcastctl list --json) && ! grep -q '"state": *"active"' <<<"$list"
}

# Nothing is left, neither here nor there.
expect_clean() {
    until_it "every reservation is released ($(mcastctl list 2>&1))" none_active
    until_it "the fabric manager holds nothing" fm_holds_nothing
}
