/* SPDX-License-Identifier: Apache-2.0 */
/* What an outer instance left in the environment (node/services/variables.h): a byte for what is on
 * the NICs, then the four values, one a line; one that begins with '!' is not set. */

#include "node/services/variables.h"
#include "node/services/service.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NICS = 3, SERVICES = 3 };

/* cxi0 and cxi1 with the default service and two jobs'; cxi2 fails when the byte says so. */
static void make_nics(struct nics *nics, uint8_t how)
{
    static struct cxil_svc_list *lists[NICS];
    *nics = (struct nics){.count = 1 + (how & 3U) % NICS};
    for (unsigned int i = 0; i < nics->count; i++) {
        if (!lists[i])
            lists[i] = calloc(1, sizeof *lists[i] + SERVICES * sizeof(struct cxi_svc_desc));
        struct cxil_svc_list *list = lists[i];
        list->count = SERVICES;
        for (unsigned int s = 0; s < SERVICES; s++) {
            unsigned int vnis = 1 + ((unsigned int)how >> (2 * s)) % CXI_SVC_MAX_VNIS;
            list->descs[s] = (struct cxi_svc_desc){.svc_id = s + 1,
                                                   .is_system_svc = s == 0,
                                                   .restricted_vnis = s != 2 || !(how & 128),
                                                   .restricted_tcs = s != 1,
                                                   .num_vld_vnis = (uint8_t)vnis};
            for (unsigned int v = 0; v < vnis; v++)
                list->descs[s].vnis[v] = (uint16_t)(1024 + s + v);
            list->descs[s].tcs[CXI_TC_BEST_EFFORT] = true;
            list->descs[s].tcs[CXI_TC_LOW_LATENCY] = how & 64;
        }
        snprintf(nics->at[i].name, sizeof nics->at[i].name, "cxi%u", i);
        bool failed = i == NICS - 1 && how & 32;
        nics->at[i].services = failed ? NULL : list;
        nics->at[i].failure = failed ? -EIO : 0;
    }
}

/* Every service is there, and for these VNIs, or any: another resource manager's may have more. */
static void check_services(const struct variables *variables, struct nics *nics)
{
    FUZZ_CHECK(variables->vni_count >= 1 && variables->vni_count <= CXI_SVC_MAX_VNIS);
    FUZZ_CHECK(variables->service_count >= 1 && variables->service_count <= nics->count);
    for (unsigned int i = 0; i < variables->service_count; i++) {
        const struct service_place *taken = &variables->services[i];
        const struct nic *nic = nics_find(nics, taken->device);
        FUZZ_CHECK(nic && nic->failure == 0);
        const struct cxi_svc_desc *service = service_by_id(nic->services, taken->id);
        FUZZ_CHECK(service);
        for (unsigned int v = 0; v < variables->vni_count; v++)
            FUZZ_CHECK(!service->restricted_vnis || service_has_vni(service, variables->vnis[v]));
        FUZZ_CHECK((variables->traffic_classes & ~service_traffic_classes(service)) == 0);
    }
}

static char *print(const struct variables *variables, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out)
        abort();
    variables_print(variables, VARIABLES_NULL, out);
    fclose(out);
    return text;
}

/* What is passed on can be inherited again, at any depth (F6). */
static void check_again(const struct variables *variables, struct nics *nics)
{
    size_t size, deeper_size;
    struct variables deeper;
    struct error err;
    const char *given[VARIABLES_COUNT];
    char *text = print(variables, &size);
    const char *at = text;
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        FUZZ_CHECK(strncmp(at, variables_names[i], strlen(variables_names[i])) == 0);
        given[i] = strchr(at, '=') + 1;
        at += strlen(at) + 1;
    }
    FUZZ_CHECK(at == text + size);
    FUZZ_CHECK(variables_inherit(&deeper, given, nics, &err) == 0);
    char *passed_on = print(&deeper, &deeper_size);
    FUZZ_CHECK(deeper_size == size && memcmp(passed_on, text, size) == 0);
    free(passed_on);
    free(text);
}

void fuzz_one(struct fuzz_input *in)
{
    static struct nics nics;
    struct variables variables;
    struct error err = {0};
    char *lines[VARIABLES_COUNT];
    const char *given[VARIABLES_COUNT];
    make_nics(&nics, fuzz_byte(in));
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        lines[i] = fuzz_line(in);
        given[i] = lines[i][0] == '!' ? NULL : lines[i];
    }
    if (variables_inherit(&variables, given, &nics, &err) < 0) {
        const bool known = err.code == ERROR_INVALID || err.code == ERROR_IO ||
                           err.code == ERROR_NOT_FOUND; /* only some of them are set */
        FUZZ_CHECK(known && err.text[0] != '\0');
    } else if (variables.clear) {
        for (int i = 0; i < VARIABLES_COUNT; i++)
            FUZZ_CHECK(!given[i]);
    } else {
        check_services(&variables, &nics);
        check_again(&variables, &nics);
    }
    for (int i = 0; i < VARIABLES_COUNT; i++)
        free(lines[i]);
}
