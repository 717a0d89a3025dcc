#include "client/waits.h"
#include "client/reactor.h"

void waits_begin(struct waits_call *call, const struct waits *wanted, struct transport *transport)
{
    *call = (struct waits_call){.wanted = wanted, .transport = transport};
    if (wanted->ms > 0)
        call->end_ms = reactor_now_ms() + wanted->ms;
}

bool waits_again(struct waits_call *call, struct mcast_error *error)
{
    const struct waits *wanted = call->wanted;
    unsigned after_ms;
    if (wanted->ms == 0 || !mcast_later(error, &after_ms))
        return false;
    int64_t left = call->end_ms - reactor_now_ms();
    if (left <= 0 || left < pauses_after(after_ms))
        return false;
    if (call->pauses.last_ms == 0 && wanted->on_wait)
        wanted->on_wait(error, wanted->data);
    unsigned pause = pauses_next(&call->pauses, after_ms);
    struct mcast_error stopped;
    if (transport_pause(call->transport, pause < left ? pause : (unsigned)left, &stopped) == 0)
        return true;
    *error = stopped;
    return false;
}
