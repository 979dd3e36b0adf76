/** Tests neighbours of the rules that keep loopback, approvals and secrets from being credentials of agents. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileText } from '../../../main/compiler.ts';

const ENV = { T: 'x'.repeat(24), V: 'y'.repeat(24) };
const errorsOf = async (text: string): Promise<readonly string[]> => {
  const { diagnostics } = await compileText(text, { home: '/h', env: ENV });
  return diagnostics.map(({ rule }) => rule);
};

describe('a route without a signature', () => {
  const config = (server: string, route = '', top = '') =>
    `${top}platforms: { webhook: { enabled: true${server}, routes: { r: { secret: INSECURE_NO_AUTH, prompt: "x"${route} } } } }\n`;
  for (const [server, route, top] of [
    ['', '', 'public_url: "https://hooks.example.com"\n'],
    [', trusted_proxies: [127.0.0.1]'],
    [', trusted_proxies: ["10.0.0.0/8"]'],
    ['', ', public_url: "https://hooks.example.com/x"'],
    [', host: 0.0.0.0'],
  ] as const)
    it(`is rejected with {${server}}, {${route ?? ''}} and ${top ?? 'nothing else'}`, async () =>
      assert.ok((await errorsOf(config(server, route, top))).includes('insecure-bind')));
  it('is accepted on a loopback address', async () =>
    assert.ok(!(await errorsOf(config(''))).includes('insecure-bind')));
});

describe('a message that needs approval', () => {
  const config = (gateway: string, route: string, rest = '') =>
    `gateway: { approvals: { deliver: telegram }${gateway} }
platforms: { telegram: { enabled: true, token: env:T, home_channel: "1" }, webhook: { enabled: true, secret: env:V, routes: { r: { prompt: "x", deliver: telegram${route} } } } }
${rest}`;
  const APPROVE = ', approve: true';
  const OUTPUTS = ', outputs: { o: { deliver: telegram, approve: true } }';
  for (const [gateway, route, found] of [
    [', console: {}', APPROVE, true],
    [', console: { port: 9000 }', APPROVE, true],
    [', console: { host: 127.0.0.1 }', OUTPUTS, true],
    [', console: {}', '', false],
    ['', APPROVE, false],
    [', console: { token: env:T }', APPROVE, false],
  ] as const)
    it(`${found ? 'needs a token' : 'is accepted'}: {${gateway}} {${route}}`, async () =>
      assert.equal((await errorsOf(config(gateway, route))).includes('approval-open'), found));
  for (const [agent, found] of [
    ['agent: { command: [a, "{toolsets}"] }', true],
    ['agent: { command: [a, "{toolsets}"], confined: a container }', false],
    ['agent: { command: [a, "{toolsets}"], sandbox: { network: any } }', false],
  ] as const)
    it(`${found ? 'is reported' : 'is not reported'} with ${agent}`, async () =>
      assert.equal((await errorsOf(config('', APPROVE, agent))).includes('approval-unconfined'), found));
  const SAFE = 'agent: { command: [a, "{toolsets}"], sandbox: { network: none } }';
  const WILD = '{ command: [b, "{toolsets}"] }';
  const reads = (agent: string, prompt = '{issue.title}', rest = '') =>
    `, pub: { prompt: "${prompt}", deliver: log${agent}${rest} }`;
  const JOB =
    'jobs: { j: { schedule: "0 9 * * *", prompt: "x", deliver: telegram, outputs: { o: { deliver: telegram, approve: true } } } }';
  for (const [what, route, rest, found] of [
    ['another agent that reads strangers', `${APPROVE} }${reads(', agent: wild')}`, `agents: { wild: ${WILD} }`, true],
    ['an agent that approves an output', `${OUTPUTS} }${reads(', agent: wild')}`, `agents: { wild: ${WILD} }`, true],
    ['a message of no agent', `${APPROVE}, agent: none }${reads(', agent: wild')}`, `agents: { wild: ${WILD} }`, true],
    ['a job', ` }${reads(', agent: wild')}`, `agents: { wild: ${WILD} }\n${JOB}`, true],
    ['a job of the agent', ' }', `agents: { wild: ${WILD} }\n${JOB.replace('prompt', 'agent: wild, prompt')}`, true],
    ['a route that reads nothing', `${APPROVE} }${reads(', agent: wild', 'x')}`, `agents: { wild: ${WILD} }`, false],
    [
      'a disabled route',
      `${APPROVE} }${reads(', agent: wild', '{a}', ', enabled: false')}`,
      `agents: { wild: ${WILD} }`,
      false,
    ],
    ['no approval', ` }${reads(', agent: wild')}`, `agents: { wild: ${WILD} }`, false],
  ] as const)
    it(`${found ? 'is reported' : 'is not reported'}: ${what}`, async () => {
      const text = config('', route, `${SAFE}\n${rest}`).replace(' } } } }', ' } } }');
      const rules = await errorsOf(text);
      assert.equal(rules.includes('approval-unconfined'), found, rules.join());
    });
});

describe('hosts of a sandbox', () => {
  const config = (network: string, only: string) =>
    `platforms: { webhook: { enabled: true, secret: env:V, routes: { r: { prompt: "x" } } } }
agent: { command: [a, "{toolsets}"], sandbox: { network: [${network}] }, env: { K: { secret: env:T, only_to: [${only}] } } }
`;
  const good = '"a.example.com"';
  for (const host of [
    'a.example.com:99999',
    'a.example.com:65536',
    '127.0.0.1:70000',
    '*.example.com:100000',
    '[::1]:65540',
    'a.example.com:0',
  ])
    it(`are rejected: ${host}`, async () => {
      assert.notDeepEqual(await errorsOf(config(`${good}, "${host}"`, good)), []);
      assert.notDeepEqual(await errorsOf(config(good, `"${host}"`)), []);
    });
  for (const [network, only, found] of [
    ['a.example.com', 'a.example.com:8443', false],
    ['a.example.com:443', 'A.example.com', false],
    ['*.example.com:8443', 'a.example.com:8443', false],
    ['a.example.com:8443', 'a.example.com', true],
    ['a.example.com:443', 'a.example.com:8443', true],
    ['*.example.com', 'example.com', true],
  ] as const)
    it(`${found ? 'do not allow' : 'allow'} a secret: ${network}, ${only}`, async () =>
      assert.equal((await errorsOf(config(`"${network}"`, `"${only}"`))).includes('guarded-secret'), found));
});
