# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by the hooks: Flux's subcommands without `flux`, which only looks for them, at twice their own
# cost. A hook has FLUX_EXEC_PATH from its broker; else they are where flux belongs to; else flux does it.
direct() { # direct kvs get …
    (become "$@")
}

become_folders=${FLUX_EXEC_PATH:+$FLUX_EXEC_PATH:}
become_rest=$PATH:
while [ -n "$become_rest" ]; do
    if [ -x "${become_rest%%:*}/flux" ]; then
        become_folders=$become_folders${become_rest%%:*}/../libexec/flux/cmd:
        become_rest=:
    fi
    become_rest=${become_rest#*:}
done

# The same where the shell has a process for it already, in $(…), a pipe or the background.
become() {
    become_command=$1
    become_rest=$become_folders
    while [ -n "$become_rest" ]; do
        if [ -x "${become_rest%%:*}/flux-$become_command" ]; then
            shift
            exec "${become_rest%%:*}/flux-$become_command" "$@"
        fi
        become_rest=${become_rest#*:}
    done
    exec flux "$@"
}
