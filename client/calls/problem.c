/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/call.h"
#include "client/text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *string_of(const json_t *problem, const char *name)
{
    const char *value = json_string_value(json_object_get(problem, name));
    return value ? value : "";
}

/* The caller's; NULL when the answer is none. */
static json_t *load(const struct answer *answer)
{
    if (strcmp(answer->type, "application/problem+json") != 0)
        return NULL;
    return json_loadb(text_string(&answer->body), answer->body.length, 0, NULL);
}

bool problem_is(const struct answer *answer, const char *code)
{
    json_t *problem = load(answer);
    bool is = json_is_object(problem) && strcmp(string_of(problem, "code"), code) == 0;
    json_decref(problem);
    return is;
}

int problem_read(const struct answer *answer, const char *peer, struct mcast_error *error)
{
    json_t *problem = load(answer);
    const char *detail = string_of(problem, "detail"), *code = string_of(problem, "code");
    int rc = answer->status == 404 ? MCAST_NOT_FOUND : MCAST_REFUSED;
    if (!detail[0])
        detail = string_of(problem, "title");
    if (!json_is_object(problem) && answer->status >= 502 && answer->status <= 504)
        rc = fault_set(error, MCAST_UNCLEAR,
                       "mcastd at %s does not answer, something before it does so (HTTP %d); is it "
                       "running? (systemctl status mcastd)",
                       peer, answer->status);
    else if (!json_is_object(problem))
        rc = fault_set(error, MCAST_UNCLEAR,
                       "what answers at %s says HTTP %d without an explanation; is it mcastd?",
                       peer, answer->status);
    else if (detail[0])
        fault_set_word(error, rc, code, "%s", detail);
    else
        fault_set_word(error, rc, code,
                       "mcastd at %s answers HTTP %d and gives no reason; its log may (journalctl "
                       "-u mcastd)",
                       peer, answer->status);
    if (error) {
        snprintf(error->field, sizeof(error->field), "%s", string_of(problem, "field"));
        error->status = answer->status;
        error->retry_after = answer->retry_after;
    }
    json_decref(problem);
    return rc;
}
