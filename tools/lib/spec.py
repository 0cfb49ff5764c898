# SPDX-License-Identifier: GPL-2.0-only
"""The hardware facts of spec/, for tools and tests; those of the Xeons, if nothing else is said.

use_model() fills REGS, EVENTS, NUM and WANTED with what is true of one model.
"""
import json
import os
import re

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SPEC = os.path.join(TOP, 'spec')

# Machines: the model in the spec, the identifier in sysfs.
MODELS = {'xeon7500': ('nhm-ex', 'nehalem-ex'), 'westmereex': ('wsm-ex', 'westmere-ex')}
KINDS = {'ubox': 'U', 'cbox': 'C', 'sbox': 'S', 'bbox': 'B', 'mbox': 'M', 'rbox': 'R',
         'wbox': 'W'}

# A name of the manual that perf has for an event of its own. perf 7.3 looks for a bare name in
# all PMUs, so each "perf stat -e cycles" would open all M-Boxes.
RENAMED = {('M', 'CYCLES'): 'mbox_cycles'}


def load(name, cpu='xeon7500'):
    with open(os.path.join(SPEC, cpu, name), encoding='utf-8') as f:
        return json.load(f)


def of_model(rows, model):
    """Those that the model has, as they are on it."""
    return [{**row, **row.get('by_model', {}).get(model, {})} for row in rows
            if model in row.get('models', [model])]


def events_of(box, model):
    """Those of a box, "C" or the like."""
    data = load(f'events_{box.lower()}.json')
    return of_model(data['events'] if isinstance(data, dict) else data, model)


def field_mask(bits):
    """'15:8' -> 0xff00"""
    hi, _, lo = bits.partition(':')
    hi, lo = int(hi), int(lo or hi)
    return ((1 << hi - lo + 1) - 1) << lo


def place(value, mask):
    """The value, moved to where the mask is."""
    return value * (mask & -mask)


# ---- registers ----

class Register:
    def __init__(self, row, fields):
        self.name = row['name']
        self.kind = row.get('type') or row['name']
        self.box = row['box']
        self.access = row['access']
        self.row = row
        # What may be written 1. Where no layout survives, nothing tells.
        self.writable, self.inferred = 0, {}
        for f in fields:
            if f['kind'] in ('rw', 'w1c', 'unknown'):
                self.writable |= field_mask(f['bits'])
                if f.get('status', 'confirmed') != 'confirmed':
                    self.inferred[f['name']] = field_mask(f['bits'])
        # No bit of the register table: see Documentation/ubox.md.
        self.nine_bits = 1 << 8 if self.name == 'U_MSR_PMON_EV_SEL' else 0
        self.fields = {f['name']: f for f in fields}

    def field(self, value, name):
        mask = field_mask(self.fields[name]['bits'])
        return (value & mask) // (mask & -mask)


def registers(model):
    layouts = {}
    for f in load('fields.json') + load('fields_mw.json'):
        if f.get('model', model) == model:
            layouts[re.sub(r'_\{0-\d\}', '', f['reg'])] = of_model(f['fields'], model)
    regs = {}
    for row in of_model(load('registers.json') + load('registers_mw.json'), model):
        kind = re.sub(r'_\d$', '', row.get('type') or row['name'])
        regs[int(row['msr'], 0)] = Register(row, layouts[kind])
    return regs


PORTS = load('events_r.json')['ports']
# Of the model that is looked at, see use_model().
REGS, EVENTS, NUM, WANTED = {}, {}, {}, {}


def use_model(model):
    """From here on it is this model that the spec speaks of."""
    for table in REGS, EVENTS, NUM, WANTED:
        table.clear()
    REGS.update(registers(model))
    for box in KINDS.values():
        EVENTS[box] = events_of(box, model)
        NUM[box] = 1 + max(r.row.get('side') == 'right' if box == 'R' else r.row['instance']
                           for r in REGS.values() if r.box == box)
        WANTED[box] = wanted(box)


def box_of(pmu):
    m = re.fullmatch(r'xeon7500_([a-z]+)(?:_(\d+))?', pmu)
    return KINDS[m.group(1)], int(m.group(2) or 0)


def find(box, instance, pattern):
    """Addresses of the registers of a box whose name has this in it."""
    found = []
    for msr, r in sorted(REGS.items()):
        if r.box != box or not re.search(pattern, r.name):
            continue
        if box == 'R':
            if r.row['side'] != ('left', 'right')[instance]:
                continue
        elif r.row['instance'] != instance:
            continue
        found.append(msr)
    return found


# ---- what the spec wants ----

class Want:
    """One sysfs name: scale, and a check of the registers after it was opened."""
    def __init__(self, event, umask=None, scale=None, unit=None, own=False):
        self.event, self.umask, self.scale, self.unit = event, umask, scale, unit
        self.own = own      # the name, not what it stands for

    def unsure(self):
        """Why the spec is not sure of the encoding, if it is not."""
        return (self.umask or {}).get('status') or self.event.get('status') or \
            self.event.get('inferred') or self.umask and self.event.get('umask_status')

    def umask_value(self):
        if self.umask is None:
            return 0
        return int(self.umask.get('value', self.umask.get('code', '0')), 0)


def plain_aliases(event):
    return [a for a in event.get('aliases', []) if re.fullmatch(r'[A-Z0-9_]+', a)]


def scale_of(event):
    return str(event['scale']) if event.get('scale') else None


def flits_name(name):
    return re.sub('^(PKTS|MSGS)_', 'FLITS_', name)


def sysfs_name(box, name, umask=None):
    """What the driver calls an event of the spec."""
    name = RENAMED.get((box, name), name.lower())
    return '.'.join(n for n in (name, umask and umask.lower()) if n)


def wanted(box):
    """sysfs name -> Want, of all that the spec knows for this box."""
    want = {}
    for e in EVENTS[box]:
        subs = e.get('umasks') or e.get('subevents') or [None]
        # Some may be asked for one unit mask bit at a time only.
        if e.get('one_umask_bit'):
            subs = [u for u in subs if bin(int(u['value'], 0)).count('1') == 1]
        names = [e['name']] + (plain_aliases(e) if box in 'BS' else [])
        # FVC events are interchangeable, so they have a name without the number too.
        if e['name'] == 'FVC_EV0':
            names.append('')
        for name in names:
            for u in subs:
                want[sysfs_name(box, name, u and u['name'])] = \
                    Want(e, u, scale_of(e), own=not name or (box, name) in RENAMED)
        # What the event is called on the Xeon 7500, so that its name goes on working.
        for u in e['umasks'] if box == 'M' else ():
            if 'nhm_name' in u:
                want[u['nhm_name'].lower()] = Want(e, u, own=True)
        flits = e.get('flits_per_packet')
        if flits and flits != 1:
            want[flits_name(e['name']).lower()] = Want(e, None, str(flits), 'flits', own=True)
    if box == 'R':
        # The match facility itself, for filters of one's own.
        want['xbar_mm'] = Want({'name': 'XBAR_MM', 'group': 'XBAR_MM', 'mm_cfg': '0x210000',
                                'match': '0x0', 'mask': '0x0'}, own=True)
    return want


def is_inferred(event):
    """Is the event, or any bit of its sub-registers, one that the spec only infers?"""
    if event.get('inferred'):
        return True
    for part in event.get('subregs', []):
        m = re.fullmatch(r'(\w+)(?:\[([\d:]+)\]| (\w+))', part)
        if not m or not find('M', 0, f'PMU_{m.group(1)}$'):
            continue
        r = REGS[find('M', 0, f'PMU_{m.group(1)}$')[0]]
        mask = field_mask(m.group(2) or r.fields[m.group(3)]['bits'])
        if any(mask & bits for bits in r.inferred.values()):
            return True
    return False
