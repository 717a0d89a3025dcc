#include "tests/system/slurm/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* Jobs of a real Slurm through all of our hooks (F23). */

/* F1 F7 F8 F14 F16: what each task is given, on each node, in the batch script and in a step. */
static void job__goes_through_all_hooks(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster, "%s -N2 -n2 --wrap '%s/report batch; srun %s/report step; echo done.'",
        site->as_user, site->folder, site->folder);
    site_await_output(site, job, "done.");
    assert_string_equal(site_output_value(site, job, "batch.FI_CXI_COLL_JOB_STEP_ID", 0), "batch");
    assert_string_equal(site_output_value(site, job, "step.FI_CXI_COLL_JOB_STEP_ID", 0), "0");
    assert_string_equal(site_output_value(site, job, "step.SLINGSHOT_DEVICES", 1), "cxi0,cxi1");
    assert_in_range(strtoul(site_output_value(site, job, "step.SLINGSHOT_VNIS", 0), NULL, 10), 2000,
                    2011);
    assert_true(strlen(site_output_value(site, job, "step.FI_CXI_COLL_MCAST_TOKEN", 1)) > 8);
    site_expect_nothing_left(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job__goes_through_all_hooks),
    };
    return cmocka_run_group_tests(tests, site_create, site_destroy);
}
