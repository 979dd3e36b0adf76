/** Validity of stored dispatches and jobs: a person who can write rows cannot choose an argument, path or header. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sessionId } from '../../../runtime/platform/ids.ts';
import { isDispatch } from '../../../schemas/built/rows/Dispatch.ts';
import { isJobRecord } from '../../../schemas/built/rows/JobRecord.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { makeJob } from '../../helpers/jobs.ts';

const delivery = { target: 'log', extra: {}, unresolved: [] };
const output = {
  name: 'page',
  fields: [{ name: 'text', kind: 'text', required: true }],
  allow: { label: ['a'] },
  max: 1,
  message: { limit: 4096, unit: 'utf16' },
  delivery,
};

describe('a stored dispatch', () => {
  it('is used with every text that an event may bring', () => {
    const odd = 'ü\0\n--x ../\ud800';
    const sessions = [sessionId('webhook', 'alerts', odd), sessionId('scope', odd), 'run_failed:0abc'];
    for (const session of sessions) {
      const texts = { event: odd, delivery_id: odd, prompt: odd, session_key: odd, session, skills: ['My skill'] };
      const deliveries = [{ ...delivery, label: odd, extra: { chat_id: odd }, unresolved: [odd] }];
      assert.equal(isDispatch(makeDispatch('a', { ...texts, deliveries })), true, session);
    }
    const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const content = { text: 'a', labels: ['b'], fields: [{ name: 'c', n: 1 }] };
    const of = { trace, tracestate: 'k=v', agent: 'reviewer', outputs: [output] };
    const deliveries = [{ ...delivery, output: { name: 'page', content }, place: { digest: 'd' }, approve_ms: 1 }];
    assert.equal(isDispatch({ ...makeDispatch('a', { deliveries }), ...of }), true);
  });

  const FORGED: readonly (readonly [what: string, changes: object])[] = [
    ['a route that is a path', { route: '../x' }],
    ['an absolute route', { route: '/etc' }],
    ['a profile that is a path', { profile: '../x' }],
    ['an agent that is a path', { agent: '../sh' }],
    ['a session that is an option', { session: '-x' }],
    ['a session with a NUL', { session: 'a\0b' }],
    ['a session with a line feed', { session: 'a\nb' }],
    ['a toolset that is an option', { toolsets: ['web', '--x'] }],
    ['a toolset with a comma', { toolsets: ['web,terminal'] }],
    ['a skill with a NUL', { skills: ['a\0b'] }],
    ['a path as a skill', { skills: ['../x'] }],
    ['a folder above as a skill', { skills: ['..'] }],
    ['an option as a skill', { skills: ['--x'] }],
    ['a trace with a header', { trace: 'a\r\nb: c' }],
    ['a trace state with a header', { tracestate: 'a\r\nb: c' }],
    ['a target that is a path', { deliveries: [{ ...delivery, target: '../log' }] }],
    ['an address that is not a text', { deliveries: [{ ...delivery, extra: { chat_id: {} } }] }],
    ['content of another shape', { deliveries: [{ ...delivery, output: { name: 'x', content: { text: 1 } } }] }],
    ['a failure address of another shape', { on_failure: [{ ...delivery, extra: { chat_id: 1 } }] }],
    ['an output with fields of another kind', { outputs: [{ ...output, fields: [{ name: 'x', kind: 'file' }] }] }],
    ['an output with other allowed values', { outputs: [{ ...output, allow: { label: 'a' } }] }],
    ['an output with an address of another shape', { outputs: [{ ...output, delivery: { target: 'log' } }] }],
    ['an output with another limit', { outputs: [{ ...output, message: { limit: -1, unit: 'utf16' } }] }],
  ];
  for (const [what, changes] of FORGED) {
    it(`is not used with ${what}`, () => assert.equal(isDispatch({ ...makeDispatch('a'), ...changes }), false));
  }
});

describe('a stored job', () => {
  const segments = [
    { kind: 'text', text: 'a' },
    { kind: 'path', path: ['b', '0'], text: '{b.0}', builtin: null },
    { kind: 'meta', name: 'route' },
    { kind: 'dump', compact: true },
  ];
  const to = (extra: unknown) => [{ target: 'telegram', extra }];

  it('is used as commands and blueprints write it', () => {
    const blueprint = { key: 'morning-brief', values: { time: '08:00' } };
    const budget = { runs: 3, tokens: null, cost: null, per: 'day' } as const;
    const of = { blueprint, budget, agent: 'none', toolsets: ['web_search'], skills: ['brief'] };
    assert.equal(isJobRecord({ ...makeJob('abcdef', of), deliver: to({ chat_id: segments }) }), true);
    const { agent: _, ...older } = makeJob('abcdef');
    assert.equal(isJobRecord(older), true);
  });

  const FORGED: readonly (readonly [what: string, changes: object])[] = [
    ['a profile that is a path', { profile: '../x' }],
    ['a name that is an option', { name: '--x' }],
    ['an agent that is a path', { agent: '../sh' }],
    ['a toolset that is an option', { toolsets: ['--x'] }],
    ['a skill with a line feed', { skills: ['a\nb'] }],
    ['a path as a skill', { skills: ['a/../b'] }],
    ['a target that is a path', { deliver: [{ target: '../x', extra: {} }] }],
    ['an address that is not a template', { deliver: to({ chat_id: 'x' }) }],
    ['a segment of another kind', { deliver: to({ chat_id: [{ kind: 'secret', name: 'X' }] }) }],
    ['a segment named as a member of every object', { deliver: to({ chat_id: [{ kind: 'toString' }] }) }],
    ['a marked segment', { deliver: to({ chat_id: [{ ...segments[1], marked: true }] }) }],
    ['a path of numbers', { deliver: to({ chat_id: [{ ...segments[1], path: [0] }] }) }],
    ['another built-in value', { deliver: to({ chat_id: [{ kind: 'meta', name: 'secret' }] }) }],
    ['a blueprint of another shape', { blueprint: { key: 'x', values: { time: 8 } } }],
  ];
  for (const [what, changes] of FORGED) {
    it(`is not used with ${what}`, () => assert.equal(isJobRecord({ ...makeJob('a'), ...changes }), false));
  }
});
