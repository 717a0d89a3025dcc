# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by the hooks: Flux's subcommands without `flux`, which only looks for them, at twice their own
# cost. A hook has FLUX_EXEC_PATH from its broker; where it has not, flux does it.
direct() { # direct kvs get …
    (become "$@")
}

# The same where the shell has a process for it already, in a pipe or in the background.
become() {
    become_command=$1
    [ -x "$FLUX_EXEC_PATH/flux-$become_command" ] || exec flux "$@"
    shift
    exec "$FLUX_EXEC_PATH/flux-$become_command" "$@"
}
