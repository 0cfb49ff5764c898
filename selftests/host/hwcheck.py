#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hwcheck on a machine that is not its own: what it refuses, and what it says it would write.

--dry-run is compared with what the documentation promises: --count touches uncore registers alone,
selects no core, and sets pmi_en and rst_all where the page says so. The man page has each option.
Built against files in place of registers (hwcheck_fake.h) it leaves other programs' counters alone
and writes nothing that it has not announced, whatever happens meanwhile; spec/ has the registers.
"""
import fcntl
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ktap import Ktap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PMI_EN = {'pmi_while_ov', 'freeze_latency', 'refreeze', 'cond', 'w_fixed_pmi', 'w_erratum', 'w_erratum_which'}
RST = {'rst_all', 'rst_all_start'}
BREAKS = {*RST, 'status_write', 'm_lock', 'to_r_full'}


def text_of(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


class World:
    """hwcheck against files, see hwcheck_fake.h: two packages of one CPU, nothing enabled."""

    def __init__(self, directory):
        self.top, self.fake, self.saved = directory, f'{directory}/fake', f'{directory}/saved'
        with open(f'{TOP}/spec/xeon7500/registers.json', encoding='utf-8') as f:
            rows = json.load(f)
        with open(f'{TOP}/spec/xeon7500/registers_mw.json', encoding='utf-8') as f:
            rows += json.load(f)
        # Boxes 8 and 9 are of the E7; OVF_CTL is for writing.
        self.registers = {int(r['msr'], 16): r['name'] for r in rows if 'OVF_CTL' not in r['name'] and
                          (r['box'] != 'C' or r['instance'] < 8)}
        done = subprocess.run(
            ['make', '-s', '-C', f'{TOP}/tools/hwcheck', f'OUTPUT={directory}/f', 'LDFLAGS=', 'CFLAGS=-O1 -w',
             f'CPPFLAGS=-include {TOP}/selftests/host/hwcheck_fake.h -DFAKE=\'"{self.fake}"\' '
             f'-DSAVED=\'"{self.saved}"\''], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding='utf-8', check=False)
        self.built = done.stdout if done.returncode else ''

    def put(self, path, text):
        os.makedirs(os.path.dirname(f'{self.fake}/{path}'), exist_ok=True)
        with open(f'{self.fake}/{path}', 'w', encoding='utf-8') as f:
            f.write(text)

    def reset(self):
        """Remains of a program that has gone are in all registers."""
        shutil.rmtree(self.fake, ignore_errors=True)
        for name in os.listdir(self.top):
            if name.startswith(('r', 'saved')):
                os.unlink(f'{self.top}/{name}')
        self.put('proc/cpuinfo', ''.join(f'processor : {n}\nphysical id : {n}\ncore id : 0\napicid : {n}\n\n'
                                         for n in range(2)))
        self.put('proc/sys/kernel/random/boot_id', 'this\n')
        for cpu in range(2):
            self.put(f'cpu{cpu}', '')
            os.truncate(f'{self.fake}/cpu{cpu}', 0x1000 * 8)
            for msr, name in self.registers.items():
                if re.search('CTR|CNT|MATCH|MASK|DSP|IPERF', name) and 'CTRL' not in name and 'CTL' not in name:
                    self.write(cpu, msr, 0x1000 + msr)

    def write(self, cpu, msr, val):
        with open(f'{self.fake}/cpu{cpu}', 'r+b') as f:
            f.seek(msr * 8)
            f.write(struct.pack('<Q', val))

    def read(self, cpu):
        with open(f'{self.fake}/cpu{cpu}', 'rb') as f:
            every = struct.unpack('<4096Q', f.read())
        return {msr: every[msr] for msr in self.registers}

    def at(self, cpu, msr, script, what='at'):
        """Before the first write of this register; "read": read."""
        self.put(f'{what}-{cpu}-{msr:x}', script)

    def poke(self, cpu, msr, val):
        """A script that writes a register."""
        data = ''.join(f'\\{b:03o}' for b in struct.pack('<Q', val))
        return f"printf '{data}' | dd of={self.fake}/cpu{cpu} bs=8 seek={msr} conv=notrunc 2>/dev/null\n"

    def run(self, options, beside=''):
        done = subprocess.run(f'{beside} {self.top}/f/hwcheck {options}', shell=True, cwd=self.top, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding='utf-8', check=False)
        return done.stdout

    def trace(self):
        if not os.path.exists(f'{self.fake}/trace'):
            return []
        return [(int(c), int(m, 16), int(v, 16)) for c, m, v in
                (row.split() for row in text_of(f'{self.fake}/trace').splitlines())]

    def changed(self, was):
        return [f'CPU {cpu}: {msr:#x} is {now:#x}, was {was[cpu][msr]:#x}' for cpu in range(2)
                for msr, now in self.read(cpu).items() if now != was[cpu][msr]]


# Two boxes that u_codes has nothing to do with, of another program.
BUSY = {0xe58: 1 << 63, 0xdc1: 1, 0xce1: 1}
COUNTS = {0xc50: 0x400062, 0xc40: 1, 0xc00: 1 << 28}


def in_files(world, announced):
    """Against files in place of registers."""
    def has(name, text, *wants, wrong=()):
        bad = [f'not said: {w}' for w in wants if not re.search(w, text, re.M)] + list(wrong)
        ktap.result(name, bad and bad + text.splitlines()[-12:])

    def reset():
        world.reset()
        return [world.read(0), world.read(1)]

    was = reset()
    text = world.run('--read --report r')
    with open(f'{world.top}/r', encoding='utf-8') as f:
        got = {int(m, 16): int(v, 16) for m, v in json.load(f)['registers']['1'].items()}
    has('--read has all registers of the manual and writes none', text, '^ok 2 ', wrong=[
        f'{m:#x}' for m in sorted(got.keys() ^ world.registers.keys())] +
        [f'{m:#x}' for m in got.keys() & was[1].keys() if got[m] != was[1][m]] + world.trace())

    world.put('other', '')
    has('another CPU: the message names what works there', world.run('--read --report r'),
        r'^1\.\.0 # SKIP this is neither .*: only --dry-run .*works$')
    reset()
    has('--package does not wrap', world.run('--read --package 4294967297 --report r'), '^1..0 # SKIP .*no such package')

    unannounced, left = [], []
    for name, rows in announced.items():
        was = reset()
        if name == 'cbox_sides':
            world.put('e7', '')
        for msr, val in BUSY.items():
            for cpu in range(2):
                world.write(cpu, msr, val)
                # What the experiment clears cannot be put back.
                was[cpu][msr] = 0 if msr + 1 in {row[0] for row in rows} else val
        text = world.run(f'--count --only {name} --report r')
        bits = {}
        for needed in re.findall(r'^(?:not )?ok \d+ package 1: (\w+)', text, re.M):
            for msr, mask, _ in announced.get(needed, []):
                bits[msr] = bits.get(msr, 0) | mask
        unannounced += [f'{name}: {msr:#x} = {val:#x}' for cpu, msr, val in world.trace()
                        if val & ~bits.get(msr, 0) and (name not in RST and msr not in bits or
                                                        val != was[cpu].get(msr)) or
                        (msr not in bits and name not in RST)]
        left += [f'{name}: {c}' for c in world.changed(was)]
        if not re.search(rf'^ok \d+ package 1: {name}', text, re.M):
            left += [f'{name}: not run', *text.splitlines()[-3:]]
    ktap.result('each experiment writes what it has announced', unannounced)
    ktap.result('each experiment puts back, and leaves other boxes alone', left)

    start = ''.join(world.poke(1, m, v) for m, v in COUNTS.items())
    was = reset()
    was[1].update(COUNTS)
    world.at(0, 0xc10, start + 'kill -9 $PPID\n')
    text = world.run('--count --report r')
    has('a kill leaves the other package to who uses it', text, '^not ok .* was killed',
        wrong=world.changed(was) + ['saved'] * os.path.exists(world.saved))
    was = reset()
    was[0].update(COUNTS)
    world.at(1, 0xc10, start.replace('cpu1', 'cpu0'))
    text = world.run('--count --report r')
    has('a package that is finished is left to who uses it', text, '^ok .* package 1: u_codes', wrong=world.changed(was))
    reset()
    world.at(0, 0xc10, f'mkdir -p {world.fake}/sys/bus/event_source/devices/uncore_ubox\n')
    text = world.run('--count --only u_codes --report r')
    has('a driver that comes meanwhile ends it', text, '^not ok .*built into the kernel',
        wrong=['package 1 is written'] * any(cpu and msr != 0xc00 for cpu, msr, _ in world.trace()))
    text = world.run('--read --report r')
    has('--read works beside a driver', text, '^ok 1 ')
    world.put('sys/module/intel_uncore/initstate', 'live\n')
    has('--count does not', world.run('--count --report r'), '^1..0 # SKIP .*rmmod intel_uncore')

    reset()
    world.at(0, 0xc10, f'touch {world.fake}/full\n')
    text = world.run('--count --report r')
    has('a disk that is full ends it', text, '^not ok .*journal cannot be written',
        wrong=['it went on'] * bool(re.search('^ok .* b_mask', text, re.M)))
    reset()
    world.at(0, 0xc10, f'cd {world.top}; echo "touch {world.fake}/saves" >{world.fake}/read-0-e9e; '
             f'f/hwcheck --count --report r2 >{world.top}/r.two 2>&1\n')
    text = world.run('--count --only u_codes --report r')
    has('two at once: the second does not save what the first writes', text + text_of(f'{world.top}/r.two'),
        '^1..0 # SKIP another hwcheck runs', wrong=['it saves'] * os.path.exists(f'{world.fake}/saves'))
    was = reset()
    world.write(0, 0xc00, 1 << 28)
    world.at(0, 0xe9e, world.poke(0, 0xc00, 0), 'read')
    text = world.run('--count --only u_codes --report r')
    has('a program that ends while registers are saved', text, '^1..0 # SKIP another program .* 0xc00', wrong=world.changed(was))
    was = reset()
    world.at(0, 0xc00, 'kill -TERM $PPID\n')
    text = world.run('--count --report r')
    has('a signal before the second process is there', text, '^not ok .* interrupted by signal 15',
        wrong=world.changed(was) + ['saved'] * os.path.exists(world.saved))

    # A daemon may have left SIGCHLD ignored; the second process is killed in u_codes.
    was = reset()
    world.at(0, 0xc10, world.poke(0, 0xc11, 5) + 'kill -9 $PPID\n')
    text = world.run('--count --only u_codes --report r', 'timeout -k 1 20 env --ignore-signal=CHLD')
    was[0][0xc11] = 5
    has('a kill where SIGCHLD is ignored', text, '^not ok .* was killed',
        wrong=world.changed(was) + ['saved'] * os.path.exists(world.saved))
    was = reset()
    world.at(0, 0xc00, f'until [ -e {world.top}/r.gone ]; do sleep 0.01; done\n')
    world.run('--count --only u_codes --report r 2>&1 | { head -n 1; exec <&-; touch r.gone; }')
    has('the reader of the output goes', text_of(f'{world.top}/r.log'), '^ok 4 package 1: u_codes=', r'^1\.\.4$', wrong=world.changed(was) + ['saved'] * os.path.exists(world.saved))
    was = reset()
    for msr in (0xe45, 0xe46):
        world.put(f'gp-0-{msr:x}', '')
    text = world.run('--count --only b_mask --report r')
    has('what cannot be read is not written', text, '^# MSR 0xe45 cannot be read', 'package 0: b_mask # SKIP undetermined',
        wrong=world.changed(was))

    reset()
    text = world.run(f'--count --only u_codes --load --report r; {world.top}/f/hwcheck --count --only u_codes --report r2')
    has('after its own load the next one runs', text, *['(?s)package 1: u_codes=.*package 1: u_codes='],
        wrong=re.findall('.*SKIP.*', text))
    reset()
    os.unlink(f'{world.fake}/cpu0')
    os.mknod(f'{world.fake}/cpu0', 0o600 | stat.S_IFSOCK)
    has('an MSR device that cannot be opened', world.run('--count --report r'),
        '^1..0 # SKIP /dev/cpu/0/msr cannot be opened: No such device')
    reset()
    world.at(0, 0xc10, f'cd {world.top}; f/hwcheck --read --report r2 >r.two 2>&1\n')
    text = world.run('--count --only u_codes --report r')
    has('--read does not save what another one writes', text_of(f'{world.top}/r.two'),
        '^1..0 # SKIP another hwcheck runs', wrong=['a report'] * os.path.exists(f'{world.top}/r2'))
    reset()
    world.at(0, 0xe9e, f'cd {world.top}; f/hwcheck --read --report r2 >r.two 2>&1\n', 'read')
    text = world.run('--read --report r')
    has('two of --read do not disturb each other', text + text_of(f'{world.top}/r.two'), '(?s)^ok 2 .*^ok 2 ')

    for name in ('r', 'r.log'):
        for number in ('', '2'):
            reset()
            text = world.run(f'--count --only u_codes --report r {number}>{name}')
            has(f'{number or 1}>{name} is refused', text + text_of(f'{world.top}/{name}'),
                f'cannot be written: {name}: .*output', wrong=[str(row) for row in world.trace()])
    reset()
    for command in ('--count --only u_codes', '--read', '--read'):
        text = world.run(f'{command} --report r')
    answers = [text_of(f'{world.top}/{name}').count('"nine"') for name in ('r.1', 'r.2', 'r')
               if os.path.exists(f'{world.top}/{name}')]
    has('a report stays when the next one is written', text, '^# .* is now r.2$', wrong=[] if answers == [3, 0, 0] else [str(answers)])

    for name, script, want in (('at the start', '', 'not ok 3 a PMI of package 0'),
                               ('after an experiment', f'touch {world.fake}/busy\n', 'not ok 3 package 0: cond\n')):
        was = reset()
        world.put('nmi', '')
        world.at(0, 0xc50, script)
        if not script:
            world.put('busy', '')
        text = world.run('--pmi --only cond --report r')
        has(f'a PMI that stays pending {name} ends it', text, '^not ok . a PMI of package 0 may be pending', want,
            wrong=world.changed(was) + ['package 1 is tried'] * ('package 1: cond' in text))

    # The first process may take its signal only when the second one has ended.
    first = 'set -- $(cat /proc/$PPID/stat); '
    goes_on = ('(until ! [ -e /proc/$PPID ] || grep -qs "^State:.Z" /proc/$PPID/status; do '
               'sleep 0.01; done; kill -CONT $4) &')
    for when, order in (('', 'kill $4 $PPID'), (', late', f'kill -STOP $4; kill $4 $PPID; {goes_on}')):
        reset()
        world.at(0, 0xc40, f'truncate -s 0 {world.fake}/cpu0; {first}{order}\n')
        text = world.run('--count --only rst_all --report r')
        has(f'why it ended is said{when}, whatever cannot be put back', text,
            '^not ok . interrupted by signal 15', '^# MSR 0x.* could not be put back',
            '^not ok . registers are as they were')

    reset()
    world.at(0, 0xc40, f'{first}kill -STOP $4; kill $4; {goes_on}\n')
    text = world.run('--count --only rst_all --report r')
    has('a signal that comes when all is done ends nothing', text, '^ok . package 0: rst_all',
        wrong=['interrupted'] * ('interrupted' in text))
    reset()
    world.at(0, 0xc40, 'kill $PPID\n')
    has('the second process alone is told to end', world.run('--count --only rst_all --report r'),
        '^not ok . the process that experiments was told to end')

    was = reset()
    end, full = os.pipe()
    fcntl.fcntl(full, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen([f'{world.top}/f/hwcheck', '--count', '--limit', '5', '--report', 'r'], cwd=world.top, stdout=full) as child:
        try:
            child.wait(timeout=30)
        except subprocess.TimeoutExpired:
            child.kill()
    os.close(end)
    os.close(full)
    text = text_of(f'{world.top}/r') + text_of(f'{world.top}/r.log')
    has('a reader that does not read does not keep it from its end', text, '"confidence": "seen"', 'the time limit is reached',
        wrong=world.changed(was) + [f'status {child.returncode}'] * (child.returncode != 1))

    # Alone, before the second process and the first experiment are there
    was = reset()
    world.at(0, 0xc00, 'kill -9 $PPID\n')
    world.run('--count --report r >/dev/null')
    text = world.run(f'--restore {world.saved}')
    has('a file with nothing open is removed', text, '^nothing to restore, .* is removed', wrong=world.changed(was) +
        ['the file is still there'] * os.path.exists(world.saved))
    reset()
    with open(world.saved, 'wb'):
        pass
    has('an empty one, too', world.run(f'--restore {world.saved}'), '^nothing to restore',
        wrong=['the file is still there'] * os.path.exists(world.saved))
    reset()
    world.put('full', '')
    with open(world.saved, 'wb'):
        pass
    has('--read on a full disk leaves what another one has saved', world.run('--read --report r'),
        '^hwcheck: the report: ', wrong=['the file is gone'] * (not os.path.exists(world.saved)))
    reset()
    world.write(1, 0xc00, 1 << 28)
    text = world.run('--count --report r')
    has('a run that is refused leaves no empty report', text, '^1..0 # SKIP another program',
        wrong=[n for n in os.listdir(world.top) if n.startswith('r')])

    # Both killed, in the middle of u_codes
    was = reset()
    world.at(0, 0xc10, world.poke(0, 0xc11, 5) + 'set -- $(cat /proc/$PPID/stat); kill -9 $4 $PPID\n')
    world.run('--count --only u_codes --report r >/dev/null')
    world.write(0, 0xc10, 0x1df)
    was[0][0xc11] = 5
    log, report = text_of(f'{world.top}/r.log'), text_of(f'{world.top}/r')
    text = world.run('--count --report r')
    has('what both leave is in the file', text, f'^1..0 # SKIP .*--restore {world.saved}',
        wrong=['the journal is cut'] * (not text_of(f'{world.top}/r.log').startswith(log) or 'u_codes' not in log) +
        ['the report is cut'] * (text_of(f'{world.top}/r') != report))
    with open(world.saved, 'rb') as f:
        image = f.read()
    busy = bytearray(image)
    at = image.index(struct.pack('<IIQ', 0xc00, 0, 0))
    busy[at + 8:at + 16] = struct.pack('<Q', 1 << 28)

    def restore_refused(name, why, data, mode=0o600):
        for path in ('saved2', 'saved3'):
            if os.path.lexists(f'{world.top}/{path}'):
                os.unlink(f'{world.top}/{path}')
        with open(f'{world.top}/saved2', 'wb') as f:
            f.write(data)
        os.chmod(f'{world.top}/saved2', mode)
        os.symlink('saved2', f'{world.top}/saved3')
        before = world.trace()
        text = world.run('--restore ' + ('saved3' if mode == 0 else 'saved2'))
        has(f'--restore refuses {name}', text, why, wrong=['it has written'] * (world.trace() != before))

    restore_refused('a link', 'symbolic', image, 0)
    restore_refused('what others can write', 'root alone', image, 0o666)
    restore_refused('half a file', 'not completely', image[:5000])
    restore_refused('en_all', 'another version or machine', bytes(busy))
    restore_refused('an earlier start', 'last start of the kernel', image.replace(b'this\0', b'that\0'))
    text = world.run(f'--restore {world.saved}')
    has('--restore restores', text, '^package 0 is as it was', wrong=world.changed(was) +
        ['the file is still there'] * os.path.exists(world.saved))

    reset()
    os.symlink('nowhere', world.saved)
    has('a link in place of the file', world.run('--count --report r'), '^1..0 # SKIP .*registers are saved first')
    for path in ('r', 'r.log'):
        reset()
        with open(f'{world.top}/r.else', 'w', encoding='utf-8') as f:
            f.write('precious')
        os.link(f'{world.top}/r.else', f'{world.top}/{path}')
        text = world.run('--count --only u_codes --report r')
        has(f'a second name of another file in place of {path}', text, 'cannot be written: .* one name',
            wrong=['it is written'] * (text_of(f'{world.top}/r.else') != 'precious'))
    reset()
    with open(f'{world.top}/r', 'w', encoding='utf-8') as f:
        os.chmod(f.name, 0o666)
    has('a report that others can write', world.run('--count --only u_codes --report r'), 'cannot be written: ')
    has('a report that is no file', world.run('--count --report /dev/null'), 'no regular file')
    world.reset()
    world.write(1, 0xc01, 1 << 30 | 8)
    has('an overflow that was left', world.run('--count --report r'),
        '^1..0 # SKIP .*package 1.* wrmsr -p 1 0xc02 0x40000008')
    world.reset()
    world.put('sys/module/ipmi_watchdog/parameters/preaction', 'pre_nmi\n')
    world.put('sys/module/ipmi_watchdog/parameters/preop', 'preop_panic\n')
    text = world.run('--count --only cond --rep=r --limit 9')
    has('a BMC watchdog that panics', text, 'preop_none', 'cond # SKIP not run')
    with open(f'{world.top}/r', encoding='utf-8') as f:
        options = json.load(f)['options']
    ktap.result('the report has the options, but no name of a file',
                [] if options == '--count --only cond --limit 9' else [options])
    world.reset()
    text = world.run('--count --only uncore_clock --report r')
    has('a clock that does not count changes nothing', text, 'package 1: uncore_clock # SKIP undetermined',
        '^# not run, by hand: m_dram_cmd: .* r_ndr_any: ')


ktap = Ktap()
with tempfile.TemporaryDirectory() as directory:
    made = subprocess.run(['make', '-s', '-C', f'{TOP}/tools/hwcheck', f'OUTPUT={directory}/b', 'REPORT_TO=x@y',
                           'CFLAGS=-O2 -Werror'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding='utf-8', check=False)
    ktap.result('it is built without a warning, and its size is said',
                [] if re.fullmatch(r'\S+/hwcheck: \d+ KB\n', made.stdout) else [made.stdout])

    def hwcheck(command):
        """Status and output, in an empty directory."""
        os.makedirs(f'{directory}/d', exist_ok=True)
        done = subprocess.run(['sh', '-c', f'exec {directory}/b/hwcheck {command}'], cwd=f'{directory}/d',
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False)
        return done.returncode, done.stdout

    def refused(command, status, why):
        got, text = hwcheck(command)
        left = os.listdir(f'{directory}/d')
        ktap.result(f'{command or "no option"} is refused', [] if got == status and re.search(why, text) and
                    not left else [f'status {got}', text, *left])

    for command, why in {
            '': 'usage:', '--no-such': 'usage:', '--count x': 'usage:', '--count --pmi': 'one of --read',
            '--count --only no_such': 'no such experiment.*no_such',
            '--read --only cond': 'needs --count or --pmi: cond',
            '--count --only debugctl_13': 'needs --pmi: debugctl_13', '--count --limit 0': '0.1 to 86400 seconds',
            '--count --limit nan': 'not nan', '--count --keep-rules --only m_lock': 'breaks a rule: m_lock',
            '--count --limit 5x': 'not 5x', '--count --package one': 'a number, not one',
            '--count --restore x': 'usage:', '--only cond': 'usage:'}.items():
        refused(command, 2, why)
    for command in ('--read', '--count', '--pmi', '--restore /nowhere', '--pmi --load'):
        refused(command, 4, '1..0 # SKIP this is ')
    refused('--pmi <&- >&- 2>&-', 4, '^$')
    for command in '--count --dry-run', '--version', '--help':
        refused(f'{command} >/dev/full', 2, 'hwcheck: the output cannot be written')
    refused('--restore /nowhere --dry-run', 2, '--dry-run is of --read, --count and --pmi')

    def writes(level):
        """{experiment: [(register, bits, what it is)]} of --dry-run."""
        found = {}
        for row in hwcheck(f'{level} --dry-run')[1].splitlines():
            head = re.match(r'--\w+ +(\w+)', row)
            bits = re.match(r'#   MSR 0x(\w+), bits (0x\w+): (.*)', row)
            if head:
                name = head.group(1)
                found[name] = []
            elif bits:
                found[name].append((int(bits.group(1), 16), int(bits.group(2), 16), bits.group(3)))
        return found

    count, pmi = writes('--count'), writes('--pmi')
    ktap.result('--count writes uncore registers alone', [
        f'{name}: {row}' for name, rows in count.items() for row in rows
        if not (0xc00 <= row[0] <= 0xfff or row[0] in (0x394, 0x395))] + ['nothing'] * (not count) +
        [name for name, rows in count.items() if len(rows) < 3])
    for what, register, mask, where in (('selects no core', 0xc00, 0x1fe, set()), ('rst_all', 0xc00, 1 << 29, RST),
                                        ('frz_all', 0xc00, 1 << 31, PMI_EN), ('pmi_en', 0xc50, 1 << 20, PMI_EN),
                                        ('STATUS', 0xc41, ~0, {'status_write'})):
        got = {name for name, rows in count.items() for r, b, _ in rows if r == register and b & mask}
        ktap.result(f'--count: {what}, where the page says so', [] if got == where else [str(got ^ where)])
    kept = count.keys() - writes('--count --keep-rules').keys()
    ktap.result('--keep-rules leaves out what the page says', [] if kept == BREAKS else [str(kept ^ BREAKS)])
    for register in (0x1d9, 0x390):
        got = {n for n, rows in pmi.items() if any(r == register for r, _, _ in rows)}
        ktap.result(f'--pmi adds what interrupts: {register:#x}',
                    [] if got == pmi.keys() - count.keys() != set() else [str(got)])
    page = text_of('Documentation/hwcheck.md')
    ktap.result('the page has their number', [] if f'{len(count)} experiments, {len(count) - 1} of them' in page and
                len(pmi) - len(count) == 5 else [f'{len(count)} and {len(pmi)}'])
    world = World(directory)
    if world.built:
        ktap.result('it is built against files', [world.built])
    else:
        in_files(world, count)
    only = hwcheck('--pmi --only pmi_core_sel --dry-run')[1]
    ktap.result('--only has what it needs', [] if re.findall(r'^--\w+ +(\w+)', only, re.M) ==
                ['debugctl_13', 'pmi_core_sel'] else [only])
    options = set(re.findall(r'--[a-z-]+', hwcheck('--help')[1]))
    manual = set(re.findall(r'--[a-z-]+', text_of('Documentation/man/hwcheck.8').replace('\\-', '-')))
    ktap.result('the man page has each option', sorted(options ^ manual - {'--help'}) + ['none'] * (len(options) < 10))
sys.exit(ktap.end())
