/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/conf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "mock-cxi/value.h"

/* Whose keys the lines are that come. */
struct reader {
    struct conf *conf;
    enum { SECTION_NONE, SECTION_MOCK, SECTION_EVERY_NIC, SECTION_NIC, SECTION_FAULT } section;
    struct nic *nic;
    struct fault *fault;
};

static int begin_nic(struct reader *reader, const char *name, struct error *err)
{
    uint64_t number;
    if (value_number(name + 3, 0, NIC_MAX - 1, &number, NULL) || number >= reader->conf->nic_count)
        return error_set(err, ERROR_INVALID,
                         "there is no NIC '%s': of so many NICs as nics in [mock], above, says, "
                         "the first is cxi0",
                         name);
    reader->nic = &reader->conf->nics[number];
    reader->section = SECTION_NIC;
    return 0;
}

static int begin_fault(struct reader *reader, char *name, struct error *err)
{
    struct conf *conf = reader->conf;
    name = text_trim(name);
    if (!*name || strlen(name) >= FAULT_NAME_SIZE)
        return error_set(err, ERROR_INVALID, "a fault needs a name of at most %d characters",
                         FAULT_NAME_SIZE - 1);
    for (unsigned int i = 0; i < conf->fault_count; i++)
        if (!strcmp(conf->faults[i].name, name))
            return error_set(err, ERROR_INVALID, "there are two faults '%s'", name);
    if (conf->fault_count == CONF_FAULTS_MAX)
        return error_set(err, ERROR_INVALID, "more than %d faults", CONF_FAULTS_MAX);
    reader->fault = &conf->faults[conf->fault_count++];
    fault_init(reader->fault, name);
    reader->section = SECTION_FAULT;
    return 0;
}

static int begin_section(struct reader *reader, char *line, struct error *err)
{
    char *end = strchr(line, ']');
    if (!end || end[1])
        return error_set(err, ERROR_INVALID, "a section is [name], not '%s'", line);
    *end = '\0';
    char *name = text_trim(line + 1);
    if (!strncmp(name, "fault", 5) && (isspace((unsigned char)name[5]) || !name[5]))
        return begin_fault(reader, name + 5, err);
    if (!strncmp(name, "cxi", 3))
        return begin_nic(reader, name, err);
    if (!strcmp(name, "nic"))
        reader->section = SECTION_EVERY_NIC;
    else if (!strcmp(name, "mock"))
        reader->section = SECTION_MOCK;
    else
        return error_set(err, ERROR_INVALID,
                         "there is no section '%s', but mock, nic, cxi0 and fault NAME", name);
    return 0;
}

static const struct value_key mock_keys[] = {
    VALUE_NUMBER("nics", struct conf, nic_count, 0, NIC_MAX),
    VALUE_BOOL("privileged", struct conf, anyone, "any", "root"),
    VALUE_BOOL("shared_vnis", struct conf, shared_vnis, "yes", "no"),
    VALUE_BOOL("log", struct conf, log, "yes", "no"),
    VALUE_BOOL("sysfs", struct conf, sysfs, "yes", "no"),
};

static int set_every_nic(struct conf *conf, const char *key, const char *value, struct error *err)
{
    int r = 0;
    for (unsigned int i = 0; i < NIC_MAX && !r; i++)
        r = nic_set(&conf->nics[i], key, value, err);
    return r;
}

static int read_setting(struct reader *reader, char *line, struct error *err)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return error_set(err, ERROR_INVALID, "'%s' is neither [section] nor key = value", line);
    *equals = '\0';
    const char *key = text_trim(line);
    const char *value = text_trim(equals + 1);
    switch (reader->section) {
    case SECTION_MOCK:
        return value_set(mock_keys, sizeof mock_keys / sizeof *mock_keys, "[mock]", reader->conf,
                         key, value, err);
    case SECTION_EVERY_NIC:
        return set_every_nic(reader->conf, key, value, err);
    case SECTION_NIC:
        return nic_set(reader->nic, key, value, err);
    case SECTION_FAULT:
        return fault_set(reader->fault, key, value, err);
    case SECTION_NONE:
        break;
    }
    return error_set(err, ERROR_INVALID, "'%s' is in no section", key);
}

struct conf *conf_parse(char *text, struct error *err)
{
    struct conf *conf = memory_zeroed(sizeof *conf);
    conf->shared_vnis = true;
    for (unsigned int i = 0; i < NIC_MAX; i++)
        nic_init(&conf->nics[i], i);
    struct reader reader = {.conf = conf};
    int number = 0;
    for (char *line; (line = strsep(&text, "\n"));) {
        number++;
        line[strcspn(line, "#;")] = '\0';
        line = text_trim(line);
        int r = 0;
        if (*line == '[')
            r = begin_section(&reader, line, err);
        else if (*line)
            r = read_setting(&reader, line, err);
        if (r < 0) {
            error_prefix(err, "cxi.conf line %d", number);
            free(conf);
            return NULL;
        }
    }
    return conf;
}

struct conf *conf_read(const struct place *place, struct error *err)
{
    char *text = NULL;
    size_t length;
    char nothing[] = "";
    int r =
        place->directory < 0 ? ERROR_NOT_FOUND : place_read(place, "cxi.conf", &text, &length, err);
    if (r < 0 && r != ERROR_NOT_FOUND)
        return NULL;
    struct conf *conf = conf_parse(text ? text : nothing, err);
    free(text);
    return conf;
}

const struct nic *conf_nic(const struct conf *conf, unsigned int dev_id)
{
    return dev_id < conf->nic_count && conf->nics[dev_id].present ? &conf->nics[dev_id] : NULL;
}
