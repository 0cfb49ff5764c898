// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens events one after the other, whoever drives the PMUs, and tells what is in the
 * registers while each of them counts, and what came of it. For differential.py.
 *
 *	runner FILE
 *
 * Each line of FILE:	key|pmu|terms|counter|number|registers|packets
 *	terms		in perf's syntax; "config=", "config1=", "config2=" are raw words
 *	counter		address of the first counter of the box, and how many there are
 *	registers	addresses, to be read while the event counts
 *	packets		header:address:number, to be sent meanwhile
 * Without a PMU only the registers are read.
 */
#include "silicon.h"

#define MAX_FIELDS	7

static int cpu;

static void print_registers(char *regs)
{
	char *reg, *save;

	for (reg = strtok_r(regs, ",", &save); reg; reg = strtok_r(NULL, ",", &save))
		printf("\tr%s=%#llx", reg, msr_read(cpu, strtoul(reg, NULL, 16)));
}

static void send_packets(char *packets)
{
	char *packet, *save;

	for (packet = strtok_r(packets, ",", &save); packet; packet = strtok_r(NULL, ",", &save)) {
		unsigned long long header = 0, addr = 0, num = 0;

		ktap_require(sscanf(packet, "%llx:%llx:%llu", &header, &addr, &num) == 3, "%s",
			     packet);
		msr_write(cpu, SYN_PKT_HEADER, header);
		msr_write(cpu, SYN_PKT_ADDR, addr);
		msr_write(cpu, SYN_PKT_SEND, num);
	}
}

static void run_row(char *field[MAX_FIELDS])
{
	unsigned int ctr, num = strtoul(field[4], NULL, 0), i, kind;
	struct perf_event_attr attr;
	struct perf_count count;
	u64 n;
	int fd;

	if (!field[1][0]) {
		printf("row\t%s", field[0]);
		print_registers(field[5]);
		printf("\n");
		return;
	}
	attr = event_attr(field[1], field[2]);
	msr_write(cpu, SYN_TRAFFIC_MIX, !field[6][0]);
	msr_write(cpu, SYN_CLEAR, 1);
	fd = perf_open(&attr, cpu, -1);
	printf("row\t%s", field[0]);
	if (fd < 0) {
		printf("\terrno=%d\n", -fd);
		return;
	}
	perf_enable(fd);
	for (i = 0; i < num; i++) {
		ctr = strtoul(field[3], NULL, 16) + 2 * i;
		if (silicon_truth(cpu, SYN_WINDOWS, ctr))
			break;
	}
	if (i == num) {
		printf("\tidx=none\n");
		close(fd);
		return;
	}
	printf("\tidx=%u\tctl=%#llx", i, msr_read(cpu, counter_ctl(ctr)));
	print_registers(field[5]);
	send_packets(field[6]);
	sleep_us(50);
	perf_disable(fd);
	count = perf_count(fd);
	close(fd);
	printf("\tcount=%llu\ttruth=%llu\tcycles=%llu", count.value,
	       silicon_truth(cpu, SYN_EVENTS, ctr), silicon_truth(cpu, SYN_ENABLED, ctr));
	for (kind = 0; kind < SYN_V_KINDS; kind++) {
		n = msr_read(cpu, SYN_VIOLATION(kind));
		if (n)
			printf("\tv%u=%llu", kind, n);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	char line[1024], *field[MAX_FIELDS], *s;
	int i;

	if (!f || setjmp(ktap_end))
		return 1;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		for (s = line, i = 0; i < MAX_FIELDS; i++) {
			field[i] = s ? strsep(&s, "|") : "";
		}
		run_row(field);
	}
	fclose(f);
	return 0;
}
