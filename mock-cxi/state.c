/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mock-cxi/service.h"

static const char file_name[] = "state";
static const char magic[8] = "mockcxi1";

/* The file: this, and the rows of the three tables. A library with other structs refuses it. */
struct header {
    char magic[sizeof magic];
    uint32_t count[STATE_TABLES];
    uint32_t size[STATE_TABLES];
    uint64_t checksum; /* of the rows */
};

void *rows_at(const struct rows *rows, uint32_t index)
{
    assert(index < rows->count);
    return (char *)rows->at + (size_t)index * rows->size;
}

void *rows_insert(struct rows *rows, uint32_t index)
{
    assert(index <= rows->count);
    char *at = memory_resized(rows->at, (size_t)rows->count + 1, rows->size);
    char *row = at + (size_t)index * rows->size;
    memmove(row + rows->size, row, (size_t)(rows->count - index) * rows->size);
    memset(row, 0, rows->size);
    rows->at = at;
    rows->count++;
    return row;
}

void rows_remove(struct rows *rows, uint32_t index)
{
    char *row = rows_at(rows, index);
    rows->count--;
    memmove(row, row + rows->size, (size_t)(rows->count - index) * rows->size);
}

static uint64_t checksum(const unsigned char *bytes, size_t length)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

void state_init(struct state *state)
{
    *state = (struct state){
        .services.size = sizeof(struct service),
        .holders.size = sizeof(struct holder),
        .tallies.size = sizeof(struct fault_tally),
    };
}

void state_release(struct state *state)
{
    for (int i = 0; i < STATE_TABLES; i++)
        free(state->tables[i].at);
    state_init(state);
}

static size_t bytes(const struct rows *rows)
{
    return (size_t)rows->count * rows->size;
}

static bool read_tables(struct state *state, const char *content, size_t length)
{
    struct header header;
    if (length < sizeof header)
        return false;
    memcpy(&header, content, sizeof header);
    content += sizeof header;
    length -= sizeof header;
    if (memcmp(header.magic, magic, sizeof magic) != 0 ||
        header.checksum != checksum((const unsigned char *)content, length))
        return false;
    for (int i = 0; i < STATE_TABLES; i++) {
        struct rows *table = &state->tables[i];
        table->count = header.count[i];
        if (header.size[i] != table->size || bytes(table) > length)
            return false;
        table->at = memcpy(memory_zeroed(bytes(table) + 1), content, bytes(table));
        content += bytes(table);
        length -= bytes(table);
    }
    return length == 0;
}

int state_load(struct state *state, const struct place *place, const struct conf *conf,
               struct error *err)
{
    char *content;
    size_t length;
    int r = place_read(place, file_name, &content, &length, err);
    if (r < 0 && r != ERROR_NOT_FOUND)
        return r;
    if (r == 0) {
        bool good = read_tables(state, content, length);
        free(content);
        if (!good)
            return error_set(err, ERROR_CORRUPT,
                             "the state is damaged, or of another version of mock-cxi: delete it");
    }
    for (unsigned int i = 0; i < conf->nic_count; i++)
        if (!state_service(state, i, CXI_DEFAULT_SVC_ID))
            service_add_default(state, &conf->nics[i]);
    return 0;
}

int state_save(const struct state *state, const struct place *place, struct error *err)
{
    struct header header = {.checksum = 0};
    size_t length = sizeof header;
    memcpy(header.magic, magic, sizeof magic);
    for (int i = 0; i < STATE_TABLES; i++) {
        header.count[i] = state->tables[i].count;
        header.size[i] = state->tables[i].size;
        length += bytes(&state->tables[i]);
    }
    unsigned char *content = memory_zeroed(length);
    unsigned char *to = content + sizeof header;
    for (int i = 0; i < STATE_TABLES; i++) {
        if (state->tables[i].count > 0)
            to = mempcpy(to, state->tables[i].at, bytes(&state->tables[i]));
    }
    header.checksum = checksum(content + sizeof header, length - sizeof header);
    memcpy(content, &header, sizeof header);
    int r = place_replace(place, file_name, content, length, err);
    free(content);
    return r;
}

/* The first service at or after (nic, id). */
static uint32_t position(const struct state *state, uint32_t nic, unsigned int id)
{
    uint32_t i = 0;
    for (; i < state->services.count; i++) {
        const struct service *service = rows_at(&state->services, i);
        if (service->nic > nic || (service->nic == nic && service->desc.svc_id >= id))
            break;
    }
    return i;
}

struct service *state_service(const struct state *state, uint32_t nic, unsigned int id)
{
    uint32_t i = position(state, nic, id);
    if (i == state->services.count)
        return NULL;
    struct service *service = rows_at(&state->services, i);
    return service->nic == nic && service->desc.svc_id == id ? service : NULL;
}

/* What rules remember of an earlier service with this id. */
static void forget_tallies(struct state *state, uint32_t nic, unsigned int id)
{
    for (uint32_t i = state->tallies.count; i-- > 0;) {
        const struct fault_tally *tally = rows_at(&state->tallies, i);
        if (tally->nic == nic && tally->service == id)
            rows_remove(&state->tallies, i);
    }
}

struct service *state_add_service(struct state *state, uint32_t nic)
{
    unsigned int id = CXI_DEFAULT_SVC_ID;
    while (state_service(state, nic, id))
        id++;
    struct service *service = rows_insert(&state->services, position(state, nic, id));
    service->nic = nic;
    service->desc.svc_id = id;
    forget_tallies(state, nic, id);
    return service;
}

void state_remove_service(struct state *state, const struct service *service)
{
    rows_remove(&state->services, position(state, service->nic, service->desc.svc_id));
}

uint32_t state_services(const struct state *state, uint32_t nic, const struct service **first)
{
    uint32_t from = position(state, nic, 0);
    uint32_t to = position(state, nic + 1, 0);
    *first = from < to ? rows_at(&state->services, from) : NULL;
    return to - from;
}
