// SPDX-License-Identifier: GPL-2.0-only
/*
 * While the driver is loaded, each of its calls that can fail fails in turn. If the load fails, it
 * returns the error of that call and leaves nothing behind; if it goes on, the driver counts right.
 * No event can be opened before the load is complete: neither of the PMU that perf registers just
 * now, nor of one that was registered before it and would go if the load failed.
 */
#include <limits.h>

#include "foreign.h"
#include "module.h"
#include "sampling.h"

/* Of the functions that the driver calls (nm -u) those that can fail. */
static const struct {
	const char *name;
	long error;
	int want;	/* of the load; 0: it goes on with less */
	int most;	/* calls that fail, 0: all. After another one it cannot be unloaded */
	int few;	/* without soak, 0: 1 */
} functions[] = {
	{ "kvmalloc_node", 0, -ENOMEM },
	{ "__kvmalloc_node_noprof", 0, -ENOMEM },
	{ "__kmalloc", 0, -ENOMEM },
	{ "__kmalloc_noprof", 0, -ENOMEM },
	{ "kmalloc_trace", 0, -ENOMEM },
	{ "__kmalloc_cache_noprof", 0, -ENOMEM },
	{ "kasprintf", 0, -ENOMEM },
	{ "kstrdup", 0, -ENOMEM },
	{ "kstrdup_noprof", 0, -ENOMEM },
	{ "register_module_notifier", -ENOMEM, -ENOMEM },
	{ "__register_nmi_handler", -EEXIST, -EEXIST },
	{ "perf_pmu_register", -ENOSPC, -ENOSPC },
	{ "__cpuhp_setup_state", -ENOSPC, -ENOSPC, .few = 2 },
	{ "register_reboot_notifier", -ENOMEM, -ENOMEM },
	{ "register_kprobe", -EINVAL, 0, 1 },
};

static int insmod(const char *name, const char *parameters)
{
	char path[40];
	int fd, err;

	snprintf(path, sizeof(path), "/t/%s.ko", name);
	fd = open(path, O_RDONLY);
	err = syscall(SYS_finit_module, fd, parameters, 0) ? errno : 0;
	close(fd);
	return err;
}

static void works(const char *what)
{
	silicon_start();
	event_counts(what, "xeon7500_cbox_2", "occupancy_irq", 0, 500);
	event_close_all();
	check_stopped(0, what);
}

static void each_call(void)
{
	unsigned int i;
	int n, err, made, tried = 0;
	char what[120];

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		for (n = 1, made = 0;; n++) {
			if (n > (soak() ? functions[i].most ?: INT_MAX : functions[i].few ?: 1))
				break;
			if (loaded(OURS))
				ktap_require(!unload(OURS), "in use");
			snprintf(what, sizeof(what), "function=%s nth=%d error=%ld",
				 functions[i].name, n, functions[i].error);
			err = insmod("fail_call", what);
			if (err) {
				ktap_note("%s: not in this kernel (%s)", functions[i].name,
					  strerror(err));
				break;
			}
			snprintf(what, sizeof(what), "%s, call %d", functions[i].name, n);
			err = -load_ours();
			made = module_parameter("fail_call", "calls");
			if (made >= n) {
				tried++;
				ktap_check(err == functions[i].want, "%s: load: %s", what,
					   strerror(-err));
			} else {
				ktap_check(!err, "%s has not failed: load: %s", what,
					   strerror(-err));
			}
			ktap_check(loaded(OURS) == !err, "%s: loaded", what);
			ktap_check(!err || pmu_type(PACKAGE) < 0, "%s: a PMU is left", what);
			ktap_check(!err || system("grep -q xeon7500 /sys/devices/system/cpu/hotplug/states"),
				   "%s: CPU hotplug still knows the driver", what);
			ktap_require(!unload("fail_call"), "fail_call");
			if (err)
				ktap_require(!load_ours(), "%s: the next load fails", what);
			works(what);
			if (made < n)
				break;
			/* Hundreds of names */
			if (n > 30)
				n += n / 4;
		}
		ktap_note("%s: %d calls", functions[i].name, made);
	}
	ktap_note("%d calls have failed", tried);
	ktap_check(tried > (soak() ? 30 : 8), "%d", tried);
}

static void opens_early(const char *pmu, const char *event, const char *at)
{
	struct perf_event_attr attr;
	char parameters[120];
	int err;

	if (!loaded(OURS))
		ktap_require(!load_ours(), "the module cannot be loaded");
	attr = event_attr(pmu, event);
	ktap_require(!unload(OURS), "in use");
	snprintf(parameters, sizeof(parameters), "at=%s pmu=%s config=%llu", at, pmu,
		 (unsigned long long)attr.config);
	err = insmod("early_open", parameters);
	ktap_require(!err, "early_open: %s", strerror(err));
	ktap_require(!load_ours(), "the module cannot be loaded");
	err = -module_parameter("early_open", "error");
	/* perf of 6.12 does not find the one that it registers. */
	ktap_check(err == ENODEV || (err == ENOENT && pmu == at), "%s while %s comes: %s", pmu, at,
		   err == -1 ? "not tried" : err ? strerror(err) : "it opens");
	ktap_require(!unload("early_open"), "early_open");
	works(pmu);
}

static void early(void)
{
	static const char wbox[] = "xeon7500_wbox";

	opens_early(PACKAGE, "frozen", wbox);
	opens_early("xeon7500_ubox", "woken", wbox);
	opens_early(wbox, "uncore_clock", wbox);
}

/* The CPU goes while an event is opened, just before it would run the self-test of PMIs. */
static void cpu_goes(void)
{
	struct perf_event_attr attr;
	char parameters[80];
	int fd;

	ktap_require(!unload(OURS), "in use");
	snprintf(parameters, sizeof(parameters), "function=smp_call_function_single nth=1 error=%d",
		 -ENXIO);
	ktap_require(!insmod("fail_call", parameters), "fail_call");
	ktap_require(!load_ours(), "the module cannot be loaded");
	attr = sampling_attr("xeon7500_cbox_2", "occupancy_irq", 700001);
	fd = perf_open(&attr, 0, -1);
	ktap_check(fd == -ENODEV, "%s", fd < 0 ? strerror(-fd) : "it opens");
	if (fd >= 0)
		close(fd);
	ktap_check(module_parameter("fail_call", "calls") == 1, "no CPU was asked");
	/* The next one finds the CPU. */
	fd = perf_open(&attr, 0, -1);
	ktap_check(fd >= 0, "the next one: %s", strerror(-fd));
	if (fd >= 0)
		close(fd);
	ktap_require(!unload(OURS) && !unload("fail_call"), "fail_call");
	ktap_require(!load_ours(), "the module cannot be loaded");
}

SILICON_MAIN({ "no event opens before the module is loaded", early },
	     { "each call of a load that can fail fails in turn", each_call },
	     { "an event whose CPU goes is refused", cpu_goes })
