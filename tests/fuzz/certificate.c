/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a client's certificate (broker/http/auth/certificate.h), which is the input, in DER. */

#include "broker/http/auth/certificate.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check_names(const char *const *names)
{
    size_t count = 0;
    for (; names[count]; count++) {
        FUZZ_CHECK(names[count][0] != '\0' && strlen(names[count]) < 256);
        for (const char *at = names[count]; *at != '\0'; at++)
            FUZZ_CHECK(*at > ' ' && *at < 0x7f && *at != '"' && *at != '\\');
    }
    FUZZ_CHECK(count <= CERTIFICATE_NAMES_MAX);
}

void fuzz_one(struct fuzz_input *in)
{
    const gnutls_datum_t der = {.data = (unsigned char *)(uintptr_t)in->at,
                                .size = (unsigned)in->left};
    const char *unbearable;
    struct certificate *certificate = certificate_create(&der, 1, &unbearable);
    FUZZ_CHECK(!certificate == !!unbearable);
    if (certificate) {
        check_names(certificate_names(certificate));
        FUZZ_CHECK(certificate_fault(certificate, 0)); /* nobody has judged it yet */
        certificate_judge(certificate, NULL);
        FUZZ_CHECK(certificate_fault(certificate, 1800000000));
    }
    certificate_destroy(certificate);
}
