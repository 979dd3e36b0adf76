/** An address that is written is never left out: without it, a message would go to the home channel. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lowerGateway } from '../../compiler/lower/gateway.ts';
import { renderReceivers } from '../../runtime/dispatch/own-message.ts';
import { compileConfig } from '../helpers/compile.ts';

const found = (more: object, route: object = {}): readonly string[] => {
  const webhook = { enabled: true, secret: 'env:S', routes: { a: { prompt: 'x', agent: 'none', ...route } } };
  const slack = { enabled: true, token: 'env:T', home_channel: 'C01' };
  const telegram = { enabled: true, token: 'env:T', home_channel: '-100' };
  const text = JSON.stringify({ ...more, platforms: { webhook, slack, telegram } });
  return compileConfig(text.replaceAll('"1712.50"', '1712.50'))
    .diagnostics.filter(({ rule }) => rule !== 'lone-alert-target')
    .map(({ rule, source, range }) => `${rule} ${source.text.slice(range.start, range.end)}`);
};

const job = (parts: object) => ({ jobs: { j: { schedule: '0 9 * * *', prompt: 'x', agent: 'none', ...parts } } });

describe('a malformed placeholder in messages of the gateway', () => {
  const to = { deliver: 'telegram', deliver_extra: { chat_id: '{ ops.x }' } };
  test('is reported once for alerts and once for approvals', () => {
    const errors = found({ gateway: { alerts: to, approvals: to } });
    assert.deepEqual(errors, ['template-syntax { ops.x }', 'template-syntax { ops.x }']);
  });

  test('leaves an empty address, which no home channel replaces', () => {
    const { table } = compileConfig('{}').output ?? assert.fail();
    const { plan, problems } = lowerGateway({ alerts: to, approvals: to }, table);
    assert.deepEqual(
      problems.filter(({ message }) => message !== '').map(({ path }) => path),
      [
        ['approvals', 'deliver_extra', 'chat_id'],
        ['alerts', 'deliver_extra', 'chat_id'],
      ],
    );
    for (const { deliver } of [plan.alerts ?? assert.fail(), plan.approvals ?? assert.fail()])
      assert.deepEqual(
        renderReceivers(deliver, table).map(({ extra }) => extra),
        [{ chat_id: '' }],
      );
  });
});

describe('a number that loses digits is reported in the address of', () => {
  const to = { deliver: 'slack', deliver_extra: { chat_id: 'C02', thread_id: '1712.50' } };
  const output = { deliver: 'slack', chat_id: 'C02', thread_id: '1712.50', max: 1 };
  const PLACES: Readonly<Record<string, readonly string[]>> = {
    'a route': found({}, to),
    'failures of a route': found({}, { on_failure: to }),
    'an output of a route': found({}, { outputs: { page: output } }),
    'a job': found(job(to)),
    'failures of a job': found(job({ on_failure: to })),
    'an output of a job': found(job({ outputs: { page: output } })),
    alerts: found({ gateway: { alerts: to } }),
    approvals: found({ gateway: { approvals: to } }),
  };
  for (const [place, errors] of Object.entries(PLACES))
    test(place, () => assert.ok(errors.includes('lost-digits 1712.50'), errors.join()));
});

describe('a job that is delivered to `origin`', () => {
  const errorsOf = (deliver: string | readonly string[], deliver_extra: object) =>
    found(job({ deliver, deliver_extra }));
  test('takes the keys of any target', () => {
    assert.deepEqual(errorsOf('origin', { chat_id: '-200', thread_id: '7' }), []);
    assert.deepEqual(errorsOf(['origin', 'telegram'], { telegram: { chat_id: '-200' } }), []);
  });
  test('takes no key that no target reads', () => {
    assert.deepEqual(errorsOf('origin', { chatid: '-200' }), ['unknown-deliver-extra "chatid"']);
    assert.deepEqual(errorsOf('origin', { telegram: { chat_id: '-200' } }), ['unknown-deliver-extra "telegram"']);
  });
});
