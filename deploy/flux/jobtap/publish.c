/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/jobtap/publish.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 128 };

static json_t *vnis_of(const struct mcast_reservation *reservation)
{
    json_t *list = json_array();
    for (size_t i = 0; i < reservation->vni_count; i++)
        json_array_append_new(list, json_integer(reservation->vnis[i]));
    return list;
}

/* Only for people: a job whose memo fails is none the worse. */
static void post_memo(struct jobtap *jobtap, flux_jobid_t id,
                      const struct mcast_reservation *reservation)
{
    json_t *memo =
        json_pack("{s:I s:o s:s s:s* s:i s:s*}", "number", (json_int_t)reservation->number, "vnis",
                  vnis_of(reservation), "hwcoll", reservation->hwcoll_state, "reason",
                  reservation->hwcoll_reason, "addresses", (int)reservation->hwcoll_addresses,
                  "warning", reservation->warning);
    if (!memo ||
        flux_jobtap_event_post_pack(jobtap->plugin, id, "memo", "{s:O}", "mcast", memo) < 0)
        flux_log_error(jobtap->flux, "mcast: %s: no memo can be posted", reservation->job);
    json_decref(memo);
}

static flux_future_t *put(flux_t *flux, flux_jobid_t id, const char *text)
{
    char key[KEY_SIZE];
    flux_kvs_txn_t *txn = flux_kvs_txn_create();
    flux_future_t *future = NULL;
    if (txn && flux_job_kvs_key(key, sizeof(key), id, "mcast") >= 0 &&
        flux_kvs_txn_put(txn, 0, key, text) == 0)
        future = flux_kvs_commit(flux, NULL, 0, txn);
    flux_kvs_txn_destroy(txn);
    return future;
}

flux_future_t *publish_grant(struct jobtap *jobtap, flux_jobid_t id,
                             const struct mcast_reservation *reservation, flux_continuation_f then,
                             void *arg)
{
    char *text = mcast_reservation_json(reservation, MCAST_JSON_SECRETS);
    if (!text)
        return NULL;
    flux_future_t *future = put(jobtap->flux, id, text);
    explicit_bzero(text, strlen(text));
    free(text);
    if (!future || flux_future_then(future, -1, then, arg) < 0) {
        flux_future_destroy(future);
        return NULL;
    }
    post_memo(jobtap, id, reservation);
    return future;
}
