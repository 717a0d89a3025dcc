/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "core/emit.h"
#include "core/relay/relay.h"
#include "core/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What the bodies of requests may have. */
enum {
    BYTES_ALWAYS = 64 << 10, /* those of one job: always, */
    BYTES_MAX = 1 << 20,     /* at most, */
    BYTES_ALL_MAX = 64 << 20 /* as long as all jobs have no more than this */
};

struct relayed *relayed_add(struct core *core, struct reservation *r, enum fmcall_kind kind,
                            const char *step, const char *body)
{
    struct relayed *one = memory_zeroed(sizeof *one), **end = &r->relay->requests;
    assert((kind == FMCALL_JOIN) == (body != NULL));
    *one = (struct relayed){.op = {.owner = r},
                            .kind = kind,
                            .give_up_ms = core->now_ms + core->config.relay_timeout_ms,
                            .step = memory_text(step),
                            .body = body ? memory_text(body) : NULL};
    while (*end)
        end = &(*end)->next;
    *end = one;
    r->relay->count++;
    core->relay_bytes += body ? strlen(body) : 0;
    return one;
}

void relayed_end(struct core *core, struct reservation *r, struct relayed *one)
{
    struct relayed **at = &r->relay->requests;
    assert(one->op.call == 0 && !one->waiters && r->relay->count > 0);
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    r->relay->count--;
    assert(core->relay_bytes >= (one->body ? strlen(one->body) : 0));
    core->relay_bytes -= one->body ? strlen(one->body) : 0;
    callqueue_remove(&core->calls, &one->op);
    core_discard(core, one->op.words);
    core_discard(core, one->step);
    core_discard(core, one->body);
    core_discard(core, one);
}

struct relayed *relayed_find_again(const struct relay *relay, const char *step, const char *body)
{
    assert(step && body);
    for (struct relayed *one = relay->requests; one; one = one->next) {
        if (one->kind == FMCALL_JOIN && !one->waiters && strcmp(one->step, step) == 0 &&
            strcmp(one->body, body) == 0)
            return one;
    }
    return NULL;
}

struct relayed *relayed_find_leave(const struct relay *relay, uint16_t tree)
{
    assert(tree < FMCALL_TREES);
    struct relayed *one = relay->requests;
    while (one && (one->kind != FMCALL_LEAVE || one->tree != tree))
        one = one->next;
    return one;
}

uint32_t relayed_joins(const struct relay *relay)
{
    uint32_t count = 0;
    for (const struct relayed *one = relay->requests; one; one = one->next)
        count += one->kind == FMCALL_JOIN && !one->made && !one->refused && !one->unfit;
    return count;
}

static size_t bytes_of(const struct relay *relay)
{
    size_t bytes = 0;
    for (const struct relayed *one = relay->requests; one; one = one->next)
        bytes += one->body ? strlen(one->body) : 0;
    return bytes;
}

bool relayed_has_room(const struct core *core, const struct relay *relay, size_t bytes)
{
    const size_t own = bytes_of(relay) + bytes;
    assert(core->relay_bytes >= own - bytes);
    return relay->count < RELAYED_MAX &&
           (own <= BYTES_ALWAYS ||
            (own <= BYTES_MAX && core->relay_bytes + bytes <= BYTES_ALL_MAX));
}

/* The NIC that is named so: groups of hexadecimal digits, to the first character that is none. */
static uint64_t read_nic(const char *text)
{
    uint64_t nic = 0;
    assert(text);
    for (char *end;; text = end + 1) {
        nic = nic << 8 | (strtoul(text, &end, 16) & 0xff);
        if (*end != ':')
            return nic;
    }
}

bool relayed_names_nic(const char *body, const char *root)
{
    assert(body && root);
    const uint64_t nic = read_nic(root);
    const char *at = root[0] != '\0' ? strchr(body, '[') : NULL;
    while (at && *at != ']') {
        if (strncmp(at + 1, "\"", 1) == 0 && read_nic(at + 2) == nic)
            return true;
        at = strpbrk(at + 1, ",]");
    }
    return false;
}

bool relayed_has_vni(const struct core *core, const struct reservation *r, uint16_t vni)
{
    assert(r->vni_count <= VNI_PER_JOB_MAX);
    for (unsigned i = 0; i < r->vni_count; i++) {
        if (r->vnis[i] == vni)
            return true;
    }
    if (vnipool_is_systems(vni))
        return false;
    /* Which ones a Slurm with its own plugin gives is not known; it must not be another job's. */
    if (r->origin == ORIGIN_PLUGIN)
        return !idset_has(&core->vnis.pool, vni) || idset_has(&core->vnis.free, vni);
    /* A job that wanted none has its own from elsewhere, and not from this broker's pool. */
    return r->vni_count == 0 && r->vni_asked == 0 && !idset_has(&core->vnis.pool, vni);
}
