# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by what runs on the nodes as root. flux-imp hands on what user flux has of FLUX_…, and by such
# variables Flux's programs are told what to run and to load (FLUX_EXEC_PATH, FLUX_CONNECTOR_PATH,
# FLUX_SSH). User flux is not root: so what is started here is told nothing but which broker
# it is to talk to. PATH is flux-imp's own, or that of a script of the site.
unset asroot_exported asroot_word asroot_name asroot_value
case $FLUX_URI in
local://*) ;;
*) unset FLUX_URI ;; # then it is the system's instance
esac

# From here on only this script has their values. A value with line breaks can only name
# more to unset, and not what is needed here. bash says "declare -x" where it is not run as sh.
asroot_exported=$(export -p)
while read -r asroot_word asroot_name; do
    case $asroot_word in export | declare) ;; *) continue ;; esac
    asroot_name=${asroot_name#-x } asroot_name=${asroot_name%%=*}
    case $asroot_name in
    PATH | FLUX_URI | asroot_*) continue ;;
    '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;;
    esac
    case $asroot_name in
    folder | FLUX_JOB_ID | FLUX_MCAST_PUBLISHED)
        eval "asroot_value=\$$asroot_name"
        unset "$asroot_name"
        eval "$asroot_name=\$asroot_value"
        ;;
    *) unset "$asroot_name" ;;
    esac
done <<EOF
$asroot_exported
EOF

# shellcheck source=deploy/flux/libexec/direct.sh disable=SC2154 # the hook says folder
. "$folder/direct.sh"
