/** Tests that no `network` opens the ports or the control socket of the gateway, however they are spelled. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { atEnd } from '../../helpers/at-end.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { noSandbox } from './run-sandboxed.ts';

const OTHER =
  "const s = require('http').createServer((q, r) => r.end('other service')); s.listen(0, '127.0.0.1', () => console.log(s.address().port))";
const SPELLINGS = [
  '127.0.0.1',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0.0.0.0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::]',
];
const ADDRESSES = Object.values(networkInterfaces()).flatMap((each) =>
  (each ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
);
const LISTED = ['127.0.0.1', 'localhost', 'a.localhost', '0.0.0.0', '127.0.0.2', '[::1]', '[::ffff:127.0.0.1]', '[::]'];

describe('a program whose `network` lists this machine', { skip: noSandbox }, () => {
  for (const network of ['any', [...new Set([...LISTED, ...ADDRESSES])]])
    test(`reaches other services, but not the gateway: ${JSON.stringify(network)}`, (t) => checkPorts(t, network));
});

async function checkPorts(t: TestContext, network: string | readonly string[]): Promise<void> {
  const home = tempDir(t);
  const other = spawn(process.execPath, ['-e', OTHER], { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(t, () => void other.kill());
  const [port] = (await once(other.stdout, 'data')) as [Buffer];
  const config = `gateway: { console: { port: 0 } }
platforms: { webhook: { enabled: true, routes: { a: { secret: INSECURE_NO_AUTH, prompt: "x", deliver: log } } } }
agent: { command: [bash, ${home}/agent.sh], max_attempts: 1, sandbox: { network: ${JSON.stringify(network)}, read: ["${home}"] } }
`;
  const gateway = await startGateway(t, { home, config });
  const status = await gateway.status();
  const ports = [
    ...new Set(JSON.stringify({ status, log: gateway.running.stderr() }).match(/(?<=(?:127\.0\.0\.1|localhost):)\d+/g)),
  ];
  assert.equal(ports.length, 2, gateway.running.stderr());
  const urls = ports.flatMap((each) =>
    [...SPELLINGS, '127.0.0.2', ...ADDRESSES].map((host) => `http://${host}:${each}`),
  );
  writeFileSync(
    join(home, 'agent.sh'),
    `for u in ${urls.join(' ')}; do for p in health api/status livez; do echo "GOT $(curl -sS -m 5 $u/$p 2>&1 | head -c 300)"; done; done
for u in ${urls.join(' ')}; do curl -sS -m 5 --noproxy "*" $u/health 2>&1; curl -sS -m 5 -x socks5h://\${ALL_PROXY#*://} $u/health 2>&1; done
for s in ${home}/control.sock ${home}/*/control.sock; do curl -sS -m 5 --unix-socket $s http://x/status 2>&1; done
exec 3<>/dev/tcp/127.0.0.1/${ports[0]} && { printf "GET /health HTTP/1.0\\r\\n\\r\\n" >&3; cat <&3; }
echo "OTHER $(curl -sS -m 5 http://127.0.0.1:${String(port).trim()}/) $(curl -sS -m 5 http://localhost:${String(port).trim()}/)"`,
  );
  await gateway.cli('webhook', 'test', 'a', '--payload', '{"a":1}', '--yes');
  const all = await until(async () => {
    const { stdout } = await gateway.cli('deliveries', 'list', '--state', 'done', '--json');
    return (JSON.parse(stdout) as readonly { readonly id: string }[]).length === 1 && stdout;
  });
  const [{ id } = assert.fail()] = JSON.parse(all) as readonly { readonly id: string }[];
  const shown = await gateway.cli('deliveries', 'show', id, '--json');
  const { answer } = JSON.parse(shown.stdout) as { readonly answer: string };
  assert.match(answer, /OTHER other service other service/);
  assert.doesNotMatch(answer, /"status"|"state"|"ok"|hookwright|alive/i);
}
