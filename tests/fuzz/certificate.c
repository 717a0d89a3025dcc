/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a client's certificate (broker/http/auth/certificate.h). First byte '-': the input is
 * PEM; else the bytes after it are one DER certificate, and are put into PEM here. */

#include "broker/http/auth/certificate.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static char *pem_of(struct fuzz_input *in)
{
    gnutls_datum_t der = {.data = (unsigned char *)(uintptr_t)(in->at + 1),
                          .size = (unsigned)in->left - 1};
    gnutls_datum_t pem;
    if (gnutls_pem_base64_encode2("CERTIFICATE", &der, &pem) < 0)
        return NULL;
    char *text = strndup((char *)pem.data, pem.size);
    gnutls_free(pem.data);
    return text;
}

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
    bool text = in->left > 0 && in->at[0] == '-';
    char *pem = text ? fuzz_rest(in) : in->left > 1 ? pem_of(in) : NULL;
    struct certificate *certificate = pem ? certificate_read(pem) : NULL;
    if (certificate) {
        check_names(certificate_names(certificate));
        FUZZ_CHECK(certificate_fault(certificate, 0)); /* nobody has judged it yet */
        certificate_judge(certificate, NULL);
        FUZZ_CHECK(certificate_fault(certificate, 1800000000));
    }
    certificate_destroy(certificate);
    free(pem);
}
