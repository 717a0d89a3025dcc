/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/variables.h"

#include "node/services/claim.h"
#include "node/services/match.h"

#include <assert.h>
#include <string.h>

const char *const variables_names[VARIABLES_COUNT] = {
#define NAME_(name, text) [VARIABLES_##name] = (text),
    VARIABLES_NAMES(NAME_)
#undef NAME_
};

enum { VALUE_SIZE = NIC_MAX * (NIC_NAME_SIZE + 1) };

enum variables_format variables_format_from_word(const char *word)
{
    static const char *const words[] = {[VARIABLES_SH] = "sh",
                                        [VARIABLES_JSON] = "json",
                                        [VARIABLES_NULL] = "null",
                                        [VARIABLES_SLURM] = "slurm"};
    for (int i = VARIABLES_SH; i < VARIABLES_NONE; i++) {
        if (strcmp(words[i], word) == 0)
            return (enum variables_format)i;
    }
    return VARIABLES_NONE;
}

void variables_add(struct variables *variables, const char *device,
                   const struct cxi_svc_desc *service)
{
    assert(variables->service_count < NIC_MAX);
    unsigned int classes = match_traffic_classes(service);
    bool first = variables->service_count == 0;
    struct variables_service *place = &variables->services[variables->service_count++];
    snprintf(place->device, sizeof place->device, "%s", device);
    place->id = service->svc_id;
    /* Tasks do not choose by NIC: what one NIC refuses they cannot use. */
    variables->traffic_classes = first ? classes : variables->traffic_classes & classes;
}

static void write_value(const struct variables *variables, enum variables_name name,
                        char out[VALUE_SIZE])
{
    size_t used = 0;
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    out[0] = '\0';
    if (name == VARIABLES_VNIS)
        snprintf(out, VALUE_SIZE, "%s", claim_vnis(variables->vnis, variables->vni_count, vnis));
    if (name == VARIABLES_TCS)
        snprintf(out, VALUE_SIZE, "0x%02x", variables->traffic_classes);
    for (unsigned int i = 0; name == VARIABLES_DEVICES && i < variables->service_count; i++)
        used += (size_t)snprintf(out + used, VALUE_SIZE - used, "%s%s", i ? "," : "",
                                 variables->services[i].device);
    for (unsigned int i = 0; name == VARIABLES_SVC_IDS && i < variables->service_count; i++)
        used += (size_t)snprintf(out + used, VALUE_SIZE - used, "%s%u", i ? "," : "",
                                 variables->services[i].id);
}

/* No value has a letter that a shell or JSON would want quoted (nic.h); the quotes are for those
 * who read it. */
static void print_value(FILE *out, enum variables_format format, int i, const char *value)
{
    const char *name = variables_names[i];
    if (format == VARIABLES_SH)
        fprintf(out, "export %s='%s'\n", name, value);
    else if (format == VARIABLES_SLURM)
        fprintf(out, "export %s=%s\n", name, value);
    else if (format == VARIABLES_JSON)
        fprintf(out, "%s  \"%s\": \"%s\"", i ? ",\n" : "{\n", name, value);
    else
        fprintf(out, "%s=%s%c", name, value, '\0');
}

static void print_unset(FILE *out, enum variables_format format, int i)
{
    const char *name = variables_names[i];
    if (format == VARIABLES_JSON)
        fprintf(out, "%s  \"%s\": null", i ? ",\n" : "{\n", name);
    else if (format != VARIABLES_NULL)
        fprintf(out, "unset %s\n", name);
}

void variables_print(const struct variables *variables, enum variables_format format, FILE *out)
{
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        char value[VALUE_SIZE];
        write_value(variables, (enum variables_name)i, value);
        if (variables->clear)
            print_unset(out, format, i);
        else
            print_value(out, format, i, value);
    }
    if (format == VARIABLES_JSON)
        fputs("\n}\n", out);
}
