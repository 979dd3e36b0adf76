/** Whatever is shown as a config names fields that its events have: no false alarm, and nothing that would never resolve. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileConfig } from '../helpers/compile.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';

const PAYLOAD_RULES = [
  ...['unknown-payload-path', 'impossible-filter', 'unknown-event-action'],
  ...['untrusted-input', 'agent-unconfined', 'self-trigger'],
];

const reported = ({ diagnostics }: ReturnType<typeof compileConfig>): readonly string[] =>
  diagnostics.filter(({ rule }) => PAYLOAD_RULES.includes(rule)).map(({ rule, message }) => `${rule}: ${message}`);

/** One shows the package as a library, without a config. */
const examples = readdirSync(join(ROOT, 'examples')).filter((name) =>
  existsSync(join(ROOT, 'examples', name, 'hookwright.yaml')),
);
for (const name of examples) {
  test(`examples/${name}`, () => {
    const text = readFileSync(join(ROOT, 'examples', name, 'hookwright.yaml'), 'utf8');
    assert.match(text, /routes:/);
    assert.deepEqual(reported(compileConfig(text)), []);
  });
}

/** Two show what the rules say; separate tests show that the other configs compile without diagnostics. */
const SHOWN = ['payloads.md', 'rules.md', 'sources.md', 'own-sources.md', 'targets.md'];

const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md') && !SHOWN.includes(path.replace('docs/', '')),
);
for (const path of pages) {
  test(`${path}: its configs`, () => {
    const blocks = codeBlocks(readFileSync(join(ROOT, path), 'utf8')).filter(({ language }) => language === 'yaml');
    for (const { line, text } of blocks) assert.deepEqual(reported(compileConfig(text)), [], `line ${line}`);
  });
}
