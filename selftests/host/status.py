#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""perf metrics status, in a world of the test: each thing that can stand in the way of counting is
named with the command that takes it away, and the exit status says whether counting works. Where it
says that counting works, it does; where it says that it does not, it does not.
"""
import json
import os
import re
import subprocess
import sys

HOST = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HOST}/../lib', f'{HOST}/metrics']
sys.dont_write_bytecode = True
import fixture
from fixture import World, write
from ktap import Ktap

TOP = fixture.TOP
PERF = 'if "--version" in sys.argv:\n    say(["perf version 6.1.170"])\n    sys.exit(0)\n'
GOLDMONT = ['offcore_outstanding.demand_data_rd', 'offcore_requests.demand_data_rd']
SAID = []       # lines of JSON
ktap = Ktap()


def world_of(perf=PERF, caps=True, **more):
    """A machine as it should be."""
    world = World(**more)
    world.play(perf + fixture.PLAY)
    write(f'{world.dir}/proc/sys/kernel/perf_event_paranoid', '0\n')
    write(f'{world.dir}/modules/6.1.0-0-fake/modules.dep', 'updates/dkms/xeon7500_uncore.ko.xz:\n'
          'updates/dkms/intel_core_ext.ko.xz: kernel/x.ko\n')
    if caps and os.path.isdir(f'{world.devices}/xeon7500_package'):
        for name, text in (('pmi', 'yes'), ('missed_pmis', '0'), ('foreign_writes', '0')):
            write(f'{world.devices}/xeon7500_package/caps/{name}', text + '\n')
    return world


def process(world, pid, name, *files):
    """A program that has these open."""
    os.makedirs(f'{world.dir}/proc/{pid}', exist_ok=True)
    with open(f'{world.dir}/proc/{pid}/comm', 'wb') as f:
        f.write(name.encode('utf-8', 'surrogateescape') + b'\n')
    os.makedirs(f'{world.dir}/proc/{pid}/fd')
    for i, to in enumerate(files):
        os.symlink(to, f'{world.dir}/proc/{pid}/fd/{i}')


def case(name, world, status, said, command=('memory',), **env):
    """What status says, in words and as JSON; and that counting agrees with it."""
    try:
        done = world.run('status', env=env.items())
    except subprocess.TimeoutExpired as hang:
        ktap.result(name, [hang])
        return
    flat = ' '.join(done.stdout.split())
    bad = [] if done.returncode == status else [f'status {done.returncode}, not {status}: {done.stderr}']
    bad += [f'it does not say {text!r}' for text in said if not re.search(text, flat)]
    bad += [f'{len(line)} columns: {line}' for line in done.stdout.splitlines() if len(line) > 80 and ' ' in line[13:]]
    if done.stdout.count('\n') > 24:
        bad.append(f'{done.stdout.count(chr(10))} lines are more than a screen')
    answer = json.loads(world.run('status', '--json', env=env.items()).stdout or '{}')
    SAID.append(answer)
    levels = [row['level'] for row in answer.get('rows', [])]
    if answer.get('counting') != (status == 0) or ('blocks' in levels) == (status == 0):
        bad.append(f'JSON: {answer}')
    counts = world.run(*command, '--', 'true', env=env.items()).returncode == 0
    if counts != (status == 0):
        bad.append(f'counting {"works" if counts else "does not work"}')
    ktap.result(name, bad + ([done.stdout] if bad else []))
    world.end()


def fine():
    """Where all is well, or nearly."""
    case('all is well', world_of(), 0, [
        r'CPU Xeon 7500, Some CPU @ 3 GHz \(06_2e\): 2 packages, 4 CPUs', 'xeon7500_uncore is loaded',
        'boxes S0, S1: U-Box, C-Box 0-7, S-Box 0-1, B-Box 0-1, M-Box 0-1, R-Box 0-1, W-Box ',
        'PMI self-test passed', 'no third-party program changed a register', 'perf version 6.1.170', r'may count \(perf_event_paranoid is 0\)',
        r'Counting will work. Next: perf metrics why -- sleep 1\Z', r'no file says where links lead and what memory can move perf metrics status --topology >topology'])
    for pmi, text in (('untested', 'not tested yet'), ('no', 'self-test failed'), ('off', 'pmi=off'), ('odd', 'PMI odd')):
        world = world_of()
        write(f'{world.devices}/xeon7500_package/caps/pmi', pmi + '\n')
        case(f'PMI {pmi}', world, 0, [text])
    world = world_of()
    write(f'{world.devices}/xeon7500_package/caps/foreign_writes', '12\n')
    write(f'{world.devices}/xeon7500_package/caps/missed_pmis', '3\n')
    case('conflicts and late samples', world, 0, ['third-party programs changed registers 12 times', '3 overflows had no interrupt: a timer took their samples'])
    case('boxes that are fused off', world_of(absent={('cbox', i, 1) for i in (2, 3, 7)} | {('mbox', 1, 0)}), 0, [
        'boxes S0: U-Box, C-Box 0-7, S-Box 0-1, B-Box 0-1, M-Box 0, R-Box 0-1, W-Box; absent or fused off: M-Box 1',
        'boxes S1: U-Box, C-Box 0-1, 4-6, S-Box 0-1, .*absent or fused off: C-Box 2-3, 7 '], ('llc_miss_ratio',))
    world = world_of(packages=8)
    case('eight packages', world, 0, ['8 packages, 16 CPUs', 'S0, S1, S2, S3, S4, S5, S6, S7: U-Box'])
    world = world_of()
    process(world, 4711, 'likwid-perfctr', '/dev/cpu/0/msr', '/dev/cpu/2/msr')
    process(world, 4712, 'perf', *['anon_inode:[perf_event]'] * 40, '/dev/null')
    process(world, 4713, 'sleep', '/dev/null')
    case('others count', world, 0, [r'likwid-perfctr \(pid 4711\): MSRs', r'perf \(pid 4712\): 40 events'])
    world = world_of()
    for pid in range(100, 110):
        process(world, pid, f'p{pid}', 'anon_inode:[perf_event]')
    process(world, 111, 'likwid', '/dev/cpu/0/msr', 'anon_inode:[perf_event]', 'anon_inode:[perf_event]')
    case('ten others count, and one that has MSRs is told first', world, 0, [
        r'in use likwid \(pid 111\): 2 events, and MSRs, p\d+ \(pid \d+\): 1 event, .*: 1 event and 7 more'])
    world = world_of()
    process(world, 4711, '\udcff\x1b[31mevil', 'anon_inode:[perf_event]')
    case('a name that is no text', world, 0, [r'in use \?\?\[31mevil \(pid 4711\): 1 event'])
    ktap.result('a name that is no text is in JSON', [] if any(row['name'] == 'in use' and row['text'].startswith('??[31mevil')
                for row in SAID[-1]['rows']) else SAID[-1:])
    world = world_of(model='06_9e')
    with open(f'{world.dir}/cpuinfo', 'wb') as f:
        f.write(b'model name : \xe4\n')
    case('a CPU whose name is no text', world, 3, ['CPU'])
    world = world_of()
    hide = f'{world.dir}/proc/1'
    process(world, 1, 'init')
    os.chmod(f'{hide}/fd', 0)
    if not os.access(f'{hide}/fd', os.R_OK):
        case('a process of another user', world, 0, ['no other process of this user has counters open. Only root sees'])
    else:
        # Root reads it nevertheless: as another user.
        os.chmod(world.dir, 0o755)
        done = subprocess.run([f'{fixture.BUILD}/perf-metrics', 'status'], env=world.env(), text=True, capture_output=True,
                              user=65534, check=False)
        flat = ' '.join(done.stdout.split())
        ktap.result('a process of another user', [] if 'no other process of this user has counters open. Only root sees' in
                    flat else [done.stdout, done.stderr])
        world.end()
    case('old modules have no caps', world_of(caps=False), 0, ['Counting will work'])
    world = world_of()
    write(f'{world.dir}/files/topology', 'link S0.qpi0 S1.qpi0\nnode 0 S0\nlimit memory 3e10\n')
    case('a topology file', world, 0, ['files/topology: 2 ends of links, 1 node, 1 limit perf '],
         PERF_METRICS_PATH=f'{TOP}/metrics:{world.dir}/files')
    world = world_of(absent={('mbox', 1, 1)})
    write(f'{world.dir}/files/topology', ''.join(f'limit memory 3e10 {place}\n' for place in (
        'S9', 'S00', 'S0/mbox_7', 'S1/mbox_1', 'S0/mbox_0x', 'S0', 'S1/mbox_0', 'S0/mbox_1', 'S1/qpi0')))
    case('limits of places that are not there', world, 0, [
        '9 limits; there is no S9; there is no S00; there is no S0/mbox_7; there is no S1/mbox_1; there is no S0/mbox_0x perf perf version'],
         ('llc_miss_ratio',), PERF_METRICS_PATH=f'{TOP}/metrics:{world.dir}/files')
    world = world_of()
    write(f'{world.dir}/files/topology', 'link S0.qpi0 S1.qpi0\nlimit memory 3e10 S0\nlimit memory 3e10 S1/mbox_1\n')
    case('a limit that is not there', world, 0, [
        '2 limits; no limit of memory for S1, so why does not judge it perf metrics memory_bandwidth --per-box -- PROGRAM perf perf'],
         PERF_METRICS_PATH=f'{TOP}/metrics:{world.dir}/files')
    world = world_of()
    write(f'{world.dir}/files/topology', 'link S0.qpi0\n')
    case('a wrong topology file', world, 0, [r'files/topology is wrong.*: why, map and --openmetrics do not count with it',
         r'Next: perf metrics status --topology >topology\Z'],
         PERF_METRICS_PATH=f'{TOP}/metrics:{world.dir}/files')
    world = world_of()
    os.chmod(world.dir, 0o755)
    write(f'{world.dir}/files/topology', 'limit memory 3e10\n')
    os.chmod(f'{world.dir}/files/topology', 0)
    other = {} if os.geteuid() else {'user': 65534}
    for args in ['status'], ['why', '--', 'true']:
        done = world.run(*args, env={'PERF_METRICS_PATH': f'{TOP}/metrics:{world.dir}/files'}.items(), **other)
        ktap.result(f'a topology file that this user cannot read: {args[0]}', [] if 'files/topology: Permission denied\n' in
                    done.stderr and ('is wrong, see above' in done.stdout or done.returncode == 2) else [done])
    world.end()


def blocked():
    """Where counting does not work: the reason, then the command."""
    case('no module', world_of(driver=False), 3, [
        r'Counting will not work: xeon7500_uncore is not loaded. Next, as root: modprobe xeon7500_uncore\Z'])
    case('the module of the kernel', world_of(driver=False, modules=('intel_uncore',)), 3, [
        'intel_uncore holds the counters.*Next, as root: rmmod intel_uncore modprobe xeon7500_uncore'])
    world = world_of(driver=False)
    world.pmu('uncore_cbox_0', [], [0])
    case('intel_uncore as a part of the kernel', world, 3, [
        'intel_uncore holds the counters.*Next, as root: # boot with initcall_blacklist=intel_uncore_init, then modprobe xeon7500_uncore'])
    world = world_of(driver=False)
    write(f'{world.dir}/modules/6.1.0-0-fake/modules.dep', 'kernel/intel_core_ext.ko:\n')
    for args in ['why'], ['memory'], ['map']:
        done = world.run(*args, '--', 'true')
        ktap.result(f'{args[0]} has the next command of status', fixture.ended(
            done, 3, r'the module xeon7500_uncore is not installed for this kernel, 6.1.0-0-fake. In the source: make install. '
            r'As root:\n\tapt install xeon7500-pmu-dkms linux-headers-6.1.0-0-fake\n\Z'))
    case('a module of another kernel', world, 3, [
        'xeon7500_uncore is not installed for this kernel, 6.1.0-0-fake.*Next, as root: apt install '
        'xeon7500-pmu-dkms linux-headers-6.1.0-0-fake'])
    case('a CPU that nobody has metrics for', world_of(model='06_9e'), 3, [
        r'! CPU Some CPU @ 3 GHz \(06_9e\).*No metric and no module is for this CPU.*Counting will not work: Some CPU'])
    case('no permission', world_of(), 3, [
        r'no permission to count xeon7500_\w+ .*Next, as root: sysctl kernel.perf_event_paranoid=0\Z'],
         FAKE_ERRNO='*:13')
    case('no counter', world_of(), 3, [r'cannot be opened: No such device'], FAKE_ERRNO='*:19')
    world = world_of()
    os.unlink(f'{world.dir}/perf')
    case('no perf', world, 3, ['Counting will not work: the program perf is not there.*Next, as root: apt install linux-perf'])
    case('a perf that says its version and hangs', world_of(perf=PERF.replace('sys.exit(0)', 'time.sleep(1000)')), 0,
         ['perf version 6.1.170'], FAKE_PATIENCE='5000')
    case('another program perf', world_of(perf='print("hello")\nsys.exit(0)\n'), 3, [
        "another program is named perf and says 'hello'.*Next, as root: apt install linux-perf"])
    case('the module has no box', world_of(driver=False, modules=('xeon7500_uncore',)), 3, [
        r'the module is loaded, but no box is in sysfs.*Next, as root: dmesg'])
    world = world_of(perf=PERF.replace('6.1.170', '5.10.209'))
    ktap.result('an old perf', fixture.ended(world.run('status'), 3, r'perf version 5.10.209 is too old: perf stat has no JSON'
                                             r'\s+before 6.0\.\nNext, as root:\n\tapt install linux-perf\n\Z', 'stdout'))
    world.end()
    world = world_of()
    gate = fixture.read(f'{world.devices}/xeon7500_package/type').strip()
    case('a user who may not use the gate', world, 0, ['gate this user may not stop all counters at once'],
         FAKE_ERRNO=f'{gate}:13')
    case('a perf that does not run', world_of(perf='sys.exit(2)\n'), 3, ['does not say its version'])
    case('a perf that hangs', world_of(perf='while True:\n    signal.pause()\n'), 3, ['does not say its version'],
         FAKE_PATIENCE='300')
    world = world_of()
    write(f'{world.dir}/files/x.metric', 'group g\nmetric m\nformula\n')
    case('a wrong metric file', world, 3, ['the metric files are missing or wrong, see above'],
         PERF_METRICS_PATH=f'{TOP}/metrics:{world.dir}/files')
    case('no metric file', world_of(), 3, ['the metric files are missing or wrong, see above'], PERF_METRICS_PATH='/nowhere')
    world = world_of(driver=False, model='06_9e')
    for path in (world.sys, world.dir + '/proc', world.dir + '/cpuinfo', world.dir + '/perf'):
        os.rename(path, path + '.gone')
    case('nothing is there', world, 3, ['unknown model'])


def cores():
    """The other module."""
    world = world_of(model='06_5c', modules=('intel_core_ext',))
    world.pmu('cpu', GOLDMONT, None)
    write(f'{world.dir}/proc/sys/kernel/nmi_watchdog', '1\n')
    case('Goldmont', world, 0, [r'CPU Goldmont, Some CPU', 'the NMI watchdog holds a counter',
                                'Next: perf metrics why -- COMMAND'], ('offcore_latency_demand_data_rd',))
    world = world_of(model='06_2a')
    write(f'{world.dir}/proc/sys/kernel/nmi_watchdog', '1\n')
    case('Sandy Bridge without the module, whose metrics have raw events', world, 0, [
        'intel_core_ext is not loaded; the metrics of this machine do without as root: modprobe intel_core_ext',
        'holds a counter of each core as root: sysctl kernel.nmi_watchdog=0'], ('snb_offcore_latency_demand_data_rd',))
    case('Sandy Bridge without permission', world_of(model='06_2a'), 3, ['no permission to count'],
         ('snb_offcore_latency_demand_data_rd',), FAKE_ERRNO='*:13')
    case('Goldmont without the module', world_of(model='06_5c'), 3, ['modprobe intel_core_ext'],
         ('offcore_latency_demand_data_rd',))


def skeleton():
    """A topology file that is right as it is, and also when it has been filled in."""
    world = world_of(packages=4, absent={('rbox', 1, 3)})
    done = world.run('status', '--topology')
    text = done.stdout
    links = re.findall(r'^#link (S\d.qpi\d) \?$', text, re.M)
    ktap.result('a skeleton has each link', [] if done.returncode == 0 and len(links) == 14 and 'S3.qpi2' not in links
                else [done.returncode, text])
    for name, filled in (('as it is', text), ('filled in', re.sub(r'^#(link S\d.qpi\d) \?$', r'\1 IOH0',
                                                                  re.sub(r'^#(node|limit)', r'\1', text, flags=re.M)
                                                                  .replace('memory ?\n', 'memory 1.6e10\n'),
                                                                  flags=re.M))):
        write(f'{world.dir}/t', filled)
        done = world.run('map', '--topology', f'{world.dir}/t', '--', 'true')
        ktap.result(f'a skeleton is a topology file {name}', [] if done.returncode == 0 and
                    (name == 'as it is' or 'q0>IOH0' in done.stdout) else [done.returncode, done.stderr, done.stdout])
    world.end()
    world = world_of()
    write(f'{world.sys}/devices/system/cpu/online', '2-3\n')
    for name in os.listdir(world.devices):
        if name != 'cpu':
            write(f'{world.devices}/{name}/cpumask', '2\n')
    done = world.run('status', '--topology')
    ktap.result('a skeleton where the first package is offline', [] if set(re.findall(r'^#(?:link|node \d) (S\d)', done.stdout, re.M)) == {'S1'}
                and '#node 1 S1\n' in done.stdout else [done.stdout, done.stderr])
    world.end()
    done = World(driver=False, model='06_9e').run('status', '--topology')
    ktap.result('a skeleton where there is no link', [] if done.returncode == 0 and 'No QPI link was found' in
                done.stdout else [done.stdout, done.stderr])
    world = world_of()
    ktap.result('help of status', fixture.ended(world.run('status', '--help'), 0, '--topology +where', 'stdout'))
    first = world.run('--json', 'status', '--topology')
    ktap.result('an option before the word', [] if first.stdout == world.run('status', '--topology').stdout and not first.returncode else
                [first.stderr])
    for args, text in (['x'], "so 'x' is too much"), (['--csv'], '--csv is not for perf metrics status'), (
            ['--topology=x'], "--topology takes no value"), (['--help=x'], '--help takes no value'):
        done = world.run('status', *args)
        ktap.result(f'status {" ".join(args)}', [] if done.returncode == 2 and text in done.stderr else
                    [done.returncode, done.stderr])
    world.end()


ktap.result('it is built', fixture.build())
if not ktap.bad:
    for test in fine, blocked, cores, skeleton:
        test()
sys.exit(ktap.end())
