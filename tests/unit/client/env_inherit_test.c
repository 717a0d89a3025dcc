/* SPDX-License-Identifier: Apache-2.0 */

#include "client/mcast.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

/* F16, F17: golden environments of steps at every level, made from that of the level above. */

#define URL "https://fmn:8000/fabric/collectives/multicasts"
#define CA "/proc/self/exe" /* a file that is there wherever this runs */

enum { WHOLE_SIZE = 4096, LEVELS_MAX = 8 };

static const char *const outer[] = {"PATH=/bin",
                                    "FI_CXI_HWCOLL_MIN_NODES=64",
                                    "FI_CXI_HWCOLL_ADDRS_PER_JOB=23",
                                    "FI_CXI_COLL_JOB_ID=elcap-f2Rs8sydSxmd",
                                    "FI_CXI_COLL_JOB_STEP_ID=0",
                                    "FI_CXI_COLL_MCAST_TOKEN=sess-1",
                                    "FI_CXI_COLL_FABRIC_MGR_URL=" URL,
                                    "FI_CXI_COLL_FABRIC_MGR_CACERT=" CA,
                                    NULL};

#define NO_KEYS "FI_OPX_UUID unset\nFI_PSM3_UUID unset\nFI_OPX_PKEY unset\nPSM3_PKEY unset\n"
#define GOLDEN_CA(step, ca)                                                                        \
    "FI_CXI_HWCOLL_MIN_NODES=64\n"                                                                 \
    "FI_CXI_HWCOLL_ADDRS_PER_JOB=23\n"                                                             \
    "FI_CXI_COLL_JOB_ID=elcap-f2Rs8sydSxmd\n"                                                      \
    "FI_CXI_COLL_JOB_STEP_ID=" step "\n"                                                           \
    "FI_CXI_COLL_MCAST_TOKEN=sess-1 secret\n"                                                      \
    "FI_CXI_COLL_FABRIC_MGR_URL=" URL "\n" ca NO_KEYS
#define GOLDEN(step) GOLDEN_CA(step, "FI_CXI_COLL_FABRIC_MGR_CACERT=" CA "\n")

#define NO_COLLECTIVES                                                                             \
    "FI_CXI_HWCOLL_MIN_NODES unset\n"                                                              \
    "FI_CXI_HWCOLL_ADDRS_PER_JOB unset\n"                                                          \
    "FI_CXI_COLL_JOB_ID unset\n"                                                                   \
    "FI_CXI_COLL_JOB_STEP_ID unset\n"                                                              \
    "FI_CXI_COLL_MCAST_TOKEN unset\n"                                                              \
    "FI_CXI_COLL_FABRIC_MGR_URL unset\n"                                                           \
    "FI_CXI_COLL_FABRIC_MGR_CACERT unset\n"
static const char all_unset[] = NO_COLLECTIVES NO_KEYS;

/* What came, as text, and as the environment of the level below. */
struct level {
    char text[WHOLE_SIZE];
    char lines[LEVELS_MAX][1024];
    const char *environment[LEVELS_MAX];
    size_t count;
};

static int take(const struct mcast_variable *variable, void *data)
{
    struct level *level = data;
    size_t used = strlen(level->text);
    snprintf(level->text + used, sizeof level->text - used, "%s%s%s%s\n", variable->name,
             variable->value ? "=" : " unset", variable->value ? variable->value : "",
             variable->secret && variable->value ? " secret" : "");
    if (variable->value) {
        snprintf(level->lines[level->count], sizeof level->lines[0], "%s=%s", variable->name,
                 variable->value);
        level->environment[level->count] = level->lines[level->count];
        level->count++;
    }
    return 0;
}

static int inherit(const char *const *environment, const char *step, struct level *level,
                   struct mcast_error *error)
{
    memset(level, 0, sizeof *level);
    return mcast_env_inherit(environment, step, take, level, error);
}

static void assert_golden(const char *const *environment, const char *step, const char *golden,
                          struct level *level)
{
    struct mcast_error error = {0};
    if (inherit(environment, step, level, &error) < 0)
        fail_msg("%s", error.text);
    assert_string_equal(level->text, golden);
}

static void assert_refused(const char *const *environment, const char *step, const char *words)
{
    struct mcast_error error = {0};
    struct level level;
    assert_int_equal(inherit(environment, step, &level, &error), MCAST_USAGE);
    assert_string_equal(level.text, ""); /* nothing was called */
    assert_words(error.text, words);
    assert_null(strstr(error.text, "sess-1"));
}

/* Flux's paths are whole at every level, and its hooked f has one spelling. */
UNIT(inherit__flux_system_level)
{
    struct level level;
    assert_golden(outer,
                  "/\xc6\x92"
                  "A",
                  GOLDEN("/fA"), &level);
    assert_golden(outer, "/fA", GOLDEN("/fA"), &level);
}

UNIT(inherit__flux_one_level_below)
{
    struct level system, nested, again;
    assert_golden(outer, "/fA", GOLDEN("/fA"), &system);
    assert_golden(system.environment,
                  "/\xc6\x92"
                  "A/\xc6\x92"
                  "B",
                  GOLDEN("/fA/fB"), &nested);
    assert_golden(nested.environment, "/fA/fB", GOLDEN("/fA/fB"), &again);
    /* Submitted from tasks of another job, whose environment it has. */
    assert_golden(nested.environment, "/fA/fC", GOLDEN("/fA/fC"), &again);
}

/* Where Flux has no paths yet (before 0.76), ids are put below what is inherited. */
UNIT(inherit__flux_three_levels_by_ids)
{
    struct level levels[4];
    assert_golden(outer, "/fA", GOLDEN("/fA"), &levels[0]);
    assert_golden(levels[0].environment,
                  "\xc6\x92"
                  "B",
                  GOLDEN("/fA/fB"), &levels[1]);
    assert_golden(levels[1].environment, "fC", GOLDEN("/fA/fB/fC"), &levels[2]);
    assert_golden(levels[2].environment, "fB", GOLDEN("/fA/fB/fC/fB"), &levels[3]);
}

/* F23: steps lie beside each other, whoever's environment they have. */
UNIT(inherit__slurm)
{
    struct level batch, step, next;
    assert_golden(outer, "batch", GOLDEN("batch"), &batch);
    assert_golden(batch.environment, "0", GOLDEN("0"), &step);
    assert_golden(step.environment, "17", GOLDEN("17"), &next);
    assert_golden(outer, "4294967291", GOLDEN("batch"), &next);
    assert_golden(outer, "4294967292", GOLDEN("extern"), &next);
    assert_golden(outer, "4294967290", GOLDEN("interactive"), &next);
    assert_golden(outer, "4294967289", GOLDEN("4294967289"), &next);
    assert_golden(outer, "1234.0", GOLDEN("1234.0"), &next);
}

/* Stale variables of a job further out, a number that the user set: nothing of it stays. */
UNIT(inherit__nothing_is_unset)
{
    static const char *const none[] = {"PATH=/bin", "FI_CXI_HWCOLL_MIN_NODES=8",
                                       "FI_CXI_COLL_JOB_STEP_ID=/fA",
                                       "FI_CXI_COLL_MCAST_TOKEN=", NULL};
    struct level level;
    assert_golden(none, "/fB", all_unset, &level);
    assert_golden((const char *const[]){NULL}, "0", all_unset, &level);
}

/* S4: what runs in a job has its keys, at every level; settings are never unset, as a user may
 * have chosen them. */
UNIT(inherit__omnipath)
{
    static const char *const job[] = {"PSM3_PKEY=0x8003",
                                      "FI_OPX_UUID=0011223344556677889900aabbccddee",
                                      "FI_PSM3_UUID=00112233-4455-6677-8899-00aabbccddee",
                                      "FI_OPX_PKEY=0x8003",
                                      "FI_OPX_SL=3",
                                      "FI_OPX_CONTEXT_SHARING=",
                                      "PSM3_NIC_SL=1",
                                      "PSM3_NIC=hfi1_0",
                                      NULL};
    static const char golden[] =
        NO_COLLECTIVES "FI_OPX_UUID=0011223344556677889900aabbccddee secret\n"
                       "FI_PSM3_UUID=00112233-4455-6677-8899-00aabbccddee secret\n"
                       "FI_OPX_PKEY=0x8003\nPSM3_PKEY=0x8003\nFI_OPX_SL=3\nPSM3_NIC=hfi1_0\n";
    static const char *const without[] = {"FI_OPX_UUID=00", "FI_OPX_PKEY=", NULL};
    struct level system, nested;
    assert_golden(job, "/fA", golden, &system);
    assert_golden(system.environment, "/fA/fB", golden, &nested);
    assert_golden(without, "0",
                  NO_COLLECTIVES "FI_OPX_UUID=00 secret\nFI_PSM3_UUID unset\n"
                                 "FI_OPX_PKEY unset\nPSM3_PKEY unset\n",
                  &nested);
}

UNIT(inherit__half_is_refused)
{
    static const size_t needed[] = {1, 2, 3, 5, 6};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        char words[128];
        const char *part[sizeof outer / sizeof outer[0]];
        memcpy(part, outer, sizeof outer);
        const char *left_out = part[needed[i]];
        part[needed[i]] = "PATH=/bin";
        snprintf(words, sizeof words, "%.*s is not set, and others", (int)strcspn(left_out, "="),
                 left_out);
        assert_refused(part, "/fA", words);
    }
}

UNIT(inherit__without_ca_or_step)
{
    const char *part[sizeof outer / sizeof outer[0]];
    struct level level;
    memcpy(part, outer, sizeof outer);
    part[4] = part[7] = "PATH=/bin";
    assert_golden(part, "fA", GOLDEN_CA("fA", "FI_CXI_COLL_FABRIC_MGR_CACERT unset\n"), &level);
}

/* libfabric would look for it for ever. */
UNIT(inherit__a_ca_that_is_not_there_is_yes)
{
    static const struct {
        const char *given, *handed_on;
    } rows[] = {{"yes", "yes"},
                {"no", "no"},
                {"/", "/"},
                {CA, CA},
                {"/nowhere/ca.pem", "yes"},
                {"/proc/self/exe/ca.pem", "yes"},
                {"ca.pem", "yes"}, /* in whose folder? */
                {"/dev/null", "yes"},
                {"YES", "yes"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *part[sizeof outer / sizeof outer[0]];
        char line[128], golden[WHOLE_SIZE];
        struct level level;
        memcpy(part, outer, sizeof outer);
        snprintf(line, sizeof line, "FI_CXI_COLL_FABRIC_MGR_CACERT=%s", rows[i].given);
        part[7] = line;
        snprintf(golden, sizeof golden, GOLDEN_CA("%s", "FI_CXI_COLL_FABRIC_MGR_CACERT=%s\n"), "0",
                 rows[i].handed_on);
        assert_golden(part, "0", golden, &level);
        assert_int_equal(mcast_env_cacert_usable(rows[i].given),
                         strcmp(rows[i].given, rows[i].handed_on) == 0);
    }
}

/* I6: what no token could reach is no step. */
UNIT(inherit__what_is_no_step_is_refused)
{
    char deep[600] = "/";
    assert_refused(outer, "", "the step is empty");
    assert_refused(outer, NULL, "no step is named");
    assert_refused(outer, "/fA/../fB", ". or ..");
    assert_refused(outer, "/fA//fB", "a part of the step is empty");
    assert_refused(outer, "/fA/", "a part of the step is empty");
    assert_refused(outer, "fA/fB", "begins with /");
    assert_refused(outer,
                   "/\xca\x84"
                   "A",
                   "byte 0xca"); /* U+0284 is no hooked f */
    memset(deep + 1, 'a', sizeof deep - 2);
    assert_refused(outer, deep, "longer than 512 bytes");

    const char *part[sizeof outer / sizeof outer[0]];
    char below[560] = "FI_CXI_COLL_JOB_STEP_ID=/";
    memcpy(part, outer, sizeof outer);
    part[4] = "FI_CXI_COLL_JOB_STEP_ID=/fA/..";
    assert_refused(part, "fB", "FI_CXI_COLL_JOB_STEP_ID cannot be inherited");
    memset(below + 25, 'a', 511); /* as long as a step may be */
    part[4] = below;
    assert_refused(part, "fB", "longer than 512 bytes");
    part[3] = "FI_CXI_COLL_JOB_ID=a\"b"; /* into JSON it would go unescaped */
    assert_refused(part, "/fB", "no job's name");
}

static int stop(const struct mcast_variable *variable, void *data)
{
    ++*(int *)data;
    return 7;
}

UNIT(inherit__stops_when_told)
{
    int calls = 0;
    assert_int_equal(mcast_env_inherit(outer, "0", stop, &calls, NULL), 7);
    assert_int_equal(calls, 1);
}

UNIT(inherit__takes_its_own_environment)
{
    struct level level;
    for (size_t i = 1; outer[i]; i++)
        assert_int_equal(putenv((char *)(uintptr_t)outer[i]), 0);
    assert_golden(NULL, "/fA", GOLDEN("/fA"), &level);
}

UNIT_RUN(NULL, NULL)
