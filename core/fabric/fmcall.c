/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fabric/fmcall.h"

static const char *const kinds[] = {
    [FMCALL_NONE] = "none",         [FMCALL_RESERVE] = "reserve", [FMCALL_CHECK] = "check",
    [FMCALL_RELEASE] = "release",   [FMCALL_STEPS] = "steps",     [FMCALL_END_STEP] = "end-step",
    [FMCALL_END_TREE] = "end-tree", [FMCALL_JOIN] = "join",       [FMCALL_LEAVE] = "leave",
};

static const char *const outcomes[] = {
    [0] = "unknown",
    [FM_OK] = "ok",
    [FM_GONE] = "gone",
    [FM_EXISTS] = "exists",
    [FM_DENIED] = "denied",
    [FM_BUSY] = "busy",
    [FM_TIMEOUT] = "timeout",
    [FM_BROKEN] = "broken",
    [FM_UNREACHED] = "unreached",
    [FM_UNAUTHORIZED] = "unauthorized",
    [FM_REFUSED] = "refused",
    [FM_NOT_ROUTED] = "not-routed",
};

const char *fmcall_kind_word(enum fmcall_kind kind)
{
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : "unknown";
}

const char *fmcall_outcome_word(enum fmcall_outcome outcome)
{
    return outcome < sizeof outcomes / sizeof *outcomes ? outcomes[outcome] : "unknown";
}

const char *fmcall_outcome_cause(enum fmcall_outcome outcome)
{
    static const char *const causes[] = {
        [0] = "the login failed",
        [FM_OK] = "its answer cannot be used",
        [FM_GONE] = "it does not know what was asked for",
        [FM_EXISTS] = "it has one under this name already",
        [FM_DENIED] = "it denied the request",
        [FM_BUSY] = "it answered that it cannot now, or what cannot be used",
        [FM_TIMEOUT] = "it did not answer in time",
        [FM_BROKEN] = "the connection broke",
        [FM_UNREACHED] = "it cannot be reached",
        [FM_UNAUTHORIZED] = "it refused the login",
        [FM_REFUSED] = "it refused a job's token",
        [FM_NOT_ROUTED] = "another server answered, or the path is wrong",
    };
    return outcome < sizeof causes / sizeof *causes ? causes[outcome] : "unknown";
}

bool fmcall_is_cleanup(enum fmcall_kind kind)
{
    return kind == FMCALL_STEPS || kind == FMCALL_END_STEP || kind == FMCALL_END_TREE;
}

bool fmcall_is_relayed(enum fmcall_kind kind)
{
    return kind == FMCALL_JOIN || kind == FMCALL_LEAVE;
}
