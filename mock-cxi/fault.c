#include "mock-cxi/fault.h"

#include <stdio.h>
#include <string.h>

#include "cxi/abi.h"
#include "mock-cxi/nic.h"
#include "mock-cxi/value.h"

#define CALL_NAME(name, returns, parameters, version) #name,
static const char *const calls[] = {CXI_CALLS_NEEDED(CALL_NAME) CXI_CALLS_OPTIONAL(CALL_NAME)
                                        CXI_CALLS_OTHER(CALL_NAME)};

void fault_init(struct fault *fault, const char *name)
{
    *fault = (struct fault){.nic = FAULT_NONE, .service = FAULT_NONE};
    snprintf(fault->name, sizeof fault->name, "%s", name);
}

static int set_call(struct fault *fault, const char *value, struct error *err)
{
    fault->call[0] = '\0';
    if (!strcmp(value, "any"))
        return 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(value, calls[i])) {
            snprintf(fault->call, sizeof fault->call, "%s", value);
            return 0;
        }
    return error_set(err, ERROR_INVALID, "'%s' is no call; one is destroy_svc, or any", value);
}

static int set_nic(struct fault *fault, const char *value, struct error *err)
{
    uint64_t number = FAULT_NONE;
    if (strcmp(value, "any") != 0 &&
        (strncmp(value, "cxi", 3) != 0 || value_number(value + 3, 0, NIC_MAX - 1, &number, NULL)))
        return error_set(err, ERROR_INVALID, "'%s' is no NIC; one is cxi0, or any", value);
    fault->nic = (unsigned int)number;
    return 0;
}

static int set_service(struct fault *fault, const char *value, struct error *err)
{
    uint64_t number = FAULT_NONE;
    if (strcmp(value, "any") != 0 && value_number(value, 1, INT32_MAX, &number, err))
        return err ? err->code : ERROR_INVALID;
    fault->service = (unsigned int)number;
    return 0;
}

static int set_when(struct fault *fault, const char *value, struct error *err)
{
    fault->after = !strcmp(value, "after");
    if (!fault->after && strcmp(value, "before") != 0)
        return error_set(err, ERROR_INVALID, "'%s' is neither before nor after", value);
    return 0;
}

static int set_limit(struct fault *fault, const char *key, const char *value, struct error *err)
{
    uint64_t number = 0;
    int r = value_number(value, 1, key[0] == 'c' ? INT32_MAX : INT64_MAX / 1000, &number, err);
    if (key[0] == 'c')
        fault->count = (unsigned int)number;
    else
        fault->until = (int64_t)number;
    return r;
}

int fault_set(struct fault *fault, const char *key, const char *value, struct error *err)
{
    if (!strcmp(key, "call"))
        return set_call(fault, value, err);
    if (!strcmp(key, "nic"))
        return set_nic(fault, value, err);
    if (!strcmp(key, "service"))
        return set_service(fault, value, err);
    if (!strcmp(key, "errno"))
        return value_errno(value, &fault->error, err);
    if (!strcmp(key, "when"))
        return set_when(fault, value, err);
    if (!strcmp(key, "each_service"))
        return value_bool(value, &fault->each_service, err);
    if (!strcmp(key, "count") || !strcmp(key, "until"))
        return set_limit(fault, key, value, err);
    if (!strcmp(key, "for"))
        return value_duration(value, &fault->for_ms, err);
    if (!strcmp(key, "delay"))
        return value_duration(value, &fault->delay_ms, err);
    return error_set(err, ERROR_INVALID, "a fault has no '%s'", key);
}

bool fault_is_about(const struct fault *fault, const struct fault_call *call)
{
    return (!fault->call[0] || !strcmp(fault->call, call->name)) &&
           (fault->nic == FAULT_NONE || fault->nic == call->nic) &&
           (fault->service == FAULT_NONE || fault->service == call->service);
}

bool fault_is_counted(const struct fault *fault)
{
    return fault->count > 0 || fault->for_ms > 0;
}

bool fault_is_active(const struct fault *fault, const struct fault_tally *tally, int64_t now_ms,
                     int64_t now)
{
    if (fault->count && tally->met >= fault->count)
        return false;
    if (fault->until && now >= fault->until)
        return false;
    return !fault->for_ms || !tally->met || now_ms - tally->first_ms < fault->for_ms;
}

void fault_tally_init(struct fault_tally *tally, const struct fault *fault,
                      const struct fault_call *call)
{
    memset(tally, 0, sizeof *tally);
    memcpy(tally->name, fault->name, sizeof tally->name);
    tally->nic = fault->each_service ? call->nic : FAULT_NONE;
    tally->service = fault->each_service ? call->service : FAULT_NONE;
}
