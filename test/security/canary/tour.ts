/**
 * Makes a whole gateway produce all of its output for the canary test. It is a separate process, because its environment
 * counts, with a service that echoes every request.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess, startProcess } from '../../helpers/cli.ts';
import type { SeenRequest } from '../../helpers/fake-http.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { filesBelow, readIfThere } from '../../helpers/files-below.ts';
import { until } from '../../helpers/gateway.ts';
import { canary } from './canaries.ts';
import type { CanaryHome } from './home.ts';
import { ENVIRONMENT, HOLDERS, makeHome, ROUTES } from './home.ts';

/** Outputs, by origin. */
export type Outputs = Map<string, string>;

/** Echoes every request, as services do in error texts; tokens are exchanged for one of our canaries. */
function echo(request: SeenRequest, index: number) {
  if (request.path.endsWith('accessToken')) return { body: { accessToken: canary('exchanged-token'), expireIn: 7200 } };
  const { url, headers, body } = request;
  const said = `${url} ${JSON.stringify(headers)} ${body}`;
  const codes = { error: said, code: said, message: said, description: said, errcode: said, error_code: said };
  return { status: [400, 401, 500, 429][index % 4] ?? 400, body: { ok: false, ...codes } };
}

const EVENT = '{"text":"hello"}';

/** Commands that show something, as typed. */
const SHOWN: readonly string[] = [
  'gateway status',
  'gateway status --json',
  'gateway metrics',
  'webhook list --all',
  'webhook list --all --json',
  'webhook show dynamic',
  'webhook show dynamic --json',
  'webhook show pointed',
  'source list',
  'source show stripe --json',
  'profile list',
  'profile list --json',
  'profile show default',
  'profile show work',
  'profile show work --json',
  'job list',
  'job list --json',
  'job show report --json',
  'blueprint list --json',
  'catalog publish',
  'session list --json',
  'deliveries list',
  'deliveries list --json',
  'requests list',
  'requests list --json',
  'doctor',
  'doctor --json',
  'lint',
  'lint --format json',
  'lint --format sarif',
  'lint --format github',
  'deliver telegram --text x --dry-run',
  'deliver slack --text x --dry-run --json',
  'deliver dingtalk --text x --dry-run',
  'deliver email --text x --dry-run',
  'deliver telegram --text x',
  'deliver email --text x',
  'deliver telegram --profile work --text x --dry-run',
  'gateway reload',
  'compile',
];

const said = ({ code, stdout, stderr }: CliResult): string => `exit ${code}\n${stdout}\n${stderr}`;

export async function takeTour(t: Pick<TestContext, 'after'>, folder: string): Promise<Outputs> {
  const outputs: Outputs = new Map();
  const { url: upstream } = await startFakeHttp(t, echo);
  const made = makeHome(folder, upstream);
  const cli = async (...argv: string[]): Promise<string> =>
    said(await runInProcess(argv, { home: made.home, env: ENVIRONMENT }));
  const { child, log } = startProcessAt(made.home, { LOG_LEVEL: 'debug' });
  t.after(() => end(child));
  const url = await until(async () => {
    if (child.exitCode !== null) throw new Error(`did not start: ${log()}`);
    return /"url":"([^"]+)"/.exec(log())?.[1];
  });
  await sendEvents(outputs, cli);
  await sendStrangers(outputs, url);
  await until(
    async () =>
      existsSync(made.agentSaw) && existsSync(made.scriptSaw) && settled(await cli('deliveries', 'list', '--json')),
  );
  for (const line of SHOWN) outputs.set(`hookwright ${line}`, await cli(...line.split(' ')));
  await showDeliveries(outputs, cli);
  await end(child);
  outputs.set('log', log());
  for (const [who, file] of [
    ['agent', made.agentSaw],
    ['script', made.scriptSaw],
  ] as const)
    for (const [part, text] of partsOf(readFileSync(file, 'utf8'))) outputs.set(`${part} of the ${who}`, text);
  await refuse(outputs, made, upstream);
  // Every file of the home in which the operator has put no secret.
  for (const file of filesBelow(made.home).filter((path) => !HOLDERS.includes(path)))
    outputs.set(`file ${file}`, readIfThere(join(made.home, file))?.toString('latin1') ?? '');
  return outputs;
}

type Cli = (...argv: string[]) => Promise<string>;

async function sendEvents(outputs: Outputs, cli: Cli): Promise<void> {
  for (const route of [...ROUTES, 'work', 'dynamic', 'pointed'])
    outputs.set(`answer of ${route}`, await cli('webhook', 'test', route, '--payload', EVENT));
}

/** Rejected requests, and documents. */
async function sendStrangers(outputs: Outputs, url: string): Promise<void> {
  const hook = `${url}/webhooks`;
  const requests: readonly (readonly [string, RequestInit])[] = [
    [`${url}/health`, {}],
    [`${url}/blueprints`, {}],
    [`${hook}/env`, { method: 'POST', body: EVENT, headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` } }],
    [`${hook}/global`, { method: 'POST', body: '{', headers: { 'x-gitlab-token': 'wrong' } }],
    [`${hook}/global`, { method: 'POST', body: '{', headers: { 'x-gitlab-token': canary('global-env') } }],
    [`${hook}/meta?hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=c`, {}],
    [`${hook}/nothing`, { method: 'POST', body: EVENT }],
    [`${url}/p/work/webhooks/work`, { method: 'POST', body: EVENT }],
  ];
  for (const [index, [address, init]] of requests.entries()) {
    const response = await fetch(address, init);
    const headers = JSON.stringify([...response.headers]);
    outputs.set(
      `answer to request ${index}: ${address.slice(url.length)}`,
      `${response.status} ${headers} ${await response.text()}`,
    );
  }
}

/** No running delivery can still change the output. */
const settled = (list: string): boolean => !/"state": ?"(running|delivering)"/.test(list);

async function showDeliveries(outputs: Outputs, cli: Cli): Promise<void> {
  const list = await cli('deliveries', 'list', '--json');
  const ids = [...list.matchAll(/"id": ?"([^"]+)"/g)].flatMap(([, id]) => (id === undefined ? [] : [id]));
  for (const [index, id] of ids.entries()) {
    outputs.set(`deliveries show ${index}`, await cli('deliveries', 'show', id, '--full'));
    outputs.set(`deliveries show ${index} --json`, await cli('deliveries', 'show', id, '--json'));
  }
}

/** Rejected starts and wrong configurations, with all secrets in place. */
async function refuse(outputs: Outputs, { home }: CanaryHome, upstream: string): Promise<void> {
  const { ROUTE_SECRET: _, ...others } = ENVIRONMENT;
  outputs.set(
    'start without a secret',
    said(await runInProcess(['gateway', 'run', '--port', '0'], { home, env: others })),
  );
  outputs.set(
    'start on a port in use',
    said(await runInProcess(['gateway', 'run', '--port', new URL(upstream).port], { home, env: ENVIRONMENT })),
  );
  const text = readFileSync(join(home, 'config.yaml'), 'utf8');
  const literal = canary('route-literal');
  const broken: Readonly<Record<string, string>> = {
    typos: text.replaceAll('prompt:', 'promt:').replaceAll('secret:', 'secert:'),
    misplaced: text.replace('enabled: true\n    port', `enabled: true\n    secrets: [x, ${literal}]\n    port`),
    types: text.replace(`secret: ${literal}`, `secret: { value: ${literal} }, public_key: [${literal}]`),
    targets: text.replace('  slack: {', '  slak: {').replace('webhook_url:', 'webhok_url:'),
    unknown: text.replace('  slack: {', '  slak: {'),
    syntax: text.replace(literal, `"${literal}`),
    list: text.replace('secrets: [env:ROTATION_NEW', `secrets: [${literal}, ${literal}, env:ROTATION_NEW`),
  };
  const file = join(home, '..', 'broken.yaml');
  for (const [name, content] of Object.entries(broken)) {
    writeFileSync(file, content, { mode: 0o600 });
    for (const format of ['pretty', 'json', 'github', 'sarif']) {
      const argv = ['lint', '--config', file, '--format', format];
      outputs.set(
        `${argv.slice(0, 1)} of a config with wrong ${name}, ${format}`,
        said(await runInProcess(argv, { home, env: ENVIRONMENT })),
      );
    }
  }
}

function startProcessAt(home: string, more: NodeJS.ProcessEnv): { child: ChildProcess; log: () => string } {
  const child = startProcess(['gateway', 'run', '--port', '0'], { home, env: { ...ENVIRONMENT, ...more } });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  return { child, log: () => text };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/** The record of a program, by heading. */
function partsOf(text: string): readonly (readonly [string, string])[] {
  const parts = text.split(/^== /m).slice(1);
  return parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n'))] as const);
}
