/* SPDX-License-Identifier: Apache-2.0 */
/* Records from the disk, as wrong as they can be (core_load): a byte says how many, then come they.
 * The core takes them or says what is wrong; what it took it can go on with, which the rest of the
 * input tries (machine.h). */

#include "state/columns.h"
#include "tests/fuzz/machine.h"

enum { STEPS_MAX = 100 };

static const char *const clusters[] = {"elcap", "elcap2", "gone", "", "A-b"};
static const char *const jobs[] = {"f1", "f2", "3", "", "a b"};
static const char *const texts[] = {NULL, "", "elcap[1-128]", "why"};

static struct reservation_record make_reservation(const struct machine *machine,
                                                  struct fuzz_input *in)
{
    struct reservation_record r = {.number = fuzz_byte(in)};
    uint8_t who = fuzz_byte(in), how = fuzz_byte(in);
    r.cluster = clusters[who % 5];
    r.job = jobs[who / 8 % 5];
    r.nodes = texts[who / 64];
    r.reason = texts[how % 4];
    r.token = secret_of(how & 4 ? "sess-0" : NULL);
    r.uid = how & 8 ? 5588 : UID_UNKNOWN;
    r.wish = how / 16 % 8;
    r.state = fuzz_byte(in) % 4;
    r.hwcoll = fuzz_byte(in) % 12;
    r.fm_side = fuzz_byte(in) % 4;
    r.node_count = fuzz_byte(in);
    r.addresses = fuzz_byte(in);
    r.traffic_classes = fuzz_byte(in) % 20;
    r.vni_count = fuzz_byte(in) % 6;
    r.vni_asked = r.vni_count;
    r.shared_count = how / 128;
    for (int i = 0; i < VNI_PER_JOB_MAX && i < r.vni_count; i++)
        r.vnis[i] = (uint16_t)(1020 + fuzz_byte(in) % 16);
    r.created_ms = machine->now_ms - fuzz_pair(in);
    r.released_ms = r.state == JOB_ACTIVE ? 0 : machine->now_ms + (int16_t)fuzz_pair(in);
    r.hold_until_ms = r.state == JOB_ACTIVE ? 0 : machine->now_ms + 10 * (int16_t)fuzz_pair(in);
    return r;
}

static struct node_record make_node(struct fuzz_input *in)
{
    static const char *const nodes[] = {"elcap1", "elcap2", "elcap3", "", "a b", "fmn", "n.1", "-"};
    static const char *const services[] = {NULL, "cxi0:1", "cxi0:12,cxi1:7", "", "cxi0", "cxi0:0"};
    uint8_t number = fuzz_byte(in), who = fuzz_byte(in);
    return (struct node_record){.number = number,
                                .node = nodes[who % 8],
                                .services = services[who / 8 % 6],
                                .state = fuzz_byte(in) % 6,
                                .order = fuzz_pair(in),
                                .sums = who % 3};
}

static struct sum_record make_sum(struct fuzz_input *in)
{
    static const char *const lists[] = {"elcap[1-128]", "elcap1,elcap[2-3]", "elcap[128-129]", "["};
    uint8_t number = fuzz_byte(in), how = fuzz_byte(in);
    return (struct sum_record){
        .number = number, .nodes = lists[how % 4], .sum = how / 4 % 4, .state = how / 16 % 5};
}

static struct nics_record make_nics(struct fuzz_input *in)
{
    static const char *const nodes[] = {"elcap1", "elcap2", "a b", ""};
    static const char *const nics[] = {"", "cxi0,1,200000,1,,",
                                       "cxi0,1,200000,0,A,1.2;cxi1,2,0,1,B,", "cxi0"};
    uint8_t who = fuzz_byte(in);
    return (struct nics_record){.node = nodes[who % 4],
                                .nics = nics[who / 4 % 4],
                                .order = fuzz_byte(in),
                                .changed_ms = fuzz_pair(in)};
}

static const char *const partition_texts[] = {"", "beta 1020-1030\n", "a 7\nb 1024\n", "x\n", NULL};

static struct shared_vni_record make_shared(struct fuzz_input *in)
{
    static const char *const names[] = {"daos", "mochi", "", "A"};
    static const char *const lists[] = {"", "*", "5588,77", "x"};
    uint8_t how = fuzz_byte(in), who = fuzz_byte(in);
    return (struct shared_vni_record){.created_ms = 1,
                                      .expires_ms = who & 1 ? 1000 * fuzz_pair(in) : 0,
                                      .uid = 5588,
                                      .vni = (uint16_t)(1020 + how % 16),
                                      .state = how / 16 % 5,
                                      .name = names[who / 2 % 4],
                                      .users = lists[who / 8 % 4],
                                      .clusters = who & 32 ? "elcap" : ""};
}

static struct record make_record(const struct machine *machine, struct fuzz_input *in)
{
    const enum record_kind kind = (enum record_kind)(fuzz_byte(in) % (RECORD_NODE_NICS_GONE + 1));
    struct record record = {.kind = kind};
    uint8_t number;
    switch (record.kind) {
    case RECORD_RESERVATION:
        record.u.reservation = make_reservation(machine, in);
        break;
    case RECORD_GONE:
        record.u.gone = fuzz_byte(in);
        break;
    case RECORD_EVENT:
        number = fuzz_byte(in);
        record.u.event = (struct event_record){.seq = number,
                                               .time_ms = machine->now_ms - fuzz_pair(in),
                                               .number = fuzz_byte(in),
                                               .cluster = number % 3 ? clusters[0] : NULL,
                                               .job = number % 3 ? jobs[0] : NULL,
                                               .detail = texts[number % 4],
                                               .node = number % 7 ? NULL : "n1",
                                               .clusters = number % 11 ? NULL : clusters[0],
                                               .vni_count = number % 5,
                                               .state = number % 3,
                                               .kind = fuzz_byte(in) % 12};
        break;
    case RECORD_PRUNE:
        record.u.prune = fuzz_byte(in);
        break;
    case RECORD_COUNTERS:
        record.u.counters.last_number = fuzz_byte(in);
        record.u.counters.last_seq = fuzz_byte(in);
        break;
    case RECORD_NODE:
        record.u.node = make_node(in);
        break;
    case RECORD_SUM:
        record.u.sum = make_sum(in);
        break;
    case RECORD_SHARED_VNI:
        record.u.shared_vni = make_shared(in);
        break;
    case RECORD_SHARED_GONE:
        record.u.shared_gone = (uint16_t)(1020 + fuzz_byte(in) % 16);
        break;
    case RECORD_PARTITIONS:
        record.u.partitions = partition_texts[fuzz_byte(in) % 5];
        break;
    case RECORD_TRAFFIC:
        number = fuzz_byte(in);
        record.u.traffic = (struct traffic_record){.seq = number,
                                                   .number = 1,
                                                   .ended_ms = machine->now_ms - fuzz_pair(in),
                                                   .told = number % 7,
                                                   .cluster = clusters[0],
                                                   .job = jobs[number % 5],
                                                   .slowest = number % 3 ? NULL : "elcap1/cxi0"};
        break;
    case RECORD_NODE_NICS:
    case RECORD_NODE_NICS_GONE:
        record.u.nics = make_nics(in);
        break;
    default:
        break;
    }
    return record;
}

/* As a store does: what is not fit to be a record never comes to the core (state/columns.h),
 * and the counters come first. They may have counted on over what is missing. */
static bool load_all(struct machine *machine, struct fuzz_input *in)
{
    struct error err = {0};
    for (uint8_t count = fuzz_byte(in) % 16; count > 0; count--) {
        struct record record = make_record(machine, in);
        bool first = machine->disk.last_number == 0 && machine->disk.reservation_count == 0 &&
                     machine->disk.event_count == 0;
        if (record_fault(&record) || (record.kind == RECORD_COUNTERS && !first))
            return false;
        if (core_load(machine->core, &record, &err) < 0) {
            FUZZ_CHECK(err.code == ERROR_CORRUPT && err.text[0] != '\0');
            return false;
        }
        if (!machine_loaded(machine, &record))
            return false;
    }
    return core_check_load(machine->core, &err) == 0;
}

void fuzz_one(struct fuzz_input *in)
{
    static struct machine machine;
    machine_init(&machine);
    machine.core = core_create(&machine.config);
    if (load_all(&machine, in)) {
        machine_start(&machine);
        for (int i = 0; i < STEPS_MAX && in->left > 0; i++)
            machine_step(&machine, in);
    }
    machine_release(&machine);
}
