/**
 * Tests the rules with sixty configs that were labelled before the rules were written, and with configs that the rules judged
 * wrong later. Dangerous configs are reported, safe configs are not.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { compileFiles, printed } from '../../../helpers/compile.ts';

interface Labelled {
  readonly name: string;
  /** For dangerous configs: a real incident of this kind. */
  readonly from?: string;
  readonly rule?: string;
  readonly routes: unknown;
  /** null: no agent; absent: an agent that gets its toolsets. */
  readonly agent?: unknown;
  readonly jobs?: unknown;
  readonly sources?: unknown;
  readonly platform_toolsets?: unknown;
  readonly files?: Readonly<Record<string, string>>;
}

const RULES: ReadonlySet<string> = new Set(['untrusted-input', 'agent-unconfined', 'self-trigger']);
const AGENT = { command: ['my-agent', '--tools', '{toolsets}'] };

const load = (file: string): readonly Labelled[] =>
  parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as readonly Labelled[];

/** Returns the reported rules for the complete config. */
function found({ routes, agent = AGENT, jobs, sources, platform_toolsets, files = {} }: Labelled) {
  const webhook = { enabled: true, secret: 'env:WEBHOOK_SECRET', routes };
  const platforms = { webhook, telegram: { enabled: true, token: 'env:TELEGRAM_TOKEN', home_channel: '1' } };
  const config = { platforms, ...(agent === null ? {} : { agent }), jobs, sources, platform_toolsets };
  const result = compileFiles({ 'hookwright.yaml': stringify(JSON.parse(JSON.stringify(config))), ...files });
  // The config must have no other mistakes.
  assert.notEqual(result.output, null, printed(result));
  const others = result.diagnostics.filter(({ rule }) => rule.startsWith('unknown-') || rule.endsWith('-filter'));
  assert.deepEqual(others, [], printed(result));
  return result.diagnostics.filter(({ rule }) => RULES.has(rule));
}

describe('dangerous configs are reported', () => {
  const dangerous = load('dangerous.yaml');
  test('there are thirty', () => assert.equal(dangerous.length, 30));
  for (const labelled of [...dangerous, ...load('dangerous-later.yaml')]) {
    test(labelled.name, () => {
      const rules = found(labelled).map(({ rule }) => rule);
      assert.deepEqual(rules, [labelled.rule ?? 'untrusted-input']);
    });
  }
});

describe('safe configs are not reported', () => {
  const safe = load('safe.yaml');
  test('there are thirty', () => assert.equal(safe.length, 30));
  for (const labelled of [...safe, ...load('safe-later.yaml')]) {
    test(labelled.name, () => {
      assert.deepEqual(
        found(labelled).map(({ message }) => message),
        [],
      );
    });
  }
});
