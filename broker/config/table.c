/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/table.h"

#include "base/roff.h"
#include "broker/config/config.h"
#include "broker/config/value.h"
#include "core/leader/leader.h"
#include "core/reservation/record.h"

#include <assert.h>
#include <string.h>
#include <syslog.h>

#define AT(member)                                                                                 \
    .offset = offsetof(struct config, member), .size = sizeof((struct config *)0)->member
#define IN_CLUSTER(member)                                                                         \
    .offset = offsetof(struct config_cluster, member),                                             \
    .size = sizeof((struct config_cluster *)0)->member

#define IN_PROFILE(member)                                                                         \
    .offset = offsetof(struct config_profile, member),                                             \
    .size = sizeof((struct config_profile *)0)->member

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define MINUTE (60 * INT64_C(1000))
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define READ (CONFIG_FILE_EXISTS | CONFIG_FILE_TRUSTED | CONFIG_FILE_RELOADED)

static const struct config_key table[] = {
#include "broker/config/keys.inc"
};

enum { KEYS = sizeof table / sizeof table[0] };
static_assert((int)KEYS <= (int)CONFIG_KEYS_MAX, "raise CONFIG_KEYS_MAX");

const struct config_key *config_keys(size_t *count)
{
    *count = KEYS;
    return table;
}

const struct config_key *config_key_find(const char *section, const char *name)
{
    for (size_t i = 0; i < KEYS; i++) {
        const struct config_key *key = &table[i];
        if (strcmp(key->section, section) == 0 &&
            (strcmp(key->name, name) == 0 || (key->older && strcmp(key->older, name) == 0)))
            return key;
    }
    return NULL;
}

size_t config_key_row(const struct config_key *key)
{
    return (size_t)(key - table);
}

void *config_base(struct config *config, enum config_place place, uint32_t index)
{
    void *const bases[CONFIG_PLACES] = {config, &config->clusters[index], &config->profiles[index]};
    assert(index < CLUSTERS_MAX && index < PROFILES_MAX);
    return bases[place];
}

const char *config_key_path(const struct config_key *key, const struct config *config)
{
    assert(key->type == CONFIG_PATH || key->type == CONFIG_JOB_CA || key->type == CONFIG_TEXT);
    return (const char *)config + key->offset;
}

enum config_place config_key_place(const struct config_key *key)
{
    return strcmp(key->section, "cluster") == 0   ? CONFIG_CLUSTER
           : strcmp(key->section, "profile") == 0 ? CONFIG_PROFILE
                                                  : CONFIG_PLAIN;
}

/* ---- --help-config, the sample file, mcastd.conf(5) ---- */

/* Breaks the sentence into lines of at most 78 columns. */
static void print_wrapped(FILE *out, const char *prefix, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column != 0 && column + 1 + word > 78) {
            fputc('\n', out);
            column = 0;
        }
        if (column == 0)
            column = (size_t)fprintf(out, "%s%.*s", prefix, (int)word, text);
        else
            column += (size_t)fprintf(out, " %.*s", (int)word, text);
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* Each key, in its section: how one begins, where the name of a plain one stands for %s. */
static void print_keys(FILE *out, const char *const begin[CONFIG_PLACES],
                       void (*print)(FILE *out, const struct config_key *key, const char *allowed))
{
    for (const struct config_key *key = table; key < table + KEYS; key++) {
        bool begins = key == table || strcmp(key->section, key[-1].section) != 0;
        char allowed[CONFIG_ALLOWED_SIZE];
        config_value_allowed(key, allowed, sizeof allowed);
        const enum config_place place = config_key_place(key);
        if (begins && place == CONFIG_PLAIN)
            fprintf(out, "%s[%s]\n", begin[place], key->section);
        else if (begins)
            fputs(begin[place], out);
        print(out, key, allowed);
    }
}

static void print_help_key(FILE *out, const struct config_key *key, const char *allowed)
{
    fprintf(out, "  %s = %s\n      default: %s%s\n", key->name, allowed,
            key->initial ? key->initial : "unset",
            key->restart ? "; a change needs a restart" : "");
    print_wrapped(out, "      ", key->sentence);
}

void config_print_help(FILE *out)
{
    fputs(
        "mcastd reads " CONFIG_DEFAULT_PATH " (--config FILE: another) and then *.conf in the\n"
        "folder conf.d beside it, in alphabetical order; what is read later overrides.\n"
        "Comments begin with ';' or '#' at the start of a line, or with ';' after a blank.\n"
        "Lists may go on in indented lines. SIGHUP (systemctl reload mcastd) applies changes, all\n"
        "of them or none; keys marked so need a restart.\n",
        out);
    static const char *const begin[] = {"\n", "\n[cluster \"NAME\"]\n", "\n[profile \"NAME\"]\n"};
    print_keys(out, begin, print_help_key);
}

static void print_sample_key(FILE *out, const struct config_key *key, const char *allowed)
{
    fputc('\n', out);
    print_wrapped(out, "# ", key->sentence);
    fprintf(out, "# Allowed: %s.\n", allowed);
    fprintf(out, "#%s = %s\n", key->name, key->initial ? key->initial : key->example);
}

void config_print_sample(FILE *out)
{
    fputs("# mcastd's configuration. Every key is here; a key that is commented out shows its\n"
          "# default, or an example where there is none. `mcastd --help-config` says more,\n"
          "# `mcastd --check` reports faults.\n",
          out);
    static const char *const begin[] = {
        "\n",
        "\n# One such section for each resource manager; names are [a-z0-9_]+. On a fabric\n"
        "# shared with Slurm, a name must not begin with the name of a Slurm cluster.\n"
        "#[cluster \"elcap\"]\n",
        "\n# What jobs can ask for by one name; any number of such sections.\n"
        "#[profile \"large\"]\n"};
    print_keys(out, begin, print_sample_key);
}

static void print_man_key(FILE *out, const struct config_key *key, const char *allowed)
{
    fputs(".TP\n.B ", out);
    roff_text(out, key->name);
    fputc('\n', out);
    roff_text(out, key->sentence);
    fputs("\n.br\nAllowed: ", out);
    roff_text(out, allowed);
    fputs(".\n.br\nDefault: ", out);
    roff_text(out, key->initial ? key->initial : "unset");
    fputs(key->restart ? "; a change needs a restart.\n" : ".\n", out);
}

static void print_man_keys(FILE *out)
{
    /* In the arguments of a request, quotes are roff's. */
    static const char *const begin[] = {
        ".SH ",
        ".SH [cluster \\(dqNAME\\(dq]\n"
        "One such section for each resource manager; names are of a\\-z, 0\\-9 and _.\n"
        "On a fabric shared with Slurm, a name must not begin with the name of a Slurm\n"
        "cluster that talks to the fabric manager itself: Slurm deletes by prefix.\n",
        ".SH [profile \\(dqNAME\\(dq]\n"
        "What jobs can ask for by one name; names are of a\\-z, 0\\-9 and _.\n"
        "What a job says itself counts for more than its profile, and that for more than the\n"
        "site's defaults. A job keeps what it got when the profile is changed.\n"};
    print_keys(out, begin, print_man_key);
}

static void print_man_restart_keys(FILE *out)
{
    const char *before = "";
    for (const struct config_key *key = table; key < table + KEYS; key++) {
        if (!key->restart)
            continue;
        fprintf(out, "%s[%s] ", before, key->section);
        roff_text(out, key->name);
        before = ",\n";
    }
    fputs(".\n", out);
}

void config_print_page(FILE *out, const char *page, void (*const *parts)(FILE *out))
{
    for (; *page != '\0'; page++) {
        if (page[0] == '@' && page[1] == '\n') {
            (*parts++)(out);
            page++;
        } else {
            fputc(*page, out);
        }
    }
}

void config_print_man(FILE *out)
{
    static void (*const parts[])(FILE *) = {print_man_keys, print_man_restart_keys};
    roff_title(out, "MCASTD.CONF", 5);
    config_print_page(out, conf_page_document, parts);
}
