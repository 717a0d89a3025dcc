# SPDX-License-Identifier: Apache-2.0
# What a job wishes (-o mcast…) counts at every depth: in the system's instance, in one within a job, and in
# one within that. Inside it chooses from what the instance around it has; what that has not is refused in
# words, and what is not understood is refused in each spelling, inside as at the top (F6, F12, F14, F17).
# shellcheck shell=bash
. "$(dirname "$0")/nodes.sh"
prepare
flux_conf "\"$hooks/prolog\", \"--\", \"$etc/system/prolog.d/mcast\"" \
    "\"$hooks/epilog\", \"--\", \"$etc/system/epilog.d/mcast\""
start_flux 2

# What a task has: VNIs/services/token, the last one not by itself.
cat >"$dir/probe" <<'SH'
#!/bin/sh
echo "$SLINGSHOT_VNIS/${SLINGSHOT_SVC_IDS:+services}/${FI_CXI_COLL_MCAST_TOKEN:+token}"
SH
# inside FOLDER LIST: runs the jobs of the list, "NAME OPTIONS", each of which leaves FOLDER/NAME
cat >"$dir/inside" <<'SH'
#!/bin/sh
here=$(dirname "$0")
mkdir -p "$1"
while read -r name options; do
    # shellcheck disable=SC2086  # words
    flux run $options "$here/probe" >"$1/$name" 2>&1 </dev/null || true
done <"$2"
SH
# deeper FOLDER LIST OPTIONS: the same in an instance within a job with these options
cat >"$dir/second" <<SH
#!/bin/sh
"$dir/inside" "$dir/level2" "$dir/all"
deeper() {
    name=\$1 list=\$2
    shift 2
    flux run -N2 -n2 "\$@" flux start "$dir/inside" "$dir/\$name" "$dir/\$list" >"$dir/\$name.said" 2>&1 </dev/null || echo "\$name ends with \$?"
}
deeper level3 all
deeper narrow list -o mcast.vnis=1
deeper software list -o mcast.hwcoll=off
deeper without list -o mcast=off
SH
chmod +x "$dir/probe" "$dir/inside" "$dir/second"
cat >"$dir/list" <<'LIST'
plain
on -o mcast=on
off -o mcast=off
one -o mcast.vnis=1
none -o mcast.vnis=0
no-addresses -o mcast.hwcoll=off
one-no-addresses -o mcast.vnis=1 -o mcast.hwcoll=off
required -N2 -n2 -o mcast.hwcoll=required
small -N1 -o mcast.hwcoll=required
three -o mcast.vnis=3
LIST
cat >"$dir/wrong" <<'LIST'
typo -o mcast.typo=1
typo-null -o mcast.typo=null
typo-text -o mcast.hwcol=off
typo-attribute --setattr=system.shell.options.mcast.typo=1
typo-beside -o mcast.vnis=1 -o mcast.typo=1
below -o mcast.vnis.x=1
below-hwcoll -o mcast.hwcoll.x=1
word -o mcast=of
empty -o mcast=
number -o mcast=2
list -o mcast=["off"]
few -o mcast.vnis=few
minus -o mcast.vnis=-1
half -o mcast.vnis=1.5
yes -o mcast.hwcoll=yes
LIST
cat >"$dir/chosen" <<'LIST'
tc -o mcast.tc=best_effort
shared -o mcast.shared=daos
profile -o mcast.profile=large
single-node -o mcast.single-node=on
LIST

"$dir/inside" "$dir/top" "$dir/wrong"
cat "$dir/list" "$dir/wrong" "$dir/chosen" >"$dir/all"
flux run -N2 -n2 -o mcast.vnis=2 flux start "$dir/second" >"$dir/second.said" 2>&1 || fail "the instance fails: $(cat "$dir/second.said")"

has() { # has FOLDER WORDS NAME…: these jobs have that
    local folder=$1 words=$2 name
    shift 2
    for name; do
        [ "$(grep / "$dir/$folder/$name" | sort -u)" = "$words" ] || fail "$folder: '$name' has: $(cat "$dir/$folder/$name")"
    done
}
refused() { # refused FOLDER WORDS NAME…: these are refused so, and do not run
    local folder=$1 words=$2 name
    shift 2
    for name; do
        ! grep -q '/.*/' <(grep -v flux-shell "$dir/$folder/$name") || fail "$folder: '$name' runs: $(cat "$dir/$folder/$name")"
        grep -qF -- "$words" "$dir/$folder/$name" || fail "$folder: '$name' is refused so: $(cat "$dir/$folder/$name")"
    done
}
wrong() { # wrong FOLDER: what is not understood
    # shellcheck disable=SC2046  # names
    refused "$1" "-o mcast" $(cut -d' ' -f1 "$dir/wrong")
}

wrong top
vnis=$(cut -d/ -f1 "$dir/level2/plain")
first=${vnis%,*}
[[ $vnis == *,* ]] || fail "the instance has no two VNIs: $(cat "$dir/level2/plain")"
for level in level2 level3; do
    has $level "$vnis/services/token" plain on required
    has $level "//" off
    has $level "$first/services/token" one
    has $level "//token" none
    has $level "$vnis/services/" no-addresses
    has $level "$first/services/" one-no-addresses
    refused $level "the job has 1 node, hardware collectives need at least 2" small
    refused $level "the instance around this job has 2" three
done
has narrow "$first/services/token" plain one required
refused narrow "the instance around this job has 1" three
has software "$vnis/services/" plain no-addresses
refused software "the instance around this job has none" required
has without "//" plain on off none no-addresses
refused without "the instance around this job has 0" one three one-no-addresses
refused without "the instance around this job has none" required
for level in level2 level3; do
    wrong $level
    refused $level "is chosen for the instance around this job" tc shared profile single-node
done
expect_clean
