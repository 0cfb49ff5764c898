// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BPF program may read a counter of ours in an NMI of the core PMU, at any instruction
 * of whatever runs on that CPU: nobody waits for a lock there. If somebody does, the CPU
 * is lost; another one notices, and the machine goes down before it hangs for long.
 *
 * VM: --sockets 1 --cores 2 --icount --append nmi_watchdog=0
 * BOOT: own
 * TEST: 6.1 6.12
 */
#include <linux/bpf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "sampling.h"

#define PMU	"xeon7500_cbox_0"
#define EVENTS	6

/* Cycles between two NMIs, prime: they come at another instruction each time. */
#define PERIOD	20011

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* All events in one map. */
static int make_map(const int fd[EVENTS])
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = 4,
		.value_size = 4,
		.max_entries = EVENTS,
	};
	int map = bpf(BPF_MAP_CREATE, &attr), i;

	if (map < 0 && errno == ENOSYS)
		ktap_skip("this kernel has no bpf()");
	ktap_require(map >= 0, "map: %s", strerror(errno));
	for (i = 0; i < EVENTS; i++) {
		union bpf_attr elem = {
			.map_fd = map,
			.key = (unsigned long)&i,
			.value = (unsigned long)&fd[i],
		};

		ktap_require(!bpf(BPF_MAP_UPDATE_ELEM, &elem), "element %d: %s", i, strerror(errno));
	}
	return map;
}

/* Reads every event of the map. */
static int make_program(int map)
{
	struct bpf_insn insn[4 * EVENTS + 2] = {}, *p = insn;
	static char log[4096];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (unsigned long)insn,
		.insn_cnt = 4 * EVENTS + 2,
		.license = (unsigned long)"GPL",
		.log_level = 1,
		.log_buf = (unsigned long)log,
		.log_size = sizeof(log),
	};
	int prog, i;

	for (i = 0; i < EVENTS; i++) {
		/* The map takes two of them. */
		*p++ = (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1,
					  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map };
		p++;
		*p++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2,
					  .imm = i };
		*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
					  .imm = BPF_FUNC_perf_event_read };
	}
	*p++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 };
	*p++ = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	prog = bpf(BPF_PROG_LOAD, &attr);
	ktap_require(prog >= 0, "program: %s\n%s", strerror(errno), log);
	return prog;
}

static int start_nmis(int prog)
{
	struct perf_event_attr attr = cycles_attr(PERIOD, 0);
	int fd;

	attr.disabled = 1;
	fd = event_open_attr(&attr, 0, -1);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog)) {
		ktap_require(errno == EOPNOTSUPP, "SET_BPF: %s", strerror(errno));
		ktap_skip("this kernel has no BPF programs for perf events");
	}
	perf_enable(fd);
	return fd;
}

static void group_reads(int leader)
{
	u64 val[1 + EVENTS];

	ktap_require(read(leader, val, sizeof(val)) == sizeof(val), "%s", strerror(errno));
}

static void starts_and_stops(int leader)
{
	perf_disable(leader);
	perf_enable(leader);
}

static void one_more(int leader)
{
	int fd = event_open("xeon7500_cbox_1", "occupancy_irq", 0, -1);

	(void)leader;
	perf_enable(fd);
	close(open_events[--num_open_events]);
}

/* A CPU that is lost does not come back: the machine goes down, without further ado. */
static void watch(pid_t pid, volatile unsigned int *turns, const char *what)
{
	unsigned int last = ~0u, stuck = 0;
	int status;

	run_on(1);
	while (!waitpid(pid, &status, WNOHANG)) {
		stuck = last == *turns ? stuck + 1 : 0;
		last = *turns;
		if (!ktap_check(stuck < 20, "%s: CPU 0 hangs after %u turns", what, last)) {
			fflush(stdout);
			/* Time for who reads this. */
			sleep_us(10000);
			ktap_require(!system("echo b >/proc/sysrq-trigger"), "cannot restart");
		}
		sleep_us(10000);
	}
	run_on(-1);
	ktap_check(WIFEXITED(status) && !WEXITSTATUS(status), "%s: status %#x", what, status);
}

static void in_nmi(const char *what, void (*turn)(int leader), unsigned int turns)
{
	volatile unsigned int *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr attr;
	int fd[EVENTS], nmis, i;
	u64 val[1 + EVENTS], sum = 0, num, accesses;
	pid_t pid;

	silicon_start();
	sampling_limit(1000000);
	attr = event_attr(PMU, "occupancy_irq");
	attr.read_format = PERF_FORMAT_GROUP;
	for (i = 0; i < EVENTS; i++) {
		fd[i] = event_open_attr(&attr, 0, i ? fd[0] : -1);
		attr.disabled = 0;
	}
	perf_enable(fd[0]);
	nmis = start_nmis(make_program(make_map(fd)));
	fflush(stdout);
	pid = fork();
	ktap_require(pid >= 0, "%s", strerror(errno));
	if (!pid) {
		run_on(0);
		while (*done < turns) {
			turn(fd[0]);
			(*done)++;
		}
		_exit(0);
	}
	watch(pid, done, what);
	perf_disable(nmis);
	perf_disable(fd[0]);
	num = msr_read(0, SYN_PMI_CPU(SYN_PMI_CORE_SENT));
	accesses = msr_read(0, SYN_PMI_CPU(SYN_PMI_NMI_ACCESSES));
	ktap_note("%s: %u turns, %llu NMIs of up to %llu accesses", what, *done, num, accesses);
	ktap_check(num > turns / 4, "%s: too few NMIs", what);
	/* The silicon has seen an NMI that reads all of them. */
	ktap_check(accesses >= EVENTS, "%s: %llu accesses in one NMI", what, accesses);
	/* What was read in NMI was not counted twice. */
	ktap_require(read(fd[0], val, sizeof(val)) == sizeof(val), "%s", strerror(errno));
	for (i = 0; i < EVENTS; i++)
		sum += val[1 + i];
	ktap_check(sum == box_truth(0, SYN_EVENTS, PMU), "%s: %llu, truth %llu", what, sum,
		   box_truth(0, SYN_EVENTS, PMU));
}

KTAP_CALL(during_group_reads, in_nmi("group reads", group_reads, 20000))
KTAP_CALL(during_starts, in_nmi("starts and stops", starts_and_stops, 3000))
KTAP_CALL(during_opens, in_nmi("events that come and go", one_more, 1000))

SILICON_MAIN({ "reads in NMI while the group is read", during_group_reads },
	     { "reads in NMI while the group starts and stops", during_starts },
	     { "reads in NMI while other events come and go", during_opens })
