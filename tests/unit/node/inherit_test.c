/* SPDX-License-Identifier: Apache-2.0 */
/* What an outer instance left is taken, or said to be wrong (F6). */

#include "node/services/variables.h"
#include "tests/unit/node/chip.h"
#include "tests/unit/unit.h"

#include <errno.h>

/* cxi0 and cxi1, each with the default service and one of uid 5588, VNI 1024: ids 3 and 5. */
static struct nics nics;

static int set_up(void **state)
{
    static const unsigned int ids[] = {3, 5};
    nics = (struct nics){.count = 2};
    for (unsigned int i = 0; i < 2; i++) {
        struct cxi_svc_desc services[] = {chip_default_service(), chip_service(ids[i], 5588, 1024)};
        nics.at[i].info = chip_info(i);
        snprintf(nics.at[i].name, sizeof nics.at[i].name, "cxi%u", i);
        nics.at[i].services = chip_list(services, 2);
    }
    return 0;
}

static int tear_down(void **state)
{
    free(nics.at[0].services);
    free(nics.at[1].services);
    return 0;
}

static int inherit(struct variables *variables, const char *vnis, const char *devices,
                   const char *ids, const char *classes, struct error *err)
{
    const char *const given[VARIABLES_COUNT] = {vnis, devices, ids, classes};
    *err = (struct error){0};
    return variables_inherit(variables, given, &nics, err);
}

#define TEST(name) UNIT_WITH(name, set_up, tear_down)

TEST(inherit__takes_what_is_there)
{
    struct variables variables;
    struct error err;
    assert_int_equal(inherit(&variables, "1024", "cxi0,cxi1", "3,5", "0x0a", &err), 0);
    assert_false(variables.clear);
    assert_int_equal(variables.vni_count, 1);
    assert_int_equal(variables.vnis[0], 1024);
    assert_int_equal(variables.service_count, 2);
    assert_string_equal(variables.services[1].device, "cxi1");
    assert_int_equal(variables.services[1].id, 5);
    assert_int_equal(variables.traffic_classes, 0x0a);
    /* One NIC of two: nodes and instances differ. */
    assert_int_equal(inherit(&variables, "1024", "cxi1", "5", "0x08", &err), 0);
    assert_int_equal(variables.service_count, 1);
    assert_int_equal(variables.traffic_classes, 0x08);
}

TEST(inherit__nothing_is_to_be_cleared)
{
    struct variables variables;
    struct error err;
    assert_int_equal(inherit(&variables, NULL, NULL, NULL, NULL, &err), 0);
    assert_true(variables.clear);
}

/* Where an outer launcher forgot it (flux-coral2 412). */
TEST(inherit__missing_classes_are_found_at_the_services)
{
    struct variables variables;
    struct error err;
    assert_int_equal(inherit(&variables, "1024", "cxi0", "3", NULL, &err), 0);
    assert_int_equal(variables.traffic_classes, 0x0a);
}

TEST(inherit__says_what_is_wrong)
{
    static const struct {
        const char *vnis, *devices, *ids, *classes, *why;
    } wrong[] = {
        {"1024", "cxi0,cxi1", "3", NULL, "2 entries and SLINGSHOT_SVC_IDS 1"},
        {"1024", "cxi2", "3", NULL, "no NIC cxi2"},
        {"1024", "cxi0", "5", NULL, "cxi0 has no service 5"},
        {"1024", "cxi0", "three", NULL, "SLINGSHOT_SVC_IDS=three cannot be inherited"},
        {"1024", "cxi0", "-3", NULL, "=-3 cannot be inherited: an id is a number"},
        {"1024", "cxi0,", "3,5", NULL, "no list of NICs"},
        {"1024", "cxi0,cxi0", "3,3", NULL, "a NIC is named twice"},
        {"1025", "cxi0", "3", NULL, "service 3 of cxi0 is another's (uid 5588, VNI 1024)"},
        {"1024,1025", "cxi0", "3", NULL, "service 3 of cxi0 is another's"},
        {"1,10", "cxi0", "3", NULL, "is another's"},
        {"1024,1024", "cxi0", "3", NULL, "a VNI is named twice"},
        {"1,2,3,4,5", "cxi0", "3", NULL, "1 to 4 VNIs"},
        {"65536", "cxi0", "3", NULL, "from 0 to 65535"},
        {"x", "cxi0", "3", NULL, "from 0 to 65535"},
        {"1024", "cxi0", "3", "0x0b", "the services allow 0x0a only"},
        {"1024", "cxi0", "3", "low", "no bit mask"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct variables variables;
        struct error err;
        assert_int_equal(inherit(&variables, wrong[i].vnis, wrong[i].devices, wrong[i].ids,
                                 wrong[i].classes, &err),
                         ERROR_INVALID);
        assert_words(err.text, wrong[i].why);
    }
}

/* Another resource manager's: it may leave some out, and have services for more VNIs than a job's,
 * or for any. */
TEST(inherit__of_a_foreign_manager_is_not_taken_away)
{
    struct variables variables;
    struct error err;
    assert_int_equal(inherit(&variables, NULL, "cxi0", "3", NULL, &err), ERROR_NOT_FOUND);
    assert_non_null(strstr(err.text, "SLINGSHOT_VNIS is not set"));
    assert_int_equal(inherit(&variables, "1024", "cxi0", NULL, NULL, &err), ERROR_NOT_FOUND);
    assert_int_equal(inherit(&variables, NULL, NULL, NULL, "0x0a", &err), ERROR_NOT_FOUND);
    nics.at[0].services->descs[1].restricted_vnis = 0;
    assert_int_equal(inherit(&variables, "1025", "cxi0", "3", NULL, &err), 0);

    const char *given[VARIABLES_COUNT] = {NULL, "cxi0", "3", "0x0a"};
    char *text = NULL;
    size_t size;
    assert_true(variables_pass(&variables, given));
    FILE *out = open_memstream(&text, &size);
    variables_print(&variables, VARIABLES_SLURM, out);
    fclose(out);
    assert_string_equal(text, "unset SLINGSHOT_VNIS\nexport SLINGSHOT_DEVICES=cxi0\n"
                              "export SLINGSHOT_SVC_IDS=3\nexport SLINGSHOT_TCS=0x0a\n");
    free(text);
    given[VARIABLES_VNIS] = "1024';id;'";
    assert_false(variables_pass(&variables, given));
}

TEST(inherit__a_nic_that_fails_is_no_proof)
{
    struct variables variables;
    struct error err;
    free(nics.at[0].services);
    nics.at[0].services = NULL;
    nics.at[0].failure = -EIO;
    assert_int_equal(inherit(&variables, "1024", "cxi0", "3", NULL, &err), ERROR_IO);
    assert_non_null(strstr(err.text, "cxi0 cannot be asked"));
}

UNIT_RUN(NULL, NULL)
