#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Turn the hardware facts (spec/) into C tables for the model.

    gen-tables.py OUTPUT-DIR

spec-tables.inc has the uncore: for each model of the spec, one row per register with its
access class and the kind of every bit, one row per event with its unit mask bits, limits
and what it shows of what its box does, by the tags in spec-tags.inc. The model knows no
address and no event code but those of these rows. core-events.inc has the events of the core
PMUs and what each counts ("counts" in core_events.json), core-tables.inc the offcore registers
of Goldmont and Silvermont.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', 'lib'))
from spec import events_of, field_mask, load, of_model

# Models of the spec, and what their tables are called
MODELS = {'nhm-ex': 'nehalem_ex', 'wsm-ex': 'westmere_ex'}
CORES = ('goldmont', 'silvermont', 'sandybridge', 'nehalem')
# "counts" of a core event: its source, and the prefix of what it counts of that
SOURCES = {'accesses': ('MEM', 'MEM'), 'branches': ('BRANCH', 'BR'), 'mispredicted': ('BRANCH', 'BR'),
           'operations': ('OP', 'OP'), 'instructions': ('INSN', ''), 'interrupts': ('IRQ', ''),
           'cycles': ('CYCLES', ''), 'tsc': ('TSC', ''), 'offcore': ('OFFCORE', '')}

# Positions the sources do not give; each is the model's choice.
CHOSEN_BITS = {
    # MSR 0x395 is the same register on 06_1AH, where the SDM puts PMI at bit 2.
    ('W_MSR_PMON_FIXED_CTR_CTL', 'pmi_en'): '2',
}
# Fields of which no layout survives but which have to be written 0.
UNKNOWN_IS_ZERO = {'S_MSR_MM_CFG'}

# Flags of an event: its keys in the spec, and of 'match' what is in it.
FLAGS = {'reset_occ_cnt': 'EV_TALLY', 'match': 'EV_MATCH', 'one_umask_bit': 'EV_ONE_BIT',
         'umasks_any': 'EV_ANY'}
MATCH_FLAGS = {'out': 'EV_OUT', 'class': 'EV_CLASS', 'opcode': 'EV_OPCODE', 'address': 'EV_ADDRESS'}

KINDS = {'rw': 'rw', 'ro': 'ro', 'w1c': 'w1c', 'ignored': 'ig', 'ig': 'ig',
         'reserved-zero': 'rsv', 'rsv': 'rsv', 'unknown': 'rw'}

ROLES = [
    (r'^U_.*GLOBAL_CTL$', 'U_CTL'),
    (r'^U_.*GLOBAL_STATUS$', 'U_STATUS'),
    (r'^U_.*OVF_CTL$', 'U_OVF'),
    (r'GLOBAL_CTL', 'BOX_CTL'),
    (r'GLOBAL_STATUS', 'BOX_STATUS'),
    (r'OVF_CTR?L', 'BOX_OVF'),
    (r'SUMMARY$', 'SUMMARY'),
    (r'TIMESTAMP', 'TIMESTAMP'),
    (r'IPERF_CFG', 'IPERF'),
    (r'QLX_CFG', 'QLX'),
    (r'XBR_SET\d?_MM_CFG', 'XBR_MM_CFG'),
    (r'XBR_SET\d?_MATCH', 'XBR_MATCH'),
    (r'XBR_SET\d?_MASK', 'XBR_MASK'),
    (r'MM_CFG$', 'MM_CFG'),
    (r'MATCH(_REG)?$', 'MATCH'),
    (r'MASK(_REG)?$', 'MASK'),
    (r'M_MSR_PMU_(DSP|ISS|MAP|MSC_THR|PGT|PLD)$', None),
    (r'ZDP_CTL_FVC$', 'FVC'),
    (r'(EVT?_SEL(_\d)?|PMON_CTL|CNT_CTL_\d|FIXED_CTR_CTL)$', 'SEL'),
    (r'(CTR|CNT)(_\d)?$', 'CTR'),
]


def role(reg_type):
    for pattern, name in ROLES:
        m = re.search(pattern, reg_type)
        if m:
            return name or m.group(1)
    sys.exit(f'gen-tables: no role for register type {reg_type}')


def field_masks(fields, reg_type, width):
    masks = dict.fromkeys(('rw', 'ro', 'w1c', 'ig', 'rsv'), 0)
    for f in fields:
        where = CHOSEN_BITS.get((reg_type, f['name']), f['bits'])
        kind = KINDS[f['kind']]
        if f['kind'] == 'unknown' and reg_type in UNKNOWN_IS_ZERO:
            kind = 'rsv'
        masks[kind] |= field_mask(where)
    inside = (1 << width) - 1
    for k in masks:
        masks[k] &= inside
    # What no field describes must be written 0, as must bits the register lacks.
    listed = 0
    for k in masks.values():
        listed |= k
    masks['rsv'] |= ~listed & ((1 << 64) - 1)
    return masks


def registers(model):
    layouts = {}
    for f in load('fields.json') + load('fields_mw.json'):
        if f.get('model', model) == model:
            layouts[re.sub(r'_\{0-\d\}', '', f['reg'])] = f['fields']
    # The R overflow control is one register type under two names in the guide.
    rows = []
    for r in of_model(load('registers.json') + load('registers_mw.json'), model):
        reg_type = r.get('type') or r['name']
        layout = layouts[re.sub(r'_\d$', '', reg_type)]
        masks = field_masks(of_model(layout, model), reg_type, r['width'])
        kind = role(reg_type)
        index = r.get('counter')
        if index is None:
            m = re.search(r'(?:CTL|CNT|CTR|SEL)_(\d)$', r['name'])
            index = int(m.group(1)) if m and kind in ('SEL', 'CTR') else 0
        if 'FIXED_CTR' in r['name']:
            index = 4
        name = r['name']
        if r['box'] == 'M':
            name = f"MB{r['instance']}_CR_{name}"
        if r['box'] == 'R':
            index = index % 8
            if 'port' in r:
                index = r['port'] % 4
        alt = r.get('set', 1) - 1
        if kind == 'IPERF':
            alt = int(r['name'][-1])
        access = {'RW': 'ACC_RW', 'RO': 'ACC_RO', 'WO': 'ACC_WO', 'RW1C': 'ACC_W1C',
                  'W1C': 'ACC_W1C', 'RO?': 'ACC_RO_MAYBE'}[r['access']]
        reset = int(r.get('reset') or '0', 0)
        rows.append((int(r['msr'], 0),
                     f'{{ {r["msr"]}, "{name}", BOX_{r["box"]}, {r["instance"]}, ROLE_{kind}, '
                     f'{index}, {alt}, {access}, {masks["rw"]:#x}ull, {masks["w1c"]:#x}ull, '
                     f'{masks["ro"]:#x}ull, {masks["rsv"]:#x}ull, {reset:#x}ull }},'))
    rows.sort()
    for a, b in zip(rows, rows[1:]):
        if a[0] == b[0]:
            sys.exit(f'gen-tables: two registers at {a[0]:#x}')
    return [text for _, text in rows]


def umask_limits(event, umasks):
    """Which mask bits exist, what each and all together may add per cycle."""
    known = 0
    for u in umasks:
        known |= int(u.get('value', u.get('code')), 0)
    limit = [0] * 8
    cap = event['max_inc']
    n = bin(known).count('1')
    if n and event.get('umasks_add'):
        cap = n
    for u in umasks:
        value = int(u.get('value', u.get('code')), 0)
        if value & (value - 1):
            continue
        limit[value.bit_length() - 1] = u.get('max_inc', 0)
    for b in range(8):
        if known >> b & 1 and not limit[b]:
            limit[b] = max(1, cap // n)
    if not n:
        limit[0] = cap
    return known, limit, cap


def tag(where, name):
    return f'TAG_{where}_{name}'


def detail(umask):
    """The number of the part of an event that has this unit mask bit, or setting; or None."""
    if 'set' in umask:
        return int(list(umask['set'].values())[-1], 0) if 'of' in umask else None
    value = int(umask['value'], 0)
    return None if value & (value - 1) else value.bit_length() - 1


def views(event):
    """What its parts show of the transactions of a box, and how."""
    p = event.get('projects')
    rows = {}
    for u in event['umasks'] or [{'value': '0x1'}] if p else []:
        n = detail(u)
        if n is None and ('set' in u or 'of' not in u):
            continue
        of, depth = p['of'] + u.get('of', []), u.get('depth', p.get('depth', 0))
        queue = (p.get('queue', of) if 'depth' not in u else of) if depth else []
        names = [' | '.join(tag(p['where'], name) for name in names) or '0'
                 for names in (of, queue)]
        # Behind those of the bits, that of all of them together.
        rows[8 if n is None else n] = (f'{{ SHOWS_{u.get("what", p["what"]).upper()}, '
                                       f'LIST_{p["where"]}, {depth}, {u.get("every", p.get("every", 0))}, '
                                       f'{str(p.get("at") == "core").lower()}, {", ".join(names)} }}')
    return f'{{ {", ".join(f"[{n}] = {row}" for n, row in rows.items()) or "{ 0 }"} }}'


def tags(events):
    """Those of each list of transactions, as bits."""
    names = {}
    for e in events:
        if 'projects' in e:
            p = e['projects']
            used = p['of'] + p.get('queue', []) + [n for u in e['umasks'] for n in u.get('of', [])]
            names.setdefault(p['where'], {}).update(dict.fromkeys(used))
    return [f'{tag(where, name)} = 1u << {n},'
            for where in names for n, name in enumerate(names[where])]


def event_rows(box, events):
    rows = []
    for e in events:
        if e['code'] == 'fixed':
            continue
        code = int(e['code'], 0)
        match = e.get('match') or {'packets': None, 'fields': []}
        flags = [flag for key, flag in FLAGS.items() if e.get(key)] + \
                [flag for key, flag in MATCH_FLAGS.items()
                 if key in [match['packets'], *match['fields']]]
        if box == 'U':
            code &= 0xff    # the register holds eight bits of the nine
        counters = sum(1 << c for c in e['counters'])
        known, limit, cap = umask_limits(e, e['umasks'])
        div = e.get('scale') or 1
        if div > 1:
            limit[0] = cap = div    # the sub-counter takes the whole occupancy
        rows.append(f'{{ BOX_{box}, {code:#x}, {counters:#x}, {known:#x}, {cap}, {div}, '
                    f'{{ {", ".join(str(x) for x in limit)} }}, {" | ".join(flags) or "0"}, '
                    f'{views(e)}, "{e["name"]}" }},')
    return rows


def m_rows(events):
    """M-Box: primary events by inc_sel, conditional ones by set_flag_sel."""
    rows = []
    for e in events:
        if e['select'] == 'inc_sel':
            code = int(e['inc_sel'], 0)
        else:
            code = int(e['set_flag_sel'], 0) | 0x100
        rows.append(f'{{ BOX_M, {code:#x}, 0x3f, 0, {e["max_inc"]}, 1, '
                    f'{{ {e["max_inc"]}, 0, 0, 0, 0, 0, 0, 0 }}, 0, {views(e)}, '
                    f'"{e["name"]}" }},')
    return rows


def packet_rows(matching):
    classes = {c['name']: int(c['hex'], 0) for c in matching['message_classes']}
    return [f'{{ {classes[o["mc"]]:#x}, {o["opcode_hex"]}, "{o["name"]}" }},'
            for o in matching['opcodes']]


def dram_rows(events):
    """The commands DRAM_CMD tells apart; 0 stands for any."""
    codes = set()
    for e in events:
        if e['name'] == 'DRAM_CMD':
            codes |= {int(u['set']['PLD[12:8]'], 0) for u in e['umasks']}
    return [', '.join(f'{c:#x}' for c in sorted(codes - {0}))]


def events(model):
    rows = []
    for box in 'UCBSW':
        rows += event_rows(box, events_of(box, model))
    return rows + m_rows(events_of('M', model))


def every_event():
    """As it is on each model."""
    return [e for box in 'UCBSWM' for model in MODELS
            for e in events_of(box, model)]


def counts(text):
    """Source and mask, rate or register of a core event."""
    kind, *what = text.split()
    source, prefix = SOURCES[kind]
    if kind == 'cycles':
        value = f'{what[0]} * CORE_RATE_ONE / 1000'
    elif kind == 'tsc':
        value = 'CORE_RATE_ONE'
    elif prefix:
        value = ' | '.join(re.sub(r'_AT_(\w+)', r'_AT(LEVEL_\1)', f'{prefix}_{w.upper()}')
                           for w in what)
    else:
        value = ''.join(what) or '0'
    return f'SRC_{source}, ' + (f'BR_MISP({value})' if kind == 'mispredicted' else value)


def core_rows(cpu):
    rows = []
    for e in load('core_events.json', cpu)['events']:
        if 'fixed_counter' in e or 'edge' in e:
            continue
        # An Atom has one event for all its offcore registers, told apart by the unit mask.
        selects = [(e['umask'], e['counts'])]
        if e['counts'] == 'offcore':
            selects = [(r['umask'], f'offcore {n}')
                       for n, r in enumerate(load('offcore.json', cpu)['registers'])]
        rows += [f'{{ {e["code"]}, {umask}, {counts(text)}, {str(e["precise"]).lower()} }},'
                 for umask, text in selects]
    return rows + ['{ }']


def offcore(cpu):
    registers = load('offcore.json', cpu)['registers']
    writable = [int(r['writable_mask'], 0) for r in registers]
    # What can be written, and asks for nothing.
    no_request = [w & 0xffff & ~int(r['request_mask'], 0) for w, r in zip(writable, registers)]
    return [f'#define {cpu.upper()}_{name} {{ {", ".join(f"{n:#x}ull" for n in masks)} }}\n'
            for name, masks in (('OFFCORE', writable), ('NO_REQUEST', no_request))]


def write(out, name, declarations):
    """[(declaration, rows)]"""
    with open(os.path.join(out, name), 'w', encoding='utf-8') as f:
        f.write('/* Generated by gen-tables.py from spec/. */\n')
        for decl, rows in declarations:
            f.write(f'{decl} {{\n')
            f.writelines(f'\t{row}\n' for row in rows)
            f.write('};\n')


def main():
    out, = sys.argv[1:]
    packets = packet_rows(load('packet_matching.json'))
    tables = []
    for model, name in MODELS.items():
        tables += [(f'static const struct reg_info {name}_regs[] =', registers(model)),
                   (f'static const struct event_info {name}_events[] =', events(model))]
    tables += [('const struct opcode_info opcode_table[] =', packets),
               ('const uint8_t dram_cmd_table[] =', dram_rows(load('events_m.json')))]
    write(out, 'spec-tables.inc', tables)
    write(out, 'spec-tags.inc', [('enum', tags(every_event()))])
    write(out, 'core-events.inc', [(f'static const struct row {name}[] =',
                                    core_rows(name)) for name in CORES])
    with open(os.path.join(out, 'core-tables.inc'), 'w', encoding='utf-8') as f:
        for name in ('goldmont', 'silvermont'):
            f.writelines(offcore(name))


main()
