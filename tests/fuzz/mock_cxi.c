/* SPDX-License-Identifier: Apache-2.0 */
/* cxi.conf, which says what NICs the mock libcxi shows and what goes wrong with them
 * (mock-cxi/conf.h): the whole input. */

#include "mock-cxi/conf.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

void fuzz_one(struct fuzz_input *in)
{
    struct error err = {0}, other = {0};
    char *text = fuzz_rest(in), *copy = strdup(text);
    struct conf *conf = conf_parse(text, &err), *again = conf_parse(copy, &other);
    if (!copy)
        abort();
    FUZZ_CHECK(!conf == !again);
    if (conf) {
        FUZZ_CHECK(conf->nic_count <= NIC_MAX && conf->fault_count <= CONF_FAULTS_MAX);
        FUZZ_CHECK(conf->nic_count == again->nic_count && conf->fault_count == again->fault_count);
        for (unsigned i = 0; i <= conf->nic_count; i++) {
            const struct nic *nic = conf_nic(conf, i);
            FUZZ_CHECK(!nic || (i < conf->nic_count && nic == &conf->nics[i]));
            FUZZ_CHECK(!nic == !conf_nic(again, i));
        }
    } else {
        FUZZ_CHECK(err.code == ERROR_INVALID);
        FUZZ_CHECK(err.text[0] != '\0');
        FUZZ_CHECK(strcmp(err.text, other.text) == 0);
    }
    free(conf);
    free(again);
    free(copy);
    free(text);
}
