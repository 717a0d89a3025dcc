# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by the services that act on lost reservations, Flux's raise-lost and Slurm's act-on-lost
# (F22, F23): follows mcastd's events, and survives that mcastd or the resource manager is away.
#
# Each sets lost_manager, its resource manager's name, has
#
#   lost_act JOB NUMBER WORDS   acts on a job that has lost its reservation of that number. 0: done, or
#                               there is nothing to do; 1: not now, $said has why. It may be called
#                               more than once for the same, also after a restart of this service.
#
# and ends with lost_follow FILE, for cluster $MCAST_CLUSTER. FILE keeps the number of the last event
# that was seen to. Exit status: 1 who runs this may not, 2 usage (the words say which; starting it
# again changes nothing), 4 mcastd was away for too long.

lost_retry=1h
say() { echo "mcast: $*" >&2; }

lost_remember() { echo "$1" >"$lost_state"; }

# Of an event or a reservation, which is one line of JSON with its words last: lost_field NAME puts its
# first field of this name into $value. A quote within a text has a backslash before it, so no text
# looks like a field.
lost_field() {
    case $line in
    *"\"$1\":"*) value=${line#*"\"$1\":"} ;;
    *) value= && return ;;
    esac
    case $value in
    '"'*) value=${value#\"} && value=${value%%\"*} ;;
    *) value=${value%%[!0-9]*} ;;
    esac
}

# The resource manager may be away just now, or not quite there yet.
lost_see_to() { # lost_see_to FIELD: of $line, a fatal event or a reservation; its words are in FIELD
    lost_field cluster
    [ "$value" = "$MCAST_CLUSTER" ] || return 0
    lost_field job && lost_job=$value
    lost_field "$1" && lost_words=$value
    lost_field number && lost_number=$value
    lost_pause=1 lost_before=
    until lost_act "$lost_job" "$lost_number" "$lost_words" </dev/null; do
        [ "$said" = "$lost_before" ] ||
            say "$lost_job has lost its addresses, and $lost_manager cannot be told yet: $said"
        lost_before=$said
        sleep "$lost_pause"
        [ "$lost_pause" -ge 60 ] || lost_pause=$((lost_pause * 2))
    done
}

# Some events are no longer kept. What was lost meanwhile, and still runs, is in the list.
lost_catch_up() {
    lost_listed=$(mcastctl list --json --state active --patience "$lost_retry") || exit 4
    while IFS= read -r line; do
        case $line in
        *'"hwcoll":{"state":"lost"'*) lost_see_to reason ;;
        esac
    done <<END
$lost_listed
END
}

# Not a pipe: this must be able to end before what it reads from.
lost_read_events() { # lost_read_events AFTER
    rm -f "$lost_state.events"
    mkfifo -m 600 "$lost_state.events" || exit 2
    mcastctl events --json --follow --after "$1" --patience "$lost_retry" >"$lost_state.events" &
    lost_follower=$!
    while IFS= read -r line; do
        case $line in
        '{"from":'*)
            lost_catch_up
            continue
            ;;
        *'"fatal":true'*) lost_see_to detail ;;
        esac
        value=${line#'{"seq":'}
        value=${value%%[!0-9]*}
        [ -z "$value" ] || lost_remember "$value"
    done <"$lost_state.events"
    wait "$lost_follower"
}

lost_follow() {
    lost_state=$1 lost_last=0
    [ ! -e "$lost_state" ] || read -r lost_last <"$lost_state" || lost_last=0
    case $lost_last in '' | *[!0-9]*) lost_last=0 ;; esac
    lost_follower=
    trap '[ -z "$lost_follower" ] || kill "$lost_follower" 2>/dev/null; rm -f "$lost_state.events"' EXIT
    trap 'exit 143' TERM INT HUP

    lost_read_events "$lost_last"
    lost_status=$?
    # The ledger is an older copy, and what is new in it has numbers that were seen to before it was.
    if [ "$lost_status" = 3 ]; then
        lost_remember 0
        say "mcastd has no event of the number in $lost_state (above): looking at all events that it keeps"
        lost_read_events 0
        lost_status=$?
    fi
    case $lost_status in
    1) say "mcastd does not let $(id -un) follow its events (above): it must be among the users of [cluster \"$MCAST_CLUSTER\"] in mcastd.conf" ;;
    4) say "mcastd has been away for $lost_retry" ;;
    esac
    exit "$lost_status"
}
