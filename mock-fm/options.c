/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock-fm/objects/objects.h"

#define DEFAULT_ADDRESSES 4086 /* what El Capitan has */
#define FIRST_VALUE 256        /* of getopt_long: none of its own characters */
#define LATENCY_MAX_MS 3600000
#define TOKEN_LIFETIME_S 3600
#define TOKEN_LIFETIME_MAX_S (10 * 365 * 86400) /* a year is seen in the field */

const char options_help[] =
    "Usage: mock-fm [OPTION]...\n"
    "A fabric manager of HPE Slingshot for tests and demonstrations: the part of its REST\n"
    "interface that reserves multicast addresses for jobs and makes multicast trees, and the\n"
    "paths on which a (synthetic) fabric can be read: switches, ports, links, partitions.\n"
    "\n"
    "  --listen HOST:PORT   where to listen (default 127.0.0.1:8000; port 0: any free one)\n"
    "  --port-file FILE     write the port number to FILE once it serves\n"
    "  --tls-cert FILE      serve HTTPS with this certificate (or chain), in PEM\n"
    "  --tls-key FILE       and its key\n"
    "  --client-ca FILE     require client certificates of this authority\n"
    "  --jobs-listen HOST:PORT\n"
    "                       a second address, for jobs, without client certificates\n"
    "  --jobs-port-file FILE\n"
    "                       write the second address's port number to FILE, too\n"
    "  --auth none|basic|oauth\n"
    "                       how clients log in (default none)\n"
    "  --authdir DIR        for basic: DIR/passwd holds the password of user cxi; for oauth:\n"
    "                       DIR/client-id and DIR/client-secret\n"
    "  --token-lifetime S   how long an access token is good for, in seconds (default 3600)\n"
    "  --session-tokens own-job|get|patch|trees-only\n"
    "                       what a job's session token opens besides the job's trees: GET and\n"
    "                       PATCH of its own job (default), one of them, or neither\n"
    "  --addresses N        multicast addresses in the pool, 1 to 8192 (default 4086)\n"
    "  --overcommit         let reservations add up to more than the pool\n"
    "  --fabric GxSxP       the fabric to be read: G groups of S switches of P ports, at most\n"
    "                       512x32x64 (default 2x2x4)\n"
    "  --state FILE         keep jobs and trees in FILE across restarts\n"
    "  --latency MS         answer every request that much later (default 0)\n"
    "  --seed N             the same session tokens and the same dice in every run\n"
    "  --help, --version\n"
    "\n"
    "Tests control it at the same port: GET /mock/state, GET /mock/log, POST /mock/faults,\n"
    "DELETE /mock/faults, POST /mock/forget, /mock/snapshot, /mock/restore, /mock/revoke and\n"
    "/mock/reload. SIGHUP also reloads: passwords, certificate, key and client CA.\n"
    "\n"
    "Example: a fabric manager whose every second reservation comes back as 503\n"
    "  mock-fm --listen 127.0.0.1:8000 --state /tmp/fm.journal &\n"
    "  curl -d '{\"path\":\"*/jobs\",\"method\":\"POST\",\"probability\":0.5,\"status\":503}' \\\n"
    "       http://127.0.0.1:8000/mock/faults\n";

struct spec;
typedef int parser(const struct spec *spec, void *field, const char *text, struct problem *problem);

/* One option and the field of struct options that it fills in. */
struct spec {
    const char *name; /* with its "--" */
    parser *parse;    /* NULL: a flag */
    size_t offset;
    uint64_t least, most;     /* of a number */
    const char *const *words; /* of a choice, by value, then NULL */
    const char *allowed;      /* the same, for the error */
};

static int parse_text(const struct spec *spec, void *field, const char *text,
                      struct problem *problem)
{
    (void)spec;
    (void)problem;
    *(const char **)field = text;
    return 0;
}

static int parse_number(const struct spec *spec, void *field, const char *text,
                        struct problem *problem)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    /* strtoull would take a sign and blanks. */
    if (!isdigit((unsigned char)text[0]) || *end || errno || number < spec->least ||
        number > spec->most)
        return problem_set(problem, 400, "%s must be a number from %ju to %ju, not '%s'",
                           spec->name, (uintmax_t)spec->least, (uintmax_t)spec->most, text);
    *(uint64_t *)field = number;
    return 0;
}

/* HOST:PORT, or [ADDRESS]:PORT for IPv6. */
static int parse_listen(const struct spec *spec, void *field, const char *text,
                        struct problem *problem)
{
    struct listener *listener = field;
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    char what[32];
    const struct spec port_spec = {.name = what, .most = UINT16_MAX};
    uint64_t port;
    if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof listener->host)
        return problem_set(problem, 400, "%s must be HOST:PORT, as 127.0.0.1:8000", spec->name);
    snprintf(what, sizeof what, "the port of %s", spec->name);
    if (parse_number(&port_spec, &port, colon + 1, problem) < 0)
        return -1;
    snprintf(listener->host, sizeof listener->host, "%.*s", (int)length, text);
    snprintf(listener->port, sizeof listener->port, "%u", (unsigned)port);
    return 0;
}

static int parse_choice(const struct spec *spec, void *field, const char *text,
                        struct problem *problem)
{
    for (unsigned i = 0; spec->words[i]; i++)
        if (strcmp(text, spec->words[i]) == 0) {
            *(unsigned *)field = i; /* what an enum is */
            return 0;
        }
    return problem_set(problem, 400, "%s must be %s, not '%s'", spec->name, spec->allowed, text);
}

static int parse_lifetime(const struct spec *spec, void *field, const char *text,
                          struct problem *problem)
{
    char *end;
    double seconds = strtod(text, &end);
    /* strtod would take blanks, signs, exponents, hexadecimal digits and "inf". */
    if (text[strspn(text, "0123456789.")] || end == text || *end || seconds < 0.001 ||
        seconds > TOKEN_LIFETIME_MAX_S)
        return problem_set(problem, 400, "%s must be seconds from 0.001 to %d, not '%s'",
                           spec->name, TOKEN_LIFETIME_MAX_S, text);
    *(int64_t *)field = (int64_t)(seconds * 1e6);
    return 0;
}

static int parse_fabric(const struct spec *spec, void *field, const char *text,
                        struct problem *problem)
{
    (void)spec;
    return inventory_parse(field, text, problem);
}

static const char *const auth_names[] = {
    [AUTH_NONE] = "none", [AUTH_BASIC] = "basic", [AUTH_OAUTH] = "oauth", NULL};
static const char *const reach_names[] = {[SESSION_OWN_JOB] = "own-job",
                                          [SESSION_GET] = "get",
                                          [SESSION_PATCH] = "patch",
                                          [SESSION_TREES_ONLY] = "trees-only",
                                          NULL};

#define FIELD(member) .offset = offsetof(struct options, member)

static const struct spec specs[] = {
    {"--listen", parse_listen, FIELD(listener)},
    {"--port-file", parse_text, FIELD(listener.port_file)},
    {"--jobs-listen", parse_listen, FIELD(jobs_listener)},
    {"--jobs-port-file", parse_text, FIELD(jobs_listener.port_file)},
    {"--auth", parse_choice, FIELD(auth), .words = auth_names, .allowed = "none, basic or oauth"},
    {"--authdir", parse_text, FIELD(authdir)},
    {"--token-lifetime", parse_lifetime, FIELD(token_lifetime_us)},
    {"--session-tokens", parse_choice, FIELD(reach), .words = reach_names,
     .allowed = "own-job, get, patch or trees-only"},
    {"--tls-cert", parse_text, FIELD(tls_cert)},
    {"--tls-key", parse_text, FIELD(tls_key)},
    {"--client-ca", parse_text, FIELD(client_ca)},
    {"--addresses", parse_number, FIELD(addresses), 1, OBJECTS_MCAST_IDS},
    {"--overcommit", NULL, FIELD(overcommit)},
    {"--fabric", parse_fabric, FIELD(inventory)},
    {"--state", parse_text, FIELD(state)},
    {"--latency", parse_number, FIELD(latency_ms), 0, LATENCY_MAX_MS},
    {"--seed", parse_number, FIELD(mint.seed), 0, UINT64_MAX},
    {"--help", NULL, FIELD(help)},
    {"--version", NULL, FIELD(version)},
};
#define SPECS (sizeof specs / sizeof *specs)

/* What only makes sense together. */
static int check_combination(const struct options *options, struct problem *problem)
{
    bool jobs = options->jobs_listener.host[0];
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {options->auth == AUTH_BASIC && !options->authdir,
         "--auth basic needs --authdir DIR, whose file passwd holds the password"},
        {options->auth == AUTH_OAUTH && !options->authdir,
         "--auth oauth needs --authdir DIR, with the files client-id and client-secret"},
        {options->auth == AUTH_NONE && options->authdir,
         "--authdir goes with --auth basic or --auth oauth"},
        {options->auth != AUTH_OAUTH && options->token_lifetime_us,
         "--token-lifetime goes with --auth oauth"},
        {!options->tls_cert != !options->tls_key, "--tls-cert and --tls-key go together"},
        {options->client_ca && !options->tls_cert,
         "--client-ca goes with --tls-cert and --tls-key"},
        {jobs && !options->client_ca,
         "--jobs-listen goes with --client-ca; without it, --listen is for all"},
        {options->jobs_listener.port_file && !jobs, "--jobs-port-file goes with --jobs-listen"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            return problem_set(problem, 400, "%s", rules[i].text);
    return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct problem *problem)
{
    struct option known[SPECS + 1] = {0};
    int option;
    for (size_t i = 0; i < SPECS; i++)
        known[i] = (struct option){.name = specs[i].name + 2,
                                   .has_arg = specs[i].parse ? required_argument : no_argument,
                                   .val = FIRST_VALUE + (int)i};
    *options = (struct options){.listener = {.host = "127.0.0.1", .port = "8000"},
                                .jobs_listener = {.for_jobs = true},
                                .addresses = DEFAULT_ADDRESSES,
                                .inventory = {.groups = 2, .switches = 2, .ports = 4}};
    optind = 0; /* glibc: start afresh, also in a test that parses twice */
    while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
        if (option == ':')
            return problem_set(problem, 400, "%s needs a value; see --help", argv[optind - 1]);
        if (option == '?')
            return problem_set(problem, 400, "%s is no option of mock-fm; see --help",
                               argv[optind - 1]);
        const struct spec *spec = &specs[option - FIRST_VALUE];
        void *field = (char *)options + spec->offset;
        if (!spec->parse)
            *(bool *)field = true;
        else if (spec->parse(spec, field, optarg, problem) < 0)
            return -1;
        options->mint.seeded |= spec->offset == offsetof(struct options, mint.seed);
    }
    if (optind < argc)
        return problem_set(problem, 400, "mock-fm takes only options, not '%s'; see --help",
                           argv[optind]);
    if (check_combination(options, problem) < 0)
        return -1;
    if (options->auth == AUTH_OAUTH && !options->token_lifetime_us)
        options->token_lifetime_us = TOKEN_LIFETIME_S * INT64_C(1000000);
    return 0;
}
