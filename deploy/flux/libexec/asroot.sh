# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by what runs on the nodes as root. flux-imp hands on what user flux has of FLUX_…, and by such
# variables Flux's programs are told what to run and to load (FLUX_EXEC_PATH, FLUX_CONNECTOR_PATH,
# FLUX_SSH). Whoever is flux is not yet root: so what is started here is told nothing but which broker
# it is to talk to. PATH is flux-imp's own, or that of a script of the site.
case $FLUX_URI in
local://*) asroot_keep=' PATH FLUX_URI ' ;;
*) asroot_keep=' PATH ' ;; # then it is the system's instance
esac

# Their values are this script's from here on, and nobody else's. A value with line breaks can only name
# more to unset.
asroot_exported=$(export -p)
while read -r asroot_word asroot_name; do
    [ "$asroot_word" = export ] || continue
    asroot_name=${asroot_name%%=*}
    case $asroot_name in
    '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;;
    esac
    case $asroot_keep in
    *" $asroot_name "*) continue ;;
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
