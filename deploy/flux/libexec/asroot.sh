# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by what runs on the nodes as root. flux-imp hands on what user flux has of FLUX_…, and by such
# variables Flux's programs are told what to run and to load (FLUX_EXEC_PATH, FLUX_CONNECTOR_PATH,
# FLUX_SSH). Whoever is flux is not yet root: so what is started here is told nothing but which broker
# it is to talk to. PATH is flux-imp's own, or that of a script of the site.
case $FLUX_URI in
local://*) ;;
*) FLUX_URI= ;; # then it is the system's instance
esac

clean() { # clean flux job info …
    env -i PATH="$PATH" ${FLUX_URI:+"FLUX_URI=$FLUX_URI"} "$@"
}
