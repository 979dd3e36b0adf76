import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { HttpPool } from '../../../../runtime/deliver/http-pool.ts';
import { createAgents } from '../../../../runtime/dispatch/agents/create-agents.ts';
import { WorkFolders } from '../../../../runtime/dispatch/agents/work-folders.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { runProcess } from '../../../../runtime/platform/process/run-process.ts';
import { collectSecretRefs, secretNames, tableSecretRefs } from '../../../../runtime/platform/secrets.ts';
import type { AgentPlan, ProfilePlan } from '../../../../schemas/generated/types.ts';
import { recordLog } from '../../../helpers/log.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const profile = (name: string, home: string, agent: AgentPlan): ProfilePlan => ({
  name,
  home,
  agent,
  agents: {},
  toolsets: [],
  targets: {},
});

function setUp(home: string, profiles: readonly ProfilePlan[]) {
  const log = recordLog();
  const table = { profiles: Object.fromEntries(profiles.map((plan) => [plan.name, plan])), routes: {} };
  const agents = createAgents(
    { ...table, server: { ...server, secret: { kind: 'env', value: 'GLOBAL', scope: 'default' } } },
    {
      workFolders: new WorkFolders(log),
      ...{ home, log, http: new HttpPool(), env: { PATH: process.env.PATH, GLOBAL: 'top-secret', OTHER: 'seen' } },
      clock: systemClock,
      confine: () => (request) => runProcess(request, { clock: systemClock, home }),
      secrets: { resolve: () => 'top-secret' },
      redact: (text) => text.replaceAll('top-secret', '***'),
      readText: (path) => readFile(path, 'utf8'),
    },
  );
  const run = (name: string, skills: readonly string[] = []) =>
    agents(name, null)?.run({
      ...{
        prompt: 'the prompt',
        toolsets: [],
        skills,
        session: 's',
        profile: name,
        route: 'r',
        event: 'e',
        delivery_id: '1',
      },
      signal: new AbortController().signal,
    });
  return { agents, run, log };
}

const server = {
  ...{
    enabled: true,
    host: '127.0.0.1',
    port: 0,
    public_url: null,
    max_body_bytes: 1,
    rate_limit: 1,
    max_connections: 1,
    max_connections_per_address: 1,
    trusted_proxies: [],
    max_unverified_bytes: 1,
    min_body_rate: 0,
  },
  ...{ script_timeout_seconds: 1, direct_timeout_seconds: 1, idempotency_ttl_seconds: 1, accept_timeout_seconds: null },
};
const preview: AgentPlan = {
  kind: 'preview',
  timeout_seconds: 900,
  max_attempts: 2,
  max_concurrent: null,
  toolsets: null,
};
const command = (script: string): AgentPlan => ({
  kind: 'command',
  argv: ['/bin/sh', '-c', script],
  cwd: null,
  work: 'run',
  env: {},
  only_to: {},
  sandbox: null,
  timeout_seconds: 5,
  max_attempts: 1,
  max_concurrent: null,
  toolsets: null,
});

describe('createAgents', () => {
  it('warns of a missing program as soon as the table is linked', (t) => {
    const program = (...argv: [string, ...string[]]): AgentPlan => ({ ...command('true'), argv }) as AgentPlan;
    const { log } = setUp(tempDir(t), [
      profile('a', '.', program('sh')),
      profile('b', '.', program('no-such-agent', 'x')),
    ]);
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields.profile, /\bno-such-agent\b/.test(String(fields.reason))]),
      [['warn', 'b', true]],
    );
  });

  it('gives each profile its own agent with its limits, and none to others', async (t) => {
    const { agents, run } = setUp(tempDir(t), [
      profile('default', '', preview),
      profile('team', '', command('echo hi')),
    ]);
    assert.equal(await run('default'), 'the prompt');
    assert.equal(await run('team'), 'hi\n');
    assert.deepEqual([agents('default', null)?.timeout_ms, agents('default', null)?.max_attempts], [900_000, 2]);
    assert.equal(agents('absent', null), null);
  });

  it('puts the skills of the profile before the prompt, in order, and logs unknown ones', async (t) => {
    const home = tempDir(t);
    for (const [folder, text] of [
      ['skills/tone', 'Be kind.\n'],
      ['skills/triage', 'Sort first.'],
      ['profiles/team/skills/tone', 'Be terse.'],
    ] as const) {
      mkdirSync(join(home, folder), { recursive: true });
      writeFileSync(join(home, folder, 'SKILL.md'), text);
    }
    const { run, log } = setUp(home, [profile('default', '', preview), profile('team', 'profiles/team', preview)]);
    assert.equal(await run('default', ['triage', 'tone']), 'Sort first.\n\nBe kind.\n\nthe prompt');
    assert.equal(await run('team', ['tone', 'triage', '../../../skills/triage']), 'Be terse.\n\nthe prompt');
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields.skill]),
      [
        ['warn', 'triage'],
        ['warn', '../../../skills/triage'],
      ],
    );
  });

  it('hides variables that are not allowed from programs, and their values in the output of programs', async (t) => {
    const { run } = setUp(tempDir(t), [
      profile('default', '', command('echo "$GLOBAL|$OTHER"')),
      profile('team', '', command('echo top-secret >&2; exit 1')),
    ]);
    assert.equal(await run('default'), '|\n');
    await assert.rejects(run('team') ?? Promise.resolve(), /\b1: \*\*\*$/);
  });
});

describe('tableSecretRefs', () => {
  it('includes the literal key of a known program', () => {
    const key = { kind: 'literal', value: 'sk-0123456789', scope: 'default' } as const;
    const agent = { kind: 'command', env: { MODEL_KEY: key }, program: { key: 'MODEL_KEY' } };
    const table = { profiles: { default: { agent, agents: {}, targets: {} } }, server: {}, routes: {} };
    assert.deepEqual(tableSecretRefs(table as unknown as Parameters<typeof tableSecretRefs>[0]), [key]);
  });

  it('leaves out literals of agent.env, unless `only_to` hides them from the program', () => {
    const literal = { kind: 'literal', value: 'production', scope: 'default' } as const;
    const env = { STAGE: { ...literal }, KEY: { ...literal, kind: 'env' as const }, HIDDEN: { ...literal } };
    const agent = { kind: 'command', env, only_to: { HIDDEN: { only_to: ['api.example.com'] } } };
    const target = { ...literal };
    const table = {
      profiles: { default: { agent, agents: {}, targets: { chat: { credentials: { token: target } } } } },
      ...{ server: {}, routes: {} },
    } as unknown as Parameters<typeof tableSecretRefs>[0];
    assert.deepEqual(new Set(tableSecretRefs(table)), new Set([env.KEY, env.HIDDEN, target]));
    assert.ok(!tableSecretRefs(table).includes(env.STAGE));
  });
});

describe('secretNames', () => {
  it('finds references at any depth and nothing else', () => {
    const ref = { kind: 'env', value: 'A', scope: 'default' };
    const plan = { a: [{ b: ref }], c: { kind: 'file', value: 'B', scope: 'x' }, d: { ...ref, more: 1 }, e: 'env:C' };
    assert.deepEqual([...secretNames(collectSecretRefs(plan))], ['WEBHOOK_SECRET', 'A']);
  });
});
