#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The drivers against the hardware facts in spec/xeon7500.

For each model of the CPU, on each kernel: what sysfs names (format, events, scale, unit),
and what reaches the registers when each event is opened, compared with the spec: every event and unit mask by
name with the right encoding, no other name, and no write but of defined bits to writable
registers. The register contents come from the silicon's trace of all MSR accesses, from
power-on to the end.

The comparison itself is tried as well: with each event removed or altered, with names
and formats changed and writes added it has to fail.

Where the spec settles nothing, or only infers, somebody has made a choice that the driver
and this test share. That proves nothing; such choices are the READINGS. They are printed
with what rests on each, and one that nothing rests on any more is an error.

TEST: 6.1
SOAK: 6.1 newest
"""
import collections
import copy
import functools
import operator
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note
from spec import (EVENTS, KINDS, MODELS, NUM, PORTS, REGS, WANTED, box_of, field_mask,
                  find, is_inferred, place, sysfs_name, use_model)

# The names perf has for events of its own, in lower case: perf does not tell the cases apart.
PERF_EVENTS = frozenset('''
    alignment-faults bpf-output branch-instructions branch-misses branches breakpoint bus-cycles
    cache-misses cache-references cgroup-switches context-switches cpu-clock cpu-cycles
    cpu-migrations cs cycles dummy duration_time emulation-faults faults idle-cycles-backend
    idle-cycles-frontend instructions major-faults mem migrations minor-faults page-faults
    ref-cycles stalled-cycles-backend stalled-cycles-frontend system_time task-clock user_time
    '''.split())
# Those of caches: a cache, an operation and a result, of which the last two may be missing or
# change places.
PERF_CACHE = re.compile(
    '(l1-?d|l1-dcache|l1-data|l1-?i|l1-icache|l1-instruction|llc|l2|d-?tlb|data-tlb|i-?tlb|'
    'instruction-tlb|branch|branches|bpu|btb|bpc|node)'
    '(-(loads?|read|stores?|write|prefetch|prefetches|speculative-read|speculative-load|'
    'refs|reference|ops|access|misses|miss)){0,2}')

# Ours, not the hardware's: Documentation/overflow.md.
PACKAGE = 'xeon7500_package'
PACKAGE_EVENTS = {'gate': 'event=0x1', 'gate.unit': 'ns', 'frozen': 'event=0x2',
                  'frozen.unit': 'ns', 'lost': 'event=0x3'}

READINGS = {
    'nine bits': 'four codes of the U-Box have nine bits, its register eight; all nine are written',
    'field': 'a field whose place or meaning the spec infers is where it says',
    'encoding': 'the spec is not sure of an event, or of the encoding of it or a unit mask',
    'own name': 'a name that no source has',
}


# ---- registers of one event ----

def active_counter(box, instance, state):
    """The control register of the counter that is enabled at the box level."""
    if box == 'U':
        return 0xc10 if state.get(0xc00, 0) & 1 else None
    ctl = state.get(find(box, instance, 'GLOBAL_CTL')[0], 0)
    if box == 'W' and ctl == 1 << 31:
        return 0x395
    if not ctl or ctl & (ctl - 1):
        return None
    sels = find(box, instance, r'EV[T]?_SEL|PERF_CTL\d|PMON_CTL\d|CNT_CTL_\d')
    return sels[ctl.bit_length() - 1] if ctl.bit_length() <= len(sels) else None


def check_selector(want, sel, val):
    """U, C, S and W: code, unit mask and nothing else."""
    e = want.event
    if e['code'] == 'fixed':
        return sel == 0x395
    bits = int(e['code'], 0) | want.umask_value() << 8
    if e.get('reset_occ_cnt'):
        bits |= 1 << 17
    return val & ~(1 << 20) == bits | 1 << 22


def check_b(want, sel, val, instance):
    e = want.event
    if sel != find('B', instance, 'CTL')[0] - 0x20 + 0x30 + 2 * e['counters'][0]:
        return False
    return val & ~(1 << 20) == int(e['code'], 0) << 1 | 1


def check_m(want, sel, val, instance, state):
    e = want.event
    free = sum(field_mask(REGS[sel].fields[n]['bits']) for n in ('en', 'pmi_en', 'wrap_mode'))
    if val & ~free != int(e['cnt_ctl'], 0) or not val & 1:
        return False
    for where, digits in (want.umask or {}).get('set', {}).items():
        if digits == '0xNN':    # a value the user gives
            continue
        m = re.fullmatch(r'(\w+)(?:\[([\d:]+)\]|\.(\w+))', where)
        msr = find('M', instance, f'PMU_{m.group(1)}$')[0]
        bits = m.group(2) or REGS[msr].fields[m.group(3)]['bits']
        mask = field_mask(bits)
        if state.get(msr, 0) & mask != place(int(digits, 0), mask):
            return False
    return True


def check_r(want, val, instance, state, port):
    e, u = want.event, want.umask or {}
    slot = (val >> 1 & 0x1f) - 6 * port
    if val & ~(1 << 6) != ((6 * port + slot) << 1 | 1) or not 0 <= slot < 6:
        return False
    p = PORTS[4 * instance + port]

    def reg(msr):
        return state.get(int(msr, 0), 0)

    if slot < 2:
        want_val = u.get('iperf_cfg', e.get('iperf_cfg'))
        return want_val and reg(p[f'iperf_cfg{slot}']) == int(want_val, 0)
    if slot < 4:
        want_val = u.get('qlx_cfg', e.get('qlx_cfg'))
        return want_val and reg(p['qlx_cfg']) >> 8 * (slot - 2) & 0xff == int(want_val, 0)
    regs = p[f'set{slot - 3}']
    return all(n in e and reg(regs[n]) == int(e[n], 0) for n in ('mm_cfg', 'match', 'mask'))


def check_registers(pmu, want, port, state):
    box, instance = box_of(pmu)
    sel = active_counter(box, instance, state)
    if sel is None:
        return False
    val = state.get(sel, 0)
    if box == 'B':
        return check_b(want, sel, val, instance)
    if box == 'M':
        return check_m(want, sel, val, instance, state)
    if box == 'R':
        return check_r(want, val, instance, state, port)
    return check_selector(want, sel, val)


# ---- what the guest has said ----

class Dump:
    def __init__(self, text):
        self.formats, self.events, self.caps, self.opened = {}, {}, {}, []
        self.edge = {}
        self.identifiers = {}
        self.violations = None
        for line in text.splitlines():
            mark, *w = line.split(' ')
            if mark == 'F':
                self.formats.setdefault(w[0], {})[w[1]] = w[2]
            elif mark == 'E':
                self.events.setdefault(w[0], {})[w[1]] = ' '.join(w[2:])
            elif mark == 'C':
                self.caps.setdefault(w[0], {})[w[1]] = ' '.join(w[2:])
            elif mark == 'I':
                self.identifiers[w[0]] = w[1]
            elif mark == 'O':
                self.opened.append((w[0], w[1], w[2], int(w[3]), int(w[4])))
            elif mark == 'G':
                self.edge.setdefault(w[0], set()).add(w[1])
            elif mark == 'violations':
                self.violations = int(w[0])
            else:
                note(line)
        # No box, so none of what is checked of boxes is for them.
        self.cpu = self.events.pop('cpu', {})
        self.package = self.events.pop(PACKAGE, {})
        self.package_formats = self.formats.pop(PACKAGE, {})


def read_trace(path):
    """Writes of the uncore: (ns, cpu, msr, value)."""
    writes = []
    with open(path, encoding='ascii') as f:
        for line in f:
            w = line.split()
            if w[2] != 'wr':
                continue
            msr = int(w[3], 16)
            if msr in REGS or 0xc00 <= msr < 0x1000:
                writes.append((int(w[0]), int(w[1][3:]), msr, int(w[4], 16)))
    return writes


# ---- comparisons; each returns what is wrong ----

def check_names(pmu, events):
    want = WANTED[box_of(pmu)[0]]
    wrong = []
    names = {n for n in events if not n.endswith(('.scale', '.unit'))}
    wrong += [f'{pmu}: {n} is not in sysfs' for n in sorted(set(want) - names)]
    wrong += [f'{pmu}: {n} is in no list of the spec' for n in sorted(names - set(want))]
    for n in sorted(names & set(want)):
        if events.get(n + '.scale') != want[n].scale:
            wrong.append(f'{pmu}: {n}.scale is {events.get(n + ".scale")}, not {want[n].scale}')
        if events.get(n + '.unit') != want[n].unit:
            wrong.append(f'{pmu}: {n}.unit is {events.get(n + ".unit")}, not {want[n].unit}')
    return wrong


def check_perf_names(pmu, events, cpu):
    """No event has a name by which perf, or the PMU of the CPU, has another one."""
    names = {n for n in events if not n.endswith(('.scale', '.unit'))}
    taken = PERF_EVENTS | {n.lower() for n in cpu}
    return [f'{pmu}: perf has {n} already' for n in sorted(names)
            if n.lower() in taken or PERF_CACHE.fullmatch(n.lower())]


def check_package(formats, events):
    """The PMU that has no counter."""
    wrong = [f'{PACKAGE}: {n} is {events.get(n)}, not {PACKAGE_EVENTS.get(n)}'
             for n in sorted(set(events) | set(PACKAGE_EVENTS))
             if events.get(n) != PACKAGE_EVENTS.get(n)]
    if formats != {'event': 'config:0-7'}:
        wrong.append(f'{PACKAGE}: formats {formats}')
    return wrong


def check_inferred(pmu, caps):
    """caps/inferred lists the events, less the sub-event, that the spec infers."""
    inferred = [e for e in EVENTS[box_of(pmu)[0]] if is_inferred(e)]
    want = {sysfs_name(box_of(pmu)[0], e['name']) for e in inferred}
    want |= {u['nhm_name'].partition('.')[0].lower()
             for e in inferred for u in e['umasks'] if 'nhm_name' in u}
    said = caps.get('inferred', 'not there').split()
    return [f'{pmu}: inferred: {n}' for n in sorted(want ^ set(said))]


def encode(formats, terms):
    """Terms in perf's syntax -> config words, by the format attributes."""
    words = {'config': 0, 'config1': 0, 'config2': 0}
    for term in terms.split(','):
        name, _, val = term.partition('=')
        word, bits = formats[name].split(':')
        lo, _, hi = bits.partition('-')
        mask = field_mask(f'{hi or lo}:{lo}')
        words[word] |= place(int(val or '1', 0), mask) & mask
    return words


def check_encoding(pmu, formats, events):
    """Boxes whose config is the control register: the words perf makes of the names."""
    box = box_of(pmu)[0]
    wrong = []
    if box not in 'UCSWB':
        return wrong
    for name, want in WANTED[box].items():
        if name not in events:
            continue
        code = 0xff if want.event['code'] == 'fixed' else int(want.event['code'], 0)
        config = code | want.umask_value() << 8
        if box == 'B':
            config = code << 1 | want.event['counters'][0] << 6
        try:
            words = encode(formats, events[name])
        except (KeyError, ValueError) as e:
            wrong.append(f'{pmu}: {name}: {events[name]}: {e!r}')
            continue
        if words != {'config': config, 'config1': 0, 'config2': 0}:
            wrong.append(f'{pmu}: {name} is {words}, not config={config:#x}')
    return wrong


def most(want):
    """What an event with this unit mask can add in a clock."""
    bits = functools.reduce(operator.or_, (int(u.get('value', u.get('code', '0')), 0)
                                           for u in want.event['umasks']), 0)
    if want.event.get('umasks_add') or bits.bit_count() >= want.event['max_inc'] > 1:
        return want.umask_value().bit_count()
    return want.event['max_inc']


def check_edge(pmu, formats, accepted):
    """Edges are those of an event of one bit: of others the driver wants a threshold. Where the
    guide lets an event add as much as it has unit mask bits, each of them is one bit."""
    box, instance = box_of(pmu)
    if instance or 'edge' not in formats:
        return []
    one_bit = {name for name, want in WANTED[box].items()
               if want.event['code'] != 'fixed' and most(want) <= 1}
    return [f'{pmu}: {name},edge' for name in sorted(one_bit ^ accepted)]


def port_of(pmu, terms):
    """The port of an R-Box half, by number or by the manual's name."""
    m = re.fullmatch(r',(port=)?(\w+)', terms)
    if not m:
        return 0
    if m.group(1):
        return int(m.group(2))
    # S-Box0 is s0, U/B-Box1 u_b1.
    names = [re.sub('-box', '', p['agent'].lower().replace('/', '_')) for p in PORTS]
    return names.index(m.group(2)) - 4 * box_of(pmu)[1]


def replay(dump, writes):
    """What the registers hold after each event was opened, and what was written for it."""
    state, at = {}, 0
    for pmu, name, terms, since, until in dump.opened:
        start = at
        while at < len(writes) and writes[at][0] <= until:
            _, cpu, msr, val = writes[at]
            if cpu == 0:
                state[msr] = val
            at += 1
        if name in WANTED[box_of(pmu)[0]]:
            yield pmu, name, terms, since, state, writes[start:at]


def check_opened(dump, writes):
    wrong, seen = [], collections.defaultdict(set)
    for pmu, name, terms, _, state, _ in replay(dump, writes):
        want = WANTED[box_of(pmu)[0]][name]
        port = port_of(pmu, terms)
        if not check_registers(pmu, want, port, state):
            wrong.append(f'{pmu}/{name}{terms.strip("-")}/: wrong registers')
        seen[pmu, port].add(name)
    return wrong + check_shares(dump, seen)


def check_shares(dump, seen):
    """Each name was opened, all on the first instance of a box; on the others, and on each
    port of an R-Box half, an equal share of them. In soak it is all everywhere."""
    wrong = []
    for pmu, events in dump.events.items():
        box, instance = box_of(pmu)
        names = {n for n in events if n in WANTED[box]}
        ports = range(4 if box == 'R' else 1)
        opened = set().union(*(seen[pmu, p] for p in ports))
        shares = NUM[box] if instance else 1
        if box == 'R':
            shares = 1
        for port in ports:
            least = len(names) // (1 if vm.SOAK else shares * len(ports))
            if len(seen[pmu, port]) < least:
                wrong.append(f'{pmu}, port {port}: {len(seen[pmu, port])} events opened')
        if shares == 1:
            wrong += [f'{pmu}/{n}/ was not opened' for n in sorted(names - opened)]
    return wrong


def check_writes(writes):
    wrong = set()
    for _, _, msr, val in writes:
        r = REGS.get(msr)
        if not r:
            wrong.add(f'{msr:#x} is no register')
        elif 'W' not in r.access:
            wrong.add(f'{r.name} is {r.access}')
        elif val & ~(r.writable | r.nine_bits):
            wrong.add(f'{r.name} = {val:#x}: undefined bits {val & ~r.writable:#x}')
    return sorted(wrong)


def readings(dump, writes):
    """What rests on each of the READINGS in this run."""
    rests = collections.defaultdict(set)
    for _, _, msr, val in writes:
        r = REGS.get(msr)
        if not r:
            continue
        if val & r.nine_bits:
            rests['nine bits'].add(f'{r.name} = {val & 0x1ff:#x}')
        for name, mask in r.inferred.items():
            if val & mask:
                rests['field'].add(f'{r.kind}.{name}')
    for pmu, events in dump.events.items():
        box, instance = box_of(pmu)
        for name in events if not instance else ():
            want = WANTED[box].get(name)
            if want and want.unsure():
                rests['encoding'].add(f'{box}: {want.event["name"]}: {want.unsure()}')
            if want and want.own:
                rests['own name'].add(f'{pmu}: {name}')
    for name in dump.package:
        rests['own name'].add(f'{PACKAGE}: {name}')
    return rests


def check_readings(rests):
    for name, text in READINGS.items():
        note(f'READING {name}: {text}: {len(rests[name])}')
        for what in sorted(rests[name]):
            note(f'    {what}')
    return [f'nothing rests on "{name}" any more' for name in READINGS if not rests[name]]


# ---- does the comparison notice? ----

def altered_terms(terms):
    """The same event with each of its values changed."""
    parts = terms.split(',')
    for i, part in enumerate(parts):
        name, _, val = part.partition('=')
        other = parts[:i] + [f'{name}={int(val or "1", 0) ^ 1:#x}'] + parts[i + 1:]
        yield ','.join(other)


def unnoticed_names(dump):
    missed = []
    for pmu, events in dump.events.items():
        if box_of(pmu)[1]:
            continue
        for name in events:
            less = {n: t for n, t in events.items() if n != name}
            if not check_names(pmu, less):
                missed.append(f'{pmu}: {name} removed')
            if name.endswith(('.scale', '.unit')):
                if not check_names(pmu, {**events, name: '7'}):
                    missed.append(f'{pmu}: {name} altered')
                continue
            if not check_names(pmu, {**less, name[:-1] + 'qx': events[name]}):
                missed.append(f'{pmu}: {name} misspelled')
            if box_of(pmu)[0] not in 'UCSWB':
                continue
            for terms in altered_terms(events[name]):
                if not check_encoding(pmu, dump.formats[pmu], {**events, name: terms}):
                    missed.append(f'{pmu}: {name} as {terms}')
        if not check_names(pmu, {**events, 'llc_mises.all': 'event=0x1'}):
            missed.append(f'{pmu}: a name too many')
        for n in ('cycles', 'LLC-loads', 'l1-dcache-load-misses', *dump.cpu):
            if not check_perf_names(pmu, {n: 'event=0x1'}, dump.cpu):
                missed.append(f'{pmu}: {n} as a name of ours')
        inferred = dump.caps[pmu]['inferred'].split()
        for n in inferred + ['mbox_cycles']:
            other = {'inferred': ' '.join(set(inferred) ^ {n})}
            if not check_inferred(pmu, other):
                missed.append(f'{pmu}: {n} in or out of caps/inferred')
    for pmu, accepted in dump.edge.items():
        missed += [f'{pmu}: {n},edge' for n in accepted
                   if not check_edge(pmu, dump.formats[pmu], accepted - {n})]
    for name, text in dump.package.items():
        for other in ({}, {name: text + '1'}, {name: text, name + 'x': text}):
            rest = {n: t for n, t in dump.package.items() if n != name}
            if not check_package(dump.package_formats, {**rest, **other}):
                missed.append(f'{PACKAGE}: {name} as {other}')
    if not check_package({'event': 'config:0-8'}, dump.package):
        missed.append(f'{PACKAGE}: its format')
    formats = copy.deepcopy(dump.formats['xeon7500_cbox_0'])
    formats['umask'] = 'config:9-16'
    if not check_encoding('xeon7500_cbox_0', formats, dump.events['xeon7500_cbox_0']):
        missed.append('the umask format moved')
    return missed


def alterations(pmu, want, since, writes):
    """(register, bit) pairs that the registers of an event must not differ in."""
    box, instance = box_of(pmu)
    for ns, cpu, msr, _ in writes:
        name = REGS[msr].name
        if ns < since or cpu or REGS[msr].box != box or 'GLOBAL' in name or msr == 0x395:
            continue
        if re.search(r'SEL|CTL_?\d', name):
            yield msr, {'B': 1 << 1, 'M': 1 << 9, 'R': 1 << 5}.get(box, 1)
        elif re.search('IPERF|QLX|XBR', name):
            yield msr, 1
    for where in (want.umask or {}).get('set', {}) if box == 'M' else ():
        m = re.fullmatch(r'(\w+)(?:\[([\d:]+)\]|\.(\w+))', where)
        if m:
            msr = find('M', instance, f'PMU_{m.group(1)}$')[0]
            mask = field_mask(m.group(2) or REGS[msr].fields[m.group(3)]['bits'])
            yield msr, mask & -mask


def unnoticed_registers(dump, writes):
    """Change every value that reached a control or sub-register, one after the other."""
    missed, num = [], 0
    for pmu, name, terms, since, state, recent in replay(dump, writes):
        want = WANTED[box_of(pmu)[0]][name]
        for msr, bit in alterations(pmu, want, since, recent):
            num += 1
            other = {**state, msr: state.get(msr, 0) ^ bit}
            if check_registers(pmu, want, port_of(pmu, terms), other):
                missed.append(f'{pmu}/{name}/: {REGS[msr].name} = {other[msr]:#x}')
    note(f'{num} alterations')
    return missed or ([] if num else ['nothing altered'])


def unnoticed_writes(writes):
    missed = []
    for msr, val in ((0xc03, 0), (0xc43, 0), (0xd00, 0x40), (0xd10, 1 << 50), (0xd11, 1 << 48),
                     (0xe10, 1 << 62)):
        if not check_writes(writes + [(0, 0, msr, val)]):
            missed.append(f'a write of {val:#x} to {msr:#x}')
    return missed


# ---- the run ----

def run_guest(kernel, machine, exe):
    trace = vm.path('trace')
    out, _ = vm.run('--kernel', kernel, '--machine', machine, '--trace', trace,
                    '--put', exe + ':/t/dump', '--', '/t/dump', *(['all'] if vm.SOAK else []))
    return Dump(out), read_trace(trace)


def check_kernel(ktap, kernel, machine, dump, writes):
    pmus = [f'xeon7500_{n}' + (f'_{i}' if NUM[box] > 1 else '')
            for n, box in KINDS.items() for i in range(NUM[box])]
    kernel = f'{machine} {kernel}'
    wrong = [f'no PMU {p}' for p in pmus if p not in dump.events]
    wrong += [f'what is {p}?' for p in dump.events if p not in pmus]
    ktap.result(f'{kernel}: every box is a PMU', wrong)
    there = [p for p in pmus if p in dump.events]
    ktap.result(f'{kernel}: identifier is the model',
                [f'{p}: {dump.identifiers.get(p)}' for p in there
                 if dump.identifiers.get(p) != MODELS[machine][1]])
    ktap.result(f'{kernel}: every event of the spec by name, and no other',
                [w for p in there for w in check_names(p, dump.events[p])])
    ktap.result(f'{kernel}: the events of the package',
                check_package(dump.package_formats, dump.package))
    ktap.result(f'{kernel}: no event has the name of one of perf or of the CPU',
                [w for p, events in [*dump.events.items(), (PACKAGE, dump.package)]
                 for w in check_perf_names(p, events, dump.cpu)] +
                ([] if 'cpu-cycles' in dump.cpu else ['the CPU has no cpu-cycles']))
    ktap.result(f'{kernel}: names give the encoding of the spec',
                [w for p in there for w in check_encoding(p, dump.formats[p], dump.events[p])])
    ktap.result(f'{kernel}: edges are of one bit',
                [w for p in there for w in check_edge(p, dump.formats[p], dump.edge.get(p, set()))])
    ktap.result(f'{kernel}: caps/inferred is what the spec infers',
                [w for p in there for w in check_inferred(p, dump.caps.get(p, {}))])
    note(f'{len(dump.opened)} opened')
    ktap.result(f'{kernel}: events reach the right registers', check_opened(dump, writes))
    note(f'{len(writes)} writes')
    ktap.result(f'{kernel}: writes are of defined bits to writable registers',
                check_writes(writes) if writes else ['no writes'])
    ktap.result(f'{kernel}: the silicon has nothing to complain of',
                [] if dump.violations == 0 else [f'{dump.violations} violations'])


def check_machine(ktap, machine, exe):
    dump = None
    use_model(MODELS[machine][0])
    for kernel in vm.kernels():
        try:
            dump, writes = run_guest(kernel, machine, exe)
        except vm.Failed as e:
            ktap.result(f'{machine} {kernel}: the guest runs', str(e).splitlines())
            continue
        check_kernel(ktap, kernel, machine, dump, writes)
    if dump:
        # With the last one: what would these have noticed?
        ktap.result(f'{machine}: a name removed, altered or added is noticed',
                    unnoticed_names(dump))
        ktap.result(f'{machine}: a wrong register value is noticed',
                    unnoticed_registers(dump, writes))
        ktap.result(f'{machine}: a wrong write is noticed', unnoticed_writes(writes))
        ktap.result(f'{machine}: no reading is left over', check_readings(readings(dump, writes)))


def main():
    ktap = Ktap()
    exe = vm.build('conformance', 'dump.c')
    for machine in MODELS:
        check_machine(ktap, machine, exe)
    return ktap.end()


if __name__ == '__main__':
    sys.exit(main())
