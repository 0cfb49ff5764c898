#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Register accesses of both drivers for the same events: to add one, and in all, from the first
to a package that is idle again, which ours leaves clean. Fails if ours takes more in all.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm

# Box, mainline's terms, ours if they are others.
ONE = (
    ('U-Box', 'ubox', 'event=0xf9', None),
    ('C-Box', 'cbox_0', 'event=0x14,umask=0x7', None),
    ('W-Box', 'wbox', 'event=0x04,umask=0x1', None),
    ('S-Box', 'sbox_0', 'event=0x60,umask=0x3', None),
    ('S-Box match', 'sbox_0', 'event=0,match=0,mask=0x7fffffffff', 'event=0'),
    ('B-Box', 'bbox_0', 'event=0x1d,counter=1', None),
    ('B-Box match', 'bbox_0', 'event=1,counter=1,match=0xe00000000000,mask=0xf00000000000',
     'event=1,counter=1,match_msg_in=0xe,mask_msg_in=0xf'),
    ('M-Box', 'mbox_0', 'inc_sel=0x1b,wrap_mode=1', 'event=0x1b'),
    ('M-Box FVC', 'mbox_0', 'inc_sel=0xd,wrap_mode=1,fvc=0x2800', 'event=0xd,fvc_evnt=5'),
    ('M-Box command and address', 'mbox_0', 'inc_sel=0xa,wrap_mode=1,pld=0x200,'
     'filter_cfg_en=1,filter_match=0x40,filter_mask=0x1',
     'event=0xa,pld_cmd=2,match_addr=1,mask_addr=1'),
    ('R-Box IPERF', 'rbox_0', 'event=0,iperf_cfg=0x80000000', 'event=0,port=0'),
    ('R-Box QLX', 'rbox_0', 'event=2,qlx_cfg=0x1', 'event=0x21,port=0'),
    ('R-Box match', 'rbox_0', 'event=4,xbr_mm_cfg=0x210000,xbr_match=0x1c00,xbr_mask=0x1e00',
     'event=0x30,port=0,match_mc=0xe,mask_mc=0xf'),
)


def whole_package():
    """98 events: every counter of every box."""
    yield 'ubox', 'event=0xf9', None
    for box in range(8):
        for umask in range(1, 7):
            yield f'cbox_{box}', f'event=0x14,umask={umask:#x}', None
    for core in range(4):
        yield 'wbox', f'event=0x04,umask={1 << core:#x}', None
    yield 'wbox', 'event=0xff', None
    for half in range(2):
        for code in 0x62, 0x63, 0x65:
            yield f'sbox_{half}', f'event={code:#x}', None
        yield f'sbox_{half}', 'event=0,match=0,mask=0x7fffffffff', 'event=0'
        for counter, code in enumerate((0x4, 0x7, 0x2, 0x6)):
            yield f'bbox_{half}', f'event={code:#x},counter={counter}', None
        for n, what in enumerate((5, 6, 0, 3)):
            yield (f'mbox_{half}', f'inc_sel={0xd + n},wrap_mode=1,fvc={what << 11 + 3 * n:#x}',
                   f'event={0xd + n},fvc_evnt={what}')
        yield f'mbox_{half}', 'inc_sel=0,wrap_mode=1,dsp=0x80', 'event=0,dsp_fill_state=1'
        yield f'mbox_{half}', 'inc_sel=0x1b,wrap_mode=1', 'event=0x1b'
        for port in range(4):
            yield (f'rbox_{half}', f'event={6 * port},iperf_cfg=0x80000000',
                   f'event=0,port={port}')
            yield f'rbox_{half}', f'event={6 * port + 2},qlx_cfg=0x1', f'event=0x21,port={port}'


def rows():
    for name, box, main, ours in ONE:
        yield f'{name}, one', [(box, main, ours)]
        yield f'{name}, one again', [(box, main, ours)]
        if box not in ('ubox', 'bbox_0'):
            yield f'{name}, two alike', [(box, main, ours)] * 2
    yield 'whole package', list(whole_package())
    yield 'whole package again', list(whole_package())


def commands(driver, name, events):
    """For the agent. What comes back has been there before."""
    for box, main, ours in events:
        pmu, terms = ('xeon7500_', ours or main) if driver == 'ours' else ('uncore_', main)
        yield 'open', 0, pmu + box, terms
    if name.endswith('again'):
        yield from (('enable', 0), ('disable', 0))
    yield from (('clear',), ('enable', 0), ('accesses', 'add'), ('sleep', 1000), ('count',),
                ('disable', 0), ('close',), ('accesses', 'all'))


def measure(driver):
    """{name: {'busy': events that ran all the time, 'add', 'all': [reads, writes]}}"""
    script = ((name, commands(driver, name, events)) for name, events in rows())
    out, _ = vm.run('--cores', '8', '--icount', '--driver', driver, *vm.agent(),
                    *vm.script(driver, script), '--', '/t/agent', f'/t/{driver}')
    results = {}
    for name, values in vm.answers(out):
        values = {key: [int(n) for n in val.split(',')] for key, val in values.items()}
        counts = [val for key, val in values.items() if key.startswith('count')]
        if not any(count for count, _, _ in counts):
            sys.exit(f'{driver}: {name}: nothing was counted: {values}')
        values['busy'] = sum(enabled == running for _, enabled, running in counts)
        results[name] = values
    return results


def main():
    got = {d: measure(d) for d in ('mainline', 'ours')}
    bad = False
    print(f'{"":34}{"writes to add":>18}{"writes in all":>18}{"reads in all":>18}')
    print(f'{"":34}' + f'{"ours":>9}{"mainline":>9}' * 3)
    for name, events in rows():
        ours, main_ = got['ours'][name], got['mainline'][name]
        cells = ''.join(f'{ours[when][i]:9}{main_[when][i]:9}'
                        for when, i in (('add', 1), ('all', 1), ('all', 0)))
        note = ''
        if sum(ours['all']) > sum(main_['all']):
            note, bad = '  MORE', True
        if ours['busy'] != len(events) or main_['busy'] != len(events):
            note += f'  (busy all the time: {ours["busy"]} and {main_["busy"]} of {len(events)})'
            bad |= ours['busy'] != len(events)
        print(f'{name:34}{cells}{note}')
    return bad


if __name__ == '__main__':
    sys.exit(main())
