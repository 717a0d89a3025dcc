/* SPDX-License-Identifier: Apache-2.0 */
/* What a list_command prints: ids or nothing (F20, F22). */

#include "tests/unit/unit.h"

#include "broker/jobs/joblines.h"

/* The ids with a blank after each, or what is wrong with them; in pieces of so many bytes. */
static const char *read_pieces(const char *text, size_t length, size_t piece)
{
    static char told[1024];
    struct joblines lines = {0};
    struct error err = {0};
    int rc = 0;
    for (size_t at = 0; at < length && rc == 0; at += piece)
        rc = joblines_add(&lines, text + at, length - at < piece ? length - at : piece, &err);
    if (rc == 0)
        rc = joblines_end(&lines, &err);
    told[0] = '\0';
    for (uint32_t i = 0; rc == 0 && i < lines.count; i++) {
        size_t used = strlen(told);
        (void)snprintf(told + used, sizeof told - used, "%s ", lines.ids[i]);
    }
    if (rc < 0)
        (void)snprintf(told, sizeof told, "%s", err.text);
    joblines_release(&lines);
    return told;
}

/* However the pipe cuts it. */
#define READS_BYTES(text, length, expected)                                                        \
    do {                                                                                           \
        for (size_t piece_ = 1; piece_ <= (length) + 1; piece_++)                                  \
            assert_string_equal(read_pieces(text, length, piece_), expected);                      \
    } while (0)
#define READS(text, expected) READS_BYTES(text, strlen(text), expected)

UNIT(ids__are_one_a_line)
{
    READS("", "");
    READS("\n\n \t \r\n\n", "");
    READS("17\n18\n", "17 18 ");
    READS("17\r\n18\r\n", "17 18 ");
    READS("\n  17\t\n\n\t18 \n", "17 18 ");
    READS("17 \r\n", "17 ");
    READS("a.b_c:d@e+f-G\n", "a.b_c:d@e+f-G ");
    READS("17\n17\n", "17 17 "); /* what is said twice is true all the same */
}

/* printf without a newline is no truncation: the exit status tells that. */
UNIT(last_line__need_not_end)
{
    READS("17\n18", "17 18 ");
    READS("17", "17 ");
    READS("17\r", "17 ");
}

/* One job arrives as ƒ… or f…. */
UNIT(flux_ids__are_as_reserved)
{
    READS("\xc6\x92Lxs7\nfLxs8\n", "fLxs7 fLxs8 ");
    READS(" \xc6\x92"
          "A \r\n",
          "fA ");
    READS("466826133504\n", "466826133504 "); /* decimal: Slurm's ids are, too */
}

/* Taken for names of other jobs, they would leave out all that run. */
UNIT(flux_ids__of_other_forms_are_refused)
{
    static const char why[] =
        "is a Flux job id in a form that jobs are not reserved under; print {id.f58plain}";
    char expected[256];
    static const char *const forms[] = {"0x6cb1a000000", "0000.06cb.1a00.0000",
                                        "job.0000.06cb.1a00.0000"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "fLxs7\n%s\n", forms[i]);
        (void)snprintf(expected, sizeof expected, "line 2 of its output, \"%s\", %s", forms[i],
                       why);
        READS(text, expected);
    }
    READS("0x\n0xyz\njob.1\n0000.06cb.1a00\n0000.06cb.1a00.0000.1\n",
          "0x 0xyz job.1 0000.06cb.1a00 0000.06cb.1a00.0000.1 ");
}

#define NO_ID(line, shown)                                                                         \
    "line " line " of its output, \"" shown "\", is no job id: 1 to 128 of A-Z, a-z, 0-9 and "     \
    "._:@+-"

UNIT(one_bad_line__makes_it_worthless)
{
    READS("17\n18 19\n20\n", NO_ID("2", "18 19"));
    READS("JOBID\tUSER\n", NO_ID("1", "JOBID?USER"));
    READS("\n\n17\nslurm_load_jobs error: x\n", NO_ID("4", "slurm_load_jobs error: x"));
    READS("17/18", NO_ID("1", "17/18"));
    READS("1\r2\n", NO_ID("1", "1?2"));
    READS("12_[3-5]\n", NO_ID("1", "12_[3-5]")); /* squeue without -r */
    READS("\xc6\x92\n\xc6\n", NO_ID("2", "?"));  /* ƒ alone is "f", which is a job id */
    READS("17\n\x1b[31mred\x1b[0m\n", NO_ID("2", "?[31mred?[0m"));
    READS_BYTES("17\n1\0008\n", 7, "line 2 of its output has a NUL byte in it");
    READS_BYTES("17\0", 3, "line 1 of its output has a NUL byte in it");
}

UNIT(long_lines__are_refused_and_cut)
{
    char line[160], expected[sizeof line + 1];
    memset(line, 'x', sizeof line);
    line[128] = '\0';
    (void)snprintf(expected, sizeof expected, "%s ", line);
    READS(line, expected);
    line[128] = 'x';
    line[129] = '\0';
    READS(line, NO_ID("1", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."));
}

UNIT(limits__have_names)
{
    struct joblines lines = {0};
    struct error err = {0};
    char text[7 * 1000 + 1];
    for (int i = 0; i < 1000; i++) {
        char line[16];
        (void)snprintf(line, sizeof line, "%06d\n", i);
        memcpy(text + 7 * i, line, 8);
    }
    for (int i = 0; i < JOBLINES_IDS_MAX / 1000; i++)
        assert_int_equal(joblines_add(&lines, text, sizeof text - 1, &err), 0);
    assert_int_equal(lines.count, JOBLINES_IDS_MAX);
    assert_int_equal(joblines_add(&lines, "\n \n", 3, &err), 0);
    assert_int_equal(joblines_add(&lines, "1", 1, &err), 0);
    assert_int_equal(joblines_end(&lines, &err), ERROR_FULL);
    assert_string_equal(err.text, "it names more than 2000000 jobs");
    joblines_release(&lines);

    char *blanks = malloc(1024 * 1024);
    assert_non_null(blanks);
    memset(blanks, '\n', 1024 * 1024);
    for (int i = 0; i < JOBLINES_BYTES_MAX / 1024 / 1024; i++)
        assert_int_equal(joblines_add(&lines, blanks, 1024 * 1024, &err), 0);
    assert_int_equal(joblines_add(&lines, "\n", 1, &err), ERROR_FULL);
    assert_string_equal(err.text, "its output is longer than 64 MiB");
    joblines_release(&lines);
    free(blanks);
}

UNIT_RUN(NULL, NULL)
