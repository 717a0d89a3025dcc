# shellcheck shell=sh
# Sourced by the hooks: Flux's subcommands without `flux`, which only looks for them, at twice their own
# cost. A hook has FLUX_EXEC_PATH from its broker; where it has not, flux does it.
direct() { # direct kvs get …
    direct_command=$1
    if [ -x "$FLUX_EXEC_PATH/flux-$direct_command" ]; then
        shift
        "$FLUX_EXEC_PATH/flux-$direct_command" "$@"
    else
        flux "$@"
    fi
}
