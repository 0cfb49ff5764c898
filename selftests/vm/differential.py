#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The same events under mainline's driver and under ours, on the same silicon: what is
in the registers while they count, and what they count.

For each model of the CPU. The events come from spec/xeon7500: each event and unit mask, each setting of a
sub-register and each filter that both drivers can express. A difference is an error
unless DIFFERENCES names it, with its reason; and so is one named there that does not
occur any more.

With --patched it is mainline's driver with the changes of Documentation/upstream. What they mend,
named in MENDED, is then no difference any more.

TEST: 6.1
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap, note
from spec import events_of, sysfs_name

PATCHED = '--patched' in sys.argv[1:]
ALL = (1 << 64) - 1
U_CTL = 0xc00
PERIOD = 4096   # in cycles, of what the silicon's boxes do: no event's is longer

# Machines: the model in the spec, and the cores that mainline has all C-Boxes with.
MACHINES = {'xeon7500': ('nhm-ex', '8'), 'westmereex': ('wsm-ex', '10')}
C_OFFSETS = (0, 0x80, 0x40, 0xc0, 0x20, 0xa0, 0x60, 0xe0, 0x240, 0x2c0)

# Per box: GLOBAL_CTL, first counter and number, for each instance.
BOXES = {
    'ubox': [(U_CTL, 0xc11, 1)],
    'cbox': [(0xd00 + o, 0xd11 + o, 6) for o in C_OFFSETS],
    'wbox': [(0xc80, 0xc91, 4)],
    'sbox': [(0xc40, 0xc51, 4), (0xcc0, 0xcd1, 4)],
    'bbox': [(0xc20, 0xc31, 4), (0xc60, 0xc71, 4)],
    'mbox': [(0xca0, 0xcb1, 6), (0xce0, 0xcf1, 6)],
    'rbox': [(0xe00, 0xe11, 8), (0xe20, 0xe31, 8)],
}
SYN_BOX = {'sbox': 3, 'bbox': 4, 'mbox': 5, 'rbox': 6}


class Row:
    """An event, as each driver takes it."""

    def __init__(self, key, box, inst, main, ours, regs=None, packets=(), **about):
        self.key, self.box, self.inst, self.main, self.ours = key, box, inst, main, ours
        self.care = dict(regs or {})
        self.packets = packets
        self.about = about
        self.box_ctl, self.ctr, self.num = BOXES[box][inst] if box else (None, 0, 0)
        if about.get('fixed'):
            self.ctr, self.num = 0x394, 1
        if box:
            self.care.setdefault(self.box_ctl, ALL)
        self.care.setdefault(U_CTL, ALL)

    def commands(self, ours):
        """For the agent."""
        registers = [('read', f'{r:#x}') for r in sorted(self.care)]
        if not self.box:
            return registers
        pmu = ('xeon7500_' if ours else 'uncore_') + self.box
        # Mainline numbers only where there is more than one.
        if self.box not in ('ubox', 'wbox'):
            pmu += f'_{self.inst}'
        return [('mix', int(not self.packets)), ('clear',),
                ('open', 0, pmu, self.ours if ours else self.main), ('enable', 0),
                ('place', f'{self.ctr:#x}', self.num), *registers,
                *(('packet', *p) for p in self.packets), ('sleep', 50), ('disable', 0), ('count',),
                ('close',), ('truth',)]


def packet(box, inst, num, mc=0, opcode=0, vn=0, rds=0, hnid=0, rnid=0, dnid=0, addr=0, out=False):
    """As SYN_PKT_* of synthetic.h."""
    header = (SYN_BOX[box] | inst << 4 | mc << 8 | opcode << 12 | vn << 17 | rds << 19 |
              hnid << 23 | rnid << 28 | dnid << 33 | out << 38)
    return header, addr, num


# ---- events ----

def evsel_rows(model, name, box):
    """Boxes whose control registers hold code and unit mask: both drivers say it alike."""
    for e in events_of(name, model):
        if e['code'] == 'fixed' or e['name'] == 'TO_R_PROG_EV':
            continue
        code = int(e['code'], 16)
        for m in e['umasks'] or [{'name': '', 'value': '0'}]:
            umask = m.get('value', m.get('code'))
            if box == 'ubox':
                # Four codes have nine bits, which mainline's format has no room for. The
                # register ignores the ninth, so raw ones serve.
                terms = f'config={code:#x}'
            else:
                terms = f'event={code:#x},umask={umask}'
            several = re.match(r'TO_R_(DRS|NCB|(LOC_)?NCS)_MSGQ_CYCLES_FULL', e['name']) and \
                m['name'] == 'ALL'
            yield Row(f'{box} {e["name"]}.{m["name"]}', box, 0, terms, terms,
                      occupancy=box == 'sbox' and 'OCCUPANCY' in e['name'],
                      refused='undefined' if several else None)


def shape_rows(_):
    shapes = ('edge', 'thresh=3', 'thresh=3,inv', 'thresh=2,edge', 'thresh=2,inv,edge')
    for box, event in (('cbox', 'event=0x18'), ('sbox', 'event=0x41,umask=0x3f'),
                       ('wbox', 'event=0x04,umask=0xff')):
        for s in shapes:
            yield Row(f'{box} {event} {s}', box, 0, f'{event},{s}', f'{event},{s}',
                      refused='undefined' if s == 'edge' and box != 'wbox' else None)
    yield Row('sbox edge of one bit', 'sbox', 0, 'event=0x41,umask=0x1,edge', 'event=0x41,umask=0x1,edge')
    yield Row('ubox edge', 'ubox', 0, 'event=0xf8,edge', 'event=0xf8,edge')


def instance_rows(model):
    for box, event in (('cbox', 'event=0x14,umask=0x7'), ('sbox', 'event=0x60,umask=0x3'),
                       ('bbox', 'event=0x1d,counter=1')):
        for inst in range(8 if box == 'cbox' and model == 'nhm-ex' else len(BOXES[box])):
            yield Row(f'{box} {inst}', box, inst, event, event)


def wbox_clock(_):
    return [Row('wbox clock', 'wbox', 0, 'clockticks', 'uncore_clock', fixed=True)]


def sbox_match_rows(_):
    """MASK says what to ignore; our fields say what to compare."""
    all_addr = (1 << 38) - 1
    for inst in range(2):
        regs = {r + 16 * inst: ALL for r in (0xe48, 0xe49, 0xe4a)}
        for match, addr, hnid in ((0, 0, 0), (0x1234, all_addr, 0), (0x1234, 0xff, 0),
                                  (5 << 38, 0, 1), (0x12 << 43, 0, 0),
                                  (0x1e << 43 | 0x18 << 48 | 8 << 59 | 7, 0xf, 1)):
            mask = (~addr & all_addr) << 1 | (hnid ^ 1)
            ours = f'event=0,match={match:#x},mask_addr={addr:#x},mask_hnid={hnid}'
            packets = [packet('sbox', inst, 3, mc=0xe, opcode=8, rds=8, addr=7 << 6),
                       packet('sbox', inst, 5, mc=2, hnid=5, addr=0x1234 << 6),
                       packet('sbox', inst, 7, mc=2, hnid=5, addr=0x1334 << 6),
                       packet('sbox', inst, 11, mc=0xe, opcode=8, rds=4, addr=0x17 << 6)]
            yield Row(f'sbox {inst} {ours}', 'sbox', inst,
                      f'event=0,match={match:#x},mask={mask:#x}', ours, regs, packets)


B_PARTS = {'ADDR': (0, 44, 'addr'), 'MSG_IN': (44, 4, 'msg_in'), 'MSG_OUT': (48, 4, 'msg_out'),
           'OPCODE_IN': (52, 4, 'opc_in'), 'OPCODE_OUT': (56, 4, 'opc_out')}


def bbox_rows(model):
    for e in events_of('b', model):
        code, counter = int(e['code'], 16), e['counters'][0]
        terms = f'event={code:#x},counter={counter}'
        if not e['name'].endswith('_MATCH'):
            yield Row(f'bbox {e["name"]}', 'bbox', 0, terms, terms)
            continue
        out = '_OUT_' in e['name']
        names = [n + ('' if n == 'ADDR' else '_OUT' if out else '_IN')
                 for n in ('ADDR', 'MSG', 'OPCODE') if n + '_' in e['name']]
        care = 0
        for n in names:
            care |= ((1 << B_PARTS[n][1]) - 1) << B_PARTS[n][0]
        for want, part_mask in ((0xe, ALL), (0xa, 0x3), (0, ALL), (0, 0)):
            match = mask = 0
            ours = terms
            for n in names:
                shift, width, field = B_PARTS[n]
                m = part_mask & ((1 << width) - 1)
                match |= (want & m) << shift
                mask |= m << shift
                ours += f',match_{field}={want & m:#x},mask_{field}={m:#x}'
            for inst in range(2):
                regs = {r + 8 * inst: care for r in (0xe45, 0xe46)}
                packets = [packet('bbox', inst, 3 + i, mc=v, opcode=v, addr=v << 6, out=out)
                           for i, v in enumerate((0, 2, 0xa, 0xe))]
                yield Row(f'bbox {inst} {e["name"]} {ours}', 'bbox', inst,
                          f'{terms},match={match:#x},mask={mask:#x}', ours, regs, packets)


# Sub-registers of the M-Box: offset, mainline's name, and the shift of its word of config1.
M_SUBREGS = {'DSP': (0x5, 'dsp'), 'ISS': (0x6, 'iss'), 'MAP': (0x7, 'map'),
             'MSC_THR': (0x8, 'thr'), 'PGT': (0x9, 'pgt'), 'PLD': (0xa, 'pld'),
             'ZDP_CTL_FVC': (0xb, 'fvc')}
# Of the Xeon 7500; where the index is six bits wide, those marked are one bit higher.
M_FIELDS = {'ZDP_CTL_FVC.bcmd': (7, 5, 1), 'ZDP_CTL_FVC.resp': (10, 8, 1),
            'PLD[fvid]': (6, 1, 0), 'PLD fvid': (6, 1, 0),
            'MAP cmd': (8, 5, 1), 'MAP.cmd': (8, 5, 1), 'MAP fvid': (4, 0, 0),
            'ZDP_CTL_FVC.fvid': (4, 0, 0)}
M_FIELDS.update({f'ZDP_CTL_FVC.evnt{n}': (13 + 3 * n, 11 + 3 * n, 1) for n in range(4)})
# Events that have a sub-register on Westmere-EX of which mainline knows nothing.
M_NO_REGISTER = ('ISS_SCHED', 'PGT_PAGE_EV2')


def m_field(model, name):
    """Register, shift and mask of "PLD[12:8]" or "ZDP_CTL_FVC.bcmd (shared)"."""
    name = name.split(' (')[0]
    reg = re.match(r'\w+', name).group()
    if name in M_FIELDS:
        hi, lo, above = M_FIELDS[name]
        if model == 'wsm-ex':
            hi, lo = hi + (above or 'fvid' in name and 'PLD' not in name), lo + above
    else:
        bits = re.fullmatch(r'\w+\[(\d+)(?::(\d+))?\]', name).groups()
        hi, lo = int(bits[0]), int(bits[1] or bits[0])
    return reg, lo, ((1 << hi - lo + 1) - 1) << lo


def mbox_event_rows(model, e, inst):
    base = BOXES['mbox'][inst][0]
    ctl = int(e['cnt_ctl'], 16)
    select = f'inc_sel={ctl >> 9 & 0x1f},wrap_mode=1'
    if e['flag_mode']:
        select = f'set_flag_sel={ctl >> 19 & 7},flag_mode=1,wrap_mode=1'
    fields = [m_field(model, f) for f in e['subregs'] if not f.startswith('MM_CFG')]
    for m in e['umasks'] or [None]:
        vals, care = {}, {}
        for reg, _, mask in fields:
            vals.setdefault(reg, 0)
            care[reg] = care.get(reg, 0) | mask
        ours = sysfs_name('M', e['name'], m and m['name'])
        for field, val in (m['set'].items() if m else ()):
            reg, lo, _ = m_field(model, field)
            if val == '0xNN':
                val = '0x9'
                ours += ',pld_fvid=9'
            vals[reg] |= int(val, 16) << lo
        if e['name'] == 'DRAM_CMD' and not vals['PLD'] & 1 and '.' not in m['name']:
            del care['ISS']     # no mode is asked for
        if e['name'] == 'DRAM_MISC':
            # Only what the selected one looks at.
            care['PLD'] = sum(m_field(model, f)[2] for f in m['set'])
        if 'ZDP_CTL_FVC' in care:
            # Command and response are looked at by the events they belong to.
            n = (ctl >> 9 & 0x1f) - 0xd
            what = vals['ZDP_CTL_FVC'] >> m_field(model, f'ZDP_CTL_FVC.evnt{n}')[1] & 7
            for other, name in (5, 'bcmd'), (6, 'resp'):
                if what != other:
                    care['ZDP_CTL_FVC'] &= ~m_field(model, f'ZDP_CTL_FVC.{name}')[2]
        main = select + ''.join(f',{M_SUBREGS[r][1]}={v:#x}' for r, v in sorted(vals.items())
                                if e['name'] not in M_NO_REGISTER)
        regs = {base + M_SUBREGS[r][0]: c for r, c in care.items()}
        if e['name'] in ('DRAM_CMD', 'DRAM_MISC'):
            regs[0xe54 + 8 * inst] = ALL
        yield Row(f'mbox {inst} {ours}', 'mbox', inst, main, ours, regs,
                  no_register=e['name'] in M_NO_REGISTER)


def mbox_rows(model):
    for e in events_of('m', model):
        yield from mbox_event_rows(model, e, 0)
        if e['name'] in ('FVC_EV2', 'DSP_FILL', 'DRAM_MISC'):
            yield from mbox_event_rows(model, e, 1)
    care = sum(m_field(model, f'ZDP_CTL_FVC.{f}')[2] for f in ('evnt0', 'bcmd', 'fvid'))
    for cmd in 'read', 'write':
        yield Row(f'mbox alias {cmd}', 'mbox', 0, f'bbox_cmds_{cmd}', f'bbox_cmds.{cmd}s',
                  {0xcab: care}, alias=True)
    for inst in range(2):
        regs = {r + 8 * inst: ALL for r in (0xe54, 0xe55, 0xe56)}
        for match, mask in ((0x12345, 0xfffff), (0x2, 0x3), (0x8000000, 0x8000000),
                            (0x0, 0xfffffff)):
            packets = [packet('mbox', inst, 3, opcode=2, addr=0x12345 << 6),
                       packet('mbox', inst, 5, opcode=2, addr=0x12346 << 6),
                       packet('mbox', inst, 7, opcode=2, addr=0x8000000 << 6),
                       packet('mbox', inst, 11, opcode=3, addr=0x12345 << 6),
                       packet('mbox', inst, 13, opcode=2, addr=0)]
            yield Row(f'mbox {inst} match {match:#x} {mask:#x}', 'mbox', inst,
                      f'inc_sel=0xa,wrap_mode=1,pld=0x200,iss=0,filter_cfg_en=1,'
                      f'filter_match={match << 6:#x},filter_mask={mask:#x}',
                      f'dram_cmd.ras,match_addr={match:#x},mask_addr={mask:#x}', regs, packets,
                      wide=mask >> 27)


def r_regs(port):
    half, p = divmod(port, 4)
    base = 0xe20 if half else 0xe00
    return 0xe04 + port, base + 0xc + p, [base + 0x60 + 4 * p + i for i in range(3)]


def rbox_rows(model):
    events = events_of('r', model)
    for port in range(8):
        half, p = divmod(port, 4)
        iperf, qlx, xbr = r_regs(port)
        for e in events:
            if port and e['name'] not in ('FLITS_SENT', 'STARVING', 'DRS.AnyResp'):
                continue
            for s in e['subevents'] or [e]:
                name = e['name'].lower() + ('' if s is e else '.' + s['name'].lower())
                key, ours = f'rbox port {port} {name}', f'{name},port={p}'
                if 'iperf_cfg' in s:
                    yield Row(key, 'rbox', half, f'event={6 * p},iperf_cfg={s["iperf_cfg"]}', ours,
                              {iperf: ALL})
                elif 'qlx_cfg' in s:
                    yield Row(key, 'rbox', half, f'event={6 * p + 2},qlx_cfg={s["qlx_cfg"]}', ours,
                              {qlx: 0xff})
                else:
                    packets = [packet('rbox', port, 2 + i, mc=mc, opcode=op, rds=rds)
                               for i, (mc, op, rds) in enumerate((
                                   (0xe, 0, 8), (0xe, 1, 4), (0xe, 4, 0), (0xe, 5, 0), (0xe, 6, 0),
                                   (0xe, 8, 0), (2, 8, 0), (2, 1, 0), (0xc, 0, 0), (0xc, 9, 0),
                                   (0xc, 13, 0), (0, 0, 0)))]
                    yield Row(key, 'rbox', half,
                              f'event={6 * p + 4},xbr_mm_cfg={e["mm_cfg"]},'
                              f'xbr_match={e["match"]},xbr_mask={e["mask"]}', ours,
                              dict.fromkeys(xbr, ALL), packets)
    yield from rbox_field_rows()


def rbox_field_rows():
    """Each field of a match set by itself, and the flit that is looked at."""
    fields = (('vnw', 3, 2), ('opc', 5, 4), ('mc', 9, 4), ('dnid', 13, 5), ('rnid', 31, 5),
              ('rds', 48, 4))
    for name, shift, width in fields:
        v, m = 0x5 & (1 << width) - 1, (1 << width) - 1
        packets = [packet('rbox', 6, 3 + i, mc=x & 15, opcode=x & 15, vn=x & 3, rds=x & 15, rnid=x,
                          dnid=x) for i, x in enumerate((v, 0, m))]
        yield Row(f'rbox {name}', 'rbox', 1, f'event=16,xbr_mm_cfg=0x210000,'
                  f'xbr_match={v << shift:#x},xbr_mask={m << shift:#x}',
                  f'xbar_mm,port=2,match_{name}={v:#x},mask_{name}={m:#x}',
                  dict.fromkeys(r_regs(6)[2], ALL), packets)
    for cfg, ours in ((0x230000, 'flt_cnt=3'), (0x2f0000, 'flt_cnt=15'), (0x300000, 'ig_flt_cnt'),
                      (0x210103, 'match_71_64=1,mask_71_64=3')):
        packets = [packet('rbox', 6, 3, mc=0xe), packet('rbox', 6, 5, mc=0)]
        yield Row(f'rbox {ours}', 'rbox', 1, f'event=16,xbr_mm_cfg={cfg:#x}',
                  f'xbar_mm,port=2,{ours}', dict.fromkeys(r_regs(6)[2], ALL), packets)
    # Mainline's names beside the manual's: port 0 is QPI1.
    for main, ours in (('flit_send', 'flits_sent'), ('idle_filt', 'null_idle'),
                       ('date_response', 'new_packets_recv.any.drs')):
        for n in range(2):
            spelt = 'filt_send' if n and main == 'flit_send' else main
            yield Row(f'rbox alias qpi{n}_{spelt}', 'rbox', 0, f'qpi{n}_{spelt}',
                      f'{ours},port={1 - n}', {0xe04: ALL, 0xe05: ALL}, alias=True)


def refusal_rows(_):
    """What mainline takes without a word."""
    both = (
        ('code', 'cbox', 'event=0x13'), ('code', 'sbox', 'event=0x61'),
        ('code', 'ubox', 'event=0x08'), ('code', 'wbox', 'event=0x05'),
        ('code', 'bbox', 'event=0x08,counter=1'),
        ('umask', 'cbox', 'event=0x14,umask=0x8'), ('umask', 'sbox', 'event=0x60,umask=0x4'),
        ('umask', 'wbox', 'event=0x02,umask=0x1'), ('umask', 'cbox', 'event=0x14'),
        ('undefined', 'sbox', 'event=0x0e,umask=0x3'),
        ('never', 'cbox', 'event=0x14,umask=0x7,inv'),
        ('bits', 'ubox', 'config=0x2f8'), ('bits', 'cbox', 'config=0x110714'),
        ('bits', 'wbox', 'config=0x20104'), ('bits', 'sbox', 'config=0x20360'),
        ('bits', 'bbox', 'config=0x10007a'), ('bits', 'rbox', 'config=0x800000000000'),
        ('filter', 'cbox', 'config=0x714,config1=1'), ('filter', 'bbox', 'config=0x7a,config1=1'),
        ('filter', 'sbox', 'config=0x360,config1=1'),
    )
    for why, box, terms in both:
        yield Row(f'{box} refused {terms}', box, 0, terms, terms, refused=why)
    yield Row('mbox two fill states', 'mbox', 0, 'inc_sel=0,wrap_mode=1,dsp=0x180',
              'event=0,dsp_fill_state=3', refused='undefined')
    yield Row('mbox reserved command', 'mbox', 0, 'inc_sel=0x1e,wrap_mode=1', 'event=0x1e',
              refused='code')
    yield Row('rbox reserved type', 'rbox', 0, 'event=2,qlx_cfg=0xb', 'event=0x2b', refused='code')
    yield Row('bbox outside of the mask', 'bbox', 0,
              'event=1,counter=1,match=0x300000000000,mask=0x100000000000',
              'event=1,counter=1,match_msg_in=3,mask_msg_in=1', refused='never')


def make_rows(model):
    rows = [Row('idle before', None, 0, '', '')]
    for name, box in ('u', 'ubox'), ('c', 'cbox'), ('w', 'wbox'), ('s', 'sbox'):
        rows += evsel_rows(model, name, box)
    for more in (shape_rows, instance_rows, wbox_clock, sbox_match_rows, bbox_rows, mbox_rows,
                 rbox_rows, refusal_rows):
        rows += more(model)
    rows.append(Row('idle after', None, 0, '', ''))
    keys = [r.key for r in rows]
    assert len(set(keys)) == len(keys), [k for k in keys if keys.count(k) > 1]
    return rows


# ---- differences ----

def alias_swap(row, field):
    return row.box == 'rbox' and row.about.get('alias') and (
        {'ctl': 0x3e, 'r0xe04': ALL, 'r0xe05': ALL, 'rate': ALL}.get(field, 0))


def refused(why):
    return lambda row, field: ALL if field == 'errno' and row.about.get('refused') == why else 0


def other_counters(row, field):
    if not row.box or row.box == 'ubox' or field != f'r{row.box_ctl:#x}':
        return 0
    return 0x800000ff


# Name, why it is meant, who has the bits set, and the bits of a field of a row it
# explains. A field that is no register has bits too: it differs in all of them.
DIFFERENCES = (
    ('ctr_en', 'mainline enables every counter of a box, we those with an event',
     'mainline', other_counters),
    ('en_all', 'mainline leaves the package enabled from load on, we only while it counts',
     'mainline', lambda row, field: 1 << 28 if not row.box and field == 'r0xc00' else 0),
    ('U-Box enable', 'mainline does not turn it off again after a U-Box event',
     'mainline', lambda row, field: 1 if row.box != 'ubox' and field == 'r0xc00' else 0),
    ('W-Box read erratum', 'a value that ends in 0 or 1 reads 0x1000000 too high; mainline starts '
     'from such a one and is off by as much',
     None, lambda row, field: ALL if row.box == 'wbox' and
     field in ('mainline wrong', 'rate') else 0),
    ('reset_occ_cnt', 'occupancy is undefined without it; mainline forgets it and counts wrong',
     'ours', lambda row, field: row.about.get('occupancy') and (
         1 << 17 if field == 'ctl' else ALL if field in ('rate', 'mainline wrong', 'v10') else 0)),
    ('QPI names swapped', 'mainline calls port 0 qpi0 and port 1 qpi1; the guide has port 0 = QPI1',
     None, alias_swap),
    ('wrap_mode', "mainline's own names leave it 0, so the counter stops at its first overflow",
     'ours', lambda row, field: 1 << 6 if row.box == 'mbox' and row.about.get('alias') and
     field == 'ctl' else 0),
    ('no sub-register', 'mainline knows of none for two events of Westmere-EX, and counts the first '
     'of what can be chosen there, or what was left chosen',
     None, lambda row, field: row.about.get('no_register') and (
         0xc00 if field in ('r0xca6', 'r0xca9') else ALL if field == 'rate' else 0)),
    ('mask width', 'mainline drops bit 27 of ADDR_MASK, so address bit 33 is not compared',
     'ours', lambda row, field: row.about.get('wide') and (
         1 << 27 if field in ('r0xe56', 'r0xe5e') else ALL if field == 'count' else 0)),
    ('unknown codes', 'there is no such event; mainline counts something or nothing',
     None, refused('code')),
    ('unknown unit masks', 'the event has no such unit mask, or needs one',
     None, refused('umask')),
    ('undefined results', 'the guide says the result is undefined',
     None, refused('undefined')),
    ('counts nothing', 'no increment is below 0, no packet is outside its mask',
     None, refused('never')),
    ('silent masking', 'mainline drops bits no format has; the user meant something by them',
     None, refused('bits')),
    ('ignored filters', 'the event looks at no filter; mainline takes one and ignores it',
     None, refused('filter')),
)

if PATCHED:
    DIFFERENCES += (
        ('reset_occ_cnt for all', 'our change to mainline sets it for every event, not for those of '
         'occupancy alone: the guide gives it no other meaning', 'mainline',
         lambda row, field: row.box == 'sbox' and not row.about.get('occupancy') and
         field == 'ctl' and 1 << 17),
    )
# Those that our changes to mainline leave nothing of.
MENDED = ('W-Box read erratum', 'reset_occ_cnt', 'wrap_mode', 'mask width')


def explained(difference, row, field, bits, values):
    """The bits that this listed difference accounts for."""
    _, _, who, explains = difference
    bits &= explains(row, field) or 0
    if field == 'errno':
        return bits if values == ('0', '22') else 0
    if who and field[0] == 'r' and field != 'rate' or who and field == 'ctl':
        bits &= int(values[who == 'ours'], 0)
    return bits


def compare(row, main, ours):
    """Yields what differs: field, bits, mainline's and our value."""
    if main.get('errno', '0') != ours.get('errno', '0'):
        yield 'errno', ALL, main.get('errno', '0'), ours.get('errno', '0')
        return
    if 'errno' in main:
        return
    if main.get('place') != ours.get('place'):
        yield 'place', ALL, main.get('place'), ours.get('place')
        return
    words = [('ctl', ALL)] if row.box else []
    words += [(f'{r:#x}', c) for r, c in sorted(row.care.items())]
    for name, care in words:
        a, b = int(main[name], 0), int(ours[name], 0)
        if (a ^ b) & care:
            yield name if name == 'ctl' else 'r' + name, (a ^ b) & care, f'{a:#x}', f'{b:#x}'
    if not row.box:
        return
    count, truth, cycles = ({d: int(v[k].split(',')[0]) for d, v in (('main', main), ('ours', ours))}
                            for k in ('count0', 'truth', 'cycles'))
    for d, name in ('main', 'mainline wrong'), ('ours', 'ours wrong'):
        if count[d] != truth[d]:
            yield name, ALL, str(count[d]), str(truth[d])
    if row.packets:
        if count['main'] != count['ours']:
            yield 'count', ALL, str(count['main']), str(count['ours'])
    else:
        rate = {d: count[d] / cycles[d] for d in cycles}
        # The part of a period that a window ends with may hold all of its events or none, and what
        # adds occupancies up until they are one event may begin with nearly one.
        slack = (max(rate.values()) * PERIOD + 1) * sum(1 / c for c in cycles.values())
        if abs(rate['main'] - rate['ours']) > slack:
            yield 'rate', ALL, f'{rate["main"]:.4f}', f'{rate["ours"]:.4f}'
    for name in sorted(set(main) | set(ours)):
        if re.fullmatch(r'v\d+', name):
            if name in main:
                yield name, ALL, main[name], '0'
            if name in ours:
                yield 'ours ' + name, ALL, '0', ours[name]


# One after the other in one machine. Ours comes first: what it leaves behind would be seen
# in mainline's rows, and mainline does leave things behind.
GUEST = '''
echo driver ours
/t/agent /t/ours || exit
modprobe -r xeon7500_uncore && LOAD || exit
echo driver mainline
/t/agent /t/mainline
'''


def mainline(kernel):
    """How it is loaded, and the options that put it there."""
    if not PATCHED:
        return 'modprobe intel_uncore', []
    done = subprocess.run([os.path.join(vm.TOP, 'tools', 'upstream'), 'module', kernel, 'all'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          check=False)
    if done.returncode:
        raise vm.Failed(done.stderr)
    return 'insmod /t/intel-uncore.ko', ['--put', done.stdout.strip() + ':/t/']


def run_guest(kernel, machine, rows):
    """What the agent says of each row, by driver."""
    load, put = mainline(kernel)
    for driver in 'ours', 'mainline':
        put += vm.script(driver, ((r.key, r.commands(driver == 'ours')) for r in rows))
    out, err = vm.run('--machine', machine, '--cores', MACHINES[machine][1], '--kernel', kernel,
                      *vm.agent(), *put, '--', 'sh', '-c', GUEST.replace('LOAD', load))
    # Mainline is known to break rules. What either breaks is in the rows, too.
    for line in err.splitlines():
        if not line.startswith('silicon: violation'):
            note(line)
    got, driver = {}, None
    for line in out.splitlines():
        row = vm.answer(line)
        if row:
            got[driver][row[0]] = row[1]
        elif line.startswith('driver '):
            driver = line.split()[1]
            got[driver] = {}
        else:
            note(line)
    return got


def compare_drivers(kernel, machine, rows, ktap):
    try:
        got = run_guest(kernel, machine, rows)
    except vm.Failed as e:
        ktap.result(f'{kernel}: the guest runs', str(e).splitlines())
        return
    kernel = f'{machine} {kernel}'
    for driver in 'ours', 'mainline':
        missing = [r.key for r in rows if r.key not in got.get(driver, {})]
        ktap.result(f'{kernel}: {driver}: every event was tried',
                    [f'{len(missing)} of {len(rows)} were not: {missing[:5]}'] if missing else [])
        if missing:
            return
    seen = dict.fromkeys((d[0] for d in DIFFERENCES), 0)
    rejected = []
    for box in [None, *BOXES]:
        wrong, total = [], 0
        for row in (r for r in rows if r.box == box):
            total += 1
            if row.box and not row.about.get('refused') and 'errno' in got['ours'][row.key]:
                rejected.append(row.key)
            for field, bits, a, b in compare(row, got['mainline'][row.key], got['ours'][row.key]):
                for difference in DIFFERENCES:
                    if PATCHED and difference[0] in MENDED:
                        continue
                    claimed = explained(difference, row, field, bits, (a, b))
                    seen[difference[0]] += bool(claimed)
                    bits &= ~claimed
                if bits:
                    wrong.append(f'{row.key}: {field}: mainline {a}, ours {b}, bits {bits:#x}')
        note(f'{total} events')
        ktap.result(f'{kernel}: {box or "package, idle"}: events differ only as meant',
                    wrong if total else ['no events'])
    ktap.result(f'{kernel}: every event both should know is accepted',
                [f'{key} is refused' for key in rejected])
    for name, why, _, _ in DIFFERENCES:
        if name == 'no sub-register' and machine == 'xeon7500':
            continue
        if PATCHED and name in MENDED:
            continue
        note(f'{name}: {seen[name]} times; {why}')
        ktap.result(f'{kernel}: the difference "{name}" is there',
                    [] if seen[name] else ['it is not'])


def main():
    ktap = Ktap()
    for machine, (model, _) in MACHINES.items():
        rows = make_rows(model)
        for kernel in vm.kernels():
            # Mainline's uncore clock counts nothing there, and the kernel complains:
            # Documentation/upstream/nhmex_fixed_ctr_bits
            left = [r for r in rows if PATCHED or kernel != 'newest' or not r.about.get('fixed')]
            compare_drivers(kernel, machine, left, ktap)
    return ktap.end()


if __name__ == '__main__':
    sys.exit(main())
