/* SPDX-License-Identifier: Apache-2.0 */
/* What a test can make go wrong, while programs run (F9, F10). */

#include "tests/unit/mockcxi/machine.h"

#define BUSY MACHINE_FOUR_NICS "[fault busy]\ncall = destroy_svc\nerrno = EBUSY\n"

static unsigned int make(const struct machine *machine, struct cxil_dev *dev)
{
    struct cxi_svc_desc desc = machine_service(100);
    int id = machine->alloc_svc(dev, &desc, NULL);
    assert_true(id > CXI_DEFAULT_SVC_ID);
    return (unsigned int)id;
}

#define TEST(name) UNIT_WITH(name, machine_start, machine_stop)

TEST(fault__for_so_many_calls)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    unsigned int id = make(machine, dev);
    machine_configure(machine, BUSY "count = 2\n");
    assert_int_equal(machine->destroy_svc(dev, id), -EBUSY);
    assert_int_equal(machine->destroy_svc(dev, id), -EBUSY);
    assert_int_equal(machine_count(machine, dev), 2);
    assert_int_equal(machine->destroy_svc(dev, id), 0);
    /* The rule counts on, by its name, while cxi.conf changes. */
    machine_configure(machine, BUSY "count = 3\n");
    id = make(machine, dev);
    assert_int_equal(machine->destroy_svc(dev, id), -EBUSY);
    assert_int_equal(machine->destroy_svc(dev, id), 0);
    machine->close_device(dev);
}

TEST(fault__for_a_time)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    unsigned int id = make(machine, dev);
    machine_configure(machine, BUSY "for = 20ms\n");
    int64_t start = machine_clock_ms();
    assert_int_equal(machine->destroy_svc(dev, id), -EBUSY);
    MACHINE_AWAIT(machine->destroy_svc(dev, id) == 0);
    assert_true(machine_clock_ms() - start >= 19); /* two clocks, each of which rounds */
    machine->close_device(dev);
}

TEST(fault__until_a_moment)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    unsigned int id = make(machine, dev);
    char text[512];
    snprintf(text, sizeof text, BUSY "until = %jd\n", (intmax_t)time(NULL) + 3600);
    machine_configure(machine, text);
    assert_int_equal(machine->destroy_svc(dev, id), -EBUSY);
    snprintf(text, sizeof text, BUSY "until = %jd\n", (intmax_t)time(NULL));
    machine_configure(machine, text);
    assert_int_equal(machine->destroy_svc(dev, id), 0);
    machine->close_device(dev);
}

/* For ever, but for one NIC; and then the rule is taken away. */
TEST(fault__one_nic)
{
    struct machine *machine = *state;
    struct cxil_dev *dev0 = machine_open(machine, 0);
    struct cxil_dev *dev2 = machine_open(machine, 2);
    unsigned int id0 = make(machine, dev0);
    unsigned int id2 = make(machine, dev2);
    machine_configure(machine, BUSY "nic = cxi2\n");
    assert_int_equal(machine->destroy_svc(dev0, id0), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(machine->destroy_svc(dev2, id2), -EBUSY);
    machine_configure(machine, MACHINE_FOUR_NICS);
    assert_int_equal(machine->destroy_svc(dev2, id2), 0);
    machine->close_device(dev0);
    machine->close_device(dev2);
}

TEST(fault__one_service)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    unsigned int first = make(machine, dev);
    unsigned int second = make(machine, dev);
    machine_configure(machine, BUSY "service = 3\n");
    assert_int_equal(second, 3);
    assert_int_equal(machine->destroy_svc(dev, first), 0);
    assert_int_equal(machine->destroy_svc(dev, second), -EBUSY);
    machine->close_device(dev);
}

/* Each on its own, also when a new service has the id of an old one. */
TEST(fault__each_service)
{
    struct machine *machine = *state;
    struct cxil_dev *dev0 = machine_open(machine, 0);
    struct cxil_dev *dev1 = machine_open(machine, 1);
    machine_configure(machine, BUSY "count = 1\neach_service = yes\n");
    for (int round = 0; round < 2; round++) {
        unsigned int a = make(machine, dev0);
        unsigned int b = make(machine, dev0);
        unsigned int c = make(machine, dev1);
        assert_int_equal(machine->destroy_svc(dev0, a), -EBUSY);
        assert_int_equal(machine->destroy_svc(dev0, b), -EBUSY);
        assert_int_equal(machine->destroy_svc(dev1, c), -EBUSY);
        assert_int_equal(machine->destroy_svc(dev0, a), 0);
        assert_int_equal(machine->destroy_svc(dev0, b), 0);
        assert_int_equal(machine->destroy_svc(dev1, c), 0);
    }
    machine->close_device(dev0);
    machine->close_device(dev1);
}

/* The first that applies is taken; when it is used up, the next. */
TEST(fault__in_order)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    unsigned int id = make(machine, dev);
    machine_configure(machine, MACHINE_FOUR_NICS
                      "[fault first]\ncall = destroy_svc\nerrno = EIO\ncount = 1\n"
                      "[fault second]\ncall = any\nnic = cxi0\nerrno = EBUSY\ncount = 1\n");
    assert_int_equal(machine->destroy_svc(dev, id), -EIO);
    assert_int_equal(machine->destroy_svc(dev, id), -EBUSY);
    assert_int_equal(machine->destroy_svc(dev, id), 0);
    machine->close_device(dev);
}

/* ENOSPC and EINVAL of what would have fitted: fail_info has nothing to say. */
TEST(fault__of_allocation)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 3);
    struct cxi_svc_desc desc = machine_service(100);
    struct cxi_svc_fail_info fail;
    static const struct cxi_svc_fail_info nothing;
    machine_configure(machine, MACHINE_FOUR_NICS
                      "[fault full]\ncall = alloc_svc\nnic = cxi3\nerrno = ENOSPC\ncount = 1\n"
                      "[fault odd]\ncall = alloc_svc\nnic = cxi3\nerrno = EINVAL\ncount = 1\n");
    memset(&fail, 0xff, sizeof fail);
    assert_int_equal(machine->alloc_svc(dev, &desc, &fail), -ENOSPC);
    assert_memory_equal(fail.rsrc_avail, nothing.rsrc_avail, sizeof fail.rsrc_avail);
    assert_int_equal(machine->alloc_svc(dev, &desc, &fail), -EINVAL);
    assert_int_equal(machine->alloc_svc(dev, &desc, &fail), 2);
    machine->close_device(dev);
}

/* Between the list and the opening, and while it is open. */
TEST(nic__vanishes)
{
    struct machine *machine = *state;
    struct cxil_device_list *devices = NULL;
    struct cxil_svc_list *services = NULL;
    struct cxil_dev *gone = NULL;
    struct cxi_svc_desc desc = machine_service(100);
    struct cxil_dev *dev = machine_open(machine, 1);
    machine_configure(machine, MACHINE_FOUR_NICS
                      "[fault gone]\ncall = open_device\nnic = cxi2\nerrno = ENOENT\n");
    assert_int_equal(machine->get_device_list(&devices), 0);
    assert_int_equal(devices->count, 4);
    machine->free_device_list(devices);
    assert_int_equal(machine->open_device(2, &gone), -ENOENT);
    assert_null(gone);
    machine_configure(machine, MACHINE_FOUR_NICS "[cxi1]\npresent = no\n");
    assert_int_equal(machine->get_svc_list(dev, &services), -EIO);
    assert_null(services);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EIO);
    assert_int_equal(machine->destroy_svc(dev, 2), -EIO);
    machine->close_device(dev);
}

/* Each kind of call can fail, and then gives nothing to free. */
TEST(fault__of_any_call)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    for (int after = 0; after < 2; after++) {
        struct cxil_device_list *devices = NULL;
        struct cxil_svc_list *services = NULL;
        struct cxil_svc_rsrc_list *uses = NULL;
        struct cxil_dev *opened = NULL;
        struct cxil_lni *lni = NULL;
        struct cxi_rsrc_use use;
        struct cxi_svc_desc desc;
        uint64_t value;
        machine_configure(machine, after ? MACHINE_FOUR_NICS
                                       "[fault all]\nerrno=ENXIO\nwhen=after\n"
                                         : MACHINE_FOUR_NICS "[fault all]\nerrno=ENXIO\n");
        assert_int_equal(machine->get_device_list(&devices), -ENXIO);
        assert_int_equal(machine->open_device(0, &opened), -ENXIO);
        assert_int_equal(machine->get_svc_list(dev, &services), -ENXIO);
        assert_int_equal(machine->get_svc_rsrc_list(dev, &uses), -ENXIO);
        assert_int_equal(machine->get_svc_rsrc_use(dev, 1, &use), -ENXIO);
        assert_int_equal(machine->get_svc(dev, 1, &desc), -ENXIO);
        assert_int_equal(machine->set_svc_lpr(dev, 1, 2), -ENXIO);
        assert_int_equal(machine->alloc_lni(dev, &lni, 1), -ENXIO);
        assert_int_equal(machine->read_cntr(dev, 5, &value, NULL), -ENXIO);
    }
    machine->close_device(dev);
}

/* The kernel did it, and the caller does not know. */
TEST(fault__after_the_effect)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    machine_configure(machine, MACHINE_FOUR_NICS
                      "[fault lost]\ncall = alloc_svc\nerrno = EINTR\nwhen = after\ncount = 1\n");
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EINTR);
    assert_int_equal(machine_count(machine, dev), 2);
    assert_int_equal(machine->destroy_svc(dev, 2), 0);
    machine->close_device(dev);
}

TEST(fault__delay)
{
    struct machine *machine = *state;
    machine_configure(machine, MACHINE_FOUR_NICS
                      "[fault slow]\ncall = open_device\ndelay = 20ms\ncount = 1\n");
    int64_t start = machine_clock_ms();
    struct cxil_dev *dev = machine_open(machine, 0);
    assert_true(machine_clock_ms() - start >= 19);
    assert_int_equal(machine_logged(machine, "open_device cxi0 waits 20 ms (fault slow)"), 1);
    machine->close_device(dev);
}

/* A mistake in cxi.conf is not taken for something else: every call fails, and the log says why,
 * even if it was not asked for. */
TEST(conf__mistake)
{
    struct machine *machine = *state;
    struct cxil_device_list *devices = NULL;
    machine_configure(machine, "[mock]\nnics = four\n");
    assert_int_equal(machine->get_device_list(&devices), -EIO);
    assert_null(devices);
    assert_int_equal(machine_logged(machine, "get_device_list cannot: cxi.conf line 2: 'four'"), 1);
}

TEST(log__one_line_a_call)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 1);
    struct cxi_svc_desc desc = machine_service(100);
    char line[512];
    desc.num_vld_vnis = 2;
    desc.vnis[1] = 101;
    desc.limits.les = (struct cxi_limits){.max = 16384, .res = 160};
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    snprintf(line, sizeof line,
             " pid=%d uid=%u alloc_svc cxi1 vnis=100,101 tcs=1,3 member=uid:%u ptes=0/0 txqs=0/0 "
             "tgqs=0/0 eqs=0/0 cts=0/0 les=160/16384 tles=0/0 acs=0/0 = 2\n",
             (int)getpid(), (unsigned int)geteuid(), (unsigned int)geteuid());
    assert_int_equal(machine_logged(machine, line), 1);
    assert_int_equal(machine->destroy_svc(dev, 3), -EINVAL);
    assert_int_equal(machine_logged(machine, " destroy_svc cxi1 svc=3 = -EINVAL\n"), 1);
    machine_configure(machine, BUSY);
    assert_int_equal(machine->destroy_svc(dev, 2), -EBUSY);
    assert_int_equal(machine_logged(machine, "destroy_svc cxi1 svc=2 = -EBUSY (fault busy)\n"), 1);
    unsigned int lines = machine_logged(machine, "\n");
    assert_int_equal(lines, 4);
    machine_configure(machine, "[mock]\nnics = 4\nprivileged = any\n");
    assert_int_equal(machine->destroy_svc(dev, 2), 0);
    assert_int_equal(machine_logged(machine, "\n"), lines);
    machine->close_device(dev);
}

UNIT_RUN(NULL, NULL)
