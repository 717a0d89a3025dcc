/* SPDX-License-Identifier: Apache-2.0 */
/* The client's reading of a reservation (client/reservation.h): the whole input is the answer's
 * body. */

#include "client/calls/call.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_seen(const struct mcast_reservation *seen)
{
    FUZZ_CHECK(seen->cluster && seen->job && seen->state && seen->hwcoll_state && seen->created);
    FUZZ_CHECK(seen->vni_count <= 4 && seen->traffic_classes);
    for (size_t i = 0; i < seen->env_count; i++) {
        const char *name = seen->env[i].name;
        /* Names end up in a shell's eval. */
        FUZZ_CHECK(name[0] != '\0' && !strchr("0123456789", name[0]));
        for (; *name != '\0'; name++)
            FUZZ_CHECK(*name == '_' || (*name >= '0' && *name <= '9') ||
                       (*name >= 'A' && *name <= 'Z') || (*name >= 'a' && *name <= 'z'));
        FUZZ_CHECK(seen->env[i].value);
    }
}

/* What people are shown has no token in it, and but for that is all. */
static void check_json(const struct mcast_reservation *seen, const json_t *sent)
{
    char *open = mcast_reservation_json(seen, MCAST_JSON_SECRETS);
    char *shown = mcast_reservation_json(seen, MCAST_JSON_INDENT);
    json_t *all = json_loads(open, 0, NULL), *blanked = json_loads(shown, 0, NULL);
    FUZZ_CHECK(json_equal(all, sent) && json_is_object(blanked));
    json_t *env = json_object_get(blanked, "env");
    const char *token = json_string_value(json_object_get(env, "FI_CXI_COLL_MCAST_TOKEN"));
    FUZZ_CHECK(!token || strcmp(token, "***") == 0);
    if (!token)
        FUZZ_CHECK(json_equal(blanked, sent));
    json_decref(all);
    json_decref(blanked);
    free(open);
    free(shown);
}

void fuzz_one(struct fuzz_input *in)
{
    struct mcast_reservation *seen = NULL;
    struct mcast_error error = {0};
    size_t length;
    char *body = fuzz_bytes(in, &length);
    if (reservation_parse(body, length, &seen, &error) == 0) {
        json_t *sent = json_loadb(body, length, 0, NULL);
        check_seen(seen);
        check_json(seen, sent);
        mcast_reservation_free(seen);
        json_decref(sent);
    } else {
        FUZZ_CHECK(error.code == MCAST_UNCLEAR && error.text[0] != '\0' && !seen);
    }
    free(body);
}
