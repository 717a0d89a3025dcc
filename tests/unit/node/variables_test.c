/* SPDX-License-Identifier: Apache-2.0 */
/* SLINGSHOT_* as libfabric and MPI read them (F8, F12): golden texts. */

#include "node/services/variables.h"
#include "tests/unit/node/chip.h"
#include "tests/unit/unit.h"

/* The example of the Flux Slingshot design. */
static struct variables example(void)
{
    static const unsigned int ids[] = {11, 11, 12, 11};
    struct variables variables = {.vni_count = 1, .vnis = {4034}};
    for (unsigned int i = 0; i < 4; i++) {
        char device[] = {'c', 'x', 'i', (char)('0' + i), '\0'};
        struct cxi_svc_desc service = chip_service(ids[i], 5588, 4034);
        variables_add(&variables, device, &service);
    }
    return variables;
}

static void expect(const struct variables *variables, enum variables_format format,
                   const char *text, size_t size)
{
    char *got = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&got, &length);
    variables_print(variables, format, out);
    fclose(out);
    assert_int_equal(length, size);
    assert_memory_equal(got, text, size);
    free(got);
}

#define EXPECT(variables, format, text) expect(variables, format, text, sizeof text - 1)

UNIT(variables__are_those_of_the_design_s_example)
{
    struct variables variables = example();
    EXPECT(&variables, VARIABLES_SH,
           "export SLINGSHOT_VNIS='4034'\n"
           "export SLINGSHOT_DEVICES='cxi0,cxi1,cxi2,cxi3'\n"
           "export SLINGSHOT_SVC_IDS='11,11,12,11'\n"
           "export SLINGSHOT_TCS='0x0a'\n");
    EXPECT(&variables, VARIABLES_SLURM,
           "export SLINGSHOT_VNIS=4034\n"
           "export SLINGSHOT_DEVICES=cxi0,cxi1,cxi2,cxi3\n"
           "export SLINGSHOT_SVC_IDS=11,11,12,11\n"
           "export SLINGSHOT_TCS=0x0a\n");
    EXPECT(&variables, VARIABLES_JSON,
           "{\n"
           "  \"SLINGSHOT_VNIS\": \"4034\",\n"
           "  \"SLINGSHOT_DEVICES\": \"cxi0,cxi1,cxi2,cxi3\",\n"
           "  \"SLINGSHOT_SVC_IDS\": \"11,11,12,11\",\n"
           "  \"SLINGSHOT_TCS\": \"0x0a\"\n"
           "}\n");
    EXPECT(&variables, VARIABLES_NULL,
           "SLINGSHOT_VNIS=4034\0"
           "SLINGSHOT_DEVICES=cxi0,cxi1,cxi2,cxi3\0"
           "SLINGSHOT_SVC_IDS=11,11,12,11\0"
           "SLINGSHOT_TCS=0x0a\0");
}

UNIT(variables__clear_unsets)
{
    struct variables variables = {.clear = true};
    EXPECT(&variables, VARIABLES_SH,
           "unset SLINGSHOT_VNIS\nunset SLINGSHOT_DEVICES\nunset SLINGSHOT_SVC_IDS\n"
           "unset SLINGSHOT_TCS\n");
    EXPECT(&variables, VARIABLES_SLURM,
           "unset SLINGSHOT_VNIS\nunset SLINGSHOT_DEVICES\nunset SLINGSHOT_SVC_IDS\n"
           "unset SLINGSHOT_TCS\n");
    EXPECT(&variables, VARIABLES_JSON,
           "{\n  \"SLINGSHOT_VNIS\": null,\n  \"SLINGSHOT_DEVICES\": null,\n"
           "  \"SLINGSHOT_SVC_IDS\": null,\n  \"SLINGSHOT_TCS\": null\n}\n");
    EXPECT(&variables, VARIABLES_NULL, "");
}

/* What a launch document has for tasks, and of it only what is of an interconnect: libfabric loads
 * what FI_PROVIDER_PATH names (S4). */
UNIT(variables__of_tasks)
{
    struct variables variables = {
        .clear = true,
        .tasks = json_pack("{ss ss ss ss ss ss ss ss}", "FI_CXI_COLL_JOB_ID", "elcap-1",
                           "FI_OPX_PKEY", "0x8001", "FI_PSM3_UUID", "it's", "PSM3_NIC", "hfi1_*",
                           "FI_PROVIDER_PATH", "/tmp", "LD_PRELOAD", "/tmp/x.so", "FI_OPX_a", "1",
                           "FI_OPX_UUID", "1\nPATH=/tmp")};
    EXPECT(&variables, VARIABLES_NULL,
           "FI_CXI_COLL_JOB_ID=elcap-1\0FI_OPX_PKEY=0x8001\0FI_PSM3_UUID=it's\0PSM3_NIC=hfi1_*\0");
    variables.clear = false;
    EXPECT(&variables, VARIABLES_SLURM,
           "export SLINGSHOT_VNIS=\nexport SLINGSHOT_DEVICES=\nexport SLINGSHOT_SVC_IDS=\n"
           "export SLINGSHOT_TCS=0x00\n"
           "export FI_CXI_COLL_JOB_ID=elcap-1\nexport FI_OPX_PKEY=0x8001\n"
           "export FI_PSM3_UUID=it's\nexport PSM3_NIC=hfi1_*\n");
    json_decref(variables.tasks);
}

UNIT(variables__classes_are_those_of_all_nics)
{
    struct variables variables = {.vni_count = 2, .vnis = {1024, 1025}};
    struct cxi_svc_desc service = chip_service(2, 5588, 1024);
    service.tcs[CXI_TC_DEDICATED_ACCESS] = true;
    variables_add(&variables, "cxi0", &service);
    assert_int_equal(variables.traffic_classes, 0x0b);
    service.tcs[CXI_TC_LOW_LATENCY] = false;
    variables_add(&variables, "cxi1", &service);
    assert_int_equal(variables.traffic_classes, 0x09);
    EXPECT(&variables, VARIABLES_SLURM,
           "export SLINGSHOT_VNIS=1024,1025\nexport SLINGSHOT_DEVICES=cxi0,cxi1\n"
           "export SLINGSHOT_SVC_IDS=2,2\nexport SLINGSHOT_TCS=0x09\n");
}

UNIT(variables__formats_have_words)
{
    assert_int_equal(variables_format_from_word("slurm"), VARIABLES_SLURM);
    assert_int_equal(variables_format_from_word("null"), VARIABLES_NULL);
    assert_int_equal(variables_format_from_word(""), VARIABLES_NONE);
    assert_int_equal(variables_format_from_word("csh"), VARIABLES_NONE);
}

UNIT_RUN(NULL, NULL)
