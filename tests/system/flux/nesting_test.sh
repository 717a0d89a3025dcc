# SPDX-License-Identifier: Apache-2.0
# Three levels of Flux: what the outer job was given is handed on with a step of its own for each job
# (F6, F17), and trees that a job leaves are removed when it ends, at any depth; also when the job
# around it is killed with all that it has, and runs no epilog (F19).
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
prepare
start_flux 2

# tree NAME NIC: makes a multicast tree for the step in the environment, as libfabric does, and leaves it.
cat >"$dir/tree" <<'SH'
#!/bin/sh
set -e
umask 077
here=$(dirname "$0")
exec 2>"$here/$1.trouble"
printf 'header = "Authorization: Bearer %s"\n' "$FI_CXI_COLL_MCAST_TOKEN" >"$here/$1.token"
curl -sS --fail-with-body -o "$here/$1.answer" -K "$here/$1.token" -d "{
  \"macs\": [\"1:12:$2\", \"1:13:$2\"], \"vni\": 1024, \"timeout\": 20000000,
  \"jobID\": \"$FI_CXI_COLL_JOB_ID\", \"jobStepID\": \"$FI_CXI_COLL_JOB_STEP_ID\"}" \
    "$FI_CXI_COLL_FABRIC_MGR_URL"
echo "$FI_CXI_COLL_JOB_STEP_ID $FLUX_JOB_ID_PATH" >"$here/$1.step.new"
mv "$here/$1.step.new" "$here/$1.step"
SH
cat >"$dir/outer" <<'SH'
#!/bin/sh
cd "$(dirname "$0")"
flux run ./tree first 01
flux submit sh -c './tree stays 02; sleep inf' >/dev/null
flux submit -N2 -n2 flux start ./inner >inner.id
exec sleep inf
SH
cat >"$dir/inner" <<'SH'
#!/bin/sh
cd "$(dirname "$0")"
flux run ./tree deep 03
flux submit sh -c './tree running 04; sleep inf' >/dev/null
exec sleep inf
SH
chmod +x "$dir/tree" "$dir/outer" "$dir/inner"

trees() { # the steps that have one
    fm_asks "$url/mock/state" | grep -oE '"jobStepID": ?"[^"]*"' | cut -d'"' -f4 | sort | paste -sd ' '
}
trees_are() { [ "$(trees)" = "$(printf '%s\n' "$@" | sort | paste -sd ' ')" ]; }
step_of() { # what a job took for its step, which is where it lies
    local step path
    until_it "the job '$1' makes its tree" test -s "$dir/$1.step"
    read -r step path <"$dir/$1.step"
    [ "$step" = "${path//ƒ/f}" ] || fail "the step of $path is $step"
    echo "$step"
}
depth() { tr -cd / <<<"$1" | wc -c; }

outer=$(flux job id --to=f58plain "$(flux submit -N2 flux start "$dir/outer")")
first=$(step_of first) stays=$(step_of stays) deep=$(step_of deep) running=$(step_of running)
[[ $first == "/$outer/"* && $(depth "$first") = 2 ]] || fail "the outer instance's job has the step $first"
[[ $deep == "/$outer/"* && $(depth "$deep") = 3 ]] || fail "the inner instance's job has the step $deep"

# ---- what has ended has none, what runs has
until_it "trees of ended jobs are gone, others not ($(trees))" trees_are "$stays" "$running"

# ---- the inner instance is killed: nobody there runs an epilog
inner=$(cat "$dir/inner.id")
outer_uri=$(flux uri --local "$outer")
flux proxy "$outer_uri" flux job kill --signal=SIGKILL "$inner"
flux proxy "$outer_uri" flux job wait-event --quiet "$inner" clean >/dev/null
until_it "trees below the killed instance are gone ($(trees))" trees_are "$stays"

# ---- and the outer one, with what still runs in it
flux cancel "$outer"
flux job wait-event --quiet "$outer" clean >/dev/null
expect_clean
until_it "no tree is left" trees_are
