/**
 * Programs that really try to leave a sandbox, as root and as a plain user; each attempt prints its result. None may obtain a
 * secret of this file, reach an unlisted server, or change anything outside.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { atEnd } from '../../helpers/at-end.ts';
import type { User } from './run-sandboxed.ts';
import { noSandbox, runSandboxed, USERS } from './run-sandboxed.ts';

/** A program that prints it has escaped. */
const SECRET = 'CANARY-7f3a';
/** A sleep time in seconds that no other process uses, in any run of the tests. */
const STAYS = `3125.${process.pid}`;

interface Machine {
  readonly user: User;
  readonly root: string;
  readonly home: string;
  readonly userHome: string;
  readonly work: string;
  readonly other: string;
  readonly config: string;
  /** A process of the same user. */
  readonly victim: number;
  readonly ports: { readonly listed: number; readonly closed: number; readonly udp: number };
  readonly abstract: string;
  /** Evidence of an access that must not be possible. */
  readonly hits: string[];
}

interface Attempt {
  readonly name: string;
  /** A script of sh; its output is checked. */
  readonly script: (place: Machine) => string;
  /** Text that the run's record must contain; undefined: the system reports nothing. */
  readonly denied?: (place: Machine) => string;
}

/** A script of Node.js, for attempts that sh cannot make. */
const node = (code: string): string => `node -e ${quote(code)}`;
const connect = (options: string): string =>
  node(
    `const s=require("net").connect(${options});s.on("connect",()=>{s.write("x");console.log("CONNECTED")});s.on("error",(e)=>console.log(e.code));setTimeout(()=>process.exit(),1000)`,
  );
const curl = (url: string): string => `curl -sS -m 10 '${url}'`;

const ATTEMPTS: readonly Attempt[] = [
  // Files and memory of other processes.
  { name: 'the environment of every process', script: () => 'cat /proc/[0-9]*/environ | tr "\\0" "\\n"' },
  {
    name: 'the command lines of every process',
    script: () => 'ps -ef; cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -o "sandbox-process.*"',
  },
  {
    name: 'the memory of its parents',
    script: () =>
      'for p in $PPID 1 2 3; do dd if=/proc/$p/mem bs=4096 count=1 skip=1024 2>&1; cat /proc/$p/maps | head -1; done',
  },
  { name: 'the root folder of other processes', script: ({ home }) => `cat /proc/[0-9]*/root${home}/.env` },
  {
    name: 'the open files of other processes',
    script: () => 'ls -l /proc/1/fd /proc/$PPID/fd; cat /proc/1/fd/* </dev/null',
  },
  { name: '.env', script: ({ home }) => `cat ${home}/.env` },
  { name: 'the files of the store', script: ({ home }) => `cat ${home}/state.db ${home}/*.db*` },
  { name: 'the configuration', script: ({ config }) => `cat ${config}` },
  { name: "another run's folder", script: ({ home }) => `cat ${home}/work/runs/*/secret` },
  { name: "another agent's folder", script: ({ other }) => `cat ${other}/secret` },
  { name: "the user's home", script: ({ userHome }) => `cat ${userHome}/.ssh/id` },
  { name: '/run', script: () => 'find /run -mindepth 1' },
  { name: 'the settings of the sandbox', script: () => 'cat $TMPDIR/../control/* /tmp/hw-*/control/settings.json' },
  { name: 'a symbolic link to a file', script: ({ home }) => `ln -s ${home}/.env link; cat link` },
  { name: 'a symbolic link to the folder above', script: () => 'ln -s ../../.. up; cat up/.env' },
  { name: 'a hard link to the configuration', script: ({ config }) => `ln ${config} hard && cat hard` },
  { name: 'names with ..', script: () => 'cat ../../../.env ../other/secret ./../../../.env' },
  // Changes outside the sandbox.
  {
    name: 'writing to /etc',
    script: () => 'echo x >/etc/hookwright-escape',
    denied: () => '/etc/hookwright-escape',
  },
  {
    name: 'writing to the home of the gateway',
    script: ({ home }) => `echo x >${home}/escape`,
    denied: ({ home }) => `${home}/escape`,
  },
  {
    name: "writing to the user's home",
    script: ({ userHome }) => `echo x >${userHome}/.bashrc`,
    denied: ({ userHome }) => `${userHome}/.bashrc`,
  },
  { name: 'changing the configuration', script: ({ config }) => `echo x >>${config}`, denied: ({ config }) => config },
  { name: 'replacing the configuration', script: ({ config }) => `echo x >new; mv -f new ${config}; rm -f ${config}` },
  {
    name: 'writing through a symbolic link',
    script: ({ root }) => `ln -s ${root} out; echo x >out/escape`,
  },
  { name: 'writing with ..', script: () => 'echo x >../escape; mkdir ../escape-folder' },
  { name: 'moving the work folder away', script: ({ work }) => `mv ${work} ${work}-moved; mv ../../runs ../../moved` },
  { name: 'writing to what the runtime opens', script: () => 'echo x >/tmp/claude/escape' },
  {
    name: 'changing the runtime',
    script: () => `echo x >>${join(dirname(import.meta.dirname), 'sandbox', 'escape')}; echo x >>$(command -v bwrap)`,
  },
  { name: 'a device', script: () => 'mknod disk b 254 0; cat disk | head -c 16; cat /dev/vda /dev/mem | head -c 16' },
  { name: 'shared memory of the machine', script: () => 'echo x >/dev/shm/hookwright-escape' },
  {
    name: 'a setting of the kernel',
    script: () => 'echo "|/bin/false" >/proc/sys/kernel/core_pattern',
    denied: () => '/proc/sys/kernel/core_pattern',
  },
  {
    name: 'the settings in /sys',
    script: () => 'for f in /sys/kernel/uevent_helper /sys/fs/cgroup/*/release_agent; do echo /bin/false >$f; done',
  },
  // Other namespaces.
  { name: 'mounting', script: () => 'mount -t tmpfs none /etc && echo MOUNTED; mount -o remount,rw / && echo MOUNTED' },
  {
    name: 'unmounting what hides',
    script: ({ home }) => `umount ${home} /tmp /proc && echo UNMOUNTED; cat ${home}/.env`,
  },
  {
    name: 'new namespaces',
    script: ({ home }) => `unshare -Urm sh -c "umount -l ${home}; cat ${home}/.env" && echo ENTERED`,
  },
  {
    name: 'the namespaces of others',
    script: ({ home }) =>
      `for p in 1 2 $PPID; do nsenter -t $p -a cat ${home}/.env; nsenter -t $p -m cat ${home}/.env; done`,
  },
  { name: 'another root folder', script: ({ home }) => `chroot /proc/1/root cat ${home}/.env` },
  {
    name: 'a program with the rights of its owner',
    script: () => 'su -c "cat /etc/shadow" root </dev/null; grep NoNewPrivs:.0 /proc/self/status && echo PRIVILEGES',
  },
  // Hosts.
  { name: 'a host that is not listed', script: () => curl('https://example.com/'), denied: () => 'example.com:443' },
  { name: 'an address that is not listed', script: () => curl('http://192.0.2.1/'), denied: () => '192.0.2.1:80' },
  {
    name: 'a name that leads to this machine',
    script: ({ ports }) => curl(`http://${hostname()}:${ports.closed}/`),
    denied: ({ ports }) => `${hostname()}:${ports.closed}`,
  },
  {
    name: 'another port of a listed address',
    script: ({ ports }) => curl(`http://127.0.0.1:${ports.closed}/`),
    denied: ({ ports }) => `127.0.0.1:${ports.closed}`,
  },
  {
    name: 'other spellings of an address',
    script: ({ ports }) =>
      ['2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0', '127.1']
        .map((host) => curl(`http://${host}:${ports.closed}/`))
        .join('; '),
  },
  {
    name: 'a redirect of a listed host',
    script: ({ ports }) => `curl -sS -L -m 10 http://127.0.0.1:${ports.listed}/redirect`,
    denied: ({ ports }) => `127.0.0.1:${ports.closed}`,
  },
  {
    name: 'the metadata of a cloud',
    script: () => curl('http://169.254.169.254/latest/'),
    denied: () => '169.254.169.254:80',
  },
  { name: 'a connection past the proxy', script: ({ ports }) => connect(`${ports.closed},"127.0.0.1"`) },
  {
    name: 'the other proxy',
    script: ({ ports }) => `curl -sS -m 10 -x socks5h://localhost:1080 http://127.0.0.1:${ports.closed}/`,
  },
  {
    name: 'UDP',
    script: ({ ports }) =>
      node(`const s=require("dgram").createSocket("udp4");s.send("x",${ports.udp},"127.0.0.1",()=>process.exit())`),
  },
  { name: 'DNS', script: () => node('require("dns").resolve4("example.com",(e,a)=>console.log(e?e.code:"RESOLVED"))') },
  { name: 'the control socket', script: ({ home }) => connect(`"${home}/run/control.sock"`) },
  { name: 'an abstract socket', script: ({ abstract }) => connect(`"\\0${abstract}"`) },
  // Processes.
  { name: 'a signal to a process of the same user', script: ({ victim }) => `kill -9 ${victim}` },
  {
    name: 'a debugger',
    script: () => 'gdb -p 1 -batch; strace -p 1; for p in 1 $PPID; do echo 0 >/proc/$p/oom_score_adj; done',
  },
  {
    name: 'a process that stays: setsid',
    script: ({ root }) => `setsid sh -c "sleep 4; echo x >${root}/stayed; touch ${root}/stayed" >/dev/null 2>&1 &`,
  },
  {
    name: 'a process that stays: two forks',
    script: () => `( ( sleep ${STAYS} & ) & ) >/dev/null 2>&1; nohup sleep ${STAYS} >/dev/null 2>&1 &`,
  },
  // Must be last: it ends the programs beside it.
  { name: 'signals to everybody', script: () => 'setsid sh -c "kill -9 -1"' },
];

const listen = async (server: Server, at: number | string): Promise<number> => {
  await new Promise<void>((resolve) =>
    typeof at === 'number' ? server.listen(at, '127.0.0.1', resolve) : server.listen(at, resolve),
  );
  return typeof at === 'number' ? (server.address() as AddressInfo).port : 0;
};

/** Targets of the attempts, with secrets in them; the folders belong to the user. */
async function setUp(t: TestContext, user: User): Promise<Machine> {
  // Not in the temporary folder, which programs see as their own empty one.
  const root = mkdtempSync('/var/tmp/hookwright-test-');
  atEnd(t, () => rmSync(root, { recursive: true, force: true }));
  const [home, userHome, other, project] = ['home', 'user', 'other', 'project'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  const work = join(home, 'work/runs/own');
  const config = join(project, 'hookwright.yaml');
  const files = [
    ...[join(home, '.env'), join(home, 'state.db'), join(home, 'work/runs/other/secret'), join(home, 'scripts/secret')],
    ...[join(other, 'secret'), join(userHome, '.ssh/id'), config],
  ];
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, SECRET);
  }
  mkdirSync(join(home, 'run'), { recursive: true });
  mkdirSync('/tmp/claude', { recursive: true });
  chmodSync('/tmp/claude', 0o777);
  const hits: string[] = [];
  const hit = (what: string) => () => void hits.push(what);
  const closed = createServer((_request, response) => {
    hits.push('a server that is not listed');
    response.end(SECRET);
  });
  const closedPort = await listen(closed, 0);
  const listed = createServer(({ url }, response) => {
    if (url === '/redirect') response.writeHead(302, { location: `http://127.0.0.1:${closedPort}/` });
    response.end('LISTED');
  });
  const udp = createSocket('udp4').on('message', hit('UDP'));
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  const control = createSocketServer(hit('the control socket'));
  await listen(control, join(home, 'run/control.sock'));
  const abstract = `hookwright-escape-${process.pid}-${user}`;
  const hidden = createSocketServer(hit('an abstract socket'));
  await listen(hidden, `\0${abstract}`);
  const own = [
    root,
    ...['home', 'home/run', 'home/work', 'home/work/runs', 'user', 'other', 'project'].map((name) => join(root, name)),
    ...files.flatMap((file) => [file, dirname(file)]),
    join(home, 'run/control.sock'),
  ];
  const id = user === 'plain' && process.getuid?.() === 0 ? 65534 : null;
  if (id !== null) for (const path of own) chownSync(path, id, id);
  const victim = spawn('sleep', ['600'], id === null ? {} : { uid: id });
  atEnd(t, () => {
    victim.kill();
    for (const server of [closed, listed, control, hidden]) server.close();
    udp.close();
    rmSync('/tmp/claude/escape', { force: true });
  });
  const ports = { listed: await listen(listed, 0), closed: closedPort, udp: udp.address().port };
  return { user, root, home, userHome, work, other, config, victim: victim.pid ?? 0, ports, abstract, hits };
}

/** Output of a successful attempt. */
const ESCAPED = /CANARY-7f3a|^CONNECTED|^MOUNTED|^UNMOUNTED|^ENTERED|^RESOLVED|^PRIVILEGES|sandbox-process\.js \{/m;
/** Attempts in one run. */
const GROUP = 14;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

for (const user of USERS) {
  describe(`escapes as ${user === 'root' ? 'root' : 'a plain user'}`, { skip: noSandbox, concurrency: 1 }, () => {
    test(`${ATTEMPTS.length} attempts: none succeeds, and denied accesses are in the record`, async (t) => {
      const place = await setUp(t, user);
      const { home, userHome, work, config, other, hits, ports, root } = place;
      const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
      const network = [`127.0.0.1:${ports.listed}`, `${hostname()}:${ports.closed}`];
      const plan = { network, read: [], write: [] };
      const inRun = (script: string) => ({
        ...{ argv: ['sh', '-c', script], stdin: '', cwd: work, plan, walls: { hidden: [other] } },
      });
      // A busy machine may need a second attempt.
      const wanted = `curl -sS --retry 5 --retry-all-errors http://127.0.0.1:${ports.listed}/; echo x >mine && echo WROTE`;
      // Several runs, because a run's record has 50 lines, and the last attempts kill the programs beside them.
      const groups = Array.from({ length: Math.ceil(ATTEMPTS.length / GROUP) }, (_, index) =>
        ATTEMPTS.slice(index * GROUP, (index + 1) * GROUP),
      );
      const one = ({ script }: Attempt, index: number): string =>
        `echo; echo '#### ${index}'; sh -c ${quote(script(place))} 2>&1`;
      const [first, ...results] = await runSandboxed(
        user,
        {
          ...{ home, userHome, hidden: [config, join(dirname(config), '.env')] },
          runs: [inRun(wanted), ...groups.map((group) => inRun(group.map(one).join('\n')))],
        },
        { PARENT: SECRET },
      );
      // Allowed accesses work, so the denials are not accidental.
      assert.equal(first?.stdout, 'LISTEDWROTE\n', JSON.stringify(first));
      for (const [number, group] of groups.entries()) {
        const { kind, stdout, denied: found } = results[number] ?? assert.fail('a run is missing');
        assert.equal(kind, 'exit', JSON.stringify(results[number]));
        const texts = stdout.split(/^#### \d+$/m).slice(1);
        for (const [index, { name, denied }] of group.entries()) {
          const text = texts[index] ?? assert.fail(`${name} did not run: ${stdout}`);
          assert.doesNotMatch(text, ESCAPED, `${name}: ${text}`);
          const expected = denied?.(place);
          if (expected !== undefined)
            assert.ok(found.includes(expected), `${name}: ${expected} is not in ${found.join(', ')}`);
        }
      }
      assert.deepEqual(hits, []);
      assert.equal(readFileSync(config, 'utf8'), SECRET);
      assert.equal(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'), pattern);
      for (const path of [
        '/etc/hookwright-escape',
        '/dev/shm/hookwright-escape',
        '/tmp/claude/escape',
        join(root, 'escape'),
        join(home, 'escape'),
        join(home, 'work/runs/escape'),
        join(root, 'stayed'),
        `${work}-moved`,
      ]) {
        assert.ok(!existsSync(path), path);
      }
      process.kill(place.victim, 0);
      assert.deepEqual(staying(), [], 'no process outlives its run');
    });
  });
}

/** Processes of the test that must not remain. */
function staying(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${STAYS}\0`;
    } catch {
      return false;
    }
  });
}
