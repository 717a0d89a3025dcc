#include "core/fabric/fmcall.h"

const char *fmcall_kind_word(enum fmcall_kind kind)
{
    switch (kind) {
    case FMCALL_NONE:
        return "none";
    case FMCALL_RESERVE:
        return "reserve";
    case FMCALL_CHECK:
        return "check";
    case FMCALL_RELEASE:
        return "release";
    case FMCALL_STEPS:
        return "steps";
    case FMCALL_END_STEP:
        return "end-step";
    case FMCALL_END_TREE:
        return "end-tree";
    }
    return "unknown";
}

bool fmcall_is_cleanup(enum fmcall_kind kind)
{
    return kind == FMCALL_STEPS || kind == FMCALL_END_STEP || kind == FMCALL_END_TREE;
}

const char *fmcall_outcome_word(enum fmcall_outcome outcome)
{
    switch (outcome) {
    case FM_OK:
        return "ok";
    case FM_GONE:
        return "gone";
    case FM_EXISTS:
        return "exists";
    case FM_DENIED:
        return "denied";
    case FM_BUSY:
        return "busy";
    case FM_TIMEOUT:
        return "timeout";
    case FM_BROKEN:
        return "broken";
    case FM_UNREACHED:
        return "unreached";
    case FM_UNAUTHORIZED:
        return "unauthorized";
    case FM_REFUSED:
        return "refused";
    case FM_NOT_ROUTED:
        return "not-routed";
    }
    return "unknown";
}
