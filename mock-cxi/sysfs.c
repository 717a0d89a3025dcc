/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { NAME_SIZE = 96, TEXT_SIZE = 96 };

/* Files of which a key of cxi.conf is the sum: the first has it all. */
static const struct {
    const char *name;
    unsigned int count; /* 1: without a number behind the name */
    enum nic_counter counter;
} counters[] = {
    {"hni_sts_tx_ok_octets", 1, NIC_TX_OCTETS},  {"hni_sts_rx_ok_octets", 1, NIC_RX_OCTETS},
    {"hni_pkts_sent_by_tc_", 8, NIC_TX_PACKETS}, {"hni_pkts_recv_by_tc_", 8, NIC_RX_PACKETS},
    {"hni_rx_paused_", 8, NIC_PAUSED},           {"hni_tx_paused_", 8, NIC_COUNTERS},
};

static void make_folder(const struct place *place, const char *name)
{
    struct stat status;
    if (fstat(place->directory, &status) == 0 &&
        mkdirat(place->directory, name, status.st_mode & 0777) == 0)
        (void)fchmodat(place->directory, name, status.st_mode & 0777, 0); /* against the umask */
}

/* Text up to a "@" is what the file says. */
static bool says(const struct place *place, const char *name, const char *text)
{
    const size_t length = strcspn(text, "@");
    char *content = NULL;
    size_t size;
    const bool same = place_read(place, name, &content, &size, NULL) == 0 &&
                      strncmp(content, text, length) == 0 &&
                      (content[length] == text[length] || content[length] == '@');
    free(content);
    return same;
}

static void put(struct place *place, const char *name, const char *text)
{
    if (!says(place, name, text) && (place->lock >= 0 || place_lock(place, NULL) == 0))
        (void)place_replace(place, name, text, strlen(text), NULL);
}

static void put_counter(struct place *place, const char *nic, const char *name, int number,
                        uint64_t value)
{
    char file[NAME_SIZE], text[TEXT_SIZE], digits[12] = "";
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (number >= 0)
        snprintf(digits, sizeof digits, "%d", number);
    snprintf(file, sizeof file, "sysfs/%.8s/device/telemetry/%.32s%s", nic, name, digits);
    snprintf(text, sizeof text, "%ju@%jd.%09ld\n", (uintmax_t)value, (intmax_t)now.tv_sec,
             now.tv_nsec);
    put(place, file, text);
}

static void put_word(struct place *place, const char *nic, const char *file, const char *word)
{
    char name[NAME_SIZE], text[TEXT_SIZE];
    snprintf(name, sizeof name, "sysfs/%.8s/device/%s", nic, file);
    snprintf(text, sizeof text, "%s\n", word);
    if (word[0])
        put(place, name, text);
}

static void write_nic(struct place *place, const struct nic *nic)
{
    static const char *const folders[] = {"", "/device", "/device/fru", "/device/uc",
                                          "/device/telemetry"};
    char name[NAME_SIZE];
    const char *device = nic->info.device_name;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(name, sizeof name, "sysfs/%.8s%s", device, folders[i]);
        make_folder(place, name);
    }
    put_word(place, device, "fru/serial_number", nic->serial);
    put_word(place, device, "uc/qspi_blob_version", nic->firmware);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        for (unsigned int n = 0; n < counters[i].count; n++)
            put_counter(place, device, counters[i].name, counters[i].count > 1 ? (int)n : -1,
                        n == 0 && counters[i].counter < NIC_COUNTERS
                            ? nic->counters[counters[i].counter]
                            : 0);
}

void sysfs_write(struct place *place, const struct conf *conf)
{
    make_folder(place, "sysfs");
    for (unsigned int i = 0; i < conf->nic_count; i++)
        if (conf->nics[i].present)
            write_nic(place, &conf->nics[i]);
    place_unlock(place);
}
