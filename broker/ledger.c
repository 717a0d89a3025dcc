/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/ledger.h"

#include "broker/config/settings.h"
#include "broker/log/log.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { ANSWER_MS = 20000 /* from etcd, before an election */ };

/* ---- waiting ---- */

static void on_readable(uv_poll_t *readable, int status, int events)
{
    struct ledger *ledger = readable->data;
    (void)status;
    (void)events;
    ledger->ready = true;
}

/* Until the store has something. The lease is kept up meanwhile. */
static void await_store(struct ledger *ledger)
{
    ledger->ready = false;
    (void)uv_poll_init(&ledger->loop, &ledger->readable, store_fd(ledger->store));
    ledger->readable.data = ledger;
    (void)uv_poll_start(&ledger->readable, UV_READABLE, on_readable);
    while (!ledger->ready)
        (void)uv_run(&ledger->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&ledger->readable, NULL);
    (void)uv_run(&ledger->loop, UV_RUN_NOWAIT);
}

/* ---- the election ---- */

static void on_won(void *arg)
{
    struct ledger *ledger = arg;
    ledger->won = true;
}

static void on_ended(void *arg, const char *words)
{
    struct ledger *ledger = arg;
    ledger->ended = true;
    (void)error_set(&ledger->error, ERROR_REFUSED, "%s", words);
}

static void on_resigned(void *arg)
{
    struct ledger *ledger = arg;
    ledger->ended = true;
}

static int lead(struct ledger *ledger, struct error *err)
{
    const struct leadership_hooks hooks = {.arg = ledger,
                                           .won = on_won,
                                           .lost = on_ended,
                                           .refused = on_ended,
                                           .resigned = on_resigned};
    ledger->leadership =
        leadership_create(&ledger->loop, ledger->etcd, ledger->config->etcd_lease_ms,
                          ledger->config->advertise, &hooks);
    for (;;) {
        const struct leadership_facts *facts = leadership_facts(ledger->leadership);
        if (ledger->won)
            return 0;
        if (ledger->ended)
            return error_set(err, ledger->error.code, "%s", ledger->error.text);
        if (facts->leader[0] != '\0')
            return error_set(err, ERROR_REFUSED,
                             "%s leads with %s: stop all its brokers, and wait until its lease is "
                             "over",
                             facts->leader, ledger->name);
        if (facts->unreachable_ms > ANSWER_MS)
            return error_set(err, ERROR_IO, "etcd does not answer: %s", facts->error);
        (void)uv_run(&ledger->loop, UV_RUN_ONCE);
    }
}

/* ---- opening and closing ---- */

static int prepare(struct ledger *ledger, const struct config *config, struct error *err)
{
    const char *endpoints[ETCD_ENDPOINTS_MAX];
    *ledger = (struct ledger){.config = config};
    if (uv_loop_init(&ledger->loop) < 0)
        return error_set(err, ERROR_NOMEM, "cannot make an event loop");
    if (config->store != CONFIG_STORE_ETCD) {
        (void)snprintf(ledger->name, sizeof ledger->name, "%.255s", config->state_path);
        return 0;
    }
    log_set_level(LOG_WARNING); /* the election is not the user's matter */
    (void)snprintf(ledger->name, sizeof ledger->name, "the ledger %s in etcd", config->etcd_prefix);
    struct etcd_options options = settings_etcd(config, endpoints);
    options.accepts = true;
    ledger->etcd = etcd_open(&options, err);
    return ledger->etcd ? 0 : err->code;
}

static int open_store(struct ledger *ledger, struct error *err)
{
    const struct config *config = ledger->config;
    assert(!ledger->store);
    ledger->store = ledger->etcd
                        ? leadership_store(ledger->leadership, err)
                        : store_sqlite_open(config->state_path, config->state_key_file, err);
    return ledger->store ? 0 : err->code;
}

static void close_store(struct ledger *ledger)
{
    leadership_forget_store(ledger->leadership);
    store_close(ledger->store);
    ledger->store = NULL;
}

int ledger_open_copy(struct ledger *ledger, const struct config *config, bool *live,
                     struct error *err)
{
    const int code = prepare(ledger, config, err);
    if (code < 0)
        return code;
    ledger->store = ledger->etcd ? store_etcd_open_copy(ledger->etcd, live, err)
                                 : store_sqlite_open_copy(config->state_path,
                                                          config->state_key_file, live, err);
    return ledger->store ? 0 : err->code;
}

int ledger_open(struct ledger *ledger, const struct config *config, struct error *err)
{
    int code = prepare(ledger, config, err);
    if (code == 0 && ledger->etcd)
        code = lead(ledger, err);
    return code < 0 ? code : open_store(ledger, err);
}

int ledger_reopen(struct ledger *ledger, struct error *err)
{
    close_store(ledger);
    return open_store(ledger, err);
}

void ledger_close(struct ledger *ledger)
{
    close_store(ledger);
    if (ledger->leadership) {
        leadership_resign(ledger->leadership);
        while (!ledger->ended)
            (void)uv_run(&ledger->loop, UV_RUN_ONCE);
        leadership_destroy(ledger->leadership);
    }
    (void)uv_run(&ledger->loop, UV_RUN_DEFAULT);
    etcd_close(ledger->etcd);
    (void)uv_loop_close(&ledger->loop);
}

/* ---- what is in it ---- */

int ledger_load(struct ledger *ledger, store_each_fn *each, void *arg, struct error *err)
{
    int code;
    while ((code = store_load(ledger->store, each, arg, err)) > 0)
        await_store(ledger);
    return code;
}

static void on_done(void *arg, const struct commit_result *result, struct batch *failed)
{
    *(struct commit_result *)arg = *result;
    batch_destroy(failed);
}

int ledger_commit(struct ledger *ledger, struct batch *batch, struct error *err)
{
    struct commit_result result = {.code = 1};
    store_commit(ledger->store, batch, on_done, &result);
    while (result.code > 0) {
        await_store(ledger);
        store_dispatch(ledger->store);
    }
    *err = result.error;
    return result.code;
}
