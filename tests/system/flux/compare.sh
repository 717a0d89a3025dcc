# SPDX-License-Identifier: Apache-2.0
# What flux-coral2's cray-slingshot and mcastd add to a job, against no plugin: three instances side by side, jobs
# in turn, on one node with and without its part (services on mock-cxi), and on 1,024 pretended nodes, which
# have no part. Not a test: figures of one machine, medians, whichever side they favour.
#
#   compare.sh BUILD [ROUNDS]     needs what coral2.sh has built in BUILD, root and munged (launch documents)
#
# Per job: flux run true (one node), and by its eventlog from alloc to start, and from finish to clean. What does not
# depend on what else runs: the programs that its hooks start on a node (strace).
# shellcheck shell=bash
nodes=1
. "$(dirname "$0")/nodes.sh"
rounds=${2:-30}
plugin=$build/lib/flux/mcast.so coral2=$build/flux-coral2
theirs=$coral2/src/job-manager/plugins/.libs/cray-slingshot.so
if [ ! -e "$plugin" ] || [ ! -e "$theirs" ]; then skip "needs both plugins"; fi
unset FLUX_RC_EXTRA
hold=reports
start_munged
prepare
export FLUX_MCAST_PUBLISHED=plugin MOCK_CXI=$dir/node0 LD_LIBRARY_PATH=$build/lib/mock-cxi
export FLUX_EXEC_PATH_PREPEND=$coral2/src/cmd
mkdir "$dir/none.d" "$dir/coral2.d"
echo "plugin.load { file = \"$coral2/src/shell/plugins/.libs/cray-slingshot.so\", conf = {} }" >"$dir/coral2.d/coral2.lua"
mcast='{ load = "'$plugin'", conf = { cluster = "elcap" } }'
declare -A uri lua=([none]=$dir/none.d [coral2]=$dir/coral2.d [mcastd]=$etc/shell/lua.d)
declare -A plugins=([none]='' [coral2]="{ load = \"$theirs\" }" [mcastd]=$mcast)
declare -A prolog=([none]=/bin/true [coral2]=$coral2/etc/slingshot-cxi-alloc.sh [mcastd]=$etc/system/prolog.d/mcast)
declare -A epilog=([none]=/bin/true [coral2]=$coral2/etc/slingshot-cxi-free.sh [mcastd]=$etc/system/epilog.d/mcast)

begin() { # begin NODE-PART MORE: one instance of each, in $uri
    local of
    for of in none coral2 mcastd; do
        {
            printf '[job-manager]\nplugins = [%s%s]\n' "${plugins[$of]}" \
                "$([ "$1" = no ] || echo "${plugins[$of]:+, }{ load = \"perilog.so\" }")"
            [ "$1" = no ] || printf '[job-manager.%s]\ncommand = ["%s"]\nper-rank = true\n' \
                prolog "${prolog[$of]}" epilog "${epilog[$of]}"
            printf '[cray-slingshot]\ncxi-enable = true\n%b' "$2"
        } >"$dir/etc/flux.toml"
        start_flux 1
        uri[$of]=$FLUX_URI
    done
}
median() { sort -g | awk '{v[NR] = $1} END {printf "%8.1f", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }
phase() { # phase FROM TO: of the last job of this instance, ms
    flux job eventlog --time-format=raw "$(flux job last)" |
        awk -v from="$1" -v to="$2" '$2 == from {a = $1} $2 == to {b = $1} END {print (b - a) * 1000}'
}
measure() { # measure NAME WAYS… -- JOB…: rounds of each way, in turn; a way is an instance, or one and an option after ":"
    local name=$1 ways=() way start i
    shift
    while [ "$1" != -- ]; do ways+=("$1") && shift; done
    shift
    for ((i = 0; i <= rounds; i++)); do # the first is not counted
        for way in "${ways[@]}"; do
            export FLUX_URI=${uri[${way%%:*}]} FLUX_SHELL_RC_PATH=${lua[${way%%:*}]}
            start=$EPOCHREALTIME
            # shellcheck disable=SC2046 # words
            flux "$@" $([[ $way != *:* ]] || echo -o "${way#*:}") true >/dev/null 2>"$dir/err" || fail "$name, $way: $(cat "$dir/err")"
            flux job wait-event -q -t 120 "$(flux job last)" clean
            [ $i -gt 0 ] || continue
            echo $(((${EPOCHREALTIME/./} - ${start/./}) / 1000)) >>"$dir/$name.$way.whole"
            phase alloc start >>"$dir/$name.$way.start"
            phase finish clean >>"$dir/$name.$way.end"
        done
    done
    echo "$name: ms of a job until it is clean, from alloc to start, from finish to clean"
    for way in "${ways[@]}"; do
        printf '  %-28s %s %s %s\n' "$way" "$(median <"$dir/$name.$way.whole")" \
            "$(median <"$dir/$name.$way.start")" "$(median <"$dir/$name.$way.end")"
    done
}

echo "$rounds rounds, medians, $(flux version | sed -n 's/^libflux-core:[[:space:]]*//p'), $(nproc) processors, load $(cut -d' ' -f1 </proc/loadavg)"
nics 0 0
export MCAST_NODE_CONFIG=$dir/none
begin no ''
measure "one node, without its part" none coral2 mcastd -- run -n1
nics 0 4
export MCAST_NODE_CONFIG=$dir/node0.conf
begin yes ''
measure "one node, with its part" none coral2 mcastd -- run -n1
if command -v strace >/dev/null; then
    for of in coral2 mcastd; do
        export FLUX_URI=${uri[$of]}
        id=$(flux submit -n1 sleep inf)
        flux job wait-event -q -t 60 "$id" start
        export FLUX_JOB_ID=$id FLUX_JOB_USERID=0
        strace -f -qq -e trace=execve -o "$dir/programs" "${prolog[$of]}" 2>/dev/null || true
        printf 'programs that a node starts for a job: %s prolog %s' $of "$(grep -cE "execve(\(.*| resumed>.*)= 0\$" "$dir/programs")"
        strace -f -qq -e trace=execve -o "$dir/programs" "${epilog[$of]}" 2>/dev/null || true
        printf ', epilog %s\n' "$(grep -cE "execve(\(.*| resumed>.*)= 0\$" "$dir/programs")"
        unset FLUX_JOB_ID FLUX_JOB_USERID
        flux cancel "$id"
    done
fi
pretended=yes
begin no '[fake-resources]\nnnodes = 1024\ncores-per-node = 8\n'
measure "1,024 pretended nodes" none coral2 mcastd:mcast.hwcoll=off mcastd -- \
    submit -N1024 --setattr=system.exec.test.run_duration=0.01s
