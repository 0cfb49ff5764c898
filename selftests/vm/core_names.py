#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The names that intel_core_ext adds, as perf in the virtual machine encodes them,
against the facts in spec/. The driver's tables were written from the manual;
this test reads only the JSON.

On each kernel one model of those that have the same names, by turns; in soak all.

TEST: 6.1
SOAK: 6.1 newest
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note

# Models of the second column take turns, but in soak.
MACHINES = (('goldmont', ('5c', '5f')), ('goldmont', ('7a',)),
            ('silvermont', ('4d', '4c', '37', '4a', '5a')), ('sandybridge', ('2a',)),
            ('sandybridge', ('2d',)))
ATOMS = ('goldmont', 'silvermont')

# What the guest does: its own names before and with the module, and what perf
# makes of each. No event list of perf's own, so that only sysfs can answer. A program
# started takes longer than what it does, so there is none for each event.
GUEST = r'''
export PERF_CPUID=GenuineIntel-6-FF-0
cpu=/sys/bus/event_source/devices/cpu
modprobe -r intel_core_ext || exit 1
ls $cpu/events $cpu/format | sed 's/^/before /'
modprobe intel_core_ext || exit 1
cd $cpu/format
grep . * | sed 's/^/format /;s/:/ /'
cd $cpu/events
grep . * | sed 's/^/event /;s/:/ /'
set --
for f in *; do
	case $f in *.scale | *.unit | topdown*) continue ;; esac
	t=$f
	case $f in *-*) t=cpu/$f/ ;; esac
	echo "opened $f"
	set -- "$@" -e "$t"
done
# A newer perf lists what it knows by itself as hardware events alone.
{ perf list --no-desc pmu && perf list --no-desc hw; } >/tmp/list 2>/dev/null || exit 1
sed -n 's/^  \([^ ]*\).*/listed \1/p' /tmp/list
perf stat -vv "$@" true >/tmp/stat 2>&1 || { cat /tmp/stat >&2; exit 1; }
awk '/^perf_event_attr:/ { if (c) print "attr", c, b; c = "0"; b = "0" }
     $1 == "config" { c = $2 } /config1 }/ { b = $NF } END { print "attr", c, b }' /tmp/stat
'''


def load(name, spec='goldmont'):
    with open(os.path.join(vm.TOP, 'spec', spec, name)) as f:
        return json.load(f)


def num(text):
    return int(str(text), 0)


def select(event):
    return num(event['umask']) << 8 | num(event.get('code', event.get('event')))


def run_guest(machine, model, kernel):
    out, _ = vm.run('--machine', machine, '--model', model, '--kernel', kernel, '--cores', '1',
                    '--', 'sh', '-c', GUEST)
    seen = {'before': [], 'format': {}, 'event': {}, 'opened': [], 'listed': [], 'attr': []}
    for line in out.splitlines():
        word = line.split()
        if len(word) < 2:
            continue
        if word[0] in ('format', 'event'):
            seen[word[0]][word[1]] = word[2]
        elif word[0] == 'attr':
            seen['attr'].append((num(word[1]), num(word[2])))
        elif word[0] in seen:
            seen[word[0]].append(word[1])
        else:
            note(line)
    if not seen['opened'] or len(seen['attr']) != len(seen['opened']):
        raise vm.Failed(f'{len(seen["opened"])} events, {len(seen["attr"])} opened')
    seen['encoded'] = dict(zip(seen['opened'], seen['attr']))
    return seen


def atom_names(machine, model):
    """name -> (selects allowed, config1)"""
    offcore = load('offcore.json', machine)
    names = {}
    if machine == 'goldmont':
        names = {'mem-loads': ({0x81d0}, 0), 'mem-stores': ({0x82d0}, 0), 'mem-all': ({0x83d0}, 0)}
    for e in load('core_events.json', machine)['events']:
        if e['data_address'] or machine == 'silvermont' and e.get('data_source'):
            names[e['name'].lower()] = ({select(e)}, 0)
    for c in offcore['useful_combinations']:
        selects = {num(u) << 8 | 0xb7 for u in c['umask'].split(' or ')}
        names['offcore_response.' + c['name']] = (selects, num(c['value']))
    for p in offcore['average_latency']['pairs']:
        for half, prefix in (('cycles', 'outstanding'), ('requests', 'requests')):
            names['offcore_%s.%s' % (prefix, p['name'])] = (
                {select(p[half])}, num(p[half]['offcore_rsp']))
    if model == '7a':
        for name, value in load('plus.json')['published'].items():
            names['offcore_response.' + name] = ({0x1b7, 0x2b7}, num(value))
    return names


def atom_valid(machine, model, sel, value):
    o = load('offcore.json', machine)
    reg = [r for r in o['registers'] if num(r['umask']) == sel >> 8][0]
    request = num(reg['request_mask'])
    if model == '7a' and load('plus.json')['corewb_in_rsp1']:
        request |= bits(r for r in o['request_bits'] if r['name'] == 'corewb')
    if value & ~num(reg['writable_mask']) or not value & request or \
       value & 0xffff & ~request:
        return False
    if value >> 38 & 1:
        return reg['has_outstanding'] and not value & num(o['response_mask'])
    return bool(value & num(o['response_mask']))


def bits(fields):
    mask = 0
    for f in fields:
        if 'bit' in f:
            mask |= 1 << f['bit']
        else:
            hi, lo = (int(x) for x in f['bits'].split(':'))
            mask |= (1 << hi + 1) - (1 << lo)
    return mask


def sandybridge_valid(model, value):
    o = load('core.json', 'sandybridge')['offcore']
    any_bit = bits(f for f in o['supplier_bits'] if f['name'] == 'any')
    if value & ~num(o['linux_valid_mask']['06_' + model.upper()]):
        return False
    if not value & bits(o['request_bits']):
        return False
    return bool(value & any_bit or (value & bits(o['supplier_bits']) and
                                    value & bits(o['snoop_bits'])))


def check_formats(seen, machine):
    want = {'ocr_req': 'config1:0-15', 'ocr_rsp': 'config1:16-37'}
    if machine in ATOMS:
        want['ocr_outstanding'] = 'config1:38'
    if machine != 'silvermont':
        want['ldlat'] = 'config1:0-15'
    for name, text in want.items():
        if seen['format'].get(name) != text:
            yield '%s is %s' % (name, seen['format'].get(name))


def check_names(seen, names):
    for name, (selects, config1) in names.items():
        if name not in seen['encoded']:
            yield name + ' is missing'
            continue
        got = seen['encoded'][name]
        if got[0] not in selects or got[1] != config1:
            yield '%s is %#x,%#x' % (name, *got)


def check_listed(seen):
    listed = {re.sub('^cpu/|/$', '', name).split(',')[0] for name in seen['listed']}
    for name in seen['opened']:
        if name not in listed:
            yield 'perf list does not show ' + name


def check_added(seen, valid):
    """Whatever was added besides must mean something, too."""
    for name, (config, config1) in seen['encoded'].items():
        if name.startswith('offcore') and not valid(config, config1):
            yield '%s is %#x,%#x, which counts nothing' % (name, config, config1)


def check_products(seen, machine):
    """A name is made of a request and a response, and each of these is in some name."""
    o = load('offcore.json', machine)
    requests = {r['name']: num(r['value']) for r in o['named_requests']}
    responses = {r['name']: num(r['value']) for r in o['named_responses']}
    met = set()
    for name, (_, config1) in seen['encoded'].items():
        if not name.startswith('offcore_response.'):
            continue
        request, response = name.split('.', 2)[1], name.split('.', 2)[2]
        met |= {request, response}
        if config1 != requests.get(request, 0) | responses.get(response, 0):
            yield '%s is %#x' % (name, config1)
    for part in set(requests) | set(responses):
        if part not in met:
            yield 'no name has ' + part


def sandybridge_names(model):
    snb = load('core.json', 'sandybridge')
    store, pdir = snb['precise_store']['event'], snb['pdir']['event']
    names = {store['name'].lower(): ({select(store)}, 0), pdir['name'].lower(): ({select(pdir)}, 0)}
    for name, value in snb['offcore']['published']['06_' + model.upper()].items():
        names['offcore_response.' + name] = ({0x1b7}, num(value))
    # A word for each request bit, with any response.
    words = {'dmnd_data_rd': 'demand_data_rd', 'dmnd_rfo': 'demand_rfo', 'wb': 'corewb',
             'dmnd_ifetch': 'demand_code_rd', 'pf_data_rd': 'pf_l2_data_rd',
             'pf_rfo': 'pf_l2_rfo', 'pf_ifetch': 'pf_l2_code_rd',
             'pf_llc_ifetch': 'pf_llc_code_rd', 'bus_locks': 'split_lock_uc_lock',
             'strm_st': 'streaming_stores'}
    for r in snb['offcore']['request_bits']:
        word = words.get(r['name'], r['name'])
        names['offcore_response.%s.any_response' % word] = ({0x1b7}, 1 << r['bit'] | 1 << 16)
    return names


def check_machine(ktap, machine, model, kernel):
    where = '%s 06_%s, kernel %s' % (machine, model.upper(), kernel)
    try:
        seen = run_guest(machine, model, kernel)
    except vm.Failed as e:
        ktap.result('the guest runs: ' + where, str(e).splitlines())
        return
    if machine in ATOMS:
        names = atom_names(machine, model)
        valid = lambda sel, value: atom_valid(machine, model, sel, value)
    else:
        names = sandybridge_names(model)
        valid = lambda sel, value: sandybridge_valid(model, value)
    ktap.result('without the module there are none of them: ' + where,
                ['%s was there before' % n for n in names if n in seen['before']])
    ktap.result('fields of config1: ' + where, check_formats(seen, machine))
    ktap.result('names and what perf makes of them: ' + where, check_names(seen, names))
    ktap.result('every offcore name selects something: ' + where, check_added(seen, valid))
    if machine in ATOMS:
        ktap.result('every request and response has a name: ' + where,
                    check_products(seen, machine))
    ktap.result('perf list shows every name: ' + where, check_listed(seen))


def main():
    ktap = Ktap()
    for i, kernel in enumerate(vm.kernels()):
        for machine, models in MACHINES:
            for model in models if vm.SOAK else [models[i % len(models)]]:
                check_machine(ktap, machine, model, kernel)
    return ktap.end()


if __name__ == '__main__':
    sys.exit(main())
