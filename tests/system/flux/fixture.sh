# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder: the house of all tests in shell, and a Flux instance with our hooks.
# Usage of each test: TEST.sh BUILD. One that needs no Flux sets fake_flux to a folder with another program of
# that name.
# shellcheck shell=bash disable=SC2034  # the tests use what is set here
build=$(readlink -f "$1")
skip() {
    echo "skipped: $*"
    exit 77
}
[ -n "${fake_flux:-}" ] || [ -x "${FLUX_PREFIX:-/none}/bin/flux" ] ||
    skip "FLUX_PREFIX names no installation of flux-core; ./dev flux DIR runs it"
PATH=$build/bin:${fake_flux:-${FLUX_PREFIX:-}/bin}:/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin
hooks=$build/libexec/mcastd/flux
etc=$build/etc/flux
# shellcheck source=tests/system/rig/fixture.sh
. "$(dirname "$0")/../rig/fixture.sh"
# As if our pieces lay in Flux's own folders; the shells have this from their job's environment.
export FLUX_RC_EXTRA=$etc FLUX_SHELL_RC_PATH=$etc/shell/lua.d

mkdir "$dir/etc" "$dir/run"

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

flux_conf "\"$hooks/prolog\"" "\"$hooks/epilog\""

# start_flux SIZE [OPTIONS…]: an instance that this script talks to, through FLUX_URI; of user $owner.
start_flux() {
    local size=$1
    shift
    rm -f "$dir/run/uri"
    # Nodes with names and cores of their own, whatever this host is, or those that a test pretends.
    flux R encode --hosts="n[0-$((size - 1))]" --cores=0-63 >"$dir/R"
    [ -n "${pretended:-}" ] ||
        printf '[resource]\npath = "%s"\nnoverify = true\n' "$dir/R" >>"$dir/etc/flux.toml"
    # shellcheck disable=SC2016 # that shell expands it
    ${owner:+runuser -u "$owner" --} flux start --test-size="$size" \
        --test-hosts="n[0-$((size - 1))]" --config-path="$dir/etc" "$@" \
        sh -c 'echo $$ >"$1.pid"; flux getattr local-uri >"$1.new" && mv "$1.new" "$1" && exec sleep inf' sh "$dir/run/uri" \
        >>"$dir/flux.log" 2>&1 &
    instance=$!
    others="$instance $others"
    until_it "Flux starts" test -s "$dir/run/uri"
    # flux start would leave its brokers running; they end when the program does that they were started for.
    program=$(cat "$dir/run/uri.pid")
    others="$program ${others#"$instance "}"
    FLUX_URI=$(cat "$dir/run/uri")
    export FLUX_URI
}

stop_flux() {
    kill "$program"
    wait "$instance" || true
}

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
