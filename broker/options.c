/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/options.h"

#include "base/roff.h"
#include "broker/config/config.h"
#include "broker/config/table.h"
#include "broker/log/log.h"

#include <getopt.h>
#include <string.h>
#include <sysexits.h>

static const struct {
    const char *name;
    const char *value; /* NULL: takes none; "[USER]": may take one */
    char letter;
    const char *sentence;
} rows[] = {
    {"config", "FILE", 'c', "read FILE and conf.d/*.conf beside it (" CONFIG_DEFAULT_PATH ")"},
    {"check", "[USER]", 'k', "check the configuration as USER's service reads it, exit 0 or 1"},
    {"log-level", "LEVEL", 'l',
     "error, warning, notice, info or debug; overrides the configuration"},
    {"make-key", "[USER]", 'K', "make [state] key_file for USER when there is none, and exit"},
    {"help-config", NULL, 'H', "explain every key of the configuration"},
    {"sample-config", NULL, 'S', "print a configuration to begin with"},
    {"version", NULL, 'V', "print the version"},
    {"help", NULL, 'h', "print this"},
    {"man-page", "SECTION", 'M', "print the manual page of section 5 or 8, as roff"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static void print_usage(FILE *out)
{
    fputs("mcastd: gives VNIs and multicast addresses of HPE Slingshot to the jobs of any "
          "resource\nmanager.\n\nusage: mcastd [OPTION]...\n",
          out);
    for (size_t i = 0; i < ROWS; i++) {
        char option[32];
        const char *value = rows[i].value;
        bool optional = value != NULL && value[0] == '[';
        (void)snprintf(option, sizeof option, "--%s%s%s", rows[i].name,
                       optional        ? "[="
                       : value != NULL ? " "
                                       : "",
                       value != NULL ? value + optional : "");
        fprintf(out, "  %-20s%s\n", option, rows[i].sentence);
    }
    fputs(
        "\nWithout USER it is the owner of the folder of the ledger, [state] path.\n"
        "\nexamples:\n"
        "  mcastd --sample-config > /etc/mcastd/mcastd.conf\n"
        "  mcastd --check && systemctl reload mcastd\n"
        "\n"
        "SIGTERM: answer what was accepted, then stop. SIGHUP: read the configuration again, and\n"
        "apply it wholly or not at all. Exit status: 0 stopped, 1 cannot start, 64 wrong usage.\n"
        "75 is kept for stores that several brokers share, of which there is none yet.\n",
        out);
}

/* For mcastd(8). */
static void print_options(FILE *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        const char *value = rows[i].value;
        fputs(".TP\n.B ", out);
        roff_text(out, "--");
        roff_text(out, rows[i].name);
        if (value != NULL && value[0] == '[')
            fprintf(out, "[=%s", value + 1);
        else if (value != NULL)
            fprintf(out, " %s", value);
        fputc('\n', out);
        roff_text(out, rows[i].sentence);
        fputs(".\n", out);
    }
}

static bool print_page(const char *section)
{
    static void (*const parts[])(FILE *) = {print_options};
    if (strcmp(section, "5") == 0) {
        config_print_man(stdout);
    } else if (strcmp(section, "8") == 0) {
        roff_title(stdout, "MCASTD", 8);
        config_print_page(stdout, mcastd_page_document, parts);
    } else {
        return false;
    }
    return true;
}

static int usage_error(void)
{
    fputs("mcastd --help lists the options\n", stderr);
    return EX_USAGE;
}

static int set_log_level(struct options *options, const char *word)
{
    options->log_level = log_level_of(word);
    if (options->log_level >= 0)
        return 0;
    fprintf(stderr, "mcastd: --log-level %s: allowed is error, warning, notice, info or debug\n",
            word);
    return EX_USAGE;
}

/* 0, or EX_USAGE. */
static int apply_option(struct options *options, int letter, const char *value)
{
    switch (letter) {
    case 'c':
        options->config_path = value;
        return 0;
    case 'k':
        options->task = OPTIONS_CHECK;
        options->user = value;
        return 0;
    case 'l':
        return set_log_level(options, value);
    case 'K':
        options->task = OPTIONS_MAKE_KEY;
        options->user = value;
        return 0;
    case 'H':
        config_print_help(stdout);
        break;
    case 'S':
        config_print_sample(stdout);
        break;
    case 'V':
        puts("mcastd " MCAST_VERSION);
        break;
    case 'h':
        print_usage(stdout);
        break;
    case 'M':
        if (!print_page(value))
            return usage_error();
        break;
    default:
        return usage_error();
    }
    options->task = OPTIONS_DONE;
    return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
    struct option known[ROWS + 1] = {{NULL, 0, NULL, 0}};
    int rc = 0, letter;
    for (size_t i = 0; i < ROWS; i++) {
        int value = rows[i].value == NULL     ? no_argument
                    : rows[i].value[0] == '[' ? optional_argument
                                              : required_argument;
        known[i] = (struct option){rows[i].name, value, NULL, rows[i].letter};
    }
    *options = (struct options){.config_path = CONFIG_DEFAULT_PATH, .log_level = -1};
    while (rc == 0 && options->task != OPTIONS_DONE &&
           (letter = getopt_long(argc, argv, "", known, NULL)) != -1)
        rc = apply_option(options, letter, optarg);
    if (rc == 0 && options->task != OPTIONS_DONE && optind < argc) {
        fprintf(stderr, "mcastd takes no arguments, this is one: %s\n", argv[optind]);
        rc = EX_USAGE;
    }
    return rc;
}
