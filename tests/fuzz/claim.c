/* SPDX-License-Identifier: Apache-2.0 */
/* What a reservation entitles its job to on a node (node/services/claim.h), from a document that
 * a file holds: a byte says what was asked for, the rest is the document. */

#include "base/names.h"
#include "client/calls/call.h"
#include "core/reservation/record.h"
#include "node/services/claim.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_vnis(const struct claim *claim, const json_t *sent)
{
    char text[CLAIM_VNIS_TEXT_SIZE];
    const char *at = claim_vnis(claim->vnis, claim->vni_count, text);
    FUZZ_CHECK(claim->vni_count == json_array_size(sent));
    for (unsigned int i = 0; i < claim->vni_count; i++) {
        char *end;
        FUZZ_CHECK(claim->vnis[i] == json_integer_value(json_array_get(sent, i)));
        FUZZ_CHECK(strtoul(at, &end, 10) == claim->vnis[i]);
        FUZZ_CHECK(*end == (i + 1 < claim->vni_count ? ',' : '\0'));
        at = end + 1;
    }
}

static void check(const struct claim *claim, const json_t *sent, const char *cluster,
                  const char *job)
{
    char expected[CLAIM_NAME_SIZE];
    unsigned int classes = 0;
    const json_t *word, *words = json_object_get(sent, "traffic_classes");
    size_t i;
    FUZZ_CHECK(cluster_name_valid(claim->cluster) && job_id_valid(claim->job));
    FUZZ_CHECK(strcmp(claim->job, job) == 0 && (!cluster || !strcmp(claim->cluster, cluster)));
    FUZZ_CHECK(claim->number >= 1 && claim->number <= INT64_MAX);
    FUZZ_CHECK((json_int_t)claim->number == json_integer_value(json_object_get(sent, "number")));
    FUZZ_CHECK(claim->vni_count == 0 || claim->uid != UINT32_MAX); /* F7: its owner's alone */
    FUZZ_CHECK(claim->active ==
               (strcmp(json_string_value(json_object_get(sent, "state")), "active") == 0));
    json_array_foreach(words, i, word) classes |=
        (unsigned int)traffic_class_from_word(json_string_value(word));
    FUZZ_CHECK(claim->traffic_classes == classes && classes <= TC_ALL);
    snprintf(expected, sizeof expected, "%s/%s", claim->cluster, claim->job);
    FUZZ_CHECK(strcmp(claim->name, expected) == 0);
    check_vnis(claim, json_object_get(sent, "vnis"));
}

void fuzz_one(struct fuzz_input *in)
{
    struct mcast_reservation *seen = NULL;
    struct mcast_error error = {0};
    struct claim claim;
    struct error err = {0};
    size_t length;
    uint8_t how = fuzz_byte(in);
    const char *cluster = how & 1 ? "elcap" : NULL;
    char *body = fuzz_bytes(in, &length);
    if (reservation_parse(body, length, &seen, &error) == 0) {
        const char *job = how & 2 ? seen->job : "f17";
        json_t *sent = json_loadb(body, length, 0, NULL);
        if (claim_from_reservation(&claim, seen, cluster, job, "n1", &err) == 0)
            check(&claim, sent, cluster, job);
        else
            FUZZ_CHECK(err.code == ERROR_INVALID && err.text[0] && fuzz_is_line(err.text));
        json_decref(sent);
        mcast_reservation_free(seen);
    }
    free(body);
}
