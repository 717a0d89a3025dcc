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

# Flux's subcommands without `flux`, which only looks for them, at twice their own cost, and in the
# process that the shell has for it already: $(become job info …). Each folder of PATH is root's.
asroot_commands=
asroot_path=$PATH:
while [ -n "$asroot_path" ] && [ -z "$asroot_commands" ]; do
    [ ! -x "${asroot_path%%:*}/flux" ] || asroot_commands=${asroot_path%%:*}/../libexec/flux/cmd
    asroot_path=${asroot_path#*:}
done
become() {
    become_command=$asroot_commands/flux-$1
    [ -x "$become_command" ] || exec flux "$@"
    shift
    exec "$become_command" "$@"
}
