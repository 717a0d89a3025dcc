/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/counters.h"

#include "base/nodelist.h"
#include "base/text.h"
#include "node/services/sysfs.h"

#include <stdio.h>
#include <string.h>

const char *const counters_words[TRAFFIC_KINDS] = {
    [TRAFFIC_TX_OCTETS] = "tx_octets",   [TRAFFIC_RX_OCTETS] = "rx_octets",
    [TRAFFIC_TX_PACKETS] = "tx_packets", [TRAFFIC_RX_PACKETS] = "rx_packets",
    [TRAFFIC_PAUSED] = "paused",
};

bool counter_parse(const char *text, uint64_t *value)
{
    char digits[24];
    const size_t length = strspn(text, "0123456789");
    if (length == 0 || length >= sizeof digits || (text[length] != '\0' && text[length] != '@'))
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    return text_number(digits, 10, INT64_MAX, value);
}

struct sum {
    const struct settings *settings;
    const char *device;
    uint64_t value;
    bool known;
};

static void add_counter(void *arg, const char *name)
{
    struct sum *sum = arg;
    char file[SETTINGS_TEXT_SIZE], text[SYSFS_TEXT_SIZE];
    uint64_t value = 0;
    snprintf(file, sizeof file, "telemetry/%.300s", name);
    sum->known = sum->known && sysfs_read(sum->settings->sysfs, sum->device, file, text) &&
                 counter_parse(text, &value) && value <= (uint64_t)INT64_MAX - sum->value;
    sum->value += sum->known ? value : 0;
}

void counters_read(const struct settings *settings, const char *device, struct counters *out)
{
    *out = (struct counters){.known = 0};
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++) {
        const char *names = settings->counters[kind];
        struct sum sum = {settings, device, 0, names[0] != '\0'};
        if (sum.known)
            nodelist_each(names, add_counter, &sum);
        out->of[kind] = sum.known ? sum.value : 0;
        out->known = (uint8_t)(out->known | sum.known << kind);
    }
}
