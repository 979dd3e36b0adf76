/** The commands of docs/operations.md work. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runInProcess } from '../helpers/cli.ts';
import { HOLDER, makeAccept, makeAdvance } from '../helpers/dispatches.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { openOfflineStore } from '../helpers/rescued-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

describe('docs/operations.md', () => {
  it('shows commands that work', async (t) => {
    const home = tempDir(t);
    const store = await openOfflineStore(join(home, 'state.db'));
    const stored = await store.write(makeAccept('abc', { work: { kind: 'held', holder: HOLDER } }));
    assert.ok(stored.kind === 'stored');
    await store.write(makeAdvance(stored.ref, 'dead', Date.now(), { reason: 'x' }));
    await store.close();
    const lines = codeBlocks(page)
      .flatMap(({ text }) => text.split('\n'))
      .filter((line) => /^hookwright (?:deliveries|store backup) /.test(line));
    assert.ok(lines.length > 0);
    for (const line of lines) {
      const typed = line.replace('<id>', 'abc').replace('/backup/', `${home}/copy-of-`);
      const { code, stderr } = await runInProcess(typed.split(' ').slice(1), { home });
      assert.equal(code, 0, `${line}: ${stderr}`);
    }
  });
});
