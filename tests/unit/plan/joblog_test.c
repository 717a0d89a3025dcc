/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of logs: what is right is taken, what is wrong or cut is counted and named. */
#include "tests/unit/unit.h"

#include "plan/joblog.h"

#include <time.h>
#include <unistd.h>
#include <zlib.h>

static struct joblog parsed(const char *text)
{
    struct joblog log;
    char *copy = strdup(text);
    assert_non_null(copy);
    joblog_parse(&log, copy, strlen(copy), SIZE_MAX);
    free(copy);
    return log;
}

static void assert_job(const struct joblog *log, size_t index, const char *id, int64_t start_s,
                       int64_t end_s, uint32_t nodes)
{
    assert_in_range(index, 0, log->job_count - 1);
    const struct joblog_job *job = &log->jobs[index];
    assert_string_equal(job->id, id);
    assert_int_equal(job->start_ms, start_s * 1000);
    assert_int_equal(job->end_ms, end_s * 1000);
    assert_int_equal(job->nodes, nodes);
}

#define REST " -1 -1 128 10800 -1 1 1042 -1 -1 -1 -1 -1 -1\n"

UNIT(swf__job_has_start_end_nodes_and_user)
{
    struct joblog log = parsed("; MaxNodes: 4360\n7 1000 50 300 128" REST);
    assert_int_equal(log.format, JOBLOG_SWF);
    assert_int_equal(log.machine_nodes, 4360);
    assert_int_equal(log.job_count, 1);
    assert_job(&log, 0, "7", 1050, 1350, 128);
    assert_int_equal(log.jobs[0].uid, 1042);
    assert_int_equal(log.fault_count, 0);
    joblog_release(&log);
}

UNIT(swf__processors_become_nodes_and_times_are_absolute)
{
    struct joblog log = parsed("; UnixStartTime: 1000000\n; MaxNodes: 100\n; MaxProcs: 6400\n"
                               "1 0 0 10 65" REST);
    assert_job(&log, 0, "1", 1000000, 1000010, 2);
    joblog_release(&log);
}

UNIT(swf__wrong_and_cut_lines_are_counted_and_named)
{
    struct joblog log = parsed("1 0 0 10 128" REST "what\n"
                               "2 5 0 10 128 -1 -1 12\n" /* cut within a number */
                               "3 5 0 10 2000000" REST "4 5 0 nan 128" REST
                               "5 0 0 10 128 -1 -1 128 10800 -1 1 1 -1 -1 -1 -1 -1 -1 19\n");
    assert_int_equal(log.job_count, 1);
    assert_int_equal(log.fault_count, 5);
    assert_int_equal(log.faults[0].line, 2);
    assert_int_equal(log.faults[1].line, 3);
    assert_words(log.faults[1].words, "fewer than the 18 numbers of a job: 2 5 0 10");
    assert_words(log.faults[2].words, "job 3 has 2000000 nodes");
    assert_words(log.faults[3].words, "field 4 is no number up to 1e12: nan 128");
    assert_words(log.faults[4].words, "more than the 18 numbers");
    joblog_release(&log);
}

UNIT(swf__numbers_that_are_too_large_are_named)
{
    struct joblog log = parsed("; MaxNodes: 99999999999999999999\n; MaxProcs: -1\n"
                               "1 0 0 99999999999999999999 128" REST "2 0 0 10 99999999999" REST
                               "3 0 0 10 -99999999999" REST);
    assert_int_equal(log.machine_nodes, 0);
    assert_int_equal(log.job_count, 1); /* of what it asked for */
    assert_int_equal(log.fault_count, 3);
    assert_words(log.faults[0].words, "not from 0 to 1000000: MaxNodes: 9999");
    assert_words(log.faults[1].words, "field 4 is no number up to 1e12: 99999");
    assert_words(log.faults[2].words, "job 2 has 4294967295 nodes");
    joblog_release(&log);
}

UNIT(swf__jobs_that_never_ran_and_parts_are_counted)
{
    struct joblog log = parsed("1 0 0 0 128" REST "2 0 -1 -1 128" REST "3 0 0 10 -1 -1 -1 -1 -1 -1 "
                               "1 1 -1 -1 -1 -1 -1 -1\n"
                               "4 0 0 10 128 -1 -1 128 10800 -1 2 1 -1 -1 -1 -1 -1 -1\n");
    assert_int_equal(log.job_count, 0);
    assert_int_equal(log.never_ran, 3);
    assert_int_equal(log.steps, 1);
    assert_int_equal(log.fault_count, 0);
    joblog_release(&log);
}

UNIT(events__are_in_the_order_of_time_ends_first)
{
    struct joblog log = parsed("1 10 0 10 128" REST "2 0 0 10 128" REST);
    const struct joblog_event *e = log.events;
    assert_int_equal(log.event_count, 4);
    assert_true(e[0].job == 1 && !e[0].ends && e[1].job == 1 && e[1].ends);
    assert_true(e[2].job == 0 && !e[2].ends && e[3].job == 0 && e[3].ends);
    joblog_release(&log);
}

UNIT(sacct__columns_are_known_by_their_names)
{
    struct joblog log = parsed("JobName|NNodes|End|Start|JobIDRaw|User\n"
                               "a|128|1700000600|1700000000|17|alice\n"
                               "b|2K|1700000600|1700000000|18|alice\n");
    assert_int_equal(log.format, JOBLOG_SACCT);
    assert_job(&log, 0, "17", 1700000000, 1700000600, 128);
    assert_job(&log, 1, "18", 1700000000, 1700000600, 2048);
    assert_int_equal(log.jobs[0].uid, log.jobs[1].uid);
    assert_int_not_equal(log.jobs[0].uid, UINT32_MAX);
    joblog_release(&log);
}

UNIT(sacct__times_are_those_of_this_host)
{
    assert_int_equal(setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1), 0);
    tzset();
    struct joblog log = parsed("JobID|UID|Start|End|NNodes|\n" /* --parsable */
                               "5_1|77|2026-03-29T01:30:00|2026-03-29T03:30:00|4|\n");
    /* Summer time begins in between: one hour, not two. */
    assert_job(&log, 0, "5_1", 1774744200, 1774747800, 4);
    assert_int_equal(log.jobs[0].uid, 77);
    joblog_release(&log);
    assert_int_equal(unsetenv("TZ"), 0);
    tzset();
}

UNIT(sacct__steps_and_what_never_ran_or_still_runs_is_counted)
{
    struct joblog log = parsed("JobID|Start|End|NNodes\n1|1000|2000|4\n1.batch|1000|2000|1\n"
                               "1.0|1000|2000|4\n2|Unknown|Unknown|4\n3|None|1500|4\n"
                               "4|1500|Unknown|8\n");
    assert_int_equal(log.job_count, 2);
    assert_int_equal(log.steps, 2);
    assert_int_equal(log.never_ran, 2);
    assert_int_equal(log.running, 1);
    assert_job(&log, 1, "4", 1500, 2000, 8); /* it ends with the log */
    joblog_release(&log);
    log = parsed("JobID|Start|End|NNodes\n4|1500|Unknown|8\n");
    assert_int_equal(log.job_count, 1);
    assert_true(log.jobs[0].end_ms > log.jobs[0].start_ms); /* alone it has just begun */
    joblog_release(&log);
}

UNIT(sacct__wrong_lines_are_named)
{
    struct joblog log = parsed("JobID|Start|End|NNodes\n1|1000|20\n2|1000|2000|4x\n"
                               "3|soon|2000|4\n4|2000|1000|4\n");
    assert_int_equal(log.job_count, 0);
    assert_int_equal(log.fault_count, 4);
    assert_words(log.faults[0].words, "3 fields, and the first line has 4: job 1");
    assert_words(log.faults[1].words, "job 2 has 0 nodes");
    assert_words(log.faults[2].words, "job 3: not a time: soon");
    assert_words(log.faults[3].words, "ends before it");
    joblog_release(&log);
    log = parsed("JobID|Start|End\n1|1000|2000\n");
    assert_int_equal(log.job_count, 0);
    assert_words(log.faults[0].words, "no field NNodes");
    joblog_release(&log);
}

UNIT(flux__jobs_are_read_from_the_list_or_one_alone)
{
    struct joblog log = parsed("{\"jobs\": [{\"id\": 17, \"jobid\": \"\xc6\x92Lx\", \"userid\": 42,"
                               " \"t_run\": 1000.5, \"t_cleanup\": 1010.5, \"nnodes\": 128},\n"
                               "{\"id\": 18, \"t_submit\": 1.0}, {\"id\": 19, \"t_run\": 1005.0, "
                               "\"nnodes\": 2}]}\n");
    assert_int_equal(log.format, JOBLOG_FLUX);
    assert_int_equal(log.job_count, 2);
    assert_string_equal(log.jobs[0].id, "fLx");
    assert_int_equal(log.jobs[0].start_ms, 1000500);
    assert_int_equal(log.jobs[0].end_ms, 1010500);
    assert_int_equal(log.jobs[0].uid, 42);
    assert_string_equal(log.jobs[1].id, "19");
    assert_int_equal(log.jobs[1].end_ms, 1010500);
    assert_int_equal(log.never_ran, 1);
    assert_int_equal(log.running, 1);
    assert_int_equal(log.fault_count, 0);
    joblog_release(&log);
    log = parsed("{\"id\": 1, \"t_run\": 5.0, \"t_inactive\": 9.0, \"nnodes\": 3}");
    assert_job(&log, 0, "1", 5, 9, 3);
    joblog_release(&log);
}

UNIT(flux__what_was_cut_loses_the_last_job_only)
{
    struct joblog log = parsed("{\"jobs\": [{\"id\": 1, \"t_run\": 5.0, \"t_cleanup\": 9.0, "
                               "\"nnodes\": 3}, {\"id\": 2, \"t_r");
    assert_int_equal(log.job_count, 1);
    assert_int_equal(log.fault_count, 1);
    assert_int_equal(log.faults[0].line, 2);
    assert_words(log.faults[0].words, "not JSON, or cut");
    joblog_release(&log);
    log = parsed("{\"jobs\": [{\"id\": 1, \"t_run\": 5.0, \"t_cleanup\": 9.0, \"nnodes\": 3}");
    assert_int_equal(log.job_count, 1);
    assert_words(log.faults[0].words, "the list has no end");
    joblog_release(&log);
    log = parsed("{\"jobs\": []}");
    assert_int_equal(log.job_count + log.fault_count, 0);
    joblog_release(&log);
    log = parsed("{\"jobs\": [7, {\"name\": \"x\"}]}");
    assert_int_equal(log.fault_count, 2);
    joblog_release(&log);
}

/* Any user can give his job a name that is no Unicode. */
UNIT(flux__a_job_that_is_not_json_loses_no_other)
{
    struct joblog log = parsed("{\"jobs\": [{\"id\": 1, \"t_run\": 5.0, \"t_cleanup\": 9.0, "
                               "\"nnodes\": 3}, {\"id\": 2, \"name\": \"}\\\"\\udc80\", \"x\": {}},"
                               "{\"id\": 3, \"name\": \"\\u0000\", \"t_run\": 5.0, "
                               "\"t_cleanup\": 9.0, \"nnodes\": 20000000}, "
                               "{\"id\": 4, \"name\": \"\\u0000\", \"t_run\": 5.0, "
                               "\"t_cleanup\": 9.0, \"nnodes\": 3}]}");
    assert_int_equal(log.job_count, 2);
    assert_string_equal(log.jobs[1].id, "4");
    assert_int_equal(log.fault_count, 2);
    assert_int_equal(log.faults[0].line, 2);
    assert_words(log.faults[0].words, "not JSON: ");
    assert_words(log.faults[1].words, "job 3 has 20000000 nodes");
    joblog_release(&log);
}

/* ---- files ---- */

static void write_file(const char *path, const char *mode, const char *text, size_t keep)
{
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzputs(file, text), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
    if (keep > 0)
        assert_int_equal(truncate(path, (off_t)keep), 0);
}

UNIT(file__compressed_or_not_is_the_same_and_a_cut_one_is_told)
{
    char path[] = "/tmp/joblog.XXXXXX";
    const int file = mkstemp(path);
    struct joblog log;
    struct error err;
    assert_true(file >= 0);
    close(file);
    write_file(path, "wb", "1 0 0 10 128" REST, 0);
    assert_int_equal(joblog_read(&log, path, SIZE_MAX, &err), 0);
    assert_int_equal(log.job_count, 1);
    assert_int_equal(log.fault_count, 0);
    joblog_release(&log);
    write_file(path, "wbT", "1 0 0 10 128" REST, 0); /* as it is */
    assert_int_equal(joblog_read(&log, path, SIZE_MAX, &err), 0);
    assert_int_equal(log.job_count, 1);
    joblog_release(&log);
    write_file(path, "wb", "1 0 0 10 128" REST, 30);
    assert_int_equal(joblog_read(&log, path, SIZE_MAX, &err), 0);
    assert_true(log.fault_count > 0);
    assert_words(log.faults[log.fault_count - 1].words, "the compressed file is cut");
    joblog_release(&log);
    unlink(path);
    assert_int_equal(joblog_read(&log, path, SIZE_MAX, &err), ERROR_IO);
    assert_words(err.text, "No such file");
    joblog_release(&log);
}

/* ---- another machine ---- */

UNIT(resized__a_larger_machine_has_more_jobs_of_the_same_sizes)
{
    struct joblog log = parsed("; MaxNodes: 1000\n1 0 0 10 128" REST "2 5 0 10 128" REST);
    joblog_resize(&log, 1000, 2500);
    assert_int_equal(log.job_count, 5);
    assert_job(&log, 0, "1", 0, 10, 128);
    assert_job(&log, 2, "1", 3600, 3610, 128);
    assert_job(&log, 4, "2", 2 * 3600 + 5, 2 * 3600 + 15, 128);
    assert_int_equal(log.event_count, 10);
    joblog_resize(&log, 2500, 100);
    assert_int_equal(log.job_count, 0);
    joblog_release(&log);
}

UNIT_RUN(NULL, NULL)
