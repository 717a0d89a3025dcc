/* What Prolog puts down for a job's tasks, as the SPANK plugin takes it (F8, F16). */

#include "deploy/slurm/spank/grant.h"
#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct grant grant;

static int take(const char *text, size_t length)
{
    memcpy(grant.text + grant.length, text, length);
    return grant_take(&grant, length, NULL);
}

static int setup(void **state)
{
    (void)state;
    grant_forget(&grant);
    return 0;
}

static void grant__lines(void **state)
{
    (void)state;
    static const char text[] = "export SLINGSHOT_VNIS=1024,1025\n"
                               "FI_CXI_COLL_JOB_ID=elcap-1\n"
                               "unset SLINGSHOT_TCS\n"
                               "export FI_CXI_COLL_MCAST_TOKEN=a=b c\n"
                               "export FI_CXI_COLL_FABRIC_MGR_URL=\n"
                               "print mcastd: none today\n"
                               "\n"
                               "whatever\n";
    assert_int_equal(take(text, sizeof text - 1), 0);
    assert_string_equal(grant.values[GRANT_VNIS], "1024,1025");
    assert_string_equal(grant.values[GRANT_JOB], "elcap-1");
    assert_string_equal(grant.values[GRANT_TOKEN], "a=b c");
    assert_null(grant.values[GRANT_TCS]);
    assert_null(grant.values[GRANT_URL]); /* empty is as good as none */
    assert_string_equal(grant.print, "mcastd: none today");
    assert_null(grant.refused);
    assert_false(grant_has_hwcoll(&grant));
}

static void grant__comes_in_pieces(void **state)
{
    (void)state;
    static const char first[] = "FI_CXI_COLL_JOB_ID=a-1\nFI_CXI_COLL_MCAST_TOKEN=t\n";
    static const char second[] = "FI_CXI_COLL_FABRIC_MGR_URL=u\nexport FI_CXI_COLL_JOB_ID=a-2\n";
    assert_int_equal(take(first, sizeof first - 1), 0);
    assert_false(grant_has_hwcoll(&grant));
    assert_int_equal(take(second, sizeof second - 1), 0);
    assert_true(grant_has_hwcoll(&grant));
    assert_string_equal(grant.values[GRANT_JOB], "a-2");
    assert_int_equal(take("unset FI_CXI_COLL_MCAST_TOKEN\n", 30), 0);
    assert_false(grant_has_hwcoll(&grant));
}

/* What is not ours sets nothing, whoever wrote it. */
static void grant__other_names(void **state)
{
    (void)state;
    static const char text[] = "export LD_PRELOAD=/tmp/x.so\nFI_CXI_COLL_JOB_ID2=a\n=x\nexport =\n"
                               " SLINGSHOT_VNIS=1\nexport  SLINGSHOT_VNIS=1\n";
    assert_int_equal(take(text, sizeof text - 1), 0);
    for (int i = 0; i < GRANT_COUNT; i++)
        assert_null(grant.values[i]);
}

static void grant__halves(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(take("", 0), 0);
    assert_int_equal(take("SLINGSHOT_VNIS=10", 17), ERROR_INVALID);
    assert_int_equal(take("SLINGSHOT\0VNIS=1\n", 17), ERROR_INVALID);
    memset(grant.text, '\n', sizeof grant.text);
    assert_int_equal(grant_take(&grant, sizeof grant.text, &err), ERROR_INVALID);
    assert_int_equal(grant_take(&grant, sizeof grant.text - 1, &err), 0);
    assert_int_equal(grant_take(&grant, 1, &err), ERROR_INVALID);
    assert_int_equal(grant_take(&grant, SIZE_MAX, &err), ERROR_INVALID);
}

static void grant__files(void **state)
{
    (void)state;
    char folder[FOLDER_PATH_SIZE], path[128], link[128];
    struct error err = {0};
    assert_int_equal(folder_create(folder), 0);
    folder_path(path, sizeof path, folder, "17");
    folder_path(link, sizeof link, folder, "18");
    assert_int_equal(grant_load(&grant, path, &err), ERROR_NOT_FOUND);
    assert_int_equal(folder_write(folder, "17", 0400, "export SLINGSHOT_VNIS=7\n"), 0);
    assert_int_equal(grant_load(&grant, path, &err), 0);
    assert_string_equal(grant.values[GRANT_VNIS], "7");
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(grant_load(&grant, link, &err), ERROR_IO);
    assert_null(grant.values[GRANT_VNIS]);
    assert_int_equal(chmod(path, 0620), 0);
    assert_int_equal(grant_load(&grant, path, &err), ERROR_REFUSED);
    assert_int_equal(unlink(path), 0);
    /* Nobody ever writes into it, and nobody may wait for that. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(grant_load(&grant, path, &err), ERROR_REFUSED);
    assert_int_equal(grant_load(&grant, folder, &err), ERROR_REFUSED);
    folder_destroy(folder);
}

static void grant__large_files(void **state)
{
    (void)state;
    char folder[FOLDER_PATH_SIZE], path[128];
    static char text[GRANT_SIZE + 1];
    struct error err = {0};
    assert_int_equal(folder_create(folder), 0);
    folder_path(path, sizeof path, folder, "17");
    memset(text, '\n', GRANT_SIZE);
    assert_int_equal(folder_write(folder, "17", 0600, text), 0);
    assert_int_equal(grant_load(&grant, path, &err), ERROR_INVALID);
    text[GRANT_SIZE - 1] = '\0';
    assert_int_equal(folder_write(folder, "17", 0600, text), 0);
    assert_int_equal(grant_load(&grant, path, &err), 0);
    folder_destroy(folder);
}

/* A root whose files are another user's believes nobody but root. */
static void grant__others_files(void **state)
{
    (void)state;
    char folder[FOLDER_PATH_SIZE], path[128];
    struct error err = {0};
    if (geteuid() != 0)
        skip();
    assert_int_equal(folder_create(folder), 0);
    folder_path(path, sizeof path, folder, "17");
    assert_int_equal(folder_write(folder, "17", 0444, "export SLINGSHOT_VNIS=7\n"), 0);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_int_equal(grant_load(&grant, path, &err), ERROR_REFUSED);
    folder_destroy(folder);
}

static void grant__whose(void **state)
{
    (void)state;
    assert_true(grant_is_of("elcap-17", "elcap", 17));
    assert_true(grant_is_of("elcap-17", "", 17));
    assert_false(grant_is_of("elcap-17", "elca", 17));
    assert_false(grant_is_of("elcap-17", "elcapo", 17));
    assert_false(grant_is_of("elcap-17", "elcap", 1));
    assert_false(grant_is_of("elcap-17", "elcap", 117));
    assert_false(grant_is_of("elcap-f17", "elcap", 17));
    assert_false(grant_is_of("elcap", "elcap", 17));
    assert_false(grant_is_of("", "", 0));
    assert_false(grant_is_of(NULL, "elcap", 17));
}

/* Slurm numbers those of its steps that have names from the end (slurm.h). */
static void grant__steps(void **state)
{
    (void)state;
    char out[GRANT_STEP_SIZE];
    assert_string_equal(grant_step(0, out), "0");
    assert_string_equal(grant_step(4294967000U, out), "4294967000");
    assert_string_equal(grant_step(0xfffffffbU, out), "batch");
    assert_string_equal(grant_step(0xfffffffaU, out), "interactive");
    assert_string_equal(grant_step(0xfffffffcU, out), "extern");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(grant__lines, setup),
        cmocka_unit_test_setup(grant__comes_in_pieces, setup),
        cmocka_unit_test_setup(grant__other_names, setup),
        cmocka_unit_test_setup(grant__halves, setup),
        cmocka_unit_test_setup(grant__files, setup),
        cmocka_unit_test_setup(grant__large_files, setup),
        cmocka_unit_test_setup(grant__others_files, setup),
        cmocka_unit_test(grant__whose),
        cmocka_unit_test(grant__steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
