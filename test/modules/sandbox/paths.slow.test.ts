/**
 * Tests the paths that `read` and `write` open, and that concurrent runs in one folder keep their protection, with real
 * sandboxes.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxPlan } from '../../../schemas/generated/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import type { User } from './run-sandboxed.ts';
import { noSandbox, runSandboxed, USERS } from './run-sandboxed.ts';

const SECRET = 'CANARY-51d0';

/** A machine's folders with files, owned by the user, outside the hidden temporary folders. */
function place(t: TestContext, user: User, files: readonly string[]) {
  const root = mkdtempSync('/var/tmp/hookwright-paths-');
  atEnd(t, () => rmSync(root, { recursive: true, force: true }));
  const [home, userHome] = [join(root, 'user/.hookwright'), join(root, 'user')];
  for (const file of ['user/.ssh/id', 'user/.hookwright/.env', ...files]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), file.startsWith('user/.') ? SECRET : file);
  }
  const run = (plan: Partial<SandboxPlan>, script: string, cwd = join(home, 'work/run')) => {
    if (user === 'plain') spawnSync('chown', ['-R', '65534:65534', root]);
    const whole = { network: [], read: [], write: [], ...plan };
    const request = { argv: ['bash', '-c', script], stdin: '', cwd, plan: whole };
    return { root, home, userHome, hidden: [], runs: [request] };
  };
  return { root, userHome, run };
}

/** Prints each writable path. */
const WRITE = 'w() { for path; do ( echo x >>"$path" ) 2>/dev/null && basename "$path"; done; }; ';

for (const user of USERS) {
  describe(`paths of a sandbox as ${user}`, { skip: noSandbox, concurrency: 1 }, () => {
    test('a writable folder, file or work folder may be below a readable folder', async (t) => {
      const { root, userHome, run } = place(t, user, [
        'user/proj/readme',
        'user/proj/log',
        'user/proj/out/old',
        'user/proj/out/sub/.git/HEAD',
        'user/proj/work/x',
      ]);
      const script = `${WRITE} cd ~/proj; cat readme log; w out/new out/old log work/here readme no out/sub/.git/hooks/pre-commit; cat ~/.ssh/id ~/.hookwright/.env; ls ~`;
      const plan = { read: ['~/proj'], write: ['~/proj/out', '~/proj/log'] };
      const [result] = await runSandboxed(user, run(plan, script, join(userHome, 'proj/work')));
      assert.equal(result?.stdout, 'user/proj/readmeuser/proj/lognew\nold\nlog\nhere\nproj\n', result?.stderr);
      assert.equal(readFileSync(join(root, 'user/proj/log'), 'utf8'), 'user/proj/logx\n');
    });

    test('in a readable home, one folder can be writable, and the gateway home stays hidden', async (t) => {
      const { run } = place(t, user, ['user/cfg/a', 'user/b']);
      const script = `${WRITE} cat ~/b; w ~/cfg/new ~/no; cat ~/.hookwright/.env`;
      const [result] = await runSandboxed(user, run({ read: ['~'], write: ['~/cfg'] }, script));
      assert.equal(result?.stdout, 'user/bnew\n', result?.stderr);
    });

    test('with a readable gateway home, the work folder in it stays writable', async (t) => {
      const { run } = place(t, user, []);
      const [result] = await runSandboxed(
        user,
        run({ read: ['~/.hookwright'] }, `${WRITE} cat ~/.hookwright/.env; w here ../no`),
      );
      assert.equal(result?.stdout, `${SECRET}here\n`, result?.stderr);
    });

    test('a symbolic link is followed, and visible under its name', async (t) => {
      const { root, userHome, run } = place(t, user, [
        'user/dotfiles/claude/a',
        'user/dotfiles/other',
        'user/dotfiles/r',
        'else/codex/a',
        'else/work/a',
      ]);
      symlinkSync('dotfiles/claude', join(userHome, '.claude'));
      symlinkSync('.claude', join(userHome, '.again'));
      symlinkSync(join(root, 'else/codex'), join(userHome, '.codex'));
      symlinkSync('dotfiles/r', join(userHome, '.r'));
      symlinkSync(join(root, 'else'), join(userHome, 'projects'));
      const script = `${WRITE} cat ~/.claude/a ~/.again/a ~/.codex/a ~/.r; w ~/.again/new1 ~/.claude/new3 ~/.codex/new2 ~/projects/work/new4 ~/.r here; cat ~/dotfiles/other; ls -A ~`;
      const plan = { read: ['~/.r'], write: ['~/.again', '~/.codex'] };
      const [result] = await runSandboxed(user, run(plan, script, join(userHome, 'projects/work')));
      const read = ['user/dotfiles/claude/a', 'user/dotfiles/claude/a', 'else/codex/a', 'user/dotfiles/r'].join('');
      const listed = '.again\n.claude\n.codex\n.r\ndotfiles\nprojects\n';
      assert.equal(result?.stdout, `${read}new1\nnew3\nnew2\nnew4\nhere\n${listed}`, result?.stderr);
      assert.ok(existsSync(join(root, 'user/dotfiles/claude/new1')));
      assert.deepEqual(result?.denied, [join(userHome, '.r')]);
    });

    test('a link that a program may have created is not followed, and the record says so', async (t) => {
      const { userHome, run } = place(t, user, ['user/w/a', 'user/other/a', 'user/more/a']);
      for (const folder of ['w', 'other', 'more']) symlinkSync('../.ssh', join(userHome, folder, 'cfg'));
      const plan = { read: ['~/w/cfg', '~/other/cfg', '~/more/cfg'], write: ['~/w'] };
      const walls = { hidden: [join(userHome, 'other')], written: ['~/more'] };
      const {
        runs: [one],
        ...options
      } = run(plan, 'cat ~/w/a; cat ~/*/cfg/id ~/.ssh/id');
      assert.ok(one !== undefined);
      const [result] = await runSandboxed(user, { ...options, runs: [{ ...one, walls }] });
      assert.equal(result?.stdout, 'user/w/a', result?.stderr);
      for (const folder of ['w', 'other', 'more']) {
        const line = `read ~/${folder}/cfg: a program may have created the link ${userHome}/${folder}/cfg`;
        assert.ok(result.denied.includes(line), result.denied.join('\n'));
      }
    });

    test('a missing writable folder is created in the home; other missing paths are in the record', async (t) => {
      const { root, userHome, run } = place(t, user, []);
      const plan = { read: ['~/none'], write: ['~/.new/x', '~/.tool.json', '/var/lib/hookwright-none'] };
      const [result] = await runSandboxed(user, run(plan, `${WRITE} w ~/.new/x/here`));
      assert.equal(result?.stdout, 'here\n', result?.stderr);
      assert.equal(statSync(join(root, 'user/.new/x')).mode & 0o777, 0o700);
      assert.deepEqual(
        result?.denied.filter((line) => / does not exist$/.test(line)),
        [
          'read ~/none: does not exist',
          'write ~/.tool.json: does not exist',
          'write /var/lib/hookwright-none: does not exist',
        ],
      );
      assert.ok(!existsSync(join(userHome, '.tool.json')));
    });

    test('a missing temporary folder is reported with its variable', async (t) => {
      const { userHome, run } = place(t, user, []);
      const env = { TMPDIR: join(userHome, 'none'), TSX_DISABLE_CACHE: '1' };
      await assert.rejects(
        runSandboxed(user, run({}, 'true'), env),
        /\$TMPDIR is \S+\/user\/none, which does not exist/,
      );
    });

    test('a run is alone in its folder, so that no other run ends its protection', async (t) => {
      const { userHome, run } = place(t, user, ['user/proj/a']);
      const cwd = join(userHome, 'proj');
      const {
        runs: [one],
        ...options
      } = run({}, '', cwd);
      assert.ok(one !== undefined);
      const of = (script: string) => ({ ...one, argv: ['bash', '-c', script] });
      const evil =
        'for f in .mcp.json .bashrc .vscode .claude/commands/x; do ( echo evil >$f ) 2>/dev/null && echo "WROTE $f"; done';
      // If both ran in it at once, the first to end would remove the protection of the other.
      const runs = [of(`for i in {1..30}; do ${evil}; sleep .1; done; echo ended`), of(`${evil}; echo ended`)];
      const results = await runSandboxed(user, { ...options, together: true, runs });
      assert.deepEqual(
        results.map(({ code, stdout }) => [code, stdout]),
        [
          [0, 'ended\n'],
          ['another run is using its folder', ''],
        ],
      );
      const [again] = await runSandboxed(user, { ...options, runs: [of(`${evil}; echo ended`)] });
      assert.equal(again?.stdout, 'ended\n', again?.stderr);
      assert.deepEqual(readdirSync(cwd), ['a']);
    });

    for (const named of [['.'], ['gw', 'keys', 'odd']]) {
      test(`a hidden file that is replaced during a run stays hidden, and files beside it stay readable: ${named.join()}`, async (t) => {
        const { root, userHome, run } = place(t, user, [
          ...[
            'gw/hookwright.yaml',
            'gw/.env',
            'gw/readme',
            'gw/src/a',
            'gw/src/rules/more.yaml',
            'gw/src/rules/b',
            'gw/src/tables/t',
            'gw/src/tables/u',
          ],
          ...['gw/out/old', 'gw/log', 'keys/..1/key', 'keys/..1/cert', 'odd/[a] b/secret', 'odd/[a] b/c'],
        ]);
        const [cwd, at] = [join(userHome, '.hookwright/work/run'), (path: string) => join(root, path)];
        // Replaced through one link, as Kubernetes mounts secrets.
        for (const [path, target] of [
          ...[['keys/..data', '..1'] as const, ['gw/nowhere', 'none'] as const],
          ...['key', 'cert'].map((name) => [`keys/${name}`, `..data/${name}`] as const),
        ])
          symlinkSync(target, at(path));
        const secrets = ['gw/hookwright.yaml', 'gw/.env', 'gw/src/rules/more.yaml', 'keys/key', 'odd/[a] b/secret'];
        const paths = [...secrets, 'keys/..data/key', 'keys/..1/key', 'gw/made', 'gw/src/tables/u']
          .map((path) => `'${path}'`)
          .join(' ');
        const look = `for path in ${paths}; do cat "$path"; w "$path"; done; cat gw/readme gw/src/a gw/src/rules/b keys/cert odd/*/c; w gw/readme {gw,gw/src,gw/src/rules,keys}/no gw/out/new gw/log; ls -A gw keys`;
        const script = `${WRITE} cd ${root}; ${look}; touch ~-/ready; until [ -e ~-/go ]; do sleep .1; done; echo; ${look}`;
        const plan = { read: named.map(at), write: ['gw/out', 'gw/log'].map(at) };
        const running = runSandboxed(user, {
          ...run(plan, script, cwd),
          hidden: [...secrets, 'gw/src/tables', 'gw/src/tables/t'].map(at),
        });
        let isOver = false;
        void running.catch(() => {}).finally(() => (isOver = true));
        while (!existsSync(join(cwd, 'ready')) && !isOver) await sleep(50);
        const replace = (make: (path: string) => void, path: string): void => {
          make(at('replacement'));
          renameSync(at('replacement'), at(path));
        };
        for (const path of [...secrets.filter((each) => each !== 'keys/key'), 'keys/..1/key', 'gw/made'])
          replace((name) => writeFileSync(name, SECRET), path);
        mkdirSync(at('keys/..2'));
        writeFileSync(at('keys/..2/key'), SECRET);
        replace((name) => symlinkSync('..2', name), 'keys/..data');
        writeFileSync(join(cwd, 'go'), '');
        const [result] = await running;
        const listed = 'gw:\nlog\nnowhere\nout\nreadme\nsrc\n\nkeys:\n..1\n..data\ncert\n';
        const seen = `gw/readmegw/src/agw/src/rules/bkeys/..1/certodd/[a] b/cnew\nlog\n${listed}`;
        assert.equal(result?.stdout, `${seen}\n${seen}`, result?.stderr);
      });
    }

    test('a program in the folder of the configuration cannot read, change, create or move its files', async (t) => {
      const { root, run } = place(t, user, [
        ...['gw/hookwright.yaml', 'gw/build/routes.json', 'gw/conf/rules/more.yaml', 'gw/conf/rules/own', 'gw/src/a'],
      ]);
      const [cwd, at] = [join(root, 'gw'), (path: string) => join(root, 'gw', path)];
      const hidden = ['hookwright.yaml', '.env', 'build', 'conf/rules/more.yaml', 'conf/local.yaml'].map(at);
      const kept = ['hookwright.yaml', 'build/routes.json', 'conf/rules/more.yaml'];
      const attempts = [
        `${WRITE} w .env hookwright.yaml build/routes.json build/other conf/rules/more.yaml conf/local.yaml src/a here`,
        'cat hookwright.yaml build/routes.json conf/rules/more.yaml',
        'rm -rf build hookwright.yaml conf',
        'mkdir new; echo evil >new/routes.json; echo evil >new/more.yaml; echo evil >e',
        'mv build b2; mv conf c2; mv conf/rules c3; mv hookwright.yaml h2; mv -T new build; mv -T new conf; mv e .env; mv e hookwright.yaml',
        'ln -s e .env; ln e .env; ln -s new build; mkdir -p conf/rules && cp new/more.yaml conf/rules/',
      ];
      for (const plan of [{}, { write: [cwd] }]) {
        const place = plan.write === undefined ? cwd : join(root, 'user/.hookwright/work/run');
        const script = `cd ${cwd}; ${attempts.join('; ')}`;
        const [result] = await runSandboxed(user, { ...run(plan, script, place), hidden });
        assert.equal(result?.stdout, 'a\nhere\n', result?.stderr);
        for (const path of kept) assert.equal(readFileSync(at(path), 'utf8'), `gw/${path}`);
        for (const path of ['.env', 'conf/local.yaml', 'build/other'].map(at))
          assert.ok(!existsSync(path) || statSync(path).size === 0, path);
      }
    });

    test('files that the gateway uses are readable, but cannot be changed, created or moved unless named', async (t) => {
      const { root, run } = place(t, user, [
        ...['proj/lists/allow.txt', 'proj/own.txt', 'proj/src/a', 'proj/agent', 'proj/shared/SKILL.md', 'proj/bin/x'],
        'skills/one/x',
      ]);
      const at = (path: string): string => join(root, path);
      symlinkSync(at('proj/shared/SKILL.md'), at('skills/one/SKILL.md'));
      const kept = ['proj/lists/allow.txt', 'proj/own.txt', 'proj/none/deny.txt', 'proj/agent', 'skills'].map(at);
      const attempts = [
        `${WRITE} w lists/allow.txt none/deny.txt agent shared/SKILL.md bin/x bin/bwrap own.txt src/a here`,
        'rm -rf lists agent shared none; mv lists l2; mv shared s2; mv agent a2; mv bin b2; echo evil >e; mv e lists/allow.txt; mv e agent',
        'mkdir -p lists none; ln -s ../src/a lists/allow.txt; ln -s ../src/a none/deny.txt; cat lists/allow.txt shared/SKILL.md',
      ];
      const plan = { write: [at('proj'), at('proj/own.txt')] };
      const env = { PATH: `${at('proj/bin')}:${process.env.PATH}` };
      const [result] = await runSandboxed(
        user,
        { ...run(plan, `cd ${at('proj')}; ${attempts.join('; ')}`), kept },
        env,
      );
      assert.equal(result?.stdout, 'own.txt\na\nhere\nproj/lists/allow.txtproj/shared/SKILL.md', result?.stderr);
      for (const path of ['proj/lists/allow.txt', 'proj/agent', 'proj/shared/SKILL.md', 'proj/bin/x'])
        assert.equal(readFileSync(at(path), 'utf8'), path);
      for (const path of ['proj/none/deny.txt', 'proj/bin/bwrap']) assert.ok(!existsSync(at(path)), path);
    });

    test('a folder with more repositories than fit on a command line', async (t) => {
      const { userHome, run } = place(t, user, ['user/proj/a']);
      const cwd = join(userHome, 'proj');
      for (let at = 0; at < 160; at++) mkdirSync(join(cwd, `${at}-${'x'.repeat(200)}/.git/hooks`), { recursive: true });
      for (const name of readdirSync(cwd).filter((each) => each !== 'a'))
        writeFileSync(join(cwd, name, '.git/HEAD'), '');
      const script = `${WRITE} w here ~/no */.git/hooks/pre-commit; cat ~/.ssh/id`;
      const [result] = await runSandboxed(user, run({}, script, cwd));
      assert.equal(result?.stdout, 'here\n', JSON.stringify(result).slice(0, 500));
    });
  });
}
