#include "mock-fm/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock-fm/objects/objects.h"

#define DEFAULT_ADDRESSES 4086 /* what El Capitan has */
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
    "  --client-ca FILE     let nobody in without a certificate of this authority\n"
    "  --jobs-listen HOST:PORT\n"
    "                       but at this second address, which jobs are told, anybody\n"
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

static int parse_number(const char *name, const char *text, uint64_t least, uint64_t most,
                        uint64_t *number, struct problem *problem)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    /* strtoull would take a sign and blanks. */
    if (!isdigit((unsigned char)text[0]) || *end || errno || *number < least || *number > most)
        return problem_set(problem, 400, "%s must be a number from %llu to %llu, not '%s'", name,
                           (unsigned long long)least, (unsigned long long)most, text);
    return 0;
}

/* HOST:PORT, or [ADDRESS]:PORT for IPv6. */
static int parse_listen(const char *name, struct door *door, const char *text,
                        struct problem *problem)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    char what[32];
    uint64_t port;
    if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof door->host)
        return problem_set(problem, 400, "%s must be HOST:PORT, as 127.0.0.1:8000", name);
    snprintf(what, sizeof what, "the port of %s", name);
    if (parse_number(what, colon + 1, 0, UINT16_MAX, &port, problem) < 0)
        return -1;
    memcpy(door->host, text, length);
    door->host[length] = '\0';
    snprintf(door->port, sizeof door->port, "%u", (unsigned)port);
    return 0;
}

static int parse_auth(struct options *options, const char *text, struct problem *problem)
{
    static const char *const names[] = {
        [AUTH_NONE] = "none", [AUTH_BASIC] = "basic", [AUTH_OAUTH] = "oauth"};
    for (int mode = AUTH_NONE; mode <= AUTH_OAUTH; mode++) {
        if (strcmp(text, names[mode]) == 0) {
            options->auth = (enum auth_mode)mode;
            return 0;
        }
    }
    return problem_set(problem, 400, "--auth must be none, basic or oauth, not '%s'", text);
}

static int parse_reach(struct options *options, const char *text, struct problem *problem)
{
    static const char *const names[] = {[SESSION_OWN_JOB] = "own-job",
                                        [SESSION_GET] = "get",
                                        [SESSION_PATCH] = "patch",
                                        [SESSION_TREES_ONLY] = "trees-only"};
    for (int reach = SESSION_OWN_JOB; reach <= SESSION_TREES_ONLY; reach++) {
        if (strcmp(text, names[reach]) == 0) {
            options->reach = (enum session_reach)reach;
            return 0;
        }
    }
    return problem_set(
        problem, 400, "--session-tokens must be own-job, get, patch or trees-only, not '%s'", text);
}

static int parse_lifetime(int64_t *lifetime_us, const char *text, struct problem *problem)
{
    char *end;
    double seconds = strtod(text, &end);
    /* strtod would take blanks, signs, exponents, hexadecimal digits and "inf". */
    if (text[strspn(text, "0123456789.")] || end == text || *end || seconds < 0.001 ||
        seconds > TOKEN_LIFETIME_MAX_S)
        return problem_set(problem, 400,
                           "--token-lifetime must be seconds from 0.001 to %d, not '%s'",
                           TOKEN_LIFETIME_MAX_S, text);
    *lifetime_us = (int64_t)(seconds * 1e6);
    return 0;
}

static int parse_one(struct options *options, int option, const char *value,
                     struct problem *problem)
{
    uint64_t number = 0;
    int result = 0;
    switch (option) {
    case 'l':
        return parse_listen("--listen", &options->door, value, problem);
    case 'p':
        options->door.port_file = value;
        return 0;
    case 'j':
        return parse_listen("--jobs-listen", &options->jobs_door, value, problem);
    case 'J':
        options->jobs_door.port_file = value;
        return 0;
    case 'a':
        return parse_auth(options, value, problem);
    case 'd':
        options->authdir = value;
        return 0;
    case 'L':
        return parse_lifetime(&options->token_lifetime_us, value, problem);
    case 'S':
        return parse_reach(options, value, problem);
    case 'C':
        options->tls_cert = value;
        return 0;
    case 'K':
        options->tls_key = value;
        return 0;
    case 'A':
        options->client_ca = value;
        return 0;
    case 'n':
        result = parse_number("--addresses", value, 1, OBJECTS_MCAST_IDS, &number, problem);
        options->addresses = (unsigned)number;
        return result;
    case 'o':
        options->overcommit = true;
        return 0;
    case 'f':
        return inventory_parse(&options->inventory, value, problem);
    case 's':
        options->state = value;
        return 0;
    case 't':
        return parse_number("--latency", value, 0, LATENCY_MAX_MS, &options->latency_ms, problem);
    case 'r':
        options->seeded = true;
        return parse_number("--seed", value, 0, UINT64_MAX, &options->seed, problem);
    case 'h':
        options->help = true;
        return 0;
    default:
        options->version = true;
        return 0;
    }
}

static const struct option known[] = {
    {"listen", required_argument, NULL, 'l'},
    {"port-file", required_argument, NULL, 'p'},
    {"jobs-listen", required_argument, NULL, 'j'},
    {"jobs-port-file", required_argument, NULL, 'J'},
    {"auth", required_argument, NULL, 'a'},
    {"authdir", required_argument, NULL, 'd'},
    {"token-lifetime", required_argument, NULL, 'L'},
    {"session-tokens", required_argument, NULL, 'S'},
    {"tls-cert", required_argument, NULL, 'C'},
    {"tls-key", required_argument, NULL, 'K'},
    {"client-ca", required_argument, NULL, 'A'},
    {"addresses", required_argument, NULL, 'n'},
    {"overcommit", no_argument, NULL, 'o'},
    {"fabric", required_argument, NULL, 'f'},
    {"state", required_argument, NULL, 's'},
    {"latency", required_argument, NULL, 't'},
    {"seed", required_argument, NULL, 'r'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {NULL, 0, NULL, 0},
};

/* What only makes sense together. */
static int check(const struct options *options, struct problem *problem)
{
    if (options->auth == AUTH_BASIC && !options->authdir)
        return problem_set(
            problem, 400, "--auth basic needs --authdir DIR, whose file passwd holds the password");
    if (options->auth == AUTH_OAUTH && !options->authdir)
        return problem_set(
            problem, 400,
            "--auth oauth needs --authdir DIR, with the files client-id and client-secret");
    if (options->auth == AUTH_NONE && options->authdir)
        return problem_set(problem, 400, "--authdir goes with --auth basic or --auth oauth");
    if (options->auth != AUTH_OAUTH && options->token_lifetime_us)
        return problem_set(problem, 400, "--token-lifetime goes with --auth oauth");
    if (!options->tls_cert != !options->tls_key)
        return problem_set(problem, 400, "--tls-cert and --tls-key go together");
    if (options->client_ca && !options->tls_cert)
        return problem_set(problem, 400, "--client-ca goes with --tls-cert and --tls-key");
    if (options->jobs_door.host[0] && !options->client_ca)
        return problem_set(problem, 400,
                           "--jobs-listen goes with --client-ca; without it, --listen is for all");
    if (options->jobs_door.port_file && !options->jobs_door.host[0])
        return problem_set(problem, 400, "--jobs-port-file goes with --jobs-listen");
    return 0;
}

int options_parse(struct options *options, int argc, char **argv, struct problem *problem)
{
    int option;
    *options = (struct options){.door = {.host = "127.0.0.1", .port = "8000"},
                                .addresses = DEFAULT_ADDRESSES,
                                .auth = AUTH_NONE,
                                .inventory = {.groups = 2, .switches = 2, .ports = 4}};
    optind = 0; /* glibc: start afresh, also in a test that parses twice */
    while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
        if (option == ':')
            return problem_set(problem, 400, "%s needs a value; see --help", argv[optind - 1]);
        if (option == '?')
            return problem_set(problem, 400, "%s is no option of mock-fm; see --help",
                               argv[optind - 1]);
        if (parse_one(options, option, optarg, problem) < 0)
            return -1;
    }
    if (optind < argc)
        return problem_set(problem, 400, "mock-fm takes only options, not '%s'; see --help",
                           argv[optind]);
    if (check(options, problem) < 0)
        return -1;
    if (options->auth == AUTH_OAUTH && !options->token_lifetime_us)
        options->token_lifetime_us = TOKEN_LIFETIME_S * INT64_C(1000000);
    return 0;
}
