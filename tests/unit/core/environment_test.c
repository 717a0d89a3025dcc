/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"
#include "tests/coreconfig.h"

#include "core/interconnect/interconnect.h"

struct text {
    char bytes[2048];
};

static void append(void *arg, const char *name, const char *value)
{
    struct text *text = arg;
    size_t length = strlen(text->bytes);
    snprintf(text->bytes + length, sizeof text->bytes - length, "%s=%s\n", name, value);
}

static struct reservation *reserved(void)
{
    struct reservation *r = calloc(1, sizeof *r + 16);
    r->cluster = "elcap";
    strcpy(r->job, "f2Rs8sydSxmd");
    r->hwcoll = HWCOLL_RESERVED;
    r->state = JOB_ACTIVE;
    r->addresses = 23;
    r->min_nodes = 64;
    r->token = secret_copy(secret_of("sess-1"));
    return r;
}

static void destroy(struct reservation *r)
{
    secret_wipe(&r->token);
    free(r);
}

/* F16: golden, against fabric-manager.md "The job's environment". */
UNIT(environment_each__is_complete)
{
    struct core_config config;
    struct text text = {""};
    coreconfig_init(&config);
    strcpy(config.job_ca, "/etc/mcastd/fm-ca.pem");
    struct reservation *r = reserved();
    environment_each(&config, "https://fmn:8000/apis/fabric-manager", r, "/fA/fB", append, &text);
    assert_string_equal(
        text.bytes,
        "FI_CXI_HWCOLL_MIN_NODES=64\n"
        "FI_CXI_HWCOLL_ADDRS_PER_JOB=23\n"
        "FI_CXI_COLL_JOB_ID=elcap-f2Rs8sydSxmd\n"
        "FI_CXI_COLL_JOB_STEP_ID=/fA/fB\n"
        "FI_CXI_COLL_MCAST_TOKEN=sess-1\n"
        "FI_CXI_COLL_FABRIC_MGR_URL=https://fmn:8000/apis/fabric-manager/fabric/collectives/"
        "multicasts\n"
        "FI_CXI_COLL_FABRIC_MGR_CACERT=/etc/mcastd/fm-ca.pem\n");
    destroy(r);
}

/* libfabric shows no client certificate: there can be a door for jobs (fabric-manager.md). */
UNIT(environment_each__tells_jobs_their_own_door)
{
    struct core_config config;
    struct text text = {""};
    coreconfig_init(&config);
    strcpy(config.job_url, "https://fmn:8001");
    struct reservation *r = reserved();
    environment_each(&config, "https://fmn:8000", r, NULL, append, &text);
    assert_non_null(strstr(text.bytes, "FI_CXI_COLL_FABRIC_MGR_URL=https://fmn:8001/fabric/"
                                       "collectives/multicasts\n"));
    destroy(r);
}

UNIT(environment_each__step_is_never_unset)
{
    struct core_config config;
    struct text text = {""};
    coreconfig_init(&config);
    struct reservation *r = reserved();
    environment_each(&config, "https://fmn:8000", r, NULL, append, &text);
    assert_non_null(strstr(text.bytes, "FI_CXI_COLL_JOB_STEP_ID=0\n"));
    destroy(r);
}

UNIT(environment_each__nothing_without_reservation)
{
    struct core_config config;
    struct text text = {""};
    coreconfig_init(&config);
    struct reservation *r = reserved();
    for (int hwcoll = HWCOLL_OFF; hwcoll <= HWCOLL_RELEASED; hwcoll++) {
        r->hwcoll = (uint8_t)hwcoll;
        if (hwcoll != HWCOLL_RESERVED)
            environment_each(&config, "https://fmn:8000", r, "0", append, &text);
    }
    assert_string_equal(text.bytes, "");
    destroy(r);
}

UNIT_RUN(NULL, NULL)
