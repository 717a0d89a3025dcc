/* SPDX-License-Identifier: Apache-2.0 */
/* cxi/layout.h against the declarations: ours, and HPE's when CMake found them. Most of it is
 * asserted by the compiler; that this compiles is the test. */

#ifdef MOCKCXI_REAL_HEADERS
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <libcxi.h>

#include "cxi/calls.h"
#include "cxi/layout.h"
CXI_LAYOUT_ASSERT

/* The functions' types, too. */
#define SAME_TYPE(name, returns, parameters, version)                                              \
    _Static_assert(__builtin_types_compatible_p(__typeof__(cxil_##name), returns parameters),      \
                   "type of cxil_" #name);
CXI_CALLS_NEEDED(SAME_TYPE)
CXI_CALLS_OPTIONAL(SAME_TYPE)
#if MOCKCXI_REAL_HEADERS >= 14
CXI_LAYOUT_ASSERT_14
CXI_CALLS_OTHER(SAME_TYPE)
#endif
#else
#include "cxi/abi.h"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void descriptor__bits(void **state)
{
    (void)state;
#define CHECK(field, mask)                                                                         \
    {                                                                                              \
        struct cxi_svc_desc desc;                                                                  \
        unsigned char first;                                                                       \
        memset(&desc, 0, sizeof desc);                                                             \
        desc.field = (mask) == 0xc0 ? 3 : 1;                                                       \
        memcpy(&first, &desc, 1);                                                                  \
        assert_int_equal(first, mask);                                                             \
    }
    CXI_LAYOUT_BITS(CHECK)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptor__bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
