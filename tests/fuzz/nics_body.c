/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a node's report of its NICs (broker/http/api/bodies/bodies.h): the whole input. And
 * the text that the ledger keeps of it (core/inventory/nodenics.h). */

#include "broker/http/api/bodies/bodies.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The one of this device. */
static const json_t *nic_of(const json_t *list, const char *device)
{
    size_t i;
    const json_t *nic;
    json_array_foreach(list, i, nic)
    {
        if (strcmp(json_string_value(json_object_get(nic, "device")), device) == 0)
            return nic;
    }
    return NULL;
}

static bool is_word(const json_t *nic, const char *name, const char *taken)
{
    const char *word = json_string_value(json_object_get(nic, name));
    return strcmp(word ? word : "", taken) == 0;
}

static void check_taken(const struct nics_body *body, const json_t *root)
{
    const json_t *list = json_object_get(root, "nics");
    const char *at = body->nics;
    struct nodenic nic;
    size_t count = 0;
    FUZZ_CHECK(nodenics_valid(body->nics));
    for (; nodenics_next(&at, &nic); count++) {
        const json_t *told = nic_of(list, nic.device);
        FUZZ_CHECK(told);
        FUZZ_CHECK(nic.address == json_integer_value(json_object_get(told, "address")));
        FUZZ_CHECK(nic.speed == json_integer_value(json_object_get(told, "speed")));
        FUZZ_CHECK(is_word(told, "link", nic.up ? "up" : "down"));
        FUZZ_CHECK(is_word(told, "serial", nic.serial));
        FUZZ_CHECK(is_word(told, "firmware", nic.firmware));
    }
    FUZZ_CHECK(*at == '\0' && count == json_array_size(list) && count <= NODENICS_NICS_MAX);
    FUZZ_CHECK(body->order == (uint64_t)json_integer_value(json_object_get(root, "order")));
}

/* Whatever text is there: what is valid is the same when it is written again. */
static void check_text(const char *text)
{
    struct nodenic nics[NODENICS_NICS_MAX];
    char again[NODENICS_TEXT_SIZE], words[64];
    size_t count = 0;
    const char *at = text;
    if (!nodenics_valid(text))
        return;
    while (nodenics_next(&at, &nics[count]))
        if (++count == NODENICS_NICS_MAX)
            break;
    FUZZ_CHECK(nodenics_write(nics, count, again));
    FUZZ_CHECK(strcmp(text, again) == 0);
    FUZZ_CHECK(nodenics_compare(text, again, words, sizeof words) == EVENT_NONE);
    FUZZ_CHECK((nodenics_compare(text, "", words, sizeof words) != EVENT_NONE) == (count > 0));
    FUZZ_CHECK(strlen(words) < sizeof words);
}

void fuzz_one(struct fuzz_input *in)
{
    struct nics_body body;
    struct problem problem = {0};
    struct fuzz_input copy = *in;
    size_t length;
    char *text = fuzz_rest(&copy), *bytes = fuzz_bytes(in, &length);
    json_t *root = json_loadb(length > 0 ? bytes : "", length, JSON_REJECT_DUPLICATES, NULL);
    json_t *json = body_read(bytes, length, &problem);
    check_text(text);
    if (json && nics_body_parse(json, &body, &problem) == 0)
        check_taken(&body, root);
    else
        FUZZ_CHECK((problem.status == 422 || problem.status == 400) && problem.detail[0] != '\0');
    json_decref(json);
    json_decref(root);
    free(bytes);
    free(text);
}
