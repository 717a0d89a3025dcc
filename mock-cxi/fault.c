/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/fault.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cxi/abi.h"
#include "mock-cxi/nic.h"
#include "mock-cxi/state.h"
#include "mock-cxi/value.h"

#define CALL_NAME(name, returns, parameters, version) #name,
static const char *const calls[] = {CXI_CALLS_NEEDED(CALL_NAME) CXI_CALLS_OTHER(CALL_NAME)};

void fault_init(struct fault *fault, const char *name)
{
    *fault = (struct fault){.nic = FAULT_NONE, .service = FAULT_NONE};
    snprintf(fault->name, sizeof fault->name, "%s", name);
}

static int read_call(const struct value_key *key, const char *text, void *field, struct error *err)
{
    (void)key;
    char *call = field;
    *call = '\0';
    if (!strcmp(text, "any"))
        return 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(text, calls[i])) {
            snprintf(call, FAULT_CALL_SIZE, "%s", text);
            return 0;
        }
    return error_set(err, ERROR_INVALID, "'%s' is no call; one is destroy_svc, or any", text);
}

static int read_nic(const struct value_key *key, const char *text, void *field, struct error *err)
{
    (void)key;
    uint64_t number = FAULT_NONE;
    if (strcmp(text, "any") != 0 &&
        (strncmp(text, "cxi", 3) != 0 || value_number(text + 3, 0, NIC_MAX - 1, &number, NULL)))
        return error_set(err, ERROR_INVALID, "'%s' is no NIC; one is cxi0, or any", text);
    *(unsigned int *)field = (unsigned int)number;
    return 0;
}

static int read_service(const struct value_key *key, const char *text, void *field,
                        struct error *err)
{
    *(unsigned int *)field = FAULT_NONE;
    return strcmp(text, "any") != 0 ? value_read_number(key, text, field, err) : 0;
}

static const struct value_key keys[] = {
    VALUE_KEY("call", read_call, struct fault, call),
    VALUE_KEY("nic", read_nic, struct fault, nic),
    {.key = "service",
     .read = read_service,
     .offset = offsetof(struct fault, service),
     .size = sizeof(unsigned int),
     .min = 1,
     .max = INT32_MAX},
    VALUE_KEY("errno", value_read_errno, struct fault, error),
    VALUE_BOOL("when", struct fault, after, "after", "before"),
    VALUE_BOOL("each_service", struct fault, each_service, "yes", "no"),
    VALUE_NUMBER("count", struct fault, count, 1, INT32_MAX),
    VALUE_NUMBER("until", struct fault, until, 1, INT64_MAX / 1000),
    VALUE_KEY("for", value_read_duration, struct fault, for_ms),
    VALUE_KEY("delay", value_read_duration, struct fault, delay_ms),
};

int fault_set(struct fault *fault, const char *key, const char *value, struct error *err)
{
    return value_set(keys, sizeof keys / sizeof *keys, "a fault", fault, key, value, err);
}

bool fault_is_about(const struct fault *fault, const struct fault_call *call, bool after)
{
    return fault->after == after && (!fault->call[0] || !strcmp(fault->call, call->name)) &&
           (fault->nic == FAULT_NONE || fault->nic == call->nic) &&
           (fault->service == FAULT_NONE || fault->service == call->service);
}

bool fault_is_counted(const struct fault *fault)
{
    return fault->count > 0 || fault->for_ms > 0;
}

static int64_t milliseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The rule's tally for the call in the state, which may be a new one. */
static struct fault_tally *find_tally(struct state *state, const struct fault *fault,
                                      const struct fault_call *call)
{
    uint32_t nic = fault->each_service ? call->nic : FAULT_NONE;
    uint32_t service = fault->each_service ? call->service : FAULT_NONE;
    struct fault_tally *tally;
    for (uint32_t i = 0; i < state->tallies.count; i++) {
        tally = rows_at(&state->tallies, i);
        if (!strcmp(tally->name, fault->name) && tally->nic == nic && tally->service == service)
            return tally;
    }
    tally = rows_insert(&state->tallies, state->tallies.count);
    tally->nic = nic;
    tally->service = service;
    memcpy(tally->name, fault->name, sizeof tally->name);
    return tally;
}

bool fault_meets(const struct fault *fault, const struct fault_call *call, struct state *state)
{
    struct fault_tally *tally = find_tally(state, fault, call);
    int64_t now_ms = milliseconds(CLOCK_BOOTTIME);
    if ((fault->count && tally->met >= fault->count) ||
        (fault->until && milliseconds(CLOCK_REALTIME) / 1000 >= fault->until) ||
        (fault->for_ms && tally->met && now_ms - tally->first_ms >= fault->for_ms))
        return false;
    if (tally->met++ == 0)
        tally->first_ms = now_ms;
    return true;
}
