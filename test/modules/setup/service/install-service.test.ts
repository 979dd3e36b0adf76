import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CliError } from '../../../../cli/base/errors.ts';
import type { InstallRequest, ServiceMachine } from '../../../../modules/setup/cli/service/plan-install.ts';
import { planInstall, runInstall } from '../../../../modules/setup/cli/service/plan-install.ts';

const PROGRAM = ['/usr/bin/node', '/usr/lib/node_modules/hookwright/dist/cli/main.js'];
const REQUEST: InstallRequest = {
  scope: 'user',
  program: PROGRAM,
  config: '/home/jo/my hooks/100%/hookwright.yaml',
  failOn: ['lost'],
  home: null,
  installed: () => null,
  userHome: '/home/jo',
  userName: 'jo',
  path: '/home/jo/bin:/usr/bin',
};

/** A fake machine that records every change. */
function fakeMachine(parts: Partial<ServiceMachine> & { readonly files?: Record<string, string> } = {}) {
  const files: Record<string, string> = { [REQUEST.config ?? '']: 'platforms: {}', ...parts.files };
  const ran: string[] = [];
  const machine: ServiceMachine = {
    isRoot: false,
    userName: 'jo',
    hasSystemd: true,
    read: (path) => files[path] ?? null,
    write: (path, text) => {
      files[path] = text;
    },
    run: (argv) => {
      ran.push(argv.join(' '));
      return null;
    },
    ...parts,
  };
  return { machine, files, ran };
}

const UNIT = '/home/jo/.config/systemd/user/hookwright.service';
const target = (notes: string[] = []) => ({
  scope: REQUEST.scope,
  config: REQUEST.config ?? '',
  note: (line: string) => void notes.push(line),
});
const refusal = (part: RegExp) => (error: CliError) => part.test([error.message, ...error.hints].join('\n'));

describe('gateway install-service', () => {
  test('writes a user unit, starts it now and at boot, and prints each step first', () => {
    const { machine, files, ran } = fakeMachine();
    const notes: string[] = [];
    runInstall(machine, planInstall(REQUEST), target(notes));
    assert.match(
      files[UNIT] ?? '',
      /^ExecStart=.* gateway run --config "\/home\/jo\/my hooks\/100%%\/hookwright.yaml" --fail-on lost$/m,
    );
    assert.match(files[UNIT] ?? '', /^Environment="PATH=\/home\/jo\/bin:\/usr\/bin"$/m);
    assert.deepEqual(ran, [
      'systemctl --user daemon-reload',
      'systemctl --user enable hookwright.service',
      'systemctl --user restart hookwright.service',
      'loginctl enable-linger jo',
    ]);
    assert.equal(notes[0], `write ${UNIT}`);
    assert.equal(notes.length, 1 + ran.length + 1);
    runInstall(machine, planInstall(REQUEST), target());
  });

  test('each home has its own unit, and one that has the usual name keeps it', () => {
    const unitOf = (request: Partial<InstallRequest>): string =>
      planInstall({ ...REQUEST, ...request }).flatMap((step) => (step.kind === 'write' ? [step.path] : []))[0] ?? '';
    const [shop, other] = ['/home/jo/shop/state', '/home/jo/other/shop/state'].map((home) => unitOf({ home }));
    assert.match(shop ?? '', /\/hookwright-shop-[0-9a-f]{6}\.service$/);
    assert.match(other ?? '', /\/hookwright-shop-[0-9a-f]{6}\.service$/);
    assert.notEqual(shop, other);
    const { machine, files, ran } = fakeMachine();
    runInstall(machine, planInstall({ ...REQUEST, home: '/home/jo/shop/state' }), target());
    assert.match(files[shop ?? ''] ?? '', /^Environment="HOOKWRIGHT_HOME=\/home\/jo\/shop\/state"$/m);
    assert(ran.every((line) => !line.includes(' hookwright.service')));
    const kept = { home: '/srv/old', installed: () => 'Environment="HOOKWRIGHT_HOME=/srv/old"' };
    assert.equal(unitOf(kept), UNIT);
    assert.notEqual(unitOf({ ...kept, home: '/srv/old2' }), UNIT);
    assert.match(unitOf({ scope: 'system', home: '/var/lib/shop' }), /^\/etc\/systemd\/system\/hookwright-lib-/);
    assert.throws(() => unitOf({ scope: 'system', home: '/home/jo/shop/state' }), refusal(/\/var\/lib/));
  });

  test('changes nothing without systemd, without a configuration, or over a foreign unit', () => {
    for (const [parts, part] of [
      [{ hasSystemd: false }, /gateway run --config/],
      [{ files: { [REQUEST.config ?? '']: undefined } }, /hookwright init/],
      [{ files: { [UNIT]: '[Unit]\n' } }, /not written by this command/],
    ] as const) {
      const { machine, ran } = fakeMachine(parts as Parameters<typeof fakeMachine>[0]);
      assert.throws(() => runInstall(machine, planInstall(REQUEST), target()), refusal(part));
      assert.deepEqual(ran, []);
    }
  });

  test('requires root for the machine, and a program that a service can read', () => {
    const { machine } = fakeMachine();
    const system = planInstall({ ...REQUEST, scope: 'system', config: null });
    assert.throws(() => runInstall(machine, system, { ...target(), scope: 'system' }), refusal(/sudo hookwright/));
    const hidden = { ...REQUEST, scope: 'system', program: ['/home/jo/.nvm/node', 'main.js'] } as const;
    assert.throws(() => planInstall(hidden), refusal(/^/));
  });

  test('stops at a failed step and names it', () => {
    const { machine } = fakeMachine({ run: ([program]) => (program === 'systemctl' ? 'exit 1' : null) });
    assert.throws(
      () => runInstall(machine, planInstall(REQUEST), target()),
      refusal(/systemctl --user daemon-reload: .*1/),
    );
  });
});
