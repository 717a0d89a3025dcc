/* SPDX-License-Identifier: Apache-2.0 */
/* Launch documents as a node takes them (launch/sealed.h, launch/document.h): a byte that says
 * whether they are sealed, two for the bit of the envelope that is changed, then the document; the
 * same bytes are tried as an envelope, and as what is in one. */

#include "base/base64url.h"
#include "base/names.h"
#include "base/nodelist.h"
#include "core/reservation/record.h"
#include "launch/sealed.h"
#include "node/record/launched.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the envelope ---- */

/* The broker's, and what nodes have of it. */
static const struct launch_keys *make_keys(bool for_nodes)
{
    static struct launch_keys broker, nodes;
    if (broker.count == 0) {
        struct launch_key *key = &broker.at[0];
        memset(key->seal, 's', sizeof key->seal);
        memset(key->sign, 'k', sizeof key->sign);
        key->can_sign = true;
        if (crypto_public_key(key->sign, key->verify, NULL) < 0)
            abort();
        broker.count = 1;
        nodes = broker;
        explicit_bzero(nodes.at[0].sign, sizeof nodes.at[0].sign);
        nodes.at[0].can_sign = false;
    }
    return for_nodes ? &nodes : &broker;
}

static void check_opens_nothing(const char *envelope)
{
    struct error err = {0};
    FUZZ_CHECK(!sealed_open(make_keys(true), envelope, &err));
    FUZZ_CHECK(err.code == ERROR_INVALID || err.code == ERROR_REFUSED);
    FUZZ_CHECK(err.text[0] && fuzz_is_line(err.text));
}

/* As they are, and behind the id of the key that the node has. */
static void check_anything(const char *text, const char *bytes, size_t length)
{
    const size_t size = SEALED_KEY_ID_SIZE + length, prefix = strlen(SEALED_PREFIX);
    unsigned char *body = malloc(size);
    char *envelope = malloc(prefix + BASE64URL_LENGTH(size) + 1);
    memcpy(body, make_keys(true)->at[0].verify, SEALED_KEY_ID_SIZE);
    memcpy(body + SEALED_KEY_ID_SIZE, bytes, length);
    memcpy(envelope, SEALED_PREFIX, prefix);
    base64url_encode(body, size, envelope + prefix);
    check_opens_nothing(text);
    check_opens_nothing(envelope);
    free(envelope);
    free(body);
}

static void check_sealed(const char *document, uint16_t bit)
{
    struct error err = {0};
    char *envelope = sealed_close(&make_keys(false)->at[0], document, &err);
    FUZZ_CHECK(envelope);
    char *opened = sealed_open(make_keys(true), envelope, &err);
    FUZZ_CHECK(opened && strcmp(opened, document) == 0);
    const size_t at = bit / 7 % strlen(envelope);
    envelope[at] ^= (char)(1 << bit % 7);
    check_opens_nothing(envelope);
    envelope[at] = '\0';
    check_opens_nothing(envelope);
    free(opened);
    free(envelope);
}

/* ---- the document ---- */

static int64_t number_in(const json_t *sent, const char *name, int64_t otherwise)
{
    const json_t *value = json_object_get(sent, name);
    return value ? json_integer_value(value) : otherwise;
}

static void check_values(const struct launch *launch, const json_t *sent)
{
    FUZZ_CHECK(number_in(sent, "v", 0) == LAUNCH_VERSION);
    FUZZ_CHECK((int64_t)launch->number == number_in(sent, "number", 0) && launch->number > 0);
    FUZZ_CHECK(launch->uid == number_in(sent, "uid", -1) && launch->uid != UINT32_MAX);
    FUZZ_CHECK(launch->node_count == number_in(sent, "node_count", -1));
    FUZZ_CHECK(launch->restart == number_in(sent, "restart", -1));
    FUZZ_CHECK(launch->issued_s == number_in(sent, "issued", -1) && launch->issued_s >= 0);
    FUZZ_CHECK(launch->expires_s == number_in(sent, "expires", -1) && launch->expires_s >= 0);
    FUZZ_CHECK(cluster_name_valid(launch->cluster) && job_id_valid(launch->job));
    FUZZ_CHECK(!launch->nodes != !launch->nodes_digest);
}

/* It is good for just its job, owner, start and nodes. */
static void check_use(const struct launch *launch)
{
    const bool here_in_time = launch->issued_s <= launch->expires_s + LAUNCH_CLOCK_SKEW_S;
    struct launch_here here = {.cluster = launch->cluster,
                               .job = launch->job,
                               .restart = launch->restart,
                               .uid = launch->uid,
                               .node = "n1",
                               .now_s = launch->issued_s};
    struct error err = {0};
    FUZZ_CHECK((launch_check(launch, &here, &err) == 0) ==
               (here_in_time && launch->nodes && nodelist_contains(launch->nodes, "n1")));
    here.uid++;
    FUZZ_CHECK(launch_check(launch, &here, &err) == ERROR_REFUSED);
    here.uid = -1, here.job = strcmp(launch->job, "f17") == 0 ? "f18" : "f17";
    FUZZ_CHECK(launch_check(launch, &here, &err) == ERROR_REFUSED && fuzz_is_line(err.text));
}

static void check_claim(const struct launch *launch)
{
    const json_t *vnis = json_object_get(launch->driver, "vnis");
    struct claim claim;
    struct error err = {0};
    if (launched_claim(launch, &claim, &err) < 0) {
        FUZZ_CHECK((err.code == ERROR_INVALID || err.code == ERROR_VERSION) && err.text[0]);
        return;
    }
    FUZZ_CHECK(claim.number == launch->number && claim.uid == launch->uid && claim.active);
    FUZZ_CHECK(strcmp(claim.job, launch->job) == 0 && !strcmp(claim.cluster, launch->cluster));
    FUZZ_CHECK(claim.traffic_classes <= TC_ALL);
    FUZZ_CHECK(claim.launched_until_s >= LAUNCH_CLOCK_SKEW_S); /* 0: by the broker */
    FUZZ_CHECK(claim.vni_count == json_array_size(vnis));
    for (unsigned int i = 0; i < claim.vni_count; i++)
        FUZZ_CHECK(claim.vnis[i] == json_integer_value(json_array_get(vnis, i)));
}

/* What a broker can have written is read as the same. */
static void check_written(struct launch *launch)
{
    struct launch again;
    struct error err = {0};
    if (!launch->nodes || launch->expires_s <= launch->issued_s)
        return;
    char *written = launch_format(launch);
    FUZZ_CHECK(written && !strchr(written, '\n'));
    FUZZ_CHECK(strlen(written) > LAUNCH_DOCUMENT_MAX ||
               launch_parse(&again, written, strlen(written), &err) == 0);
    if (strlen(written) <= LAUNCH_DOCUMENT_MAX) {
        FUZZ_CHECK(again.number == launch->number && again.restart == launch->restart);
        FUZZ_CHECK(!again.nodes == (strlen(launch->nodes) > LAUNCH_NODES_MAX));
        FUZZ_CHECK(json_equal(again.tasks, launch->tasks));
        FUZZ_CHECK(json_equal(again.driver, launch->driver));
        launch_release(&again);
    }
    free(written);
}

static void check_document(const char *text)
{
    struct launch launch;
    struct error err = {0};
    if (launch_parse(&launch, text, strlen(text), &err) < 0) {
        FUZZ_CHECK(err.code == ERROR_INVALID || err.code == ERROR_VERSION);
        FUZZ_CHECK(err.text[0] && fuzz_is_line(err.text) && !launch.root);
        return;
    }
    json_t *sent = json_loadb(text, strlen(text), 0, NULL);
    check_values(&launch, sent);
    check_use(&launch);
    check_claim(&launch);
    check_written(&launch);
    json_decref(sent);
    launch_release(&launch);
}

void fuzz_one(struct fuzz_input *in)
{
    const bool sealed = fuzz_byte(in) % 8 == 0; /* a signature takes as long as all the rest */
    const uint16_t bit = fuzz_pair(in);
    struct fuzz_input again = *in;
    size_t length;
    char *text = fuzz_rest(in), *bytes = fuzz_bytes(&again, &length);
    check_anything(text, bytes, length);
    check_document(text);
    if (sealed)
        check_sealed(text, bit);
    free(bytes);
    free(text);
}
