/* mcast-node and the real broker: what one writes the other understands (F1, F7, S1, S5). */

#include "tests/system/node/stand.h"
#include "tests/system/rig/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reserves through the broker's socket; the job's first VNI. */
static unsigned int reserve(struct stage *stage, const char *job, const char *request)
{
    struct plainhttp_reply reply;
    char path[128];
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(plainhttp_call(stage_http(stage), "PUT", path, request, &reply), 201);
    const json_t *vnis = json_object_get(reply.json, "vnis");
    unsigned int vni = (unsigned int)json_integer_value(json_array_get(vnis, 0));
    assert_int_not_equal(vni, 0);
    plainhttp_reply_release(&reply);
    return vni;
}

static void release(struct stage *stage, const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(plainhttp_call(stage_http(stage), "DELETE", path, NULL, &reply), 202);
    plainhttp_reply_release(&reply);
}

static void broker__s_reservations_become_services(void **state)
{
    struct stand *stand = *state;
    const struct stage_options options = {.mcastd = MCASTD};
    struct stage *stage = stage_create(&options);
    char words[128], url[160];
    assert_non_null(stage);
    assert_int_equal(stage_start_broker(stage), 0);
    snprintf(url, sizeof url, "unix:%s", stage_socket(stage));
    setenv("MCAST_URL", url, 1);
    unsigned int vni = reserve(stage, "f17",
                               "{\"uid\":5588,\"nodes\":\"n[1-2]\",\"cores_per_node\":8,"
                               "\"traffic_classes\":[\"best_effort\"]}");
    assert_int_equal(stand_run(stand, "prolog --job f17"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
    assert_int_equal(stand_run(stand, "env --job f17 --format slurm"), 0);
    snprintf(words, sizeof words, "SLINGSHOT_VNIS=%u\n", vni);
    stand_expect_out(stand, words);
    stand_expect_out(stand, "SLINGSHOT_TCS=0x08\n");
    /* Live, it is nobody's to clean, though nothing here remembers it. */
    snprintf(words, sizeof words, "%s/spool/1.json", stand->folder);
    assert_int_equal(remove(words), 0);
    assert_int_equal(stand_run(stand, "clean --all"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
    release(stage, "f17");
    assert_int_equal(stand_run(stand, "prolog --job f17"), 1);
    assert_int_equal(stand_run(stand, "epilog --job f17"), 0);
    assert_int_equal(stand_services(stand, NULL), 0);
    assert_false(stand_remembers(stand));
    assert_int_equal(stand_run(stand, "prolog --job f99"), 3);
    stage_destroy(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(broker__s_reservations_become_services, stand_create,
                                        stand_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
