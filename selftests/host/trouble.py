#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""tools/vm/trouble, line by line: what kernels print when they are broken, and what they
print that only looks like it.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap

TROUBLE = f'{vm.TOP}/tools/vm/trouble'
# A name, and a line of a kernel log that means trouble. Each pattern of tools/vm/trouble
# is needed by one of them at least.
BAD = '''
panic|[    9.000000] Kernel panic - not syncing: sysrq triggered crash
an oops|[    9.000000] Oops: 0002 [#1] PREEMPT SMP PTI
an oops of 6.12|[    9.000000] Oops: general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] PREEMPT SMP PTI
a null pointer|[    9.000000] BUG: kernel NULL pointer dereference, address: 0000000000000010
a SLUB report|[    9.000000] BUG kmalloc-64 (Tainted: G           OE     ): Right Redzone overwritten
a soft lockup|[    9.000000] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [sh:77]
a BUG()|[    9.000000] kernel BUG at mm/slub.c:4123!
a warning|[    9.000000] WARNING: CPU: 0 PID: 77 at kernel/events/core.c:1234 event_sched_out+0x1/0x2
a warning with the caller|[    9.000000][   T77] WARNING: CPU: 0 PID: 77 at kernel/events/core.c:1234 event_sched_out+0x1/0x2
the head of a report|[    9.000000] ------------[ cut here ]------------
general protection|[    9.000000] general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] PREEMPT SMP PTI
general protection, bare|[    9.000000] general protection fault: 0000 [#1] PREEMPT SMP PTI
general protection, guessed|[    9.000000] general protection fault, maybe for address 0xffffc90000000000: 0000 [#1] PREEMPT SMP PTI
a double fault|[    9.000000] traps: PANIC: double fault, error_code: 0x0
a stack segment fault|[    9.000000] stack segment: 0000 [#1] PREEMPT SMP PTI
a page that cannot be read|[    9.000000] BUG: unable to handle page fault for address: ffffc90000000000
a fault without BUG|[    9.000000] Unable to handle kernel paging request at virtual address ffffc90000000000
the same in small letters|[    9.000000] unable to handle kernel paging request at ffffc90000000000
an unchecked MSR|[    9.000000] unchecked MSR access error: WRMSR to 0xc81 (tried to write 0x0000000000000001) at rIP: 0xffffffff8106b1a4 (native_write_msr+0x4/0x20)
an unknown NMI|[    9.000000] Uhhuh. NMI received for unknown reason 2d on CPU 0.
the same, cut off|[    9.000000] NMI received for unknown reason 2d on CPU 0.
an NMI nobody knows|[    9.000000] Unknown NMI 2d on CPU 0
what follows it|[    9.000000] Dazed and confused, but trying to continue
a hard lockup|[    9.000000] NMI watchdog: Watchdog detected hard LOCKUP on cpu 1
a soft lockup, cut off|[    9.000000] soft lockup - CPU#1 stuck for 26s! [sh:77]
a stall|[    9.000000] rcu: INFO: rcu_preempt self-detected stall on CPU
stalls|[    9.000000] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
a hung task|[    9.000000] INFO: task kworker/0:1:12 blocked for more than 120 seconds.
the same, first part|[    9.000000] INFO: task kworker/0:1:12 is hung
the same, last part|[    9.000000] kworker/0:1:12 blocked for more than 120 seconds.
a key that is not static|[    9.000000] INFO: trying to register non-static key.
lockdep, an order|[    9.000000] WARNING: possible circular locking dependency detected
lockdep, an order, cut off|possible circular locking dependency detected
lockdep, recursion|[    9.000000] [ INFO: possible recursive locking detected ]
lockdep, a state|[    9.000000] [ INFO: inconsistent lock state ]
lockdep, RCU|[    9.000000] [ INFO: suspicious RCU usage. ]
lockdep, itself|[    9.000000] DEBUG_LOCKS_WARN_ON(depth <= 0)
lockdep, events|[    9.000000] irq event stamp: 1234
sleeping|[    9.000000] do_something: sleeping function called from invalid context at mm/slab.h:1
scheduling|[    9.000000] sched: scheduling while atomic: sh/77/0x00000002
KASAN|[    9.000000] kasan: KASAN: use-after-free in foo+0x1/0x2
UBSAN|[    9.000000] UBSAN: shift-out-of-bounds in drivers/uncore/box.c:12:3
object debugging|[    9.000000] ODEBUG: free active (active state 0) object type: timer_list hint: foo+0x0/0x10
a list, added|[    9.000000] list_add corruption. next->prev should be prev (a), but was b.
a list, deleted|[    9.000000] list_del corruption, a->next is LIST_POISON1 (dead000000000100)
a reference count|[    9.000000] refcount_t: underflow; use-after-free.
a bad page|[    9.000000] Bad page state in process sh  pfn:12345
a leak|unreferenced object 0xffff888003a2b000 (size 64):
kmemleak gives up|[    9.000000] kmemleak: Cannot allocate a kmemleak_object structure
an interrupt|[    9.000000] irq 9: nobody cared (try booting with the "irqpoll" option)
a machine check|[    9.000000] mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 5: be00000000800400
'''
# A name, and a line that means none.
GOOD = '''
a program, general protection|[    9.000000] traps: perf[77] general protection fault ip:7f0000001000 sp:7ffe00001000 error:0 in libc.so.6[7f0000000000+155000]
a program, stack segment|[    9.000000] traps: a b: c[77] trap stack segment ip:401000 sp:7ffe00001000 error:0 in prog[401000+1000]
a program, division|[    9.000000] traps: prog[77] trap divide error ip:401000 sp:7ffe00001000 error:0 in prog[401000+1000]
a program, a page|[    9.000000] prog[77]: segfault at 0 ip 0000000000401000 sp 00007ffe00001000 error 4 in prog[401000+1000]
a program that talks|[    9.000000] mytest: WARNING: this is slow
a program that quotes|[    9.000000] mytest: expects "BUG: " and an "INFO: task" next
advice about Spectre|[    9.000000] Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on, data leaks possible via Spectre v2 BHB attacks!
QEMU itself|qemu: WARNING: nobody cared
no IOMMU|[    0.520737] AMD-Vi: AMD IOMMUv2 functionality not available on this system - This is not a bug.
a debugger that is on|[    0.100000] rcu: INFO: RCU CPU stall warnings are on
power off|[    9.000000] reboot: Power down
'''
# The one report that is the kernel's own; another that looks alike is not.
CUT = '[   20.263226] ------------[ cut here ]------------'
VACATED = '[   20.263437] Dying CPU not properly vacated!'
DYING = '[   20.263854] WARNING: CPU: 2 PID: 32 at kernel/sched/core.c:8328 sched_cpu_dying+0x93/0x230'
OTHER = '[   20.263854] WARNING: CPU: 2 PID: 32 at kernel/sched/core.c:8328 other+0x93/0x230'
# A log, and the numbers of the lines that mean trouble.
LOGS = (
    ('the status is 1 for a log without trouble', ['all is well'], []),
    ('the status is 0 for a log with some', ['all is well', 'Kernel panic'], [2]),
    ('lines are numbered', ['all is well', 'Kernel panic'], [2]),
    ('a CPU that goes with the fair server of 6.12', [CUT, VACATED, DYING], []),
    ('the same warning without its words', [CUT, DYING], [1, 2]),
    ('the same words of another warning', [CUT, VACATED, OTHER], [1, 3]),
    ('trouble behind it', [CUT, VACATED, DYING, 'Kernel panic'], [4]),
)


def rows(table):
    """(name, line) of each."""
    return [row.split('|', 1) for row in table.strip().splitlines()]


def run(text, *command):
    """What it says of a log on stdin."""
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, encoding='utf-8', check=False)


def told(done, log, numbers):
    """Yields what is wrong unless it prints these lines of the log, with status 1 if there are none."""
    if done.returncode != (not numbers):
        yield f'status {done.returncode}'
    yield from vm.differ([f'{n}:{log[n - 1]}' for n in numbers], done.stdout.splitlines())


def unneeded():
    """Patterns without which each line that means trouble is found."""
    lines = [line for _, line in rows(BAD)]
    script = vm.read(TROUBLE)
    for pattern in re.search(r"^trouble='\n(.*?)^'", script, re.M | re.S).group(1).splitlines():
        without = re.sub(f'^{re.escape(pattern)}\n', '', script, flags=re.M)
        found = run('\n'.join(lines), 'sh', '-c', without).stdout.splitlines()
        if len(found) >= len(lines):
            yield f'not needed: {pattern}'


ktap = Ktap()
for name, line in rows(BAD):
    ktap.result(f'trouble: {name}', told(run(f'{line}\r\n', TROUBLE), [line], [1]))
for name, line in rows(GOOD):
    ktap.result(f'no trouble: {name}', told(run(f'{line}\r\n', TROUBLE), [line], []))
for name, lines, numbers in LOGS:
    log = vm.file('log', ''.join(f'{line}\n' for line in lines))
    ktap.result(name, told(run('', TROUBLE, log), lines, numbers))
ktap.result('every pattern is needed by a line here', unneeded())
sys.exit(ktap.end())
