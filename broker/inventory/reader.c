/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/inventory/reader.h"

#include "base/memory.h"
#include "broker/config/settings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- rounds begin ---- */

static void on_api_closed(void *arg)
{
    reader_part_closed(arg);
}

static void drop_api(struct inventory_reader *reader)
{
    if (reader->api)
        fmapi_destroy(reader->api, on_api_closed, reader);
    reader->api = NULL;
    free(reader->url);
    reader->url = NULL;
    for (struct asked *asked; (asked = LIST_FIRST(&reader->asked));)
        round_forget(asked); /* destroyed, it does not answer */
}

static bool may_send(void *leadership)
{
    return leadership_holds(leadership);
}

/* False: there is no way to the fabric manager now. */
static bool open_api(struct inventory_reader *reader)
{
    struct fmapi_options options;
    struct error err = {0};
    const char *url = inventory_url(reader);
    if (!url || !settings_fabric(reader->config, &options))
        return false;
    if (reader->api && !reader->renew && strcmp(reader->url, url) == 0)
        return true;
    if (reader->api) {
        reader->closing_apis++;
        drop_api(reader);
        for (int kind = 0; kind < DOCUMENTS_KINDS; kind++) /* another one counts by itself */
            reader->kept[kind].stamp = (struct documents_stamp){.version = -1, .updated_us = -1};
    }
    memset(options.urls, 0, sizeof options.urls);
    options.urls[0] = url;
    options.parallel = PARALLEL;
    options.timeout_ms = REQUEST_MS;
    options.may_send = reader->around.leadership ? may_send : NULL;
    options.may_send_arg = reader->around.leadership;
    reader->api = fmapi_create(reader->loop, &options, &err);
    if (!reader->api)
        return false;
    reader->url = memory_text(url);
    reader->renew = false;
    return true;
}

static void on_timer(uv_timer_t *timer)
{
    struct inventory_reader *reader = timer->data;
    if (reader->active) {
        round_go_on(reader);
        return;
    }
    if (reader->working || reader->config->inventory_source != CONFIG_INVENTORY_FM ||
        reader->in_flight > 0 || uv_now(reader->loop) < reader->due_ms || !open_api(reader))
        return;
    reader->active = true;
    reader->round.begun_ns = uv_hrtime();
    reader->round.stamping =
        reader->kept[DOCUMENTS_PARTITIONS].whole && !inventory_wants_partitions(reader);
    round_go_on(reader);
}

/* ---- life ---- */

struct inventory_reader *inventory_create(uv_loop_t *loop,
                                          const struct inventory_surroundings *around,
                                          const struct config *config)
{
    struct inventory_reader *reader = memory_zeroed(sizeof *reader);
    reader->loop = loop;
    reader->around = *around;
    reader->config = config;
    (void)uv_timer_init(loop, &reader->timer);
    reader->timer.data = reader;
    (void)uv_timer_start(&reader->timer, on_timer, TICK_MS, TICK_MS);
    return reader;
}

void inventory_configure(struct inventory_reader *reader, const struct config *config, bool keep)
{
    reader->config = config;
    reader->renew |= !keep;
    reader->due_ms = 0;
    if (config->inventory_source != CONFIG_INVENTORY_FM && reader->active && !reader->working)
        round_end(reader, 0);
}

void reader_part_closed(struct inventory_reader *reader)
{
    if (reader->closing_apis > 0 && reader->open == 0) {
        reader->closing_apis--;
        return;
    }
    assert(reader->open > 0);
    if (--reader->open > 0)
        return;
    void (*closed)(void *) = reader->closed;
    void *arg = reader->closed_arg;
    round_free(reader);
    fabricmap_destroy(reader->made);
    fabricmap_destroy(reader->map);
    documents_release(&reader->documents);
    free(reader);
    closed(arg);
}

static void on_timer_closed(uv_handle_t *handle)
{
    reader_part_closed(handle->data);
}

void inventory_destroy(struct inventory_reader *reader, void (*closed)(void *arg), void *arg)
{
    reader->closed = closed;
    reader->closed_arg = arg;
    reader->open = 1u + (reader->api != NULL) + reader->working + reader->closing_apis;
    drop_api(reader);
    uv_close((uv_handle_t *)&reader->timer, on_timer_closed);
}

/* ---- looking ---- */

void inventory_facts(const struct inventory_reader *reader, struct inventory_facts *out)
{
    const struct fabric_read *fabric = &reader->documents.fabric;
    *out = reader->facts;
    out->reads =
        reader->config->inventory_source == CONFIG_INVENTORY_FM && reader->config->core.fm_present;
    out->error = reader->error;
    out->old_after_ms = 3 * SELDOM * reader->config->inventory_poll_ms;
    out->memory = (reader->map ? fabricmap_bytes(reader->map) : 0) +
                  fabric->switches.capacity * sizeof *fabric->switches.all +
                  fabric->ports.capacity * sizeof *fabric->ports.all +
                  fabric->cables.capacity * sizeof *fabric->cables.all +
                  reader->documents.partitions.capacity * sizeof(struct documents_partition);
}

struct inventory inventory_now(const struct inventory_reader *reader)
{
    const bool fm = reader->config->inventory_source == CONFIG_INVENTORY_FM;
    return (struct inventory){.map = fm ? reader->map : NULL, .file = reader->config->nicbook};
}
