/** Checks which addresses conflict on one port. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileText } from '../../../main/compiler.ts';

const rulesOf = async (console: string, webhook: string, env = {}): Promise<readonly string[]> => {
  const text = `gateway: { console: { token: env:T${console} } }
platforms: { webhook: { enabled: true, secret: a-secret-of-24-characters${webhook}, routes: { r: { prompt: "{a}" } } } }
`;
  const { diagnostics } = await compileText(text, { home: '/h', env: { T: 'x'.repeat(24), ...env } });
  return diagnostics.filter(({ rule }) => rule === 'console-port').map(({ severity }) => severity);
};

describe('a console on the port of the webhook server', () => {
  const cases: readonly (readonly [console: string, webhook: string, found: boolean])[] = [
    ['', '', false],
    ['', ', port: 8645', true],
    [', port: 8644', '', true],
    [', port: 0', ', port: 0', false],
    [', port: 8644, host: 127.0.0.2', '', false],
    [', port: 8644, host: 0.0.0.0', '', true],
    [', port: 8644', ', host: "::"', true],
    [', port: 8644', ', host: ""', true],
    [', port: 8644, host: "::1"', ', host: 0.0.0.0', false],
    [', port: 8644, host: "::"', ', host: 0.0.0.0', true],
  ];
  for (const [console, webhook, found] of cases)
    it(`${found ? 'conflict' : 'no conflict'}: console {${console}}, webhook {${webhook}}`, async () =>
      assert.deepEqual(await rulesOf(console, webhook), found ? ['error'] : []));

  it('rejects a port that the environment sets', async () =>
    assert.deepEqual(await rulesOf('', '', { WEBHOOK_PORT: '8645' }), ['error']));
});
