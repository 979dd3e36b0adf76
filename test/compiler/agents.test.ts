/** Several agents: which one a route or job uses, and its toolsets (decisions §11). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileConfig } from '../helpers/compile.ts';

const CONFIG = `
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls: { agent: AGENT, prompt: "{title}", toolsets: [web_extract, terminal, web_search] }
      alerts: { prompt: "{title}" }
      news: { agent: none, prompt: "{title}", deliver: log }
agent: { command: [my-agent, "{toolsets}"], toolsets: [clarify] }
agents:
  reviewer: { command: [my-agent, "{toolsets}"], toolsets: [web_search, web_extract], env: { KEY: "env:REVIEW_KEY" } }
jobs:
  nightly: { schedule: "0 3 * * *", prompt: Look, agent: AGENT, toolsets: [web_search, clarify] }
`;
const compile = (agent: string) => compileConfig(CONFIG.replaceAll('AGENT', agent));

describe('agents', () => {
  it('a route or job uses the agent that it names, with the toolsets of both, in its own order', () => {
    const { output, diagnostics } = compile('reviewer');
    const table = output?.table;
    assert.deepEqual(
      diagnostics.filter(({ severity }) => severity === 'error'),
      [],
    );
    const { pulls, alerts, news } = table?.routes ?? {};
    assert.deepEqual([pulls?.agent, pulls?.toolsets], ['reviewer', ['web_extract', 'web_search']]);
    assert.deepEqual([alerts?.agent, alerts?.toolsets], [null, ['clarify']]);
    assert.deepEqual([news?.agent, news?.mode], [null, 'message']);
    assert.deepEqual([table?.jobs.nightly?.agent, table?.jobs.nightly?.toolsets], ['reviewer', ['web_search']]);
    assert.equal(table?.profiles.default?.agents.reviewer?.kind, 'command');
  });

  it('rejects an unknown agent with a suggestion, also for names of object properties', () => {
    const named = (agent: string) =>
      compile(agent)
        .diagnostics.filter(({ rule }) => rule === 'unknown-agent')
        .map(({ message }) => message.match(/`\w+`/g)?.join(' '));
    assert.deepEqual(named('reviever'), Array(2).fill('`reviever` `reviewer`'));
    assert.deepEqual(named('constructor'), Array(2).fill('`constructor`'));
  });

  it('applies the agent rules to each agent, at its position', () => {
    const text = `
platforms: { webhook: { enabled: true, secret: "env:WEBHOOK_SECRET", routes: { a: { agent: other, prompt: "{title}" } } } }
agents:
  other: { command: [sh, -c, "echo {session}"] }
  second: { cwd: /tmp }
  none: { command: [x] }
`;
    const { diagnostics } = compileConfig(text);
    const found = diagnostics.map(({ rule, range }) => `${rule} ${text.slice(range.start, range.end)}`);
    for (const expected of ['shell-placeholder {session}', 'agent-choice cwd', 'invalid-name none'])
      assert.ok(found.includes(expected), `${expected} is not in ${found.join(', ')}`);
  });
});
