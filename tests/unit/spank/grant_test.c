/* SPDX-License-Identifier: Apache-2.0 */
/* What Prolog puts down for a job's tasks, as the SPANK plugin takes it (F8, F16). */

#include "deploy/slurm/spank/grant.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

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
    grant_forget(&grant);
    return 0;
}

UNIT_WITH(grant__values, setup, NULL)
{
    static const char text[] = "SLINGSHOT_VNIS=1024,1025\0FI_CXI_COLL_JOB_ID=elcap-1\0"
                               "FI_CXI_COLL_MCAST_TOKEN=a=b\nc\0FI_CXI_COLL_FABRIC_MGR_URL=";
    assert_int_equal(take(text, sizeof text), 0);
    assert_string_equal(grant.values[GRANT_VNIS], "1024,1025");
    assert_string_equal(grant.values[GRANT_JOB], "elcap-1");
    assert_string_equal(grant.values[GRANT_TOKEN], "a=b\nc");
    assert_null(grant.values[GRANT_TCS]);
    assert_null(grant.values[GRANT_URL]); /* empty is as good as none */
    assert_false(grant_has_hwcoll(&grant));
}

UNIT_WITH(grant__comes_in_pieces, setup, NULL)
{
    static const char first[] = "FI_CXI_COLL_JOB_ID=a-1\0FI_CXI_COLL_MCAST_TOKEN=t";
    static const char second[] = "FI_CXI_COLL_FABRIC_MGR_URL=u\0FI_CXI_COLL_JOB_ID=a-2";
    assert_int_equal(take(first, sizeof first), 0);
    assert_false(grant_has_hwcoll(&grant));
    assert_int_equal(take(second, sizeof second), 0);
    assert_true(grant_has_hwcoll(&grant));
    assert_string_equal(grant.values[GRANT_JOB], "a-2");
    assert_int_equal(take("FI_CXI_COLL_MCAST_TOKEN=", 25), 0);
    assert_false(grant_has_hwcoll(&grant));
}

/* S4: of a job on Omni-Path; neither settings nor keys are what hwcoll=off takes away. */
UNIT_WITH(grant__omnipath, setup, NULL)
{
    static const char text[] =
        "FI_OPX_UUID=00ff\0FI_PSM3_UUID=00-ff\0FI_OPX_PKEY=0x8001\0"
        "PSM3_PKEY=0x8002\0FI_OPX_SL=3\0FI_OPX_HFI_SELECT=numa:0:0,numa:1:1\0"
        "PSM3_NIC=hfi1_*\0FI_OPX_CONTEXT_SHARING=1\0"
        "FI_OPX_ENDPOINTS_PER_HFI_CONTEXT=2\0FI_OPX_RELIABILITY=x\0"
        "PSM3_NIC_SL=9";
    static const char *const wanted[] = {
        "00ff", "00-ff", "0x8001", "0x8002", "3", "numa:0:0,numa:1:1", "hfi1_*", "1", "2"};
    assert_int_equal(GRANT_FIRST_OF_BROKER - GRANT_FIRST_KEY, sizeof wanted / sizeof *wanted);
    assert_int_equal(take(text, sizeof text), 0);
    for (int i = 0; i < GRANT_FIRST_KEY; i++)
        assert_null(grant.values[i]);
    for (int i = GRANT_FIRST_KEY; i < GRANT_FIRST_OF_BROKER; i++)
        assert_string_equal(grant.values[i], wanted[i - GRANT_FIRST_KEY]);
    assert_int_equal(grant_find("PSM3_PKEY", 9), GRANT_FIRST_SETTING - 1);
    assert_int_equal(grant_find("FI_OPX_SL", 9), GRANT_FIRST_SETTING);
    assert_false(grant_has_hwcoll(&grant));
}

/* What is not ours sets nothing, whoever wrote it. */
static const char *chosen(const char *text, unsigned which, unsigned count)
{
    grant_forget(&grant);
    assert_int_equal(take(text, strlen(text) + 1), 0);
    assert_int_equal(grant_choose_vni(&grant, which), count);
    return grant.values[GRANT_VNIS];
}

UNIT_WITH(grant__one_vni, setup, NULL)
{
    assert_string_equal(chosen("SLINGSHOT_VNIS=1024,7,65535", 1, 3), "1024");
    assert_string_equal(chosen("SLINGSHOT_VNIS=1024,7,65535", 2, 3), "7");
    assert_string_equal(chosen("SLINGSHOT_VNIS=1024,7,65535", 3, 3), "65535");
    assert_string_equal(chosen("SLINGSHOT_VNIS=1024,7,65535", 4, 3), "1024,7,65535");
    assert_string_equal(chosen("SLINGSHOT_VNIS=1024", 1, 1), "1024");
    assert_null(chosen("SLINGSHOT_TCS=0x0a", 1, 0));
    assert_null(chosen("SLINGSHOT_VNIS=", 1, 0));
}

UNIT_WITH(grant__other_names, setup, NULL)
{
    static const char text[] = "LD_PRELOAD=/tmp/x.so\0FI_CXI_COLL_JOB_ID2=a\0=x\0=\0"
                               " SLINGSHOT_VNIS=1\0SLINGSHOT_VNI=1\0FI_CXI_COLL_JOB_I=D=1";
    assert_int_equal(take(text, sizeof text), 0);
    for (int i = 0; i < GRANT_COUNT; i++)
        assert_null(grant.values[i]);
}

UNIT_WITH(grant__halves, setup, NULL)
{
    assert_int_equal(take("", 0), 0);
    assert_int_equal(take("SLINGSHOT_VNIS=10", 17), ERROR_INVALID);
    assert_int_equal(take("SLINGSHOT_VNIS=10\0SLINGSHOT_TCS", 32), ERROR_INVALID);
    assert_int_equal(take("\0SLINGSHOT_VNIS=1", 18), ERROR_INVALID);
    assert_null(grant.values[GRANT_VNIS]);
    memset(grant.text, '=', sizeof grant.text);
    assert_int_equal(grant_take(&grant, sizeof grant.text, NULL), ERROR_INVALID);
    grant.text[sizeof grant.text - 1] = '\0';
    assert_int_equal(grant_take(&grant, sizeof grant.text, NULL), 0);
    assert_int_equal(grant_take(&grant, 1, NULL), ERROR_INVALID);
    assert_int_equal(grant_take(&grant, SIZE_MAX, NULL), ERROR_INVALID);
}

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

UNIT_WITH(grant__files, setup, NULL)
{
    char folder[FOLDER_PATH_SIZE], path[128], link[128];
    assert_int_equal(folder_create(folder), 0);
    folder_path(path, sizeof path, folder, "17");
    folder_path(link, sizeof link, folder, "18");
    assert_int_equal(grant_load(&grant, path), ERROR_NOT_FOUND);
    write_file(path, "SLINGSHOT_VNIS=7", 17);
    assert_int_equal(grant_load(&grant, path), 0);
    assert_string_equal(grant.values[GRANT_VNIS], "7");
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(grant_load(&grant, link), ERROR_IO);
    assert_null(grant.values[GRANT_VNIS]);
    assert_int_equal(chmod(path, 0620), 0);
    assert_int_equal(grant_load(&grant, path), ERROR_REFUSED);
    assert_int_equal(unlink(path), 0);
    /* Nobody ever writes into it, and nobody may wait for that. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(grant_load(&grant, path), ERROR_REFUSED);
    assert_int_equal(grant_load(&grant, folder), ERROR_REFUSED);
    folder_destroy(folder);
}

UNIT_WITH(grant__large_files, setup, NULL)
{
    char folder[FOLDER_PATH_SIZE], path[128];
    static char text[GRANT_SIZE];
    assert_int_equal(folder_create(folder), 0);
    folder_path(path, sizeof path, folder, "17");
    memset(text, '=', sizeof text - 1);
    write_file(path, text, sizeof text);
    assert_int_equal(grant_load(&grant, path), ERROR_INVALID); /* there may be more of it */
    write_file(path, text + 1, sizeof text - 1);
    assert_int_equal(grant_load(&grant, path), 0);
    folder_destroy(folder);
}

/* A root whose files are another user's believes nobody but root. */
UNIT_WITH(grant__others_files, setup, NULL)
{
    char folder[FOLDER_PATH_SIZE], path[128];
    if (geteuid() != 0)
        skip();
    assert_int_equal(folder_create(folder), 0);
    folder_path(path, sizeof path, folder, "17");
    write_file(path, "SLINGSHOT_VNIS=7", 17);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_int_equal(grant_load(&grant, path), ERROR_REFUSED);
    folder_destroy(folder);
}

UNIT(grant__whose)
{
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
UNIT(grant__steps)
{
    char out[GRANT_STEP_SIZE];
    assert_string_equal(grant_step(0, out), "0");
    assert_string_equal(grant_step(4294967000U, out), "4294967000");
    assert_string_equal(grant_step(0xfffffffbU, out), "batch");
    assert_string_equal(grant_step(0xfffffffaU, out), "interactive");
    assert_string_equal(grant_step(0xfffffffcU, out), "extern");
}

UNIT_RUN(NULL, NULL)
