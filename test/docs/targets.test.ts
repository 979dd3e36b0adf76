/** The pages about targets: configs compile, examples have their form, the custom target works. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { RE2JS } from 're2js';
import { parse } from 'yaml';
import { lowerBinding } from '../../compiler/lower/binding.ts';
import { compileConfig, printed } from '../helpers/compile.ts';
import { createTestDeliverer, deliveryTo } from '../helpers/deliveries.ts';
import { startFakeHttp } from '../helpers/fake-http.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { lowerTargetFile, readTargetFile, targetNames } from '../helpers/targets.ts';

const read = (page: string): string => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
const blocks = (page: string) => codeBlocks(read(page)).filter(({ language }) => language === 'yaml');

/** A webhook around a snippet that shows one target. */
const WEBHOOK = 'platforms:\n  webhook: { enabled: true, secret: env:WEBHOOK_SECRET }\n';

test('docs/targets.md: every config compiles without a word', () => {
  const configs = blocks('targets.md');
  assert.ok(configs.length > 20);
  for (const { text, line } of configs) {
    const result = compileConfig(/^ {2}webhook:/m.test(text) ? text : text.replace('platforms:\n', WEBHOOK));
    assert.deepEqual(result.diagnostics, [], `line ${line}\n${printed(result)}`);
  }
});

test('the examples of the shipped targets have the form their own patterns ask for', () => {
  for (const name of targetNames()) {
    const file = readTargetFile(name);
    const fields = [file, ...Object.values(file.variants ?? {})].flatMap(({ address }) =>
      Object.entries(address ?? {}),
    );
    for (const [field, { example, pattern }] of [...Object.entries(file.settings ?? {}), ...fields]) {
      if (example === undefined || pattern === undefined) continue;
      assert.ok(RE2JS.matches(pattern, String(example)), `${name}.${field}: ${example}`);
    }
  }
});

test('docs/own-targets.md: the target is complete, and sends', async (t) => {
  const [block] = blocks('own-targets.md');
  const plan = lowerTargetFile('ntfy', parse(block?.text ?? ''));
  const server = await startFakeHttp(t, () => ({ body: { id: 'abc', time: 1, event: 'message' } }));
  const config = { enabled: true, token: 'canary', api_base: server.url, home_channel: 'builds' };
  const binding = lowerBinding(config, plan, { profile: 'default', max_attempts: 8, at_most_once: false });
  assert.ok(binding.plan !== null, JSON.stringify(binding.problems));
  const deliverer = createTestDeliverer(t, { targets: [plan], bindings: { default: { ntfy: binding.plan } } });
  const outcome = await deliverer.deliver(deliveryTo('ntfy', { extra: { title: 'Build' } }));
  assert.deepEqual(outcome, { kind: 'ok', message_id: 'abc', sent: 1 });
  assert.equal(server.seen[0]?.headers.authorization, 'Bearer canary');
  assert.deepEqual(server.seen[0]?.json, { topic: 'builds', title: 'Build', message: 'hello', priority: 3 });
});
