/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/loading.h"

#include <assert.h>

enum { STRIDE = 4096 /* records between two reports of progress */ };

struct taking {
    struct loading *loading;
    struct error *err;
};

static int take_record(void *arg, const struct record *record)
{
    const struct taking *taking = arg;
    struct loading *loading = taking->loading;
    const struct engine_options *options = loading->options;
    if (++loading->records % STRIDE == 0 && options->loading)
        options->loading(options->loading_arg, loading->records);
    if (options->bearers)
        bearers_follow(options->bearers, record);
    if (record->kind == RECORD_ROOT_KEYS)
        return keyring_load(options->keyring, record, taking->err);
    return core_load(loading->core, record, taking->err);
}

/* 1: there is more to come. */
static int load_some(struct loading *loading, struct error *err)
{
    struct taking taking = {.loading = loading, .err = err};
    int rc = store_load(loading->options->store, take_record, &taking, err);
    if (rc == 0 && core_check_load(loading->core, err) < 0)
        rc = store_refuse(loading->options->store, err);
    return rc;
}

static void on_closed(uv_handle_t *handle)
{
    const struct loading *loading = handle->data;
    loading->closed(loading->arg);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct loading *loading = poll->data;
    struct error err = {0};
    (void)status; /* the store says what is wrong */
    (void)events;
    const char *before = turn_enter(loading->turn, "loading the ledger");
    int rc = load_some(loading, &err);
    turn_leave(loading->turn, before);
    if (rc == 1)
        return;
    loading_stop(loading);
    loading->done(loading->arg, rc, &err);
}

int loading_start(struct loading *loading, struct error *err)
{
    const struct engine_options *options = loading->options;
    int rc = load_some(loading, err);
    if (rc != 1)
        return rc;
    rc = uv_poll_init(options->loop, &loading->poll, store_fd(options->store));
    if (rc < 0)
        return error_set(err, ERROR_IO, "cannot watch the store: %s", uv_strerror(rc));
    loading->poll.data = loading;
    loading->active = true;
    (void)uv_poll_start(&loading->poll, UV_READABLE, on_readable);
    return 1;
}

void loading_stop(struct loading *loading)
{
    if (loading->active)
        uv_close((uv_handle_t *)&loading->poll, on_closed);
    loading->active = false;
}
